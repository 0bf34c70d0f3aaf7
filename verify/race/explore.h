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

// The code that is explored. It is called once in each schedule, as thread 0, and must do the same in every schedule
// apart from the order of its threads.
class Body {
 public:
  virtual ~Body() = default;
  virtual void run(ScheduleRunner& runner) = 0;
  // The outcome of a schedule that did not fail, as one word; empty when outcomes are not counted.
  virtual std::string outcome() { return {}; }
};

enum class Mode : std::uint8_t { kExhaustive, kPct };

struct Progress {
  std::uint64_t schedules = 0;
  double seconds = 0;
  double share = -1;  // the explored share; negative where it is not known
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
  std::function<bool(const Progress&)> progress{};  // called now and then; false ends the exploration
};

struct Exploration {
  std::uint64_t schedules = 0;
  double seconds = 0;
  bool complete = false;       // every schedule within the bound was run, or as many as were asked for
  bool all_schedules = false;  // complete, and no schedule lies beyond the bound
  bool interrupted = false;
  double share = -1;
  std::uint32_t steps = 0;    // of the longest schedule
  std::uint32_t choices = 0;  // places at which threads were chosen, of the longest schedule
  std::uint32_t threads = 0;  // of the schedule with the most threads
  double probability = 0;     // kPct: lower bound for one schedule to show a defect of that depth
  std::uint64_t races = 0;    // races that ended no schedule
  std::uint64_t failures = 0;
  Failure failure;  // the first
  std::uint64_t failed_schedule = 0;
  double failed_after = 0;  // seconds
  std::vector<ThreadNumber> failed_choices;
  std::map<std::string, std::uint64_t> outcomes;
};

[[nodiscard]] Exploration explore(ScheduleRunner& runner, Body& body, const ExploreOptions& options);

// Runs one schedule, as the strategy chooses.
const Failure& run_once(ScheduleRunner& runner, Body& body, SchedulingStrategy& strategy);

// Makes the run that does not count. explore() begins with this run.
void warm_up(ScheduleRunner& runner, Body& body);

// Runs the schedule of these choices. Whether every choice was possible goes to `as_recorded`, unless that is null.
const Failure& replay(ScheduleRunner& runner, Body& body, const std::vector<ThreadNumber>& choices, bool* as_recorded);

}  // namespace verify::race
