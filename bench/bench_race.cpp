// Schedules a second of the explorer: scenarios on one core, all detectors on. Prints the choices of a schedule beside
// them.
//
// A program of its own that links explored rooms alone.
#include <benchmark/benchmark.h>

#include "verify/race/operators.h"
#include "verify/race/scenario_body.h"

namespace {

using namespace verify::race;

constexpr std::uint64_t kSchedules = 2000;  // of one iteration

void explore_scenario(benchmark::State& state, const Scenario& scenario, const NamedPlan& plan, Mode mode) {
  ScheduleRunner runner;
  ScenarioBody body(scenario, "", plan.plan);
  ExploreOptions options;
  options.mode = mode;
  options.reduce = false;  // more of them, so that there are enough
  options.schedules = kSchedules;
  std::uint64_t schedules = 0;
  std::uint32_t choices = 0, steps = 0;
  for (auto _ : state) {
    const Exploration result = explore(runner, body, options);
    if (result.failures != 0) state.SkipWithError(result.failure.message.c_str());
    schedules += result.schedules;
    choices = result.choices;
    steps = result.steps;
  }
  state.counters["schedules/s"] = benchmark::Counter(static_cast<double>(schedules), benchmark::Counter::kIsRate);
  state.counters["choices"] = choices;
  state.counters["steps"] = steps;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  count_memory();
  for (const Scenario& scenario : scenarios()) {
    const NamedPlan& plan = scenario.plans.front();
    for (const Mode mode : {Mode::kExhaustive, Mode::kPct}) {
      const std::string name = std::string(scenario.name) + (mode == Mode::kPct ? "/pct" : "/exhaustive");
      benchmark::RegisterBenchmark(name.c_str(), [&scenario, &plan, mode](benchmark::State& state) {
        explore_scenario(state, scenario, plan, mode);
      })->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
}
