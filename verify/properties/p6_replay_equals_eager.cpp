// P6, replay equals eager: replaying a captured stream observes the same as running its operations eagerly, and nothing
// runs while it is being captured.
//
// Detector here: a host function that was captured has not run when its capture ends, nor when the program ends before
// the capture does. The other half is metamorphic (verify/oracle/stream_variants.h): the program with every launch
// replaced by its nodes' work, given to the stream one after the other, has to read the same bytes.
//
// Not seen here: a kernel, copy or memset that runs while it is captured and whose bytes its replay writes again.
#include <fmt/format.h>

#include "verify/properties/captures.h"

namespace verify {

bool detect_p6(const CaptureWork& work, Violations& found) {
  for (std::size_t i = 0; i < work.host_runs.size(); ++i) {
    if (work.host_runs[i] == 0) continue;
    found.push_back({PropertyId::kP6, work.step, fmt::format("captured node {} of {}", i, work.into),
                     "not run while it is captured", fmt::format("run {} times", work.host_runs[i])});
  }
  return !work.host_runs.empty();
}

}  // namespace verify
