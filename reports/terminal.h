// The result of a campaign as text for a terminal.
//
// Promises: the short form has at most kTerminalLines lines, whatever the campaign finds: the subject, the speed, the
// counts of verdicts, the most frequent notes, the first findings with the command that replays each, and the verdict
// as the last line. Lines that were printed before (Ending::printed) count. A number says how much is left out. The
// long form has all notes and findings, the features and pairs that were never generated, and the measured costs.
// Does not check: the width of a line. The terminal wraps long lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "verify/result.h"

namespace reports {

enum class Detail : std::uint8_t {
  kFindings,  // findings and the verdict
  kShort,
  kLong,
};

// How a campaign ended: the facts that its result does not contain.
struct Ending {
  bool resumed = false;  // the result includes an earlier session
  bool interrupted = false;
  bool cap_exceeded = false;
  std::size_t printed = 0;  // findings of which a line each was printed while the campaign ran
};

inline constexpr std::size_t kTerminalLines = 18;    // the command adds the comparison and the report's path: 20 in all
inline constexpr std::size_t kTerminalNotes = 4;     // lines of messages and reasons
inline constexpr std::size_t kTerminalFindings = 4;  // printed while the campaign runs, and in the short form

// One line of CampaignResult::steps: "steps of command buffers: 3 launched, 1 refused, ...; refused: WHY (1)".
[[nodiscard]] std::string steps_in_words(const std::map<std::string, std::uint64_t>& steps);

// Whether there were steps and each was refused: then nothing of the library was judged.
// Whether a library refused or failed a step, and why is counted.
[[nodiscard]] bool gives_reasons(const std::map<std::string, std::uint64_t>& steps);
[[nodiscard]] bool refused_every_step(const std::map<std::string, std::uint64_t>& steps);
[[nodiscard]] std::string to_terminal(const verify::CampaignResult& result, const Ending& ending, Detail detail);

}  // namespace reports
