// Every system of hip/ once, as a framework would use them.
//
//   systems                            on the host backend, which has no graphs: without trace cache and command buffer
//   systems LIBRARY CODE_OBJECT        on a HIP runtime (libamdhip64.so.7), with this project's device kernels
//
// Prints a line for each system with its results. Exits with status 1 and a reason when a result is wrong.
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hip/address_stabilizer.h"
#include "hip/cached_allocator.h"
#include "hip/captured_graph.h"
#include "hip/code_object/code_object.h"
#include "hip/command_buffer.h"
#include "hip/event.h"
#include "hip/host_backend.h"
#include "hip/launcher.h"
#include "hip/metadata_slots.h"
#include "hip/release_quirks.h"
#include "hip/scratch_buffer.h"
#include "hip/stream.h"
#include "hip/stream_cache.h"
#include "hip/trace_cache.h"
#include "hip/traced_command.h"
#include "hip/worker_thread.h"

namespace {

// data[i] = data[i] * 5 + k + i + n's own hash: the kernel inplace_u32 of this project, as far as the example looks.
struct Arguments {
  std::uint32_t* data = nullptr;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
};
constexpr hip::HostFunction kOnTheHost{[](dim3, dim3, const std::byte* block, std::size_t, void**) {
  Arguments arguments;
  std::memcpy(&arguments, block, sizeof arguments);
  for (std::uint32_t i = 0; i < arguments.n; ++i) arguments.data[i] = arguments.data[i] * 5 + arguments.k + i;
}};

int fail(const char* what) {
  std::fprintf(stderr, "systems: %s\n", what);
  return 1;
}
int fail(const hip::Error& error) {
  return fail(error.message.c_str());
}

// A stream from the cache, given back idle, comes again.
int reuse_a_stream(const hip::Api& api) {
  hip::StreamCache cache(api);
  for (int life = 0; life < 3; ++life) {
    hip::Result<hip::StreamLease> lease = cache.acquire({});
    if (!lease) return fail(lease.error());
    if (const hip::Status status = lease.value().ref().synchronize(); !status) return fail(status.error());
    if (const hip::Status status = lease.value().release(); !status) return fail(status.error());
  }
  const hip::StreamCacheCounts counts = cache.counts();
  std::printf("stream cache: %llu made, %llu reused\n", static_cast<unsigned long long>(counts.misses),
              static_cast<unsigned long long>(counts.hits));
  return 0;
}

// The cache that the whole process shares: loading the runtime again gives the same stream.
int share_the_streams(const hip::LoadedApi& runtime) {
  hip::StreamCache& cache = hip::StreamCache::of_process(runtime);
  const hip::Result<hip::LoadedApi> again = hip::load_api(runtime.path);
  if (!again) return fail(again.error());
  hipStream_t lent = nullptr;
  for (hip::StreamCache* const client : {&cache, &hip::StreamCache::of_process(again.value())}) {
    hip::Result<hip::StreamLease> lease = client->acquire({.device = 0, .flags = hipStreamNonBlocking});
    if (!lease) return fail(lease.error());
    if (lent != nullptr && lease.value().ref().handle() != lent) return fail("the process's cache is not shared");
    lent = lease.value().ref().handle();
    if (const hip::Status status = lease.value().release(); !status) return fail(status.error());
  }
  if (const hip::Status status = cache.clear(); !status) return fail(status.error());
  std::printf("stream cache of the process: shared\n");
  return 0;
}

// Work on one stream waits for an event of another; the time between two events.
int order_two_streams(const hip::Api& api) {
  hip::Result<hip::Stream> first = hip::Stream::create(api);
  hip::Result<hip::Stream> second =
      hip::Stream::create(api, {.device = 0, .flags = hipStreamNonBlocking, .priority = 0});
  if (!first || !second) return fail("no streams");
  hip::Result<hip::Event> begin = hip::Event::create(api, {.timed = true});
  hip::Result<hip::Event> end = hip::Event::create(api, {.timed = true});
  if (!begin || !end) return fail("no events");
  std::string ran;
  const auto one = [](void* out) { static_cast<std::string*>(out)->push_back('1'); };
  const auto two = [](void* out) { static_cast<std::string*>(out)->push_back('2'); };
  const hip::StreamRef before = first.value(), behind = second.value();
  for (const hip::Status& status :
       {before.launch_host_function(one, &ran), begin.value().record(before), behind.wait(begin.value()),
        behind.launch_host_function(two, &ran), end.value().record(behind), end.value().synchronize()}) {
    if (!status) return fail(status.error());
  }
  if (ran != "12") return fail("the second stream did not wait for the first");
  const hip::Result<float> milliseconds = hip::Event::elapsed(begin.value(), end.value());
  if (!milliseconds) return fail(milliseconds.error());
  std::printf("streams and events: in order\n");
  return 0;
}

// A callback behind a stream's work; the worker drains before it goes.
int call_back(const hip::Api& api) {
  int called = 0;
  {
    hip::Result<std::unique_ptr<hip::WorkerThread>> worker = hip::WorkerThread::start();
    if (!worker) return fail(worker.error());
    const hip::StreamRef stream = hip::StreamRef::of_default(api);
    const hip::Status posted = worker.value()->post_after(stream, [&called] { ++called; });
    if (!posted) return fail(posted.error());
  }
  if (called != 1) return fail("the callback did not run once");
  std::printf("worker thread: drained\n");
  return 0;
}

// The quirks of the runtime's release.
hip::Result<hip::ReleaseQuirks> quirks_of(const hip::Api& api) {
  int version = 0;
  const hip::Status known = hip::call<&hip::Api::hipRuntimeGetVersion>(api, &version);
  if (!known) return known.error();
  return hip::ReleaseQuirks::of_version(version);
}

int use_scratch(const hip::Api& api, const hip::ReleaseQuirks& quirks) {
  hip::ScratchBuffer scratch(hip::StreamRef::of_default(api), {.free_async = quirks.of_free_async()});
  std::array<void*, 2> pieces{};
  const std::array<std::size_t, 2> sizes{1000, 3000};
  if (const hip::Status status = scratch.carve(sizes, pieces); !status) return fail(status.error());
  hip::ScratchBuffer moved(std::move(scratch));
  if (const hip::Result<void*> again = scratch.reserve(16); !again) return fail(again.error());
  std::printf("scratch buffer: %zu bytes, and its source is usable\n", moved.capacity());
  return 0;
}

// A buffer that is named again is where it was, unless it is too small.
int keep_buffers(const hip::Api& api) {
  hip::CachedAllocator buffers(api);
  const auto first = buffers.get(1, 1024), smaller = buffers.get(1, 512), larger = buffers.get(1, 4096);
  for (const auto* const each : {&first, &smaller, &larger}) {
    if (!*each) return fail(each->error());
  }
  if (smaller.value().moved || smaller.value().address != first.value().address) return fail("a cached buffer moved");
  if (!larger.value().moved || buffers.size() != 1) return fail("a cached buffer did not grow");
  if (const hip::Status status = buffers.clear(); !status) return fail(status.error());
  std::printf("cached allocator: one buffer, grown once\n");
  return 0;
}

// Work that is recorded once, at addresses that stay: a copy from one buffer to the other.
class CopyWork final : public hip::StableWork {
 public:
  explicit CopyWork(const hip::Api& api) : api_(api) {}
  hip::Status record(std::span<void* const> addresses) override {
    from_ = addresses[0];
    to_ = addresses[1];
    return {};
  }
  hip::Status launch(const hip::StreamRef& stream) override {
    return hip::call<&hip::Api::hipMemcpyAsync>(api_, to_, from_, kBytes, hipMemcpyDeviceToDevice, stream.handle());
  }
  static constexpr std::size_t kBytes = 256;

 private:
  const hip::Api& api_;
  void* from_ = nullptr;
  void* to_ = nullptr;
};

// Buffers at another place at every step; the command is recorded once.
int keep_addresses(const hip::Api& api, const hip::ReleaseQuirks& quirks) {
  constexpr std::size_t kSteps = 3;
  void* memory = nullptr;
  const hip::Status got = hip::call<&hip::Api::hipMalloc>(api, &memory, 2 * kSteps * CopyWork::kBytes);
  if (!got) return fail(got.error());
  hip::AddressStabilizer stabilizer(api, {.follow_capturing = quirks.of_follow_capturing()});
  CopyWork work(api);
  const hip::StreamRef stream = hip::StreamRef::of_default(api);
  auto* const bytes = static_cast<std::byte*>(memory);
  hip::Status status;
  bool right = true;
  for (std::size_t step = 0; step < kSteps && status; ++step) {
    std::byte* const in = bytes + 2 * step * CopyWork::kBytes;
    const std::array buffers{hip::StepBuffer{in, CopyWork::kBytes, hip::BufferUse::kIn},
                             hip::StepBuffer{in + CopyWork::kBytes, CopyWork::kBytes, hip::BufferUse::kOut}};
    status = hip::call<&hip::Api::hipMemset>(api, in, static_cast<int>(step) + 1, CopyWork::kBytes);
    if (status) {
      const hip::Result<hip::StableStep> done = stabilizer.step(0, buffers, stream, work);
      status = done ? stream.synchronize() : hip::Status(done.error());
    }
    unsigned char last = 0;
    if (status) {
      status = hip::call<&hip::Api::hipMemcpy>(api, &last, in + 2 * CopyWork::kBytes - 1, 1, hipMemcpyDeviceToHost);
    }
    right = right && last == step + 1;
  }
  status = hip::both(std::move(status), hip::both(stabilizer.clear(), hip::call<&hip::Api::hipFree>(api, memory)));
  if (!status) return fail(status.error());
  if (!right || stabilizer.counts().recorded != 1) return fail("a step did not leave what it should");
  std::printf("address stabiliser: 3 steps, recorded once\n");
  return 0;
}

// A host array to the device and back, on a stream that is current for this thread.
int launch(const hip::Api& api, hipFunction_t function, const hip::ReleaseQuirks& quirks) {
  hip::Result<hip::Stream> stream = hip::Stream::create(api);
  if (!stream) return fail(stream.error());
  const hip::CurrentStream active(stream.value());
  hip::Launcher launcher(api, {.free_async = quirks.of_free_async()});
  std::vector<std::uint32_t> data(64);
  std::iota(data.begin(), data.end(), 0u);
  const Arguments arguments{nullptr, 64, 7};
  const std::array transfers{hip::Transfer{0, data.data(), data.size() * 4, hip::Direction::kInOut}};
  const hip::KernelLaunch launch{
      .function = function, .arguments = std::as_bytes(std::span(&arguments, 1)), .transfers = transfers};
  if (const hip::Status status = launcher.launch(launch); !status) return fail(status.error());
  // The kernel adds a constant of its own to every element; the host backend's adds 0.
  for (std::uint32_t i = 1; i < data.size(); ++i) {
    if (data[i] - data[0] != i * 6) return fail("the kernel's result is wrong");
  }
  std::printf("launcher: %llu synchronisation\n", static_cast<unsigned long long>(launcher.counts().synchronizations));
  return 0;
}

// The argument layouts of all kernels of a module, from the metadata of its code object. Differential capture needs
// them to find addresses in the arguments of a launch.
hip::Result<hip::KernelLayouts> layouts_of(const hip::Api& api, hipModule_t module, std::span<const char> code) {
  const auto elf = hip::code_object::find_code_object(std::as_bytes(code));
  if (!elf) return elf.error();
  const auto kernels = hip::code_object::read_kernels(elf.value());
  if (!kernels) return kernels.error();
  std::map<hipFunction_t, std::vector<hip::ArgumentSlot>> slots;
  for (const hip::code_object::KernelMetadata& kernel : kernels.value()) {
    hipFunction_t function = nullptr;
    const hip::Status got = hip::call<&hip::Api::hipModuleGetFunction>(api, &function, module, kernel.name.c_str());
    if (!got) return got.error();
    slots[function] = hip::slots_of(kernel);
  }
  return hip::KernelLayouts([slots](hipFunction_t function) -> std::optional<std::vector<hip::ArgumentSlot>> {
    const auto found = slots.find(function);
    return found == slots.end() ? std::nullopt : std::optional(found->second);
  });
}

constexpr unsigned char kFilled = 7;

// Device memory in equal pieces.
class Pieces {
 public:
  static constexpr std::size_t kBytes = 256, kCount = 12;
  using Bytes = std::array<std::uint8_t, kCount * kBytes>;

  explicit Pieces(const hip::Api& api) : api_(api) {
    status_ = hip::call<&hip::Api::hipMalloc>(api, &memory_, sizeof(Bytes));
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces() { static_cast<void>(api_.hipFree(memory_)); }
  [[nodiscard]] const hip::Status& status() const { return status_; }
  [[nodiscard]] hip::DeviceAddress at(std::size_t place) const {
    return reinterpret_cast<hip::DeviceAddress>(memory_) + place * kBytes;
  }
  [[nodiscard]] hip::Status clear() const { return hip::call<&hip::Api::hipMemset>(api_, memory_, 0, sizeof(Bytes)); }
  // Waits for the work of the stream.
  [[nodiscard]] hip::Status read(const hip::StreamRef& behind, Bytes& bytes) const {
    const hip::Status done = behind.synchronize();
    if (!done) return done;
    return hip::call<&hip::Api::hipMemcpy>(api_, bytes.data(), memory_, sizeof bytes, hipMemcpyDeviceToHost);
  }

 private:
  const hip::Api& api_;
  void* memory_ = nullptr;
  hip::Status status_;
};

// A copy, and a kernel behind it that changes the copied bytes. It works like a library: it enqueues both on the given
// stream, and its arguments are gone when it returns.
hip::EnqueueAt copy_and_kernel(const hip::Api& api, hipFunction_t kernel) {
  return [&api, kernel](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    void* const to = reinterpret_cast<void*>(at[1]);
    hip::Status status = hip::call<&hip::Api::hipMemcpyAsync>(api, to, reinterpret_cast<void*>(at[0]), Pieces::kBytes,
                                                              hipMemcpyDeviceToDevice, on);
    Arguments arguments{static_cast<std::uint32_t*>(to), Pieces::kBytes / 4, 7};
    std::array<void*, 3> params{&arguments.data, &arguments.n, &arguments.k};
    if (status) {
      status =
          hip::call<&hip::Api::hipModuleLaunchKernel>(api, kernel, 1, 1, 1, 64, 1, 1, 0, on, params.data(), nullptr);
    }
    return status;
  };
}

// The bytes of the pieces after a fill of the first and the work on the first two, without a graph.
hip::Result<Pieces::Bytes> without_a_graph(const hip::Api& api, const Pieces& pieces, const hip::EnqueueAt& work,
                                           const hip::StreamRef& stream) {
  const std::array at{pieces.at(0), pieces.at(1)};
  Pieces::Bytes bytes{};
  hip::Status status = pieces.clear();
  if (status) status = hip::call<&hip::Api::hipMemset>(api, reinterpret_cast<void*>(at[0]), kFilled, Pieces::kBytes);
  if (status) status = work(stream.handle(), at);
  if (status) status = pieces.read(stream, bytes);
  return status ? hip::Result<Pieces::Bytes>(bytes) : status.error();
}

// A recorded fill, and the traced work behind it. Tracing the work at two sets of shadow addresses, with different
// lowest bytes, finds the addresses of buffers 0 and 1 in the work's nodes.
hip::Recording fill_and_trace(const Pieces& pieces, hipStream_t capturing, hip::EnqueueAt work,
                              hip::KernelLayouts layouts) {
  hipMemsetParams fill{};
  fill.dst = reinterpret_cast<void*>(pieces.at(0));
  fill.value = kFilled;
  fill.elementSize = 1;
  fill.width = fill.pitch = Pieces::kBytes;
  fill.height = 1;
  hip::TracedWork traced;
  traced.command = 1;
  traced.stream = capturing;
  traced.buffers = {0, 1};
  traced.work = std::move(work);
  traced.shadows = {.tables = {{pieces.at(4), pieces.at(6)}, {pieces.at(7) + 64, pieces.at(10) + 64}},
                    .bytes = {Pieces::kBytes, Pieces::kBytes},
                    .buffers = {0, 1}};
  traced.layouts = std::move(layouts);
  hip::Recording commands;
  const hip::NodeIndex first = commands.add({hip::MemsetRecord{fill}, {}, {{hip::Field::kMemsetDestination, 0, 0, 0}}});
  hip::RecordedNode node = hip::traced_command(std::move(traced));
  node.dependencies = {first};
  commands.add(std::move(node));
  return commands;
}

// A step, the pieces that its two buffers are in, and the expected result. The command buffer knows the quirks of the
// release, so the known work becomes nodes of the buffer's own and no trace is kept.
struct ReplayedStep {
  std::array<std::size_t, 2> places;
  hip::StepDecision decision;
  std::uint32_t patched;  // nodes
};

// The step goes the way that it should, and leaves the bytes that are expected in its two pieces and in no other.
int replay(hip::CommandBuffer& buffer, const ReplayedStep& step, const Pieces& pieces, const hip::StreamRef& stream,
           const Pieces::Bytes& eager) {
  if (const hip::Status status = pieces.clear(); !status) return fail(status.error());
  const std::array addresses{pieces.at(step.places[0]), pieces.at(step.places[1])};
  const hip::Result<hip::CommandStep> done = buffer.step(addresses, stream);
  if (!done) return fail(done.error());
  const hip::TraceUse& traces = done.value().traces;
  const std::uint64_t used = traces.hits + traces.patched + traces.captured;
  if (done.value().decision != step.decision) return fail("the command buffer took another way");
  if (used != 0 || done.value().patched.nodes != step.patched) return fail("what was traced took another way");
  Pieces::Bytes bytes{}, expected{};
  if (const hip::Status status = pieces.read(stream, bytes); !status) return fail(status.error());
  for (std::size_t i = 0; i < step.places.size(); ++i) {
    std::memcpy(expected.data() + step.places[i] * Pieces::kBytes, eager.data() + i * Pieces::kBytes, Pieces::kBytes);
  }
  return bytes == expected ? 0 : fail("the command buffer did not leave what the same work leaves without a graph");
}

// Recorded at the first step, launched at the second, and patched when the buffers have moved: the kernel, too. It
// knows the release.
int replay_commands(const hip::Api& api, hipFunction_t kernel, hip::KernelLayouts layouts,
                    const hip::ReleaseQuirks& quirks) {
  const Pieces pieces(api);
  if (!pieces.status()) return fail(pieces.status().error());
  hip::Result<hip::Stream> stream = hip::Stream::create(api), capturing = hip::Stream::create(api);
  if (!stream || !capturing) return fail("no streams");
  const hip::EnqueueAt work = copy_and_kernel(api, kernel);
  const hip::Result<Pieces::Bytes> eager = without_a_graph(api, pieces, work, stream.value());
  if (!eager) return fail(eager.error());
  const auto memory = [](hip::BufferIndex) { return hip::BufferMemory::kDevice; };
  hip::CommandBuffer buffer(api, {.quirks = quirks, .memory = memory});
  buffer.set(fill_and_trace(pieces, capturing.value().ref().handle(), work, std::move(layouts)));
  for (const ReplayedStep& step :
       {ReplayedStep{{0, 1}, hip::StepDecision::kRecord, 0}, ReplayedStep{{0, 1}, hip::StepDecision::kLaunch, 0},
        ReplayedStep{{2, 3}, hip::StepDecision::kPatch, 3}}) {
    if (const int failed = replay(buffer, step, pieces, stream.value(), eager.value())) return failed;
  }
  std::printf("command buffer: recorded, launched, patched, with a kernel's argument found by its metadata\n");
  return 0;
}

// The opaque work of a library: captured at a new address of its buffer, replayed at a known one. The cache keeps two
// traces.
int replay_a_library(const hip::Api& api, const hip::ReleaseQuirks& quirks) {
  const Pieces pieces(api);
  if (!pieces.status()) return fail(pieces.status().error());
  hip::Result<hip::Stream> stream = hip::Stream::create(api), capturing = hip::Stream::create(api);
  if (!stream || !capturing) return fail("no streams");
  const hip::StreamRef on = stream.value();
  hip::TraceCache cache({.max_traces = 2});
  const auto record = [&](std::span<const hip::TraceBuffer> now) {
    const hip::DeviceAddress to = now[0].address;
    const auto work = [&api, to](hipStream_t captured) {
      return hip::call<&hip::Api::hipMemsetAsync>(api, reinterpret_cast<void*>(to), kFilled, Pieces::kBytes, captured);
    };
    return hip::capture_trace(api, capturing.value().ref().handle(), work, {}, quirks);
  };
  for (const std::size_t place : {0, 0, 1, 0, 2, 1}) {
    if (const hip::Status status = pieces.clear(); !status) return fail(status.error());
    // Each place is a buffer of its own: an allocator that gives an address away again gives it another identity.
    const std::array now{hip::TraceBuffer{place + 1, pieces.at(place)}};
    const hip::Result<hip::TraceOutcome> done = cache.execute(1, now, on, record);
    if (!done) return fail(done.error());
    Pieces::Bytes bytes{}, expected{};
    if (const hip::Status status = pieces.read(on, bytes); !status) return fail(status.error());
    std::memset(expected.data() + place * Pieces::kBytes, kFilled, Pieces::kBytes);
    if (bytes != expected) return fail("a trace did not leave what the library leaves");
  }
  const hip::TraceCacheCounts counts = cache.counts();
  if (counts.recorded != 4 || counts.hits != 2 || counts.evicted != 2) return fail("the traces took another way");
  std::printf("trace cache: 6 steps, 4 captures\n");
  return 0;
}

int run_all(const hip::Api& api, hipFunction_t function, const hip::ReleaseQuirks& quirks) {
  if (const int failed = reuse_a_stream(api)) return failed;
  if (const int failed = order_two_streams(api)) return failed;
  if (const int failed = call_back(api)) return failed;
  if (const int failed = use_scratch(api, quirks)) return failed;
  if (const int failed = keep_buffers(api)) return failed;
  if (const int failed = keep_addresses(api, quirks)) return failed;
  return launch(api, function, quirks);
}

int run_on_the_host() {
  const hip::Result<hip::ReleaseQuirks> quirks = quirks_of(hip::host_api());
  return quirks ? run_all(hip::host_api(), hip::host_function(kOnTheHost), quirks.value()) : fail(quirks.error());
}

int run_on_a_runtime(const char* library, const char* code_object) {
  // Refused: a runtime that is older than 6.4, and one without these functions.
  const hip::Result<hip::LoadedApi> loaded =
      hip::load_api(library, {.functions = {"hipMallocAsync", "hipLaunchHostFunc"}});
  if (!loaded) return fail(loaded.error());
  const hip::Api& api = loaded.value().api;
  const hip::Result<hip::ReleaseQuirks> quirks = quirks_of(api);
  if (!quirks) return fail(quirks.error());
  std::ifstream file(code_object, std::ios::binary);
  const std::vector<char> code{std::istreambuf_iterator<char>(file), {}};
  if (code.empty()) return fail("the code object cannot be read");
  hipModule_t module = nullptr;
  hipFunction_t function = nullptr;
  hip::Status status = hip::call<&hip::Api::hipModuleLoadData>(api, &module, code.data());
  if (status) status = hip::call<&hip::Api::hipModuleGetFunction>(api, &function, module, "inplace_u32");
  if (!status) return fail(status.error());
  int failed = run_all(api, function, quirks.value());
  if (failed == 0) failed = share_the_streams(loaded.value());
  if (failed == 0) failed = replay_a_library(api, quirks.value());
  if (failed == 0) {
    const hip::Result<hip::KernelLayouts> layouts = layouts_of(api, module, code);
    failed = layouts ? replay_commands(api, function, layouts.value(), quirks.value()) : fail(layouts.error());
  }
  status = hip::call<&hip::Api::hipModuleUnload>(api, module);
  return status ? failed : fail(status.error());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) return run_on_the_host();
  if (argc == 3) return run_on_a_runtime(argv[1], argv[2]);
  std::fprintf(stderr, "usage: systems [LIBRARY CODE_OBJECT]\n");
  return 2;
}
