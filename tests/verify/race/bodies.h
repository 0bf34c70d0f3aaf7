// Bodies for tests of the explorer: threads that run functions over a state that is made anew for each schedule.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hip/sync/sync.h"
#include "verify/race/explore.h"

namespace race_test {

using verify::race::Body;
using verify::race::Exploration;
using verify::race::ExploreOptions;
using verify::race::FailureKind;
using verify::race::ScheduleOptions;
using verify::race::ScheduleRunner;

// Runs the functions, each on a thread of its own, joins them in order, and notes the outcome.
template <class State>
class Threads final : public Body {
 public:
  using Function = std::function<void(State&)>;
  using Outcome = std::function<void(State&, std::string&)>;

  Threads(std::vector<Function> threads, Outcome outcome)
      : threads_(std::move(threads)), note_(std::move(outcome)), outcome_(256, ' ') {}

  void run(ScheduleRunner& runner) override {
    (void)runner;
    outcome_.clear();  // keeps its memory, so that none of a schedule's is used
    const std::unique_ptr<State> state = std::make_unique<State>();
    {
      std::vector<hip::sync::Thread> running;
      running.reserve(threads_.size());
      for (const Function& function : threads_) {
        running.emplace_back([&function, &state] { function(*state); });
      }
      for (hip::sync::Thread& thread : running) thread.join();
    }
    note_(*state, outcome_);
  }
  std::string outcome() override { return outcome_; }

 private:
  std::vector<Function> threads_;
  Outcome note_;
  std::string outcome_;
};

// With every schedule, failing ones too.
inline ExploreOptions everything(std::uint32_t bound, bool reduce) {
  return {.bound = bound, .reduce = reduce, .stop_at_failure = false};
}

inline std::vector<std::string> names(const Exploration& exploration) {
  std::vector<std::string> names;
  for (const auto& [name, count] : exploration.outcomes) names.push_back(name);
  return names;
}

}  // namespace race_test
