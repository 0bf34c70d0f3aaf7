// P3, update equals rebuild: launching after any mix of patches, exec setters and hipGraphExecUpdate observes the same
// as launching a graph freshly recorded with the same parameters and instantiated.
//
// Detector here: a patched node with an address that a fresh recording would not hold. The oracle is the other
// detector: it compares memory after launches with the same program rebuilt at every step.
#include <fmt/format.h>

#include "verify/properties/evidence.h"

namespace verify {

bool detect_p3(const PatchEvidence& patch, Violations& found) {
  for (const NodeEvidence& node : patch.nodes) {
    for (const PointerField& field : pointer_fields(node)) {
      const std::uint64_t expected =
          patch.new_addresses[field.relocation->buffer] + static_cast<std::uint64_t>(field.relocation->addend);
      if (field.observed == expected) continue;
      found.push_back({PropertyId::kP3, patch.step, fmt::format("{} {}", node.name, field.name), hex(expected),
                       hex(field.observed)});
    }
  }
  return false;  // counted where launches are compared
}

}  // namespace verify
