// The judge's result for a program. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "verify/execute/observation.h"
#include "verify/result.h"

namespace verify {

struct Judgement {
  VerdictKind verdict = VerdictKind::kAgree;
  std::string quirk;               // the quirk's id, for kKnownQuirk; for kAgree: of the one that explains growth
  std::string reason;              // for a poisoned, unsupported, discarded or harness verdict
  std::vector<PropertyId> broken;  // the name of the divergence first, then other properties; empty unless kDiverge
  std::vector<Violation> violations;
  std::vector<Difference> differences;
  bool sometimes = false;                // the subject's process dies, but not every time
  std::vector<CostMeasurement> costs;    // where they were asked for
  std::vector<std::uint16_t> signature;  // as of an observation
  std::array<std::uint64_t, kProperties> exercised{};
  StepCounts steps;  // as of an observation
};

}  // namespace verify
