// A7, honest fallback: where the patcher cannot know (an opaque argument block, a node type that it does not handle) it
// says so and the graph is recorded again; it never guesses and never skips silently.
//
// Detector: a patch that reports success although a moved buffer may be held by an opaque node, without having recorded
// the graph again.
#include "verify/properties/evidence.h"

namespace verify {

bool detect_a7(const PatchEvidence& patch, Violations& found) {
  if (!patch.opaque_touched) return false;
  if (patch.rerecorded == 0) {
    found.push_back(
        {PropertyId::kA7, patch.step, "a patch that moves a buffer of an opaque node", "a refusal", "success"});
  }
  return true;
}

}  // namespace verify
