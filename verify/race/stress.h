// race::stress: a plan of a scenario on real threads, again and again; for ThreadSanitizer to look at, and for luck.
//
// The worlds are those that the explorer drives, on std's own locks. Whatever the worlds notice and histories that are
// not linearizable end it. What it does not see it does not see: schedules are the runner's.
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
