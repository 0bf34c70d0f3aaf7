// A1, only pointers: a patch changes the bytes of relocated pointers and no other byte, whatever the value of a scalar.
//
// Detector: a scalar (or a piece of padding, or a memset's value or shape) that differs from the recording although
// nothing was set. For kernel arguments the new bits have to be an old address carried to its new place: bytes that are
// wrong in any other way are a matter of layout (A4). Not seen: a wrong byte that equals the right value by chance.
#include <fmt/format.h>

#include <cstring>

#include "verify/properties/evidence.h"

namespace verify {

namespace {

std::uint64_t read(const std::vector<std::byte>& bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, size);
  return value;
}

// Whether the change at `at` is a translated address, as a whole word around `at` or cut to the scalar's size.
bool is_translation(const PatchEvidence& patch, const ArgumentBytes& bytes, std::size_t at, std::size_t* offset) {
  const std::size_t size = bytes.expected.size();
  for (std::size_t start = at >= 7 ? at - 7 : 0; start <= at && start + 8 <= size; ++start) {
    if (patch.carried_along(read(bytes.expected, start, 8), read(bytes.observed, start, 8))) {
      *offset = start;
      return true;
    }
  }
  for (hip::BufferIndex b = 0; b < patch.old_addresses.size(); ++b) {  // scalars that hold an address's low bytes
    if (!patch.moved(b)) continue;
    for (const std::size_t width : {std::size_t{4}, std::size_t{2}, std::size_t{1}}) {
      const std::size_t start = at / width * width;
      if (start + width > size) continue;
      const std::uint64_t delta = patch.new_addresses[b] - patch.old_addresses[b];
      const std::uint64_t mask = (std::uint64_t{1} << (8 * width)) - 1;
      const std::uint64_t was = read(bytes.expected, start, width);
      const bool address = ((was - patch.old_addresses[b]) & mask) <= patch.buffer_bytes[b];
      if (address && read(bytes.observed, start, width) == ((was + delta) & mask)) {
        *offset = start;
        return true;
      }
    }
  }
  return false;
}

void check_arguments(const PatchEvidence& patch, const NodeEvidence& node, Violations& found) {
  const ArgumentBytes bytes = argument_bytes(node, patch);
  for (std::size_t i = 0; i < bytes.expected.size(); ++i) {
    std::size_t offset = 0;
    if (bytes.relocated[i] != 0 || bytes.expected[i] == bytes.observed[i]) continue;
    if (!is_translation(patch, bytes, i, &offset)) continue;
    const std::size_t width = std::min<std::size_t>(8, bytes.expected.size() - offset);
    found.push_back({PropertyId::kA1, patch.step, fmt::format("{} scalar at argument byte {}", node.name, i),
                     hex(read(bytes.expected, offset, width)), hex(read(bytes.observed, offset, width))});
    return;
  }
}

void check_memset(const PatchEvidence& patch, const NodeEvidence& node, Violations& found) {
  const auto* recorded = std::get_if<hip::MemsetRecord>(&node.recorded->record);
  const auto* actual = std::get_if<model::MemsetParams>(node.actual);
  if (recorded == nullptr || actual == nullptr) return;
  const hipMemsetParams& p = recorded->params;
  const bool same = p.value == actual->value && p.elementSize == actual->element_size && p.width == actual->width &&
                    p.height == actual->height && (p.height == 1 || p.pitch == actual->pitch);
  if (same) return;
  found.push_back({PropertyId::kA1, patch.step, fmt::format("{} memset's value or shape", node.name),
                   fmt::format("value {} element {} width {} height {}", p.value, p.elementSize, p.width, p.height),
                   fmt::format("value {} element {} width {} height {}", actual->value, actual->element_size,
                               actual->width, actual->height)});
}

}  // namespace

bool detect_a1(const PatchEvidence& patch, Violations& found) {
  for (const NodeEvidence& node : patch.nodes) {
    check_arguments(patch, node, found);
    check_memset(patch, node, found);
  }
  return !patch.nodes.empty();
}

}  // namespace verify
