// Evidence about stream capture, and the detectors that look at it (P6, P7).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verify/execute/observation.h"
#include "verify/program/state.h"
#include "verify/properties/evidence.h"

namespace verify {

// A capture that ended well or was left open: how often the host functions that were captured had run by then, node by
// node.
struct CaptureWork {
  std::size_t step = 0;
  std::string into;  // as a person reads it: "g1"
  std::vector<std::uint64_t> host_runs;
};

// One command that runs during a capture, or that the rules of capture refuse: the expected and the observed answer.
struct CaptureStep {
  std::size_t step = 0;
  int expected_status = 0;
  int status = 0;
  std::string expected_seen;
  std::string seen;
};

// Whether the rules of capture have anything to say about `command` in `state`.
[[nodiscard]] bool concerns_capture(const State& state, const Command& command);

// Whether the evidence exercised the property.
bool detect_p6(const CaptureWork& work, Violations& found);
bool detect_p7(const CaptureStep& step, std::string_view command, Violations& found);

}  // namespace verify
