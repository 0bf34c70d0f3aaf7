// A3, simultaneous: a patch maps all buffers at once: swaps and cycles come out right, and an address that was freed
// and reused by another buffer is not confused with its earlier owner.
//
// Detector: a relocated field that holds an address inside some moved buffer's old or new place, but not its own. The
// place's base plus the field's offset counts too: it may lie outside of a smaller buffer. A field that goes round a
// cycle and comes back to its old address looks like a field that was never patched (A2); the judge tells the two apart
// by running the program again at addresses that never repeat (oracle/cause.cpp).
#include <fmt/format.h>

#include "verify/properties/evidence.h"

namespace verify {

bool detect_a3(const PatchEvidence& patch, Violations& found) {
  const bool exercised = patch.places_overlap();
  for (const NodeEvidence& node : patch.nodes) {
    for (const PointerField& field : pointer_fields(node)) {
      const auto addend = static_cast<std::uint64_t>(field.relocation->addend);
      const hip::BufferIndex own = field.relocation->buffer;
      if (field.observed == patch.new_addresses[own] + addend || field.observed == patch.old_addresses[own] + addend)
        continue;
      for (hip::BufferIndex b = 0; b < patch.old_addresses.size(); ++b) {
        const auto at = [&](std::uint64_t base) {
          return field.observed - base <= patch.buffer_bytes[b] || field.observed == base + addend;
        };
        if (!patch.moved(b) || !(at(patch.new_addresses[b]) || at(patch.old_addresses[b]))) continue;
        found.push_back({PropertyId::kA3, patch.step,
                         fmt::format("{} {} (b{}{:+})", node.name, field.name, own, field.relocation->addend),
                         hex(patch.new_addresses[own] + addend),
                         fmt::format("{}, an address of b{}", hex(field.observed), b)});
        break;
      }
    }
  }
  return exercised;
}

}  // namespace verify
