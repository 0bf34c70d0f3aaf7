// race::RaceFile: a schedule that shows a failure, as text in the form of a program file.
//
//   hgcheck-program 1
//   race stable-buffers fault=F26     the scenario, and the fault that is switched on
//   before get 1                      calls before the threads start, one a line
//   thread 1 get 0, is-cached         each thread's calls
//   thread 2 get 0
//   after get 0
//   schedule 1*5 2*3 1                threads and their steps in turn; 0 is the thread that starts the others
//   shows C2 leak                     the property and the kind of failure that replaying has to show
//
// Empty lines and text behind '#' do not count. A reader of program files recognises a race file by its second line
// (is_race_file).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hip/result/result.h"
#include "verify/race/explore.h"
#include "verify/race/scenario.h"

namespace verify::race {

struct RaceFile {
  const Scenario* scenario = nullptr;
  std::string fault;
  Plan plan;
  std::vector<ThreadNumber> choices;
  std::string property;
  std::string failure;  // name of the failure
};

[[nodiscard]] std::string print_race(const RaceFile& race);
// An error names the line.
[[nodiscard]] hip::Result<RaceFile> parse_race(std::string_view text);

[[nodiscard]] std::string print_choices(const std::vector<ThreadNumber>& choices);

// The schedule that the runner ran last, one column for each thread. Calls of the scenario stand at the left edge of
// their column, and the operations of a call stand below it.
[[nodiscard]] std::string picture_of(const ScheduleRunner& runner, const Failure& failure);

}  // namespace verify::race
