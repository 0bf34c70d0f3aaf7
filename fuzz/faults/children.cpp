// F09: a patcher that skips child graphs.
//
// The author believed: HIP's list of a graph's nodes shows every node. The mistake: it does not show the nodes inside
// child graphs. These nodes hold addresses too, and the patcher leaves their addresses as they are. A2. (Opaque nodes
// are known from the recording, inside child graphs as well, and are refused.)
#include "fuzz/faults/flat_patcher.h"

namespace fuzz {

namespace {

class TopLevelOnly final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] bool refuses(const HeldNode& node, std::span<const hip::Move> moves) const override {
    return hides_moved_buffer(node.record, moves);
  }
};

}  // namespace

std::vector<Fault> children_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<TopLevelOnly>("F09", "skips child graphs", {kA2})};
}

}  // namespace fuzz
