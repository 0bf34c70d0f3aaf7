// F13: a patcher that updates the graph's definition where the executable graph was meant.
//
// What the author believed: hipGraphKernelNodeSetParams changes the node, and the executable graph is made of these
// nodes. What is wrong: an executable graph is a snapshot; what is launched keeps the old addresses, and only what is
// instantiated later has the new ones. P3.
#include "fuzz/faults/flat_patcher.h"
#include "fuzz/faults/patchers.h"

namespace fuzz {

namespace {

class DefinitionPatcher final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] hipError_t set(hipGraphNode_t node, hip::NodeRecord& record) const override {
    return set_node(api(), nullptr, node, record);
  }
};

}  // namespace

verify::PatcherFactory patches_the_definition() {
  return factory_of<DefinitionPatcher>();
}

}  // namespace fuzz
