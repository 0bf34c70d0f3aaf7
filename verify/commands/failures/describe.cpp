// The events of the commands about failures whose fields do not describe them.
#include "hip/releases/releases.h"
#include "verify/errors/error_cases.h"
#include "verify/quirks/event_emitter.h"

namespace verify {

bool describe_events(EventEmitter& out, const BadCall& c) {
  out.set_op("bad");
  out.set(k_module_gone, c.error_case.starts_with("unloaded"));
  out.set(k_handle_gone, c.error_case.starts_with("gone"));
  const ErrorCase* error_case = find_error_case(c.function, c.error_case);
  out.set(k_open_case, error_case == nullptr ? OpenKind::kNone : error_case->open);
  out.set(k_call_in_capture, c.error_case.ends_with("-in-a-capture"));
  if (out.emit()) return true;
  for (std::size_t release = 0; release < hip::kReleaseNames.size(); ++release) {
    const ErrorDeviation* deviation = find_error_deviation(hip::kReleaseNames[release], c.function, c.error_case);
    if (deviation == nullptr) continue;
    out.set(k_deviates_on, release);
    out.set(k_refusal_leaves_node, deviation->answer == kAnswerLeavesNode);
    out.set(k_refusal_takes_edges, deviation->answer == kAnswerTakesEdges);
    if (out.emit()) return true;
  }
  return false;
}

}  // namespace verify
