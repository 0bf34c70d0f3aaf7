// The timed loop that benchmarks of steps share, and the counts that they show beside its times.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/step_session.h"

namespace bench {

// The part of a step that is timed. `kDone` wants the benchmark's real time, the others this thread's processor time.
enum class Timed : std::uint8_t {
  kBring,  // without launches, which answer at once
  kStep,   // with its launches
  kDone    // until the device is idle
};
inline constexpr Timed kTimed[] = {Timed::kBring, Timed::kStep, Timed::kDone};
[[nodiscard]] std::string_view name_of(Timed timed);

// Steps until the benchmark has its time. The first steps, in which a way sets itself up, are not timed.
[[nodiscard]] hip::Status time_steps(benchmark::State& state, Timed timed, const StepOptions& options, StepBed& bed);

// Registers a benchmark for each case, which has a name (name_of) and the part that is timed (`timed`).
template <class Case, class Run>
void register_cases(const std::vector<Case>& cases, const Run& run) {
  for (const Case& what : cases) {
    benchmark::internal::Benchmark* registered =
        benchmark::RegisterBenchmark(name_of(what).c_str(), [what, run](benchmark::State& state) {
          run(state, what);
        })->Unit(benchmark::kMicrosecond);
    if (what.timed == Timed::kDone) registered->UseRealTime();
  }
}

// Counts of 0 are left out: how much repetitions of a 0 differ, by which the library divides, is no number in JSON.
void show(benchmark::State& state, const StepCounts& counts);

}  // namespace bench
