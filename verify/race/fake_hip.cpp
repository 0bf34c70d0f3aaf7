#include "verify/race/fake_hip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "hip/sync/sync.h"

namespace verify::race {
namespace {

constexpr std::size_t kStreams = 64;
constexpr std::size_t kEvents = 64;
constexpr std::size_t kBlocks = 64;
constexpr std::size_t kBlockBytes = 4096;

enum class Life : std::uint8_t { kNever, kAlive, kGone };

struct StreamEntry {
  Life life = Life::kNever;
  int device = 0;
  unsigned flags = 0;
  int priority = 0;
  bool broken = false;
  int owner = -1;
  std::uint32_t work = 0;  // number of works that it was given
  std::uint32_t done = 0;
  hipStream_t real = nullptr;  // the stream of the real runtime
};
struct EventEntry {
  Life life = Life::kNever;
  int stream = -1;  // the stream of the last record, and its `work` then
  std::uint32_t work = 0;
  hipEvent_t real = nullptr;
};
struct BlockEntry {
  Life life = Life::kNever;
  std::size_t bytes = 0;
  void* address = nullptr;
};

struct State {
  Referee* referee = nullptr;
  std::array<StreamEntry, kStreams> streams;  // the first kFakeDevices are the default streams
  std::array<EventEntry, kEvents> events;
  std::array<BlockEntry, kBlocks> blocks;
  std::size_t stream_count = kFakeDevices, event_count = 0, block_count = 0;
  alignas(64) std::array<std::byte, kBlocks * kBlockBytes> memory;  // the memory of the blocks
};

// Explored threads change only at points, of which there is one for each handle; real threads need a lock.
#ifdef HGCHECK_EXPLORE
struct Guard {
  Guard() {}  // NOLINT(modernize-use-equals-default): so that a guard counts as used
};
#else
hip::sync::Mutex guard;
struct Guard {
  hip::sync::LockGuard lock{guard};
};
#endif
std::array<hip::sync::Point, kStreams> stream_points;
std::array<hip::sync::Point, kEvents> event_points;
std::array<hip::sync::Point, kBlocks> block_points;

State& state() {
  static State all;
  return all;
}

// The real runtime behind the fake, or null.
const hip::Api* runtime = nullptr;

// Returns the runtime's answer; without a runtime the call succeeds.
template <class Call>
hipError_t forwarded(const Call& call) {
  return runtime == nullptr ? hipSuccess : call(*runtime);
}

// A host function without an effect, for work that has none.
void no_work(void*) {}

int& current_device() {
  struct Tag {};
  return hip::sync::of_this_thread<Tag, int>();
}

void tell(FailureKind kind, const char* property, std::string message) {
  if (Referee* const referee = state().referee) referee->broken(kind, property, std::move(message));
}

// Returns the entry if it is alive. Else returns null, and the referee has been told.
template <class Entry, std::size_t n>
Entry* living(std::array<Entry, n>& entries, std::size_t index, std::size_t count, const char* what, const char* call) {
  if (index >= count || entries[index].life == Life::kNever) {
    tell(FailureKind::kUseAfterFree, "C2", fmt::format("{} with a {} that never was", call, what));
    return nullptr;
  }
  if (entries[index].life == Life::kAlive) return &entries[index];
  const bool frees = std::strstr(call, "Destroy") != nullptr || std::strstr(call, "Free") != nullptr;
  tell(frees ? FailureKind::kDoubleFree : FailureKind::kUseAfterFree, "C2",
       fmt::format("{} with {} {}, which was destroyed", call, what, index + 1));
  return nullptr;
}

// The handle of the real runtime; null without a runtime.
template <class Entry>
auto real_of(const Entry& entry) {
  const Guard lock;
  return entry.real;
}

// Handles are 1 + index, so that 0 stays free.
std::size_t index_of(hipStream_t stream) {
  if (stream == nullptr) return static_cast<std::size_t>(current_device());
  return reinterpret_cast<std::uintptr_t>(stream) - 1;
}
hipStream_t handle_of_stream(std::size_t index) {
  return reinterpret_cast<hipStream_t>(index + 1);
}

StreamEntry* stream_of(hipStream_t stream, const char* call, bool writes) {
  const std::size_t index = index_of(stream);
  if (index < kStreams) stream_points[index].step(call, writes);
  const Guard lock;
  return living(state().streams, index, state().stream_count, "stream", call);
}

// ---- devices

hipError_t get_device_count(int* count) {
  *count = kFakeDevices;
  return hipSuccess;
}
hipError_t get_device(int* device) {
  *device = current_device();
  return hipSuccess;
}
hipError_t set_device(int device) {
  if (device < 0 || device >= kFakeDevices) return hipErrorInvalidDevice;
  current_device() = device;
  return forwarded([&](const hip::Api& api) {
    int count = 0;
    const hipError_t status = api.hipGetDeviceCount(&count);
    return status != hipSuccess ? status : api.hipSetDevice(device % count);
  });
}
hipError_t get_priority_range(int* least, int* greatest) {
  *least = 1;
  *greatest = -1;
  return hipSuccess;
}

// ---- streams

hipError_t stream_create(hipStream_t* out, unsigned flags, int priority) {
  hipStream_t real = nullptr;
  const hipError_t status =
      forwarded([&](const hip::Api& api) { return api.hipStreamCreateWithPriority(&real, flags, priority); });
  if (status != hipSuccess) return status;
  const Guard lock;
  State& s = state();
  if (s.stream_count == kStreams) return hipErrorOutOfMemory;
  s.streams[s.stream_count] = {
      .life = Life::kAlive, .device = current_device(), .flags = flags, .priority = priority, .real = real};
  *out = handle_of_stream(s.stream_count++);
  return hipSuccess;
}
hipError_t stream_destroy(hipStream_t stream) {
  StreamEntry* const entry = stream_of(stream, "hipStreamDestroy", true);
  if (entry == nullptr) return hipErrorInvalidHandle;
  {
    const Guard lock;
    entry->life = Life::kGone;
    entry->done = entry->work;
  }
  return forwarded([&](const hip::Api& api) { return api.hipStreamDestroy(real_of(*entry)); });
}
hipError_t stream_query(hipStream_t stream) {
  StreamEntry* const entry = stream_of(stream, "hipStreamQuery", false);
  if (entry == nullptr) return hipErrorInvalidHandle;
  if (entry->device != current_device()) {
    tell(FailureKind::kInvariant, "C1",
         fmt::format("a stream of device {} is queried while device {} is current", entry->device, current_device()));
  }
  hipError_t mine = hipSuccess;
  {
    const Guard lock;
    if (entry->broken) return hipErrorLaunchFailure;
    if (entry->done != entry->work) mine = hipErrorNotReady;
  }
  const hipError_t status = forwarded([&](const hip::Api& api) { return api.hipStreamQuery(real_of(*entry)); });
  return mine == hipErrorNotReady && status == hipSuccess ? mine : status;
}
hipError_t stream_synchronize(hipStream_t stream) {
  StreamEntry* const entry = stream_of(stream, "hipStreamSynchronize", true);
  if (entry == nullptr) return hipErrorInvalidHandle;
  bool broken = false;
  {
    const Guard lock;
    entry->done = entry->work;
    broken = entry->broken;
  }
  const hipError_t status = forwarded([&](const hip::Api& api) { return api.hipStreamSynchronize(real_of(*entry)); });
  return broken ? hipErrorLaunchFailure : status;
}
template <auto Fact, class T>
hipError_t answer(hipStream_t stream, const char* call, T* out) {
  const StreamEntry* const entry = stream_of(stream, call, false);
  if (entry == nullptr) return hipErrorInvalidHandle;
  *out = entry->*Fact;
  return hipSuccess;
}
hipError_t stream_flags(hipStream_t stream, unsigned* flags) {
  return answer<&StreamEntry::flags>(stream, "hipStreamGetFlags", flags);
}
hipError_t stream_priority(hipStream_t stream, int* priority) {
  return answer<&StreamEntry::priority>(stream, "hipStreamGetPriority", priority);
}
hipError_t stream_device(hipStream_t stream, int* device) {
  return answer<&StreamEntry::device>(stream, "hipStreamGetDevice", device);
}
// Gives the stream one more work; `call` gives the work to the stream of the runtime.
template <class Call>
hipError_t give_work(hipStream_t stream, const char* name, const Call& call) {
  StreamEntry* const entry = stream_of(stream, name, true);
  if (entry == nullptr) return hipErrorInvalidHandle;
  {
    const Guard lock;
    ++entry->work;
  }
  return forwarded([&](const hip::Api& api) { return call(api, real_of(*entry)); });
}
// Kernels, and copies of no bytes, are work without an effect.
hipError_t give_no_work(const hip::Api& api, hipStream_t real) {
  return api.hipLaunchHostFunc(real, no_work, nullptr);
}
hipError_t launch(hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  hipStream_t stream, void**, void**) {
  return give_work(stream, "hipModuleLaunchKernel", give_no_work);
}
hipError_t copy_on(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return give_work(stream, "hipMemcpyAsync", [&](const hip::Api& api, hipStream_t real) {
    return bytes == 0 ? give_no_work(api, real) : api.hipMemcpyAsync(to, from, bytes, kind, real);
  });
}
hipError_t fill_on(void* memory, int value, std::size_t bytes, hipStream_t stream) {
  return give_work(stream, "hipMemsetAsync", [&](const hip::Api& api, hipStream_t real) {
    return bytes == 0 ? give_no_work(api, real) : api.hipMemsetAsync(memory, value, bytes, real);
  });
}
// Without a runtime the function runs at once, as if all work before it were done; it synchronises by itself.
hipError_t host_function(hipStream_t stream, hipHostFn_t function, void* user_data) {
  const hipError_t status = give_work(stream, "hipLaunchHostFunc", [&](const hip::Api& api, hipStream_t real) {
    return api.hipLaunchHostFunc(real, function, user_data);
  });
  if (status == hipSuccess && runtime == nullptr) function(user_data);
  return status;
}
hipError_t device_synchronize() {
  stream_points[static_cast<std::size_t>(current_device())].step("hipDeviceSynchronize", true);
  {
    const Guard lock;
    for (StreamEntry& entry : state().streams) {
      if (entry.device == current_device()) entry.done = entry.work;
    }
  }
  return forwarded([](const hip::Api& api) { return api.hipDeviceSynchronize(); });
}

// ---- events

EventEntry* event_of(hipEvent_t event, const char* call, bool writes) {
  const std::size_t index = reinterpret_cast<std::uintptr_t>(event) - 1;
  if (index < kEvents) event_points[index].step(call, writes);
  const Guard lock;
  return living(state().events, index, state().event_count, "event", call);
}
hipError_t event_create(hipEvent_t* out, unsigned flags) {
  hipEvent_t real = nullptr;
  const hipError_t status = forwarded([&](const hip::Api& api) { return api.hipEventCreateWithFlags(&real, flags); });
  if (status != hipSuccess) return status;
  const Guard lock;
  State& s = state();
  if (s.event_count == kEvents) return hipErrorOutOfMemory;
  s.events[s.event_count] = {.life = Life::kAlive, .real = real};
  *out = reinterpret_cast<hipEvent_t>(++s.event_count);
  return hipSuccess;
}
hipError_t event_destroy(hipEvent_t event) {
  EventEntry* const entry = event_of(event, "hipEventDestroy", true);
  if (entry == nullptr) return hipErrorInvalidHandle;
  {
    const Guard lock;
    entry->life = Life::kGone;
  }
  return forwarded([&](const hip::Api& api) { return api.hipEventDestroy(real_of(*entry)); });
}
hipError_t event_record(hipEvent_t event, hipStream_t stream) {
  EventEntry* const entry = event_of(event, "hipEventRecord", true);
  const StreamEntry* const behind = stream_of(stream, "hipEventRecord", true);
  if (entry == nullptr || behind == nullptr) return hipErrorInvalidHandle;
  {
    const Guard lock;
    entry->stream = static_cast<int>(index_of(stream));
    entry->work = behind->work;
  }
  return forwarded([&](const hip::Api& api) { return api.hipEventRecord(real_of(*entry), real_of(*behind)); });
}
hipError_t event_query(hipEvent_t event) {
  const EventEntry* const entry = event_of(event, "hipEventQuery", false);
  if (entry == nullptr) return hipErrorInvalidHandle;
  if (runtime != nullptr) return runtime->hipEventQuery(real_of(*entry));
  const Guard lock;
  if (entry->stream < 0) return hipSuccess;
  return state().streams[static_cast<std::size_t>(entry->stream)].done >= entry->work ? hipSuccess : hipErrorNotReady;
}
hipError_t event_synchronize(hipEvent_t event) {
  const EventEntry* const entry = event_of(event, "hipEventSynchronize", true);
  if (entry == nullptr) return hipErrorInvalidHandle;
  {
    const Guard lock;
    if (entry->stream >= 0) {
      StreamEntry& stream = state().streams[static_cast<std::size_t>(entry->stream)];
      stream.done = std::max(stream.done, entry->work);
    }
  }
  return forwarded([&](const hip::Api& api) { return api.hipEventSynchronize(real_of(*entry)); });
}
hipError_t stream_wait_event(hipStream_t stream, hipEvent_t event, unsigned flags) {
  const EventEntry* const entry = runtime == nullptr ? nullptr : event_of(event, "hipStreamWaitEvent", false);
  return give_work(stream, "hipStreamWaitEvent", [&](const hip::Api& api, hipStream_t real) {
    return entry == nullptr ? hipErrorInvalidHandle : api.hipStreamWaitEvent(real, real_of(*entry), flags);
  });
}

// ---- memory

// Gives memory of the fake, or the memory that `call` got from the runtime.
template <class Call>
hipError_t allocate_by(void** out, std::size_t bytes, const Call& call) {
  void* real = nullptr;
  const hipError_t status = forwarded([&](const hip::Api& api) { return call(api, &real); });
  if (status != hipSuccess) return status;
  const Guard lock;
  State& s = state();
  if (s.block_count == kBlocks || bytes > kBlockBytes) return hipErrorOutOfMemory;
  void* const own = s.memory.data() + s.block_count * kBlockBytes;
  *out = runtime == nullptr ? own : real;
  s.blocks[s.block_count++] = BlockEntry{Life::kAlive, bytes, *out};
  return hipSuccess;
}
hipError_t allocate(void** out, std::size_t bytes) {
  return allocate_by(out, bytes, [&](const hip::Api& api, void** real) { return api.hipMalloc(real, bytes); });
}
hipError_t allocate_host(void** out, std::size_t bytes, unsigned flags) {
  return allocate_by(out, bytes,
                     [&](const hip::Api& api, void** real) { return api.hipHostMalloc(real, bytes, flags); });
}
hipError_t allocate_on(void** out, std::size_t bytes, hipStream_t stream) {
  void* memory = nullptr;
  const hipError_t status = give_work(stream, "hipMallocAsync", [&](const hip::Api& api, hipStream_t real) {
    return api.hipMallocAsync(&memory, bytes, real);
  });
  if (status != hipSuccess) return status;
  return allocate_by(out, bytes, [&](const hip::Api&, void** real) { return *real = memory, hipSuccess; });
}

// The newest block at that address: the runtime may give out an address again.
std::size_t block_at(const void* memory) {
  const Guard lock;
  const State& s = state();
  for (std::size_t i = s.block_count; i > 0; --i) {
    if (s.blocks[i - 1].address == memory) return i - 1;
  }
  return kBlocks;
}
template <class Call>
hipError_t release_block(void* memory, const char* name, const Call& call) {
  if (memory == nullptr) return hipSuccess;
  const std::size_t index = block_at(memory);
  if (index < kBlocks) block_points[index].step(name, true);
  {
    const Guard lock;
    BlockEntry* const entry = living(state().blocks, index, state().block_count, "allocation", name);
    if (entry == nullptr) return hipErrorInvalidValue;
    entry->life = Life::kGone;
  }
  return forwarded(call);
}
hipError_t release(void* memory) {
  return release_block(memory, "hipFree", [&](const hip::Api& api) { return api.hipFree(memory); });
}
hipError_t release_host(void* memory) {
  return release_block(memory, "hipHostFree", [&](const hip::Api& api) { return api.hipHostFree(memory); });
}
hipError_t release_on(void* memory, hipStream_t stream) {
  hipStream_t real = nullptr;
  const hipError_t status = give_work(stream, "hipFreeAsync", [&](const hip::Api&, hipStream_t of_runtime) {
    real = of_runtime;
    return hipSuccess;
  });
  if (status != hipSuccess) return status;
  return release_block(memory, "hipFreeAsync", [&](const hip::Api& api) { return api.hipFreeAsync(memory, real); });
}

hip::Api make_table() {
  hip::Api api;
  api.hipGetDeviceCount = get_device_count;
  api.hipGetDevice = get_device;
  api.hipSetDevice = set_device;
  api.hipDeviceGetStreamPriorityRange = get_priority_range;
  api.hipDeviceSynchronize = device_synchronize;
  api.hipGetLastError = [] { return hipSuccess; };
  api.hipPeekAtLastError = [] { return hipSuccess; };
  api.hipStreamCreateWithPriority = stream_create;
  api.hipStreamCreateWithFlags = [](hipStream_t* out, unsigned flags) { return stream_create(out, flags, 0); };
  api.hipStreamDestroy = stream_destroy;
  api.hipStreamQuery = stream_query;
  api.hipStreamSynchronize = stream_synchronize;
  api.hipStreamGetFlags = stream_flags;
  api.hipStreamGetPriority = stream_priority;
  api.hipStreamGetDevice = stream_device;
  api.hipStreamWaitEvent = stream_wait_event;
  api.hipLaunchHostFunc = host_function;
  api.hipModuleLaunchKernel = launch;
  api.hipEventCreateWithFlags = event_create;
  api.hipEventDestroy = event_destroy;
  api.hipEventRecord = event_record;
  api.hipEventQuery = event_query;
  api.hipEventSynchronize = event_synchronize;
  api.hipMalloc = allocate;
  api.hipFree = release;
  api.hipHostMalloc = allocate_host;
  api.hipHostFree = release_host;
  api.hipMallocAsync = allocate_on;
  api.hipFreeAsync = release_on;
  api.hipMemcpyAsync = copy_on;
  api.hipMemsetAsync = fill_on;
  return api;
}

}  // namespace

FakeHip::FakeHip(Referee& referee) {
  State& s = state();
  s.referee = &referee;
  for (std::size_t i = 0; i < s.stream_count; ++i) s.streams[i] = StreamEntry();
  for (int i = 0; i < kFakeDevices; ++i) s.streams[static_cast<std::size_t>(i)] = StreamEntry{Life::kAlive, i};
  s.stream_count = kFakeDevices;
  s.event_count = s.block_count = 0;
  current_device() = 0;
}

FakeHip::~FakeHip() {
  state().referee = nullptr;
}

void FakeHip::forward_to(const hip::Api* behind) {
  runtime = behind;
}

const hip::Api& FakeHip::api() {
  static const hip::Api table = make_table();
  return table;
}

int FakeHip::number_of(hipStream_t stream) const {
  return stream == nullptr ? 0 : static_cast<int>(index_of(stream)) - kFakeDevices + 1;
}

void FakeHip::break_stream(hipStream_t stream) {
  const Guard lock;
  state().streams[index_of(stream)].broken = true;
}

int FakeHip::take(hipStream_t stream, int owner) {
  const Guard lock;
  return std::exchange(state().streams[index_of(stream)].owner, owner);
}

void FakeHip::expect_nothing_left() {
  const State& s = state();
  const auto expect_gone = [](const auto& entries, std::size_t first, std::size_t count, const char* what,
                              const char* end) {
    for (std::size_t i = first; i < count; ++i) {
      if (entries[i].life != Life::kAlive) continue;
      tell(FailureKind::kLeak, "C2", fmt::format("{} {} is never {}", what, i - first + 1, end));
    }
  };
  expect_gone(s.streams, kFakeDevices, s.stream_count, "stream", "destroyed");
  expect_gone(s.events, 0, s.event_count, "event", "destroyed");
  expect_gone(s.blocks, 0, s.block_count, "allocation", "freed");
}

}  // namespace verify::race
