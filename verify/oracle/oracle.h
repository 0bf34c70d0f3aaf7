// Oracles: compare the observations of two runs of one program.
//
// Statuses, bytes, topology and host functions are compared exactly; nothing is normalised away, because both sides ran
// at the same addresses. Notes from inside a runtime (RuntimeNotes) are no observations and are not compared.
#pragma once

#include <optional>
#include <vector>

#include "verify/execute/observation.h"
#include "verify/program/program.h"
#include "verify/quirks/quirk.h"
#include "verify/result.h"

namespace verify {

inline constexpr std::size_t kMaxDifferences = 8;  // a report shows no more

// The first difference of the two runs in the order of the program.
[[nodiscard]] std::optional<Divergence> first_divergence(const Program& program, const Observation& expected,
                                                         const Observation& observed);

// Differences in the order of the program, at most kMaxDifferences; empty when the runs agree.
[[nodiscard]] std::vector<Difference> compare(const Program& program, const Observation& expected,
                                              const Observation& observed);

}  // namespace verify
