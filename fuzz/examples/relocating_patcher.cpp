// An example of a correct patcher of a user: it asks which fields are pointers and changes only these fields.
//
// It differs from value_scan_patcher.cpp in one point: it asks for relocations (HGPATCHER_WANTS_RELOCATIONS) and sets
// exactly the fields that they name, to the present address of their buffer plus the addend. When a child graph or an
// opaque node holds a moved buffer, it asks for the graph to be recorded again.
//
// Built as a shared library against hip/patcher_abi.h only (shown_graph.h belongs to the examples);
// docs/check-your-own-patcher.md runs it.
#include <cstring>

#include "shown_graph.h"

namespace {

using shown::Node;

const hgpatcher_move* move_of(const hgpatcher_move* moves, std::size_t count, uint32_t buffer) {
  for (std::size_t i = 0; i < count; ++i) {
    if (moves[i].buffer == buffer && moves[i].from != moves[i].to) return &moves[i];
  }
  return nullptr;
}

void write(Node& node, const hgpatcher_relocation& relocation, uint64_t base) {
  const uint64_t address = base + static_cast<uint64_t>(relocation.addend);
  auto* pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
  switch (relocation.field) {
    case HGPATCHER_KERNEL_ARGUMENT:
      std::memcpy(node.arguments.data() + relocation.offset, &address, sizeof address);
      break;
    case HGPATCHER_COPY_DESTINATION:
      node.copy.dstPtr.ptr = pointer;
      break;
    case HGPATCHER_COPY_SOURCE:
      node.copy.srcPtr.ptr = pointer;
      break;
    default:
      node.memset.dst = pointer;
  }
}

// Whether a field of the node changed.
bool relocate(Node& node, const hgpatcher_move* moves, std::size_t count) {
  bool changed = false;
  for (const hgpatcher_relocation& relocation : node.relocations) {
    const hgpatcher_move* move = move_of(moves, count, relocation.buffer);
    if (move == nullptr) continue;
    write(node, relocation, move->to);
    changed = true;
  }
  return changed;
}

}  // namespace

extern "C" {

uint32_t hgpatcher_abi(void) {
  return HGPATCHER_ABI_VERSION << 16 | HGPATCHER_WANTS_RELOCATIONS;
}

hgpatcher_status hgpatcher_patch(hgpatcher* patcher, const hgpatcher_move* moves, size_t count, hipError_t* error) {
  for (const Node& node : patcher->nodes) {
    for (const uint32_t buffer : node.beyond_reach) {
      if (move_of(moves, count, buffer) != nullptr) return HGPATCHER_RECORD_AGAIN;
    }
  }
  return patcher->patch([&](Node& node) { return relocate(node, moves, count); }, error);
}

}  // extern "C"
