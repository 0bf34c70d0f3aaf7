#include "hip/launcher.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <optional>
#include <utility>

#include "hip/beside_captures.h"
#include "hip/device_scope.h"
#include "hip/event.h"
#include "hip/pieces.h"
#include "hip/scratch_buffer.h"

namespace hip {
namespace {

constexpr std::size_t kPointerBytes = sizeof(void*);

bool goes_in(const Transfer& transfer) {
  return transfer.bytes != 0 && transfer.direction != Direction::kOut;
}
bool comes_out(const Transfer& transfer) {
  return transfer.bytes != 0 && transfer.direction != Direction::kIn;
}

Status check(const KernelLaunch& launch) {
  for (const Transfer& transfer : launch.transfers) {
    if (std::uint64_t{transfer.argument_offset} + kPointerBytes > launch.arguments.size()) {
      return Error{hipErrorInvalidValue, "an array's address lies outside the argument block"};
    }
    if (transfer.bytes != 0 && transfer.host == nullptr) {
      return Error{hipErrorInvalidValue, "an array of a launch is null"};
    }
  }
  return {};
}

// Pinned memory that only grows.
class Staging {
 public:
  Staging(const Api& api, ErrorSink errors) : api_(api), errors_(errors) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    for (int attempt = 0; data_ != nullptr && attempt < 2; ++attempt) errors_(release(&data_));
    for (int attempt = 0; stuck_ != nullptr && attempt < 2; ++attempt) errors_(release(&stuck_));
  }

  Status reserve(std::size_t bytes) {
    if (stuck_ != nullptr) {
      if (Status status = release(&stuck_); !status) return status;
    }
    if (bytes <= capacity_) return {};
    void* bigger = nullptr;
    if (Status status = call<&Api::hipHostMalloc>(api_, &bigger, bytes, 0); !status) return status;
    stuck_ = std::exchange(data_, bigger);
    capacity_ = bytes;
    return stuck_ == nullptr ? Status() : release(&stuck_);
  }
  [[nodiscard]] std::byte* at(std::size_t offset) const { return static_cast<std::byte*>(data_) + offset; }

 private:
  Status release(void** memory) {
    Status status = call<&Api::hipHostFree>(api_, *memory);
    if (status) *memory = nullptr;
    return status;
  }

  const Api& api_;
  ErrorSink errors_;
  void* data_ = nullptr;
  void* stuck_ = nullptr;  // could not be freed yet
  std::size_t capacity_ = 0;
};

}  // namespace

// The workspace of one launch. One thread at a time.
class Launcher::Context {
 public:
  Context(const Api& api, const LauncherOptions& options, Event done)
      : home_(StreamRef::of_default(api, options.device)),
        stream_(home_),
        errors_(options.errors),
        done_(std::move(done)),
        device_(home_, {.free_async = options.free_async, .errors = options.errors}),
        staging_(api, options.errors) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  // Waits for the context's work. If that fails, the error is reported, and the memory is given back all the same.
  ~Context() {
    // A failure may be transient: try once more.
    for (int attempt = 0; state_ != State::kIdle && attempt < 2; ++attempt) errors_(settle());
    rest();
  }

  [[nodiscard]] bool at_rest() const { return state_ == State::kIdle; }
  // Whether its work is done; if so, the context becomes idle. False also if the query fails, which is reported.
  [[nodiscard]] bool finished() {
    if (state_ != State::kInFlight) return at_rest();
    const Result<bool> done = done_.done();
    if (!done) {
      errors_(done.error());
      return false;
    }
    if (done.value()) rest();
    return done.value();
  }
  // Waits for the work that is in flight.
  Status settle() {
    Status status;
    if (state_ == State::kInFlight) status = done_.synchronize();
    if (state_ == State::kUnknown) status = synchronize_device(home_.api(), home_.device(), errors_);
    if (status) rest();
    return status;
  }

  // Enqueues everything, and waits if there are results to bring back.
  Status run(const StreamRef& stream, const KernelLaunch& launch, bool* synchronized);

 private:
  enum class State : std::uint8_t {
    kIdle,
    kInFlight,  // until the event is done
    kUnknown,   // after a failure half-way, until the device is done (the stream may be gone by then)
  };

  // An idle context is bound to no client's stream: that stream may be destroyed before the context.
  void rest() {
    state_ = State::kIdle;
    stream_ = home_;
    device_.rebind(home_);
  }
  Status prepare(const KernelLaunch& launch);
  Status enqueue(const KernelLaunch& launch);
  Status copy_in(const KernelLaunch& launch);
  Status copy_out(const KernelLaunch& launch);

  const StreamRef home_;
  StreamRef stream_;
  ErrorSink errors_;
  State state_ = State::kIdle;
  Event done_;
  ScratchBuffer device_;
  Staging staging_;
  std::vector<std::byte> arguments_;
  std::vector<std::size_t> offsets_;  // of the transfers, in both buffers
};

// Makes the buffers large enough, and writes the arrays' addresses into the argument block. Gives the stream no work
// except for growing the device buffer.
Status Launcher::Context::prepare(const KernelLaunch& launch) {
  std::size_t total = 0;
  offsets_.clear();
  for (const Transfer& transfer : launch.transfers) {
    offsets_.push_back(total);
    const std::optional<std::size_t> next = behind_piece(total, transfer.bytes);
    if (!next) return Error{hipErrorOutOfMemory, "the arrays of a launch have more bytes than there are"};
    total = *next;
  }
  // Both buffers grow before an address is taken: growing makes earlier addresses invalid.
  const Result<void*> memory = device_.reserve(total);
  if (!memory) return memory.error();
  if (Status status = staging_.reserve(total); !status) return status;
  arguments_.assign(launch.arguments.begin(), launch.arguments.end());
  for (std::size_t i = 0; i < launch.transfers.size(); ++i) {
    const Transfer& transfer = launch.transfers[i];
    const void* address = transfer.bytes == 0 ? nullptr : static_cast<std::byte*>(memory.value()) + offsets_[i];
    std::memcpy(arguments_.data() + transfer.argument_offset, &address, kPointerBytes);
  }
  return {};
}

Status Launcher::Context::copy_in(const KernelLaunch& launch) {
  for (std::size_t i = 0; i < launch.transfers.size(); ++i) {
    const Transfer& transfer = launch.transfers[i];
    if (!goes_in(transfer)) continue;
    std::memcpy(staging_.at(offsets_[i]), transfer.host, transfer.bytes);
    Status status =
        call<&Api::hipMemcpyAsync>(stream_.api(), static_cast<std::byte*>(device_.data()) + offsets_[i],
                                   staging_.at(offsets_[i]), transfer.bytes, hipMemcpyHostToDevice, stream_.handle());
    if (!status) return status;
  }
  return {};
}

Status Launcher::Context::copy_out(const KernelLaunch& launch) {
  for (std::size_t i = 0; i < launch.transfers.size(); ++i) {
    const Transfer& transfer = launch.transfers[i];
    if (!comes_out(transfer)) continue;
    Status status = call<&Api::hipMemcpyAsync>(stream_.api(), staging_.at(offsets_[i]),
                                               static_cast<std::byte*>(device_.data()) + offsets_[i], transfer.bytes,
                                               hipMemcpyDeviceToHost, stream_.handle());
    if (!status) return status;
  }
  return {};
}

Status Launcher::Context::enqueue(const KernelLaunch& launch) {
  if (Status status = copy_in(launch); !status) return status;
  std::size_t size = arguments_.size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments_.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  Status launched = call<&Api::hipModuleLaunchKernel>(
      stream_.api(), launch.function, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
      launch.block.z, launch.shared_bytes, stream_.handle(), nullptr, size == 0 ? nullptr : extra);
  if (!launched) return launched;
  return copy_out(launch);
}

Status Launcher::Context::run(const StreamRef& stream, const KernelLaunch& launch, bool* synchronized) {
  stream_ = stream;
  device_.rebind(stream);
  const bool brings_back = std::ranges::any_of(launch.transfers, comes_out);
  state_ = State::kUnknown;
  if (Status status = prepare(launch); !status) return status;
  if (Status status = enqueue(launch); !status) return status;
  if (!brings_back) {
    Status recorded = done_.record(stream);
    if (recorded) state_ = State::kInFlight;
    return recorded;
  }
  *synchronized = true;
  if (Status status = stream_.synchronize(); !status) return status;
  for (std::size_t i = 0; i < launch.transfers.size(); ++i) {
    const Transfer& transfer = launch.transfers[i];
    if (comes_out(transfer)) std::memcpy(transfer.host, staging_.at(offsets_[i]), transfer.bytes);
  }
  rest();
  return {};
}

Launcher::Launcher(const Api& api, const LauncherOptions& options) : api_(api), options_(options) {
  assert(options.max_contexts != 0);
  pool_.write().contexts.reserve(options.max_contexts);
}

// The contexts wait for their work and give their memory back.
Launcher::~Launcher() {
  const BesideCaptures beside(api_, options_.errors);
  pool_.write().contexts.clear();
}

Status Launcher::launch(const KernelLaunch& launch) {
  return launch_on(CurrentStream::get().value_or(StreamRef::of_default(api_, options_.device)), launch);
}

Status Launcher::launch_on(const StreamRef& stream, const KernelLaunch& launch) {
  if (stream.device() != options_.device) {
    return Error{hipErrorInvalidDevice, "the active stream belongs to another device than the launcher"};
  }
  if (Status status = check(launch); !status) return status;
  const Result<bool> captures = stream.capturing();
  if (!captures) return captures.error();
  if (captures.value()) return Error{hipErrorStreamCaptureUnsupported, "a launcher's launch is no part of a graph"};
  const BesideCaptures beside(api_, options_.errors);
  // If the caller's device cannot be made current again, the error goes to the sink and the launch's result stays.
  const Result<DeviceScope> scope = DeviceScope::enter(api_, options_.device, options_.errors);
  if (!scope) return scope.error();
  Result<std::unique_ptr<Context>> taken = take();
  if (!taken) return taken.error();
  std::unique_ptr<Context> context = std::move(taken).value();
  bool synchronized = false;
  Status status = context->run(stream, launch, &synchronized);
  {
    const sync::LockGuard lock(mutex_);
    LauncherCounts& counts = pool_.write().counts;
    ++counts.launches;
    if (synchronized) ++counts.synchronizations;
  }
  give_back(std::move(context));
  return status;
}

// Takes the oldest context with finished work, so that a long launch blocks no other. Null if there is none and the
// caller may make a new context; if no more may be made, takes the oldest context with work that is not done. Contexts
// are queried under the lock: a query is quick, and other launches find only contexts that are in the pool.
std::unique_ptr<Launcher::Context> Launcher::pick() {
  sync::UniqueLock lock(mutex_);
  const auto may_make = [&] { return pool_.read().made < options_.max_contexts; };
  returned_.wait(lock, [&] { return !pool_.read().contexts.empty() || may_make(); });
  Pool& pool = pool_.write();
  auto picked = std::ranges::find_if(pool.contexts, [](const auto& each) { return each->finished(); });
  if (picked == pool.contexts.end()) {
    if (may_make()) {
      ++pool.made;
      return nullptr;
    }
    picked = pool.contexts.begin();
    ++pool.counts.waits;
  }
  std::unique_ptr<Context> context = std::move(*picked);
  pool.contexts.erase(picked);
  return context;
}

Result<std::unique_ptr<Launcher::Context>> Launcher::take() {
  std::unique_ptr<Context> context = pick();
  if (context == nullptr) return make();
  const Status settled = context->settle();
  if (settled) return context;
  give_back(std::move(context));
  return settled.error();
}

// Makes a context that pool_.made counts already.
Result<std::unique_ptr<Launcher::Context>> Launcher::make() {
  Result<Event> done = Event::create(api_, {.device = options_.device, .errors = options_.errors});
  const sync::LockGuard lock(mutex_);
  if (!done) {
    --pool_.write().made;
    returned_.notify_one();
    return done.error();
  }
  ++pool_.write().counts.contexts;
  return std::make_unique<Context>(api_, options_, std::move(done).value());
}

// Idle contexts come first, so that the next launch finds one without a query.
void Launcher::give_back(std::unique_ptr<Context> context) {
  const sync::LockGuard lock(mutex_);
  std::vector<std::unique_ptr<Context>>& contexts = pool_.write().contexts;
  const bool rests = context->at_rest();
  contexts.insert(rests ? contexts.begin() : contexts.end(), std::move(context));
  returned_.notify_one();
}

LauncherCounts Launcher::counts() const {
  const sync::LockGuard lock(mutex_);
  return pool_.read().counts;
}

}  // namespace hip
