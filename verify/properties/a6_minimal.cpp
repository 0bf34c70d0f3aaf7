// A6, minimal: only nodes with a changed relocation are touched, and a patch with no change makes no API call.
//
// Detector: counts HIP calls. A patch may call at most one setter of the executable graph for each top-level node with
// a changed relocation; nodes inside children are set on a graph of the patcher's own and are not counted here.
#include <fmt/format.h>

#include "verify/properties/evidence.h"

namespace verify {

bool detect_a6(const PatchEvidence& patch, Violations& found) {
  const bool nothing_moved = [&] {
    for (hip::BufferIndex b = 0; b < patch.old_addresses.size(); ++b) {
      if (patch.moved(b)) return false;
    }
    return true;
  }();
  if (nothing_moved && patch.calls != 0) {
    found.push_back(
        {PropertyId::kA6, patch.step, "HIP calls of a patch with no change", "0", fmt::format("{}", patch.calls)});
  }
  if (patch.exec_setters > patch.top_level_touched && !patch.went_elsewhere()) {
    found.push_back({PropertyId::kA6, patch.step, "exec setters of a patch", fmt::format("{}", patch.top_level_touched),
                     fmt::format("{}", patch.exec_setters)});
  }
  return true;
}

}  // namespace verify
