#include "verify/race/explore.h"

#include <algorithm>
#include <chrono>

#include "verify/race/arena.h"
#include "verify/race/exhaustive.h"
#include "verify/race/scheduling_strategies.h"

namespace verify::race {
namespace {

constexpr std::uint64_t kLooksAtClockEvery = 64;
constexpr double kTellsEvery = 0.5;  // seconds

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Call {
  ScheduleRunner& runner;
  Body& body;
  static void run(void* context) {
    Call& call = *static_cast<Call*>(context);
    call.body.run(call.runner);
  }
};

void note(const ScheduleRunner& runner, Body& body, const Failure& failure, const Stopwatch& watch, Exploration* all) {
  ++all->schedules;
  all->steps = std::max(all->steps, runner.now());
  all->choices = std::max(all->choices, static_cast<std::uint32_t>(runner.choices().size()));
  all->threads = std::max(all->threads, runner.threads());
  all->races += runner.races();
  if (failure.kind == FailureKind::kNone) {
    std::string outcome = body.outcome();
    if (!outcome.empty()) ++all->outcomes[std::move(outcome)];
    return;
  }
  ++all->outcomes[std::string(failure_name(failure.kind))];
  if (++all->failures != 1) return;
  all->failure = failure;
  all->failed_schedule = all->schedules;
  all->failed_after = watch.seconds();
  all->failed_choices = runner.choices();
}

}  // namespace

const Failure& run_once(ScheduleRunner& runner, Body& body, SchedulingStrategy& strategy) {
  Call call{runner, body};
  return runner.run(strategy, Call::run, &call);
}

void warm_up(ScheduleRunner& runner, Body& body) {
  Replay first({});
  (void)run_once(runner, body, first);
  Arena::of_process().pin();
}

Exploration explore(ScheduleRunner& runner, Body& body, const ExploreOptions& options) {
  warm_up(runner, body);
  Exploration all;
  Exhaustive exhaustive({options.bound, options.reduce});
  Pct pct(options.seed, options.depth);
  const bool search = options.mode == Mode::kExhaustive;
  SchedulingStrategy& strategy = search ? static_cast<SchedulingStrategy&>(exhaustive) : pct;
  const Stopwatch watch;
  double last_progress = 0;
  bool go_on = true;
  while (go_on) {
    if (search && !exhaustive.next()) {
      all.complete = true;
      all.all_schedules = !exhaustive.bound_reached();
      break;
    }
    const Failure& failure = run_once(runner, body, strategy);
    note(runner, body, failure, watch, &all);
    if (failure.kind != FailureKind::kNone && options.stop_at_failure) break;
    if (options.schedules != 0 && all.schedules >= options.schedules) {
      all.complete = !search;
      break;
    }
    if (all.schedules % kLooksAtClockEvery != 0) continue;
    const double now = watch.seconds();
    if (options.seconds > 0 && now >= options.seconds) break;
    if (options.progress && now - last_progress >= kTellsEvery) {
      last_progress = now;
      all.interrupted = !options.progress({all.schedules, now, search ? exhaustive.share() : -1});
      go_on = !all.interrupted;
    }
  }
  all.seconds = watch.seconds();
  if (search) all.share = all.complete ? 1 : exhaustive.share();
  if (!search) all.probability = pct.probability();
  return all;
}

const Failure& replay(ScheduleRunner& runner, Body& body, const std::vector<ThreadNumber>& choices, bool* as_recorded) {
  Replay strategy(choices);
  const Failure& failure = run_once(runner, body, strategy);
  if (as_recorded != nullptr) *as_recorded = !strategy.deviated();
  return failure;
}

}  // namespace verify::race
