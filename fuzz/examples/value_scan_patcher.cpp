// An example of a user's own patcher: it finds pointers by looking for values that equal an old address.
//
// Its author believed: a recording need not say which arguments are pointers, because no other value
// equals the base address of one of the graph's buffers. So the arguments of every kernel, as `kernelParams` lists
// them, and the ends of every copy and memset are compared with the old addresses, and equal values are replaced.
//
// The mistake, found from outside: a scalar that equals an address is replaced as well (A1), and a pointer
// into the middle of a buffer keeps its old value (A2). Everything else is careful: it copies the record, makes
// no call for a node that does not change, undoes its changes when a call fails, and gives child graphs and
// opaque nodes back to be recorded again.
//
// Built as a shared library against hip/patcher_abi.h only (shown_graph.h belongs to the examples);
// docs/check-your-own-patcher.md runs it.
#include <algorithm>
#include <cstring>
#include <map>

#include "shown_graph.h"

namespace {

using shown::Node;

using Moves = std::map<uint64_t, uint64_t>;  // old address -> new address

bool replace_word(unsigned char* at, const Moves& moves) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  const auto found = moves.find(value);
  if (found == moves.end()) return false;
  std::memcpy(at, &found->second, sizeof found->second);
  return true;
}

bool replace_pointer(void*& pointer, const Moves& moves) {
  const auto found = moves.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == moves.end()) return false;
  pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(found->second));
  return true;
}

// Replaces values that equal an old address; whether there was any.
bool replace_values(Node& node, const Moves& moves) {
  bool changed = false;
  switch (node.kind) {
    case HGPATCHER_KERNEL:
      for (std::size_t i = 0; i < node.offsets.size(); ++i) {
        for (uint32_t at = 0; at + 8 <= node.sizes[i]; at += 8) {
          changed = replace_word(node.arguments.data() + node.offsets[i] + at, moves) || changed;
        }
      }
      return changed;
    case HGPATCHER_COPY:
      changed = replace_pointer(node.copy.dstPtr.ptr, moves);
      return replace_pointer(node.copy.srcPtr.ptr, moves) || changed;
    case HGPATCHER_MEMSET:
      return replace_pointer(node.memset.dst, moves);
    default:
      return false;
  }
}

}  // namespace

extern "C" {

uint32_t hgpatcher_abi(void) {
  return HGPATCHER_ABI_VERSION << 16;
}

hgpatcher_status hgpatcher_patch(hgpatcher* patcher, const hgpatcher_move* moves, size_t count, hipError_t* error) {
  const auto holds_others = [](const Node& node) { return node.kind > HGPATCHER_EMPTY; };
  if (count != 0 && std::ranges::any_of(patcher->nodes, holds_others)) return HGPATCHER_RECORD_AGAIN;
  Moves by_address;
  for (std::size_t i = 0; i < count; ++i) by_address[moves[i].from] = moves[i].to;
  return patcher->patch([&](Node& node) { return replace_values(node, by_address); }, error);
}

}  // extern "C"
