// P4, atomic failure: a call that fails says so and changes nothing that can be observed; a patch that fails half-way
// leaves the executable graph as it was, or marked unusable so that it is recorded again.
//
// Detectors: a command in which a call was made to fail has to report an error; it is then run again and has to observe
// the same as without a failure; every call of the graph API fails in turn (Judge::every_call_fails), and on the
// software GPU the first calls of each kind below the runtime, where a command that succeeds is right, too. A
// divergence that disappears when no call fails breaks this property. Where a rule refuses a command, all
// objects are looked at before and after it (verify/run/refusals.h). P11 checks that invalid arguments change nothing.
#include <fmt/format.h>

#include "verify/properties/causes.h"

namespace verify {

RunOptions without_failures(RunOptions options) {
  options.failures = false;
  return options;
}

void detect_p4(std::size_t step, const std::string& command, std::string_view function, bool reported,
               Violations& found) {
  if (reported) return;
  found.push_back({PropertyId::kP4, step, fmt::format("'{}'", command),
                   fmt::format("an error, because {} failed", function), "success"});
}

}  // namespace verify
