// F13 and F13r: patchers that change the graph's definition instead of the executable graph, and the reverse.
//
// F13. The author believed: hipGraphKernelNodeSetParams changes the node, and the executable graph is made of
// these nodes. The mistake: an executable graph is a snapshot. Its launches keep the old addresses, and only later
// instantiations have the new ones. P3.
//
// F13r, the reverse. The author believed: a caller that patches a graph wants the launches to change, so the setters of
// the executable graph are the right ones, where there is one. The mistake: the launches change although only the
// definition was patched (P2), and later instantiations have the old addresses (P3).
#include <map>

#include "fuzz/faults/flat_patcher.h"

namespace fuzz {

namespace {

class DefinitionPatcher final : public FlatPatcher {
  using FlatPatcher::FlatPatcher;

  [[nodiscard]] hipError_t set(hipGraphNode_t node, hip::NodeRecord& record) const override {
    return set_node(api(), nullptr, node, record);
  }
};

// For each graph: the executable graph for which a patcher of its nodes was made last, on this thread.
std::map<hipGraph_t, hipGraphExec_t>& executables() {
  thread_local std::map<hipGraph_t, hipGraphExec_t> all;
  return all;
}

class ExecutablePatcher final : public FlatPatcher {
 public:
  explicit ExecutablePatcher(const verify::PatchTarget& target) : FlatPatcher(target), graph_(target.graph.graph) {
    if (target.exec != nullptr) executables()[graph_] = target.exec;
  }
  ExecutablePatcher(const ExecutablePatcher&) = delete;
  ExecutablePatcher& operator=(const ExecutablePatcher&) = delete;
  ~ExecutablePatcher() override {
    if (exec() != nullptr) executables().erase(graph_);
  }

 private:
  [[nodiscard]] hipError_t set(hipGraphNode_t node, hip::NodeRecord& record) const override {
    const auto found = executables().find(graph_);
    const hipGraphExec_t other = found == executables().end() ? nullptr : found->second;
    return set_node(api(), exec() != nullptr ? exec() : other, node, record);
  }

  hipGraph_t graph_;
};

}  // namespace

std::vector<Fault> wrong_target_faults() {
  using enum verify::PropertyId;
  return {patcher_fault<DefinitionPatcher>("F13", "updates the graph's definition and not the executable graph", {kP3}),
          patcher_fault<ExecutablePatcher>("F13r", "updates the executable graph and not the graph's definition",
                                           {kP3, kP2})};
}

}  // namespace fuzz
