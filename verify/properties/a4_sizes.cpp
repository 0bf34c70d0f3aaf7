// A4, sizes: arguments of any size and alignment pack at the offsets that the kernel's metadata states; none is
// over-read, truncated or padded with garbage.
//
// Detector: an argument block with bytes that differ from the recording, and that neither an address carried along (A1)
// nor a wrong pointer (A2, A3) explains. Padding between arguments is not compared: nothing reads it.
#include <fmt/format.h>

#include "verify/execute/interposer.h"
#include "verify/properties/evidence.h"

namespace verify {

namespace {

// Which bytes of the block belong to an argument.
std::vector<char> covered(const hip::KernelRecord& kernel) {
  std::vector<char> bytes(kernel.arguments.size(), kernel.slots.empty() ? 1 : 0);
  for (const hip::ArgumentSlot& slot : kernel.slots) {
    for (std::uint32_t i = 0; i < slot.size; ++i) bytes[slot.offset + i] = 1;
  }
  return bytes;
}

// Whether the graph's definition holds the bytes that the executable graph should: right sizes, wrong object (P3).
bool landed_in_definition(const NodeEvidence& node, const PatchEvidence& patch) {
  if (node.definition == nullptr) return false;
  NodeEvidence definition = node;
  definition.actual = node.definition;
  const ArgumentBytes bytes = argument_bytes(definition, patch);
  return bytes.expected == bytes.observed;
}

}  // namespace

bool detect_a4(const PatchEvidence& patch, Violations& found) {
  bool exercised = false;
  for (const NodeEvidence& node : patch.nodes) {
    const ArgumentBytes bytes = argument_bytes(node, patch);
    if (bytes.expected.empty()) continue;
    exercised = exercised || node.touched;
    if (bytes.expected == bytes.observed) continue;
    const std::vector<char> argument = covered(std::get<hip::KernelRecord>(node.recorded->record));
    std::size_t wrong = bytes.expected.size();
    for (std::size_t i = 0; i < bytes.expected.size() && wrong == bytes.expected.size(); ++i) {
      if (argument[i] != 0 && bytes.expected[i] != bytes.observed[i]) wrong = i;
    }
    Violations addresses;
    PatchEvidence alone{patch.step, patch.old_addresses, patch.new_addresses, patch.buffer_bytes, {node}};
    detect_a1(alone, addresses);
    detect_a2(alone, addresses);
    detect_a3(alone, addresses);
    if (wrong == bytes.expected.size() || !addresses.empty() || landed_in_definition(node, patch)) continue;
    found.push_back({PropertyId::kA4, patch.step, fmt::format("{} argument byte {}", node.name, wrong),
                     fmt::format("{:#04x}", std::to_integer<unsigned>(bytes.expected[wrong])),
                     fmt::format("{:#04x}", std::to_integer<unsigned>(bytes.observed[wrong]))});
  }
  return exercised;
}

}  // namespace verify
