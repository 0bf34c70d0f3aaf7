// Threads that launch through one launcher, each on a stream of its own, with and without a result to bring back.
#include "hip/launcher.h"

#include <array>
#include <vector>

#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

enum LaunchVerb : std::uint8_t { kLaunch, kResult };
constexpr std::size_t kBytes = 64;

class LauncherLike {
 public:
  virtual ~LauncherLike() = default;
  virtual hip::Status launch_on(const hip::StreamRef& stream, const hip::KernelLaunch& launch) = 0;
};

class RealLauncher final : public LauncherLike {
 public:
  explicit RealLauncher(std::size_t contexts)
      : launcher_(FakeHip::api(), {.max_contexts = contexts, .errors = no_sink()}) {}
  hip::Status launch_on(const hip::StreamRef& stream, const hip::KernelLaunch& launch) override {
    return launcher_.launch_on(stream, launch);
  }

 private:
  hip::Launcher launcher_;
};

// F37: a launch puts its context on the list of contexts to be freed while it still uses the context. Every launch
// begins by freeing the contexts on the list.
class DeferringLauncher final : public LauncherLike {
 public:
  ~DeferringLauncher() override { drain(); }

  [[gnu::no_sanitize_address]] hip::Status launch_on(const hip::StreamRef& stream,
                                                     const hip::KernelLaunch& launch) override {
    drain();
    Context* const context = new Context;
    context->bytes.write() = launch.arguments.size();
    hip::Status status = hip::called(FakeHip::api().hipMalloc(&context->memory, kBytes), "hipMalloc");
    if (!status) {
      delete context;
      return status;
    }
    {
      const hip::sync::LockGuard lock(mutex_);
      deferred_.write().push_back(context);
    }
    status = hip::called(FakeHip::api().hipMemcpyAsync(context->memory, launch.arguments.data(), context->bytes.read(),
                                                       hipMemcpyHostToDevice, stream.handle()),
                         "hipMemcpyAsync");
    if (!status) return status;
    return hip::called(FakeHip::api().hipModuleLaunchKernel(launch.function, 1, 1, 1, 1, 1, 1, 0, stream.handle(),
                                                            &context->memory, nullptr),
                       "hipModuleLaunchKernel");
  }

 private:
  struct Context {
    void* memory = nullptr;
    hip::sync::Cell<std::size_t> bytes{0};
  };
  void drain() {
    std::vector<Context*> contexts;
    {
      const hip::sync::LockGuard lock(mutex_);
      contexts.swap(deferred_.write());
    }
    for (Context* const context : contexts) {
      (void)FakeHip::api().hipFree(context->memory);
      delete context;
    }
  }

  hip::sync::Mutex mutex_;
  hip::sync::Cell<std::vector<Context*>> deferred_;  // guarded by mutex_
};

class LauncherWorld final : public World {
 public:
  LauncherWorld(Referee& referee, std::unique_ptr<LauncherLike> launcher)
      : referee_(referee), hip_(referee), launcher_(std::move(launcher)) {
    for (hipStream_t& stream : streams_) (void)FakeHip::api().hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
  }

  std::int64_t call(unsigned thread, const Call& call) override {
    std::array<std::byte, 16> arguments{};
    std::array<std::byte, kBytes> result{};
    const hip::Transfer transfer{.argument_offset = 0,
                                 .host = result.data(),
                                 .bytes = kBytes,
                                 .direction = call.verb == kResult ? hip::Direction::kOut : hip::Direction::kIn};
    hip::KernelLaunch launch;
    launch.function = reinterpret_cast<hipFunction_t>(this);  // a handle that is never dereferenced
    launch.arguments = arguments;
    launch.transfers = {&transfer, 1};
    const hip::StreamRef stream(FakeHip::api(), streams_.at(thread), 0);
    const hip::Status status = launcher_->launch_on(stream, launch);
    if (!status) referee_.broken(FailureKind::kInvariant, "S1", "a launch fails: " + status.error().message);
    return 0;
  }

  void finish() override {
    launcher_.reset();
    for (hipStream_t& stream : streams_) (void)FakeHip::api().hipStreamDestroy(stream);
    hip_.expect_nothing_left();
  }

 private:
  Referee& referee_;
  FakeHip hip_;
  std::array<hipStream_t, kMaxClientThreads> streams_{};
  std::unique_ptr<LauncherLike> launcher_;
};

}  // namespace

Scenario launcher_scenario() {
  const Call launch{kLaunch}, result{kResult};
  return {
      .name = "launcher",
      .system = "launcher",
      .summary = "launches on several streams through the contexts of one launcher",
      .verbs = {{"launch"}, {"result"}},
      .plans = {{"two threads", {{}, {{launch, result, launch}, {launch, launch, result}}, {}}},
                {"three threads", {{}, {{launch, result}, {result}, {launch}}, {}}}},
      .make = [](Referee& referee, std::string_view fault) -> std::unique_ptr<World> {
        std::unique_ptr<LauncherLike> launcher = std::make_unique<RealLauncher>(1);
        if (fault == "F37") launcher = std::make_unique<DeferringLauncher>();
        return std::make_unique<LauncherWorld>(referee, std::move(launcher));
      },
      .property = "S1",
      .faults = {"F37"},
  };
}

}  // namespace verify::race
