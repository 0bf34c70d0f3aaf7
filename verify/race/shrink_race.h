// race::shrink_race: the smallest plan and schedule that show a failure.
//
// It looks for the fewest preemptions, drops threads, then calls, and then looks for the fewest context switches. Each
// smaller plan is explored anew, beginning without preemptions, so the schedule found has as few as needed. A candidate
// counts when it shows the same kind of failure and the same property. kShrinkSchedules bounds the search.
#pragma once

#include "verify/race/race_file.h"

namespace verify::race {

struct ShrunkRace {
  RaceFile race;
  Failure failure;
  std::uint32_t threads = 0;      // threads with calls in the plan
  std::uint32_t calls = 0;        // in the plan
  std::uint32_t preemptions = 0;  // the fewest with which the plan shows the failure
  std::uint32_t switches = 0;     // changes from thread to thread
  std::uint64_t schedules = 0;    // tried
};

inline constexpr std::uint64_t kShrinkSchedules = 20'000;  // for one candidate

// `found` has to show a failure when it is replayed.
[[nodiscard]] ShrunkRace shrink_race(ScheduleRunner& runner, const RaceFile& found);

[[nodiscard]] std::uint32_t switches_in(const std::vector<ThreadNumber>& choices);

}  // namespace verify::race
