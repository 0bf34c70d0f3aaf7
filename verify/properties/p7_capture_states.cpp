// P7, capture states: capture follows its state machine: invalid operations are rejected and invalidate the capture,
// forks must be joined, a failed capture leaves no trace in the next one.
//
// Detector: the rules of verify/program/capture_state.h, which are written separately from the model's, give HIP's
// answer to every command during a capture, and the values that `capture_info` and `capture_mode` show. The answers in
// the next capture show that a failed capture leaves nothing behind. The oracle compares the captured graph itself.
//
// Not seen here: calls of two threads at the same time (helper threads take turns).
#include <fmt/format.h>

#include "hip/api/api.h"
#include "verify/properties/captures.h"

namespace verify {

bool concerns_capture(const State& state, const Command& command) {
  if (state.answer(command).status != 0) return true;
  // Refusals of these commands have other reasons than captures: nodes that have no clone, graphs with a cycle, wrong
  // arguments.
  const bool other_rules = std::holds_alternative<FindInClone>(command) ||
                           std::holds_alternative<Instantiate>(command) || std::holds_alternative<BadCall>(command);
  if (!state.captures().empty() && !other_rules) return true;
  return std::holds_alternative<BeginCapture>(command) || std::holds_alternative<EndCapture>(command) ||
         std::holds_alternative<CaptureInfo>(command) || std::holds_alternative<CaptureAfter>(command) ||
         std::holds_alternative<ExchangeCaptureMode>(command);
}

bool detect_p7(const CaptureStep& step, std::string_view command, Violations& found) {
  if (step.status != step.expected_status) {
    found.push_back({PropertyId::kP7, step.step, fmt::format("status of '{}'", command),
                     hip::status_name(step.expected_status), hip::status_name(step.status)});
  } else if (!step.expected_seen.empty() && step.seen != step.expected_seen) {  // the oracle compares all other answers
    found.push_back(
        {PropertyId::kP7, step.step, fmt::format("what '{}' shows", command), step.expected_seen, step.seen});
  }
  return true;
}

}  // namespace verify
