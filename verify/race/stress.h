// race::stress: a plan of a scenario on real threads, again and again; also for runs under ThreadSanitizer.
//
// The explorer drives the same worlds; here they use std's own locks. The run ends with a failure that a world reports,
// or a history that is not linearizable. It finds only failures that happen to occur, because it controls no schedule.
#pragma once

#include "verify/race/scenario.h"

namespace verify::race {

struct StressOptions {
  std::uint64_t rounds = 1000;
  double seconds = 0;  // at most; 0: no limit
};

struct Stressed {
  std::uint64_t rounds = 0;
  double seconds = 0;
  Failure failure;  // kNone: nothing was noticed
};

[[nodiscard]] Stressed stress(const Scenario& scenario, std::string_view fault, const Plan& plan,
                              const StressOptions& options);

}  // namespace verify::race
