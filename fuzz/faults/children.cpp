// F09: a patcher that skips child graphs.
//
// The author believed: the nodes of the graph are the nodes of the graph. The mistake: those inside child graphs
// hold addresses too, and HIP's list of a graph's nodes does not show them; they stay where they were. A2. (Opaque
// nodes are known from the recording, inside child graphs as well, and are refused.)
#include "fuzz/faults/flat_patcher.h"
#include "fuzz/faults/patchers.h"

namespace fuzz {

namespace {

class TopLevelOnly final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] bool refuses(const HeldNode& node, std::span<const hip::Move> moves) const override {
    return hides_moved_buffer(node.record, moves);
  }
};

}  // namespace

verify::PatcherFactory skips_child_graphs() {
  return factory_of<TopLevelOnly>();
}

}  // namespace fuzz
