#include "verify/race/scenario_body.h"

#include <fmt/format.h>

#include <algorithm>

#include "hip/sync/sync.h"

namespace verify::race {

ScenarioBody::ScenarioBody(const Scenario& scenario, std::string fault, Plan plan)
    : scenario_(scenario), fault_(std::move(fault)), plan_(std::move(plan)) {
  std::size_t calls = plan_.before.size() + plan_.after.size();
  for (const auto& thread : plan_.threads) calls += thread.size();
  history_.reserve(calls);
  if (scenario.model) model_ = scenario.model();
}

void ScenarioBody::broken(FailureKind kind, const char* property, std::string message) {
  runner_->fail(kind, std::move(message), property);
}

void ScenarioBody::client(World& world, unsigned thread, const std::vector<Call>& calls) {
  for (const Call& call : calls) {
    const Verb& verb = scenario_.verbs.at(call.verb);
    runner_->mark(Step::What::kBegin, verb.name.data(), static_cast<std::uint32_t>(verb.argument ? call.argument : -1));
    const std::size_t at = begins(thread, call);
    const std::int64_t answer = world.call(thread, call);
    ends(at, answer);
    runner_->mark(Step::What::kEnd, verb.name.data(), static_cast<std::uint64_t>(answer));
  }
}

// The history is not part of the schedule: Inside keeps its memory out of the arena.
std::size_t ScenarioBody::begins(unsigned thread, const Call& call) {
  const Inside inside;
  history_.push_back({thread, call, 0, clock_++, ~std::uint32_t{0}});
  return history_.size() - 1;
}

void ScenarioBody::ends(std::size_t at, std::int64_t answer) {
  const Inside inside;
  history_[at].answer = answer;
  history_[at].end = clock_++;
}

void ScenarioBody::run(ScheduleRunner& runner) {
  runner_ = &runner;
  history_.clear();
  clock_ = 0;
  std::unique_ptr<World> world = scenario_.make(*this, fault_);
  client(*world, 0, plan_.before);
  {
    std::vector<hip::sync::Thread> threads;
    threads.reserve(plan_.threads.size());
    for (unsigned i = 0; i < plan_.threads.size(); ++i) {
      threads.emplace_back([this, &world, i] { client(*world, i, plan_.threads[i]); });
    }
    for (hip::sync::Thread& thread : threads) thread.join();
  }
  client(*world, 0, plan_.after);
  world->finish();
  world.reset();
  if (model_) judge_history();
}

void ScenarioBody::judge_history() {
  const Inside inside;
  if (linearizable(history_, *model_)) return;
  std::string text;
  for (const Invocation& call : history_) {
    text += fmt::format("{}{} by thread {} answers {}", text.empty() ? "" : ", ", print_call(scenario_, call.call),
                        call.thread + 1, call.answer);
  }
  runner_->fail(FailureKind::kNotLinearizable, "no order of the calls explains their answers: " + text);
}

}  // namespace verify::race
