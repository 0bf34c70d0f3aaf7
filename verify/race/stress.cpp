#include "verify/race/stress.h"

#include <chrono>

#include "hip/sync/sync.h"

namespace verify::race {
namespace {

// Keeps the first failure that it is told of.
class Listener final : public Referee {
 public:
  void broken(FailureKind kind, const char* property, std::string message) override {
    const hip::sync::LockGuard lock(mutex_);
    if (failure_.write().kind == FailureKind::kNone) failure_.write() = {kind, property, std::move(message)};
  }
  [[nodiscard]] Failure failure() const {
    const hip::sync::LockGuard lock(mutex_);
    return failure_.read();
  }

 private:
  mutable hip::sync::Mutex mutex_;
  hip::sync::Cell<Failure> failure_;  // guarded by mutex_
};

// All threads of a round begin together.
class Round {
 public:
  Round(const Scenario& scenario, std::string_view fault, const Plan& plan)
      : plan_(plan), world_(scenario.make(listener_, fault)), histories_(plan.threads.size() + 1) {}

  Failure run(const SequentialModel* model) {
    calls(0, plan_.before, &histories_.back());
    std::vector<hip::sync::Thread> threads;
    for (unsigned i = 0; i < plan_.threads.size(); ++i) {
      threads.emplace_back([this, i] {
        ready_.fetch_add(1);
        while (ready_.load() < plan_.threads.size()) hip::sync::yield();
        calls(i, plan_.threads[i], &histories_[i]);
      });
    }
    for (hip::sync::Thread& thread : threads) thread.join();
    calls(0, plan_.after, &histories_.back());
    world_->finish();
    world_.reset();
    Failure failure = listener_.failure();
    if (failure.kind != FailureKind::kNone || model == nullptr) return failure;
    std::vector<Invocation> history;
    for (const auto& one : histories_) history.insert(history.end(), one.begin(), one.end());
    if (linearizable(history, *model)) return {};
    return {FailureKind::kNotLinearizable, {}, "no order of the calls explains their answers"};
  }

 private:
  void calls(unsigned thread, const std::vector<Call>& calls, std::vector<Invocation>* history) {
    for (const Call& call : calls) {
      const std::uint32_t begin = clock_.fetch_add(1);
      const std::int64_t answer = world_->call(thread, call);
      history->push_back({thread, call, answer, begin, clock_.fetch_add(1)});
    }
  }

  Listener listener_;
  const Plan& plan_;
  std::unique_ptr<World> world_;
  std::vector<std::vector<Invocation>> histories_;  // by thread; the last: calls before and after the threads
  hip::sync::Atomic<std::size_t> ready_{0};
  hip::sync::Atomic<std::uint32_t> clock_{0};
};

}  // namespace

Stressed stress(const Scenario& scenario, std::string_view fault, const Plan& plan, const StressOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<SequentialModel> model = scenario.model ? scenario.model() : nullptr;
  Stressed all;
  while (all.failure.kind == FailureKind::kNone && all.rounds < options.rounds) {
    all.failure = Round(scenario, fault, plan).run(model.get());
    ++all.rounds;
    all.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options.seconds > 0 && all.seconds >= options.seconds) break;
  }
  return all;
}

}  // namespace verify::race
