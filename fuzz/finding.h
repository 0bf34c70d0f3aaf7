// From a judgement to a finding: its cause, its name, its one-line summary, its picture.
#pragma once

#include <string>

#include "fuzz/setup.h"
#include "verify/result.h"

namespace fuzz {

// The name of a bug, equal for two findings of one bug: the property and the place, numbers left out.
[[nodiscard]] std::string cause_of(const verify::Judgement& judgement);

// The difference of a program whose process ended before it; `death` is the text of verify::Death.
[[nodiscard]] verify::Difference end_of_program(const std::string& death);

// "agree", "diverge", ...: as the JSON forms spell it.
[[nodiscard]] const char* verdict_name(verify::VerdictKind kind);

// Checks that need many runs of a program are made for one program in so many; reports state the rates.
inline constexpr unsigned kIsolationEvery = 8;
inline constexpr unsigned kEveryCallFailsEvery = 64;
inline constexpr unsigned kHoweverBuiltEvery = 16;
inline constexpr unsigned kEveryOrderEvery = 32;
inline constexpr unsigned kCyclesEvery = 512;
inline constexpr unsigned kGroupsEvery = 512;

// The checks that a campaign makes of program `index`; all_checks() are the checks of the other commands.
[[nodiscard]] verify::JudgeOptions campaign_checks(std::uint64_t index);

// From this index on, a campaign's programs measure costs (P10), once each.
inline constexpr std::uint64_t kFirstCostProgram = 1'000'000'000'000;
[[nodiscard]] verify::JudgeOptions all_checks(std::uint64_t schedule_seed);

// `index`: index of the campaign's program that the finding came from.
[[nodiscard]] verify::Finding make_finding(const Setup& setup, const verify::Program& shrunk,
                                           const verify::Judgement& judgement, std::uint64_t index,
                                           std::uint64_t original_commands);

// Names the file of the finding's program in a report folder, and the command that replays it.
void name_files(verify::Finding& finding, const std::string& folder, const SetupOptions& setup);
// Writes the program to that file, and the code objects that it names beside it.
[[nodiscard]] hip::Status write_program(const verify::Finding& finding);

// Shrinks while the most specific property stays the same and, if a client could see the divergence, it still can.
// Every candidate runs in a process of its own. Where a fresh process is slow (a GPU), candidates share one process,
// and only the shortest has to show the divergence in a fresh one. A candidate for a death that does not come every
// time runs up to verify::kRateRuns times, each time in a fresh process.
struct Shrunk {
  verify::Program program;
  verify::Judgement judgement;
  bool reproduced = false;  // false: the divergence did not show again, and the program is unchanged
};
[[nodiscard]] Shrunk shrink_finding(Setup& setup, const verify::Program& program, verify::JudgeOptions checks,
                                    double program_timeout, double budget_seconds);

}  // namespace fuzz
