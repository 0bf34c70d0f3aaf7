#include "verify/systems/parts.h"

#include <utility>
#include <vector>

#include "hip/captured_graph.h"
#include "hip/command_buffer.h"
#include "hip/device_scope.h"
#include "hip/errors.h"

namespace verify {
namespace {

class RealStreamCache final : public StreamCachePart {
 public:
  RealStreamCache(const hip::Api& api, hip::ErrorSink errors)
      : cache_(std::in_place, api, hip::StreamCacheOptions{kScenarioMaxIdle, errors}) {}

  hip::Result<hip::StreamRef> acquire(int lease, const hip::StreamKey& key) override {
    hip::Result<hip::StreamLease> made = cache_->acquire(key);
    if (!made) return made.error();
    std::optional<hip::StreamLease>& place = leases_[static_cast<std::size_t>(lease)];
    place.emplace(std::move(made).value());
    return place->ref();
  }
  hip::Status release(int lease) override {
    std::optional<hip::StreamLease>& place = leases_[static_cast<std::size_t>(lease)];
    if (!place) return {};
    hip::Status status = place->release();
    place.reset();
    return status;
  }
  hip::Status clear() override { return cache_->clear(); }
  void close() override { cache_.reset(); }

 private:
  // A lease may end before its cache or after it: scenarios have both orders.
  std::array<std::optional<hip::StreamLease>, kLeases> leases_;
  std::optional<hip::StreamCache> cache_;
};

class RealStreams final : public StreamsPart {
 public:
  hip::Status synchronize(const hip::StreamRef& stream) override { return stream.synchronize(); }
  void enter(const hip::StreamRef& stream) override { scopes_.push_back(std::make_unique<hip::CurrentStream>(stream)); }
  void leave() override { scopes_.pop_back(); }
  std::optional<hip::StreamRef> current() override { return hip::CurrentStream::get(); }
  ~RealStreams() override {
    while (!scopes_.empty()) scopes_.pop_back();
  }

 private:
  std::vector<std::unique_ptr<hip::CurrentStream>> scopes_;
};

class RealScratch final : public ScratchPart {
 public:
  explicit RealScratch(hip::ScratchBuffer buffer) : buffer_(std::move(buffer)) {}
  hip::Result<void*> reserve(std::size_t bytes) override { return buffer_.reserve(bytes); }
  hip::Result<std::array<void*, 2>> pieces(std::size_t first, std::size_t second) override {
    std::array<void*, 2> out{};
    const std::array sizes{first, second};
    if (const hip::Status status = buffer_.carve(sizes, out); !status) return status.error();
    return out;
  }
  [[nodiscard]] void* data() const override { return buffer_.data(); }
  [[nodiscard]] std::size_t capacity() const override { return buffer_.capacity(); }
  [[nodiscard]] hip::StreamRef stream() const override { return buffer_.stream(); }
  hip::Status release() override { return buffer_.release(); }
  std::unique_ptr<ScratchPart> move_out() override {
    return std::make_unique<RealScratch>(hip::ScratchBuffer(std::move(buffer_)));
  }

 private:
  hip::ScratchBuffer buffer_;
};

class RealLauncher final : public LauncherPart {
 public:
  RealLauncher(const hip::Api& api, const hip::ReleaseQuirks& quirks, hip::ErrorSink errors)
      : launcher_(
            api,
            {.device = 0, .max_contexts = kScenarioContexts, .free_async = quirks.of_free_async(), .errors = errors}) {}
  hip::Status launch(const hip::KernelLaunch& launch) override { return launcher_.launch(launch); }

 private:
  hip::Launcher launcher_;
};

class RealStabilizer final : public StabilizerPart {
 public:
  RealStabilizer(const hip::Api& api, const hip::ReleaseQuirks& quirks, hip::ErrorSink errors)
      : stabilizer_(api, {.device = 0, .follow_capturing = quirks.of_follow_capturing(), .errors = errors}) {}
  hip::Result<hip::StableStep> step(std::uint32_t command, std::span<const hip::StepBuffer> buffers,
                                    const hip::StreamRef& stream, hip::StableWork& work) override {
    return stabilizer_.step(command, buffers, stream, work);
  }
  hip::Status release(std::uint32_t command) override { return stabilizer_.release(command); }

 private:
  hip::AddressStabilizer stabilizer_;
};

// Passes calls on to the peers of the present step: a cache or a command buffer gets its peers once, when it is made.
class PeersOfStep final : public hip::RankAgreement {
 public:
  void are(hip::RankAgreement* peers) { peers_ = peers; }
  hip::Result<bool> all(bool mine) override { return peers_->all(mine); }

 private:
  hip::RankAgreement* peers_ = nullptr;
};

class RealTraces final : public TracesPart {
 public:
  RealTraces(const hip::Api& api, hip::ErrorSink errors)
      : api_(api),
        errors_(errors),
        cache_({.max_traces = kScenarioTraces}),
        ranks_cache_({.max_traces = kScenarioTraces, .ranks = &peers_}) {}

  hip::Status step(std::uint64_t command, std::span<const hip::TraceBuffer> buffers, const hip::StreamRef& stream,
                   const Work& work) override {
    return through(cache_, command, buffers, stream, work);
  }
  hip::Status rank(std::uint64_t command, std::span<const hip::TraceBuffer> buffers, const hip::StreamRef& stream,
                   const Work& work, hip::RankAgreement& peers) override {
    peers_.are(&peers);
    return through(ranks_cache_, command, buffers, stream, work);
  }

  hip::Status body(const Body& body, const hip::StreamRef& stream,
                   const std::function<void(hipGraph_t)>& look) override {
    std::optional<Held>& held = bodies_[body.number];
    if (!held) {
      const hip::Result<int> version = hip::version_of_release(api_);
      if (!version) return version.error();
      held.emplace(api_, errors_, version.value(), body.peers == nullptr ? nullptr : &peers_);
    }
    peers_.are(body.peers);
    if (held->version != body.version) held->buffer.set(body.commands);
    held->version = body.version;
    const hip::Result<hip::CommandStep> step = held->buffer.step(body.addresses, stream);
    if (!step) return step.error();
    if (held->buffer.graph() != nullptr) look(held->buffer.graph());
    return {};
  }

 private:
  struct Held {
    Held(const hip::Api& api, hip::ErrorSink errors, int runtime, hip::RankAgreement* ranks)
        : buffer(api, {.ranks = ranks, .quirks = hip::ReleaseQuirks::of_version(runtime), .errors = errors}) {}
    hip::CommandBuffer buffer;
    std::uint64_t version = 0;
  };

  hip::Status through(hip::TraceCache& cache, std::uint64_t command, std::span<const hip::TraceBuffer> buffers,
                      const hip::StreamRef& stream, const Work& work) {
    const hip::Result<hip::DeviceScope> scope = hip::DeviceScope::enter(api_, 0, errors_);
    if (!scope) return scope.error();
    if (!capturing_) {
      hip::Result<hip::Stream> made = hip::Stream::create(api_, {.flags = hipStreamNonBlocking}, errors_);
      if (!made) return made.error();
      capturing_.emplace(std::move(made).value());
    }
    const auto record = [&](std::span<const hip::TraceBuffer> now) {
      return hip::capture_trace(
          api_, capturing_->ref().handle(), [&](hipStream_t on) { return work(on, now); }, errors_,
          hip::ReleaseQuirks::of_version(0));  // of no release: traces end in the way that is right on every release
    };
    const hip::Result<hip::TraceOutcome> outcome = cache.execute(command, buffers, stream, record);
    return outcome ? hip::Status() : outcome.error();
  }

  const hip::Api& api_;
  hip::ErrorSink errors_;
  std::optional<hip::Stream> capturing_;
  PeersOfStep peers_;
  hip::TraceCache cache_, ranks_cache_;
  std::array<std::optional<Held>, kTraceBodies> bodies_;
};

class RealRemapper final : public RemapperPart {
 public:
  RealRemapper(const hip::Api& api, const RemapperOptions& options) {
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      const hip::RemappedBuffer& buffer = options.buffers[i];
      commands_[i].buffers.emplace(
          api, std::vector<hip::RemappedBuffer>{buffer, buffer},
          hip::RemappedBuffersOptions{.devices = options.devices, .errors = options.errors, .ranges = options.ranges});
    }
  }
  hip::Status step(const Step& step) override {
    Command& command = commands_[step.command];
    command.work = &step.work;
    command.number = step.number;
    const hip::Result<hip::RemappedStep> done = command.buffers->step(step.memories, step.stream, command);
    return done ? hip::Status() : done.error();
  }
  hip::Status withdraw(std::uint64_t memory) override {
    hip::Status all;
    for (Command& command : commands_) all = hip::both(std::move(all), command.buffers->withdraw(memory));
    return all;
  }
  hip::Status clear(std::size_t command) override { return commands_[command].buffers->clear(); }

 private:
  struct Command final : hip::RemappedWork {
    hip::Status record(std::size_t set, std::span<void* const> addresses) override {
      return work->record(set, addresses, number);
    }
    hip::Status launch(std::size_t set, const hip::StreamRef& stream) override { return work->launch(set, stream); }
    std::optional<hip::RemappedBuffers> buffers;
    Work* work = nullptr;
    std::uint64_t number = 0;
  };
  std::array<Command, kRemapCommands> commands_;
};

}  // namespace

Parts real_parts(const hip::ReleaseQuirks& quirks) {
  Parts parts;
  parts.stream_cache = [](const hip::Api& api, hip::ErrorSink errors) {
    return std::make_unique<RealStreamCache>(api, errors);
  };
  parts.streams = [] { return std::make_unique<RealStreams>(); };
  parts.scratch = [quirks](const hip::StreamRef& stream, hip::ErrorSink errors) {
    return std::make_unique<RealScratch>(hip::ScratchBuffer(
        stream, {.granularity = kScenarioGranularity, .free_async = quirks.of_free_async(), .errors = errors}));
  };
  parts.launcher = [quirks](const hip::Api& api, hip::ErrorSink errors) {
    return std::make_unique<RealLauncher>(api, quirks, errors);
  };
  parts.stabilizer = [quirks](const hip::Api& api, hip::ErrorSink errors) {
    return std::make_unique<RealStabilizer>(api, quirks, errors);
  };
  parts.traces = [](const hip::Api& api, hip::ErrorSink errors) { return std::make_unique<RealTraces>(api, errors); };
  parts.remapper = [](const hip::Api& api, const RemapperOptions& options) {
    return std::make_unique<RealRemapper>(api, options);
  };
  return parts;
}

}  // namespace verify
