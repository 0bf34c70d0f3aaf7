// Threads that launch executable graphs and destroy them while their launches are still to run, on the host model.
//
// A lock guards the model's runtime, as in the model's drop-in library. Destroying an executable graph may be followed
// by its launches' work: HIP's documentation of hipGraphExecDestroy lets launches in flight end.
#include <array>

#include "hip/sync/sync.h"
#include "hip/worker_thread.h"
#include "model/runtime.h"
#include "verify/race/scenarios/scenarios.h"

namespace verify::race {
namespace {

enum ExecVerb : std::uint8_t { kLaunchExec, kDestroyExec, kSynchronizeStream };

// Each thread has a stream, and an executable graph with one host function, which the first launch instantiates.
class ModelLaunches {
 public:
  ModelLaunches() {
    for (std::size_t i = 0; i < kMaxClientThreads; ++i) {
      OfThread& own = threads_.at(i);
      own.stream = &runtime_.create_stream(model::kStreamNonBlocking, 0, 0);
      own.graph = &runtime_.create_graph();
      const auto count = [](void* ran) { ++*static_cast<std::int64_t*>(ran); };
      model::Node* node = nullptr;
      (void)own.graph->add(model::HostParams{count, &own.ran}, {}, &node);
    }
  }
  virtual ~ModelLaunches() = default;

  virtual void launch(unsigned thread) {
    const hip::sync::LockGuard lock(mutex_);
    OfThread& own = threads_.at(thread);
    if (own.exec == nullptr) (void)runtime_.instantiate(*own.graph, &own.exec);
    (void)runtime_.launch(*own.exec, *own.stream);
  }
  virtual void destroy(unsigned thread) {
    const hip::sync::LockGuard lock(mutex_);
    OfThread& own = threads_.at(thread);
    if (own.exec != nullptr) runtime_.destroy_exec(*own.exec);
    own.exec = nullptr;
  }
  // Returns how often the thread's host function has run.
  virtual std::int64_t synchronize(unsigned thread) {
    const hip::sync::LockGuard lock(mutex_);
    (void)runtime_.synchronize(*threads_.at(thread).stream);
    return threads_.at(thread).ran;
  }

 private:
  struct OfThread {
    model::Stream* stream = nullptr;
    model::Graph* graph = nullptr;
    model::GraphExec* exec = nullptr;
    std::int64_t ran = 0;
  };

  hip::sync::Mutex mutex_;
  model::Runtime runtime_;  // guarded by mutex_, as all below
  std::array<OfThread, kMaxClientThreads> threads_;
};

// U29: each launch's completion is counted in a record of the executable graph, by a thread of the runtime. Destroying
// the executable graph frees the record, and waits for no completion.
class FreesOwnerEarly final : public ModelLaunches {
 public:
  FreesOwnerEarly() : completions_(std::move(hip::WorkerThread::start({.errors = no_sink()})).value()) {}
  ~FreesOwnerEarly() override { (void)completions_->drain(); }

  void launch(unsigned thread) override {
    ModelLaunches::launch(thread);
    std::unique_ptr<Record>& record = records_.at(thread);
    if (!record) record = std::make_unique<Record>();
    (void)completions_->post([owner = record.get()] { ++owner->completed.write(); });
  }
  void destroy(unsigned thread) override {
    records_.at(thread).reset();
    ModelLaunches::destroy(thread);
  }
  std::int64_t synchronize(unsigned thread) override {
    (void)completions_->drain();
    return ModelLaunches::synchronize(thread);
  }

 private:
  struct Record {
    hip::sync::Cell<int> completed;
  };

  std::array<std::unique_ptr<Record>, kMaxClientThreads> records_;  // each used by its thread, and by completions_
  std::unique_ptr<hip::WorkerThread> completions_;                  // destroyed first
};

class LaunchesWorld final : public World {
 public:
  explicit LaunchesWorld(std::unique_ptr<ModelLaunches> launches) : launches_(std::move(launches)) {}

  std::int64_t call(unsigned thread, const Call& call) override {
    if (call.verb == kSynchronizeStream) return launches_->synchronize(thread);
    if (call.verb == kLaunchExec) {
      launches_->launch(thread);
    } else {
      launches_->destroy(thread);
    }
    return 0;
  }

 private:
  std::unique_ptr<ModelLaunches> launches_;
};

// Each launch has run once when its stream was synchronised, whether its executable graph lives or not.
class EachRunsOnce final : public SequentialModel {
 public:
  [[nodiscard]] std::unique_ptr<SequentialModel> clone() const override {
    return std::make_unique<EachRunsOnce>(*this);
  }

  bool accepts(unsigned thread, const Call& call, std::int64_t answer) override {
    if (call.verb == kSynchronizeStream) return answer == launched_.at(thread);
    launched_.at(thread) += call.verb == kLaunchExec ? 1 : 0;
    return answer == 0;
  }

 private:
  std::array<std::int64_t, kMaxClientThreads> launched_{};
};

}  // namespace

Scenario graph_launches_scenario() {
  const Call launch{kLaunchExec}, destroy{kDestroyExec}, synchronize{kSynchronizeStream};
  return {
      .name = "graph-launches",
      .system = "runtime",
      .summary = "launch, destroy the executable graph, synchronise, on the host model",
      .verbs = {{"launch"}, {"destroy"}, {"synchronize"}},
      .plans = {{"destroy in flight", {{}, {{launch, destroy}}, {synchronize}}},
                {"two threads", {{}, {{launch, destroy, launch, synchronize}, {launch, synchronize, destroy}}, {}}},
                {"three threads", {{}, {{launch, destroy}, {launch, synchronize}, {launch}}, {synchronize}}}},
      .make = [](Referee&, std::string_view fault) -> std::unique_ptr<World> {
        if (fault == "U29") return std::make_unique<LaunchesWorld>(std::make_unique<FreesOwnerEarly>());
        return std::make_unique<LaunchesWorld>(std::make_unique<ModelLaunches>());
      },
      .model = [] { return std::make_unique<EachRunsOnce>(); },
      .property = "C4",
      .faults = {"U29"},
  };
}

}  // namespace verify::race
