// A2, all pointers: every pointer into a moved buffer is patched: base, interior, one past the end, repeated arguments,
// pointers inside by-value structs, copy and set nodes, nodes in child graphs at any depth.
//
// Detector: a relocated field that still holds the address from before the patch. Where the graph's definition holds
// the new address instead, or a definition was to be patched and setters of executable graphs were called, the patch
// went to the wrong object: that breaks P3, not this property.
#include <fmt/format.h>

#include "verify/properties/evidence.h"

namespace verify {

bool detect_a2(const PatchEvidence& patch, Violations& found) {
  bool exercised = false;
  for (const NodeEvidence& node : patch.nodes) {
    if (!node.touched) continue;
    exercised = true;
    std::vector<PointerField> in_definition;
    if (node.definition != nullptr) {
      NodeEvidence definition = node;
      definition.actual = node.definition;
      in_definition = pointer_fields(definition);
    }
    const std::vector<PointerField> fields = pointer_fields(node);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const hip::Relocation& relocation = *fields[i].relocation;
      const auto addend = static_cast<std::uint64_t>(relocation.addend);
      const std::uint64_t expected = patch.new_addresses[relocation.buffer] + addend;
      const std::uint64_t stale = patch.old_addresses[relocation.buffer] + addend;
      if (fields[i].observed == expected || fields[i].observed != stale) continue;
      if (patch.went_elsewhere() || (i < in_definition.size() && in_definition[i].observed == expected)) continue;
      found.push_back({PropertyId::kA2, patch.step,
                       fmt::format("{} {} (b{}{:+})", node.name, fields[i].name, relocation.buffer, relocation.addend),
                       hex(expected), fmt::format("{}, the address before the patch", hex(fields[i].observed))});
    }
  }
  return exercised;
}

}  // namespace verify
