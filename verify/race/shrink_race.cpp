#include "verify/race/shrink_race.h"

#include <algorithm>
#include <optional>

#include "verify/race/exhaustive.h"
#include "verify/race/scenario_body.h"

namespace verify::race {
namespace {

constexpr std::uint32_t kMostPreemptions = 3;

std::uint32_t calls_in(const Plan& plan) {
  std::size_t calls = plan.before.size() + plan.after.size();
  for (const auto& thread : plan.threads) calls += thread.size();
  return static_cast<std::uint32_t>(calls);
}

std::uint32_t threads_in(const Plan& plan) {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(plan.threads, [](const auto& calls) { return !calls.empty(); }));
}

class Shrinking {
 public:
  Shrinking(ScheduleRunner& runner, ShrunkRace* best) : runner_(runner), best_(*best) {}

  void run() {
    fewest_preemptions();
    drop_threads();
    while (drop_a_call()) {}
    drop_last_empty_threads();
    while (join_a_switch()) {}
    while (find_fewer_switches()) {}
  }

 private:
  [[nodiscard]] bool same(const Failure& failure) const {
    return failure.kind == best_.failure.kind &&
           property_of(*best_.race.scenario, failure) == property_of(*best_.race.scenario, best_.failure);
  }

  // Explores the plan with as few preemptions as show the failure, at most `most`.
  std::optional<std::uint32_t> explore_plan(const Plan& plan, std::uint32_t most) {
    const Scenario& scenario = *best_.race.scenario;
    if (scenario.valid && !scenario.valid(plan)) return std::nullopt;
    ScenarioBody body(scenario, best_.race.fault, plan);
    for (std::uint32_t bound = 0; bound <= most; ++bound) {
      ExploreOptions options;
      options.bound = bound;
      options.schedules = kShrinkSchedules;
      const Exploration result = explore(runner_, body, options);
      best_.schedules += result.schedules;
      if (result.failure.kind == FailureKind::kNone || !same(result.failure)) continue;
      best_.failure = result.failure;
      best_.race.plan = plan;
      best_.race.choices = result.failed_choices;
      return bound;
    }
    return std::nullopt;
  }

  void fewest_preemptions() {
    best_.preemptions = kMostPreemptions;
    if (const auto bound = explore_plan(best_.race.plan, kMostPreemptions)) best_.preemptions = *bound;
  }

  bool try_plan(const Plan& plan) {
    const auto bound = explore_plan(plan, best_.preemptions);
    if (bound) best_.preemptions = *bound;
    return bound.has_value();
  }

  void drop_threads() {
    for (std::size_t i = best_.race.plan.threads.size(); i-- > 0;) {
      Plan plan = best_.race.plan;
      plan.threads.erase(plan.threads.begin() + static_cast<std::ptrdiff_t>(i));
      (void)try_plan(plan);
    }
  }

  bool drop_a_call() {
    const auto from = [&](std::vector<Call> Plan::* list) {
      for (std::size_t i = (best_.race.plan.*list).size(); i-- > 0;) {
        Plan plan = best_.race.plan;
        (plan.*list).erase((plan.*list).begin() + static_cast<std::ptrdiff_t>(i));
        if (try_plan(plan)) return true;
      }
      return false;
    };
    if (from(&Plan::after) || from(&Plan::before)) return true;
    return drop_from_threads();
  }

  // Drops one call, or the last call of every thread (for plans that are valid only then).
  bool drop_from_threads() {
    for (std::size_t t = best_.race.plan.threads.size(); t-- > 0;) {
      for (std::size_t i = best_.race.plan.threads[t].size(); i-- > 0;) {
        Plan plan = best_.race.plan;
        plan.threads[t].erase(plan.threads[t].begin() + static_cast<std::ptrdiff_t>(i));
        if (try_plan(plan)) return true;
      }
    }
    Plan plan = best_.race.plan;
    if (plan.threads.empty()) return false;
    for (auto& thread : plan.threads) {
      if (thread.empty()) return false;
      thread.pop_back();
    }
    return try_plan(plan);
  }

  void drop_last_empty_threads() {
    Plan plan = best_.race.plan;
    while (plan.threads.size() > 1 && plan.threads.back().empty()) plan.threads.pop_back();
    if (plan != best_.race.plan) (void)try_plan(plan);
  }

  // Puts a later run of steps of a thread directly behind its previous run, which removes two switches.
  bool join_a_switch() {
    const std::vector<ThreadNumber>& now = best_.race.choices;
    for (std::size_t begin = 1; begin < now.size(); ++begin) {
      if (now[begin] == now[begin - 1]) continue;
      std::size_t end = begin;
      while (end < now.size() && now[end] == now[begin]) ++end;
      std::vector<ThreadNumber> candidate = now;  // the thread of the run before goes on first
      const auto again = std::find(now.begin() + static_cast<std::ptrdiff_t>(end), now.end(), now[begin - 1]);
      if (again == now.end()) continue;
      std::size_t last = static_cast<std::size_t>(again - now.begin());
      while (last < now.size() && now[last] == now[begin - 1]) ++last;
      std::rotate(candidate.begin() + static_cast<std::ptrdiff_t>(begin), candidate.begin() + (again - now.begin()),
                  candidate.begin() + static_cast<std::ptrdiff_t>(last));
      if (try_choices(candidate)) return true;
    }
    return false;
  }

  // Looks through the schedules of the plan that could have fewer switches: n switches are at most n preemptions.
  bool find_fewer_switches() {
    const std::uint32_t now = switches_in(best_.race.choices);
    if (now == 0) return false;
    ScenarioBody body(*best_.race.scenario, best_.race.fault, best_.race.plan);
    Exhaustive every({.bound = now - 1, .reduce = false});
    for (std::uint64_t i = 0; i < kShrinkSchedules && every.next(); ++i) {
      ++best_.schedules;
      const Failure failure = run_once(runner_, body, every);
      if (!same(failure) || switches_in(runner_.choices()) >= now) continue;
      best_.failure = failure;
      best_.race.choices = runner_.choices();
      return true;
    }
    return false;
  }

  bool try_choices(const std::vector<ThreadNumber>& candidate) {
    ScenarioBody body(*best_.race.scenario, best_.race.fault, best_.race.plan);
    ++best_.schedules;
    const Failure failure = replay(runner_, body, candidate, nullptr);
    if (!same(failure) || switches_in(runner_.choices()) >= switches_in(best_.race.choices)) return false;
    best_.failure = failure;
    best_.race.choices = runner_.choices();
    return true;
  }

  ScheduleRunner& runner_;
  ShrunkRace& best_;
};

}  // namespace

std::uint32_t switches_in(const std::vector<ThreadNumber>& choices) {
  std::uint32_t switches = 0;
  for (std::size_t i = 1; i < choices.size(); ++i) switches += choices[i] != choices[i - 1] ? 1 : 0;
  return switches;
}

ShrunkRace shrink_race(ScheduleRunner& runner, const RaceFile& found) {
  ShrunkRace best;
  best.race = found;
  ScenarioBody body(*found.scenario, found.fault, found.plan);
  best.failure = replay(runner, body, found.choices, nullptr);
  if (best.failure.kind != FailureKind::kNone) Shrinking(runner, &best).run();
  best.race.property = property_of(*found.scenario, best.failure);
  best.race.failure = failure_name(best.failure.kind);
  best.threads = threads_in(best.race.plan);
  best.calls = calls_in(best.race.plan);
  best.switches = switches_in(best.race.choices);
  return best;
}

}  // namespace verify::race
