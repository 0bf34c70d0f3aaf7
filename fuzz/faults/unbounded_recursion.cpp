// F10: a patcher that recurses into child graphs with no depth bound.
//
// The author believed: children nest two or three deep, so a function that calls itself, with room for the nodes
// of a level on its stack, is enough. The mistake: the caller decides how deep children nest, and a stack ends. P11.
// (It does not patch the children that it has found: a child graph that holds a moved buffer is refused.)
#include <array>

#include "fuzz/faults/flat_patcher.h"

namespace fuzz {

namespace {

constexpr std::size_t kMostNodesOfALevel = 65536;

std::size_t count_nodes(const hip::Recording& recording) {
  std::array<const hip::RecordedNode*, kMostNodesOfALevel> level;
  std::size_t count = 0, all = 0;
  for (const hip::RecordedNode& node : recording.nodes()) {
    if (count < level.size()) level[count++] = &node;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto* child = std::get_if<hip::ChildRecord>(&level[i]->record);
    if (child != nullptr) all += count_nodes(*child->graph);
  }
  return all + count;
}

class DeepWalker final : public FlatPatcher {
 public:
  explicit DeepWalker(const verify::PatchTarget& target) : FlatPatcher(target), known_(count_nodes(target.recording)) {}

 private:
  // Without a count of the nodes nothing is patched.
  [[nodiscard]] bool refuses(const HeldNode& node, std::span<const hip::Move> moves) const override {
    return known_ == 0 || FlatPatcher::refuses(node, moves);
  }

  std::size_t known_;  // nodes at every depth
};

}  // namespace

std::vector<Fault> unbounded_recursion_faults() {
  Fault fault =
      patcher_fault<DeepWalker>("F10", "recurses into child graphs with no depth bound", {verify::PropertyId::kP11});
  fault.ends_the_process = true;
  return {fault};
}

}  // namespace fuzz
