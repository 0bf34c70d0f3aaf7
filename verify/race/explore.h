// race::explore: runs a body under one schedule after another, and reports the results.
//
// The first run is not counted, and memory that it leaves behind is no leak: the statics of the explored code are made
// there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "verify/race/schedule_runner.h"

namespace verify::race {

// The code that is explored. It is called once a schedule, as thread 0, and must do the same in every schedule but for
// the order of its threads.
class Body {
 public:
  virtual ~Body() = default;
  virtual void run(ScheduleRunner& runner) = 0;
  // The outcome, in a word, of a schedule that did not fail; empty when outcomes are not counted.
  virtual std::string outcome() { return {}; }
};

enum class Mode : std::uint8_t { kExhaustive, kPct };

struct Progress {
  std::uint64_t schedules = 0;
  double seconds = 0;
  double share = -1;  // explored; negative where it is not known
};

struct ExploreOptions {
  Mode mode = Mode::kExhaustive;
  std::uint32_t bound = 2;      // preemptions; kExhaustive
  bool reduce = true;           // kExhaustive
  std::uint32_t depth = 3;      // of the defects looked for; kPct
  std::uint64_t seed = 1;       // kPct
  std::uint64_t schedules = 0;  // at most; 0: no limit
  double seconds = 0;           // at most; 0: no limit
  bool stop_at_failure = true;
  std::function<bool(const Progress&)> progress{};  // now and then; false ends it
};

struct Exploration {
  std::uint64_t schedules = 0;
  double seconds = 0;
  bool complete = false;       // every schedule within the bound, or all that were asked for
  bool all_schedules = false;  // and no schedule lies beyond the bound
  bool interrupted = false;
  double share = -1;
  std::uint32_t steps = 0;    // of the longest schedule
  std::uint32_t choices = 0;  // places at which threads were chosen, of the longest
  std::uint32_t threads = 0;  // of the largest
  double probability = 0;     // kPct: at which one schedule shows a defect of that depth, at least
  std::uint64_t races = 0;    // that ended no schedule
  std::uint64_t failures = 0;
  Failure failure;  // the first
  std::uint64_t failed_schedule = 0;
  double failed_after = 0;  // seconds
  std::vector<ThreadNumber> failed_choices;
  std::map<std::string, std::uint64_t> outcomes;
};

[[nodiscard]] Exploration explore(ScheduleRunner& runner, Body& body, const ExploreOptions& options);

// One schedule, as the strategy chooses.
const Failure& run_once(ScheduleRunner& runner, Body& body, Strategy& strategy);

// The run that does not count. explore() begins with it.
void warm_up(ScheduleRunner& runner, Body& body);

// One schedule. Whether every choice was possible goes to `as_recorded`, unless it is null.
const Failure& replay(ScheduleRunner& runner, Body& body, const std::vector<ThreadNumber>& choices, bool* as_recorded);

}  // namespace verify::race
