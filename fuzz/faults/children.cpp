// F09: a patcher that skips child graphs.
//
// The author believed: the nodes of the graph are the nodes of the graph. The mistake: those inside child graphs
// hold addresses too, and HIP's list of a graph's nodes does not show them; they stay where they were. A2. (Opaque
// nodes are known from the recording, inside child graphs as well, and are refused.)
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
