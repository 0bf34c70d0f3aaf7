// U15 and U16: runtimes that are wrong about what there is, and for how long.
//
// U15 (openxla/xla#39417). The author believed: a graph has work in it. Empty nodes are none, so they are not put on
// the list of commands. What is wrong: a traced graph may be empty, and the first command of an empty list is not one.
// P11.
//
// U16 (ROCm/rocm-systems#6860). The author believed: a child graph's completion is released by the next launch, which
// puts its own in the place. What is wrong: after the last launch there is no next one. P8.
#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

bool holds(const hip::Api& hip, hipGraph_t graph, hipGraphNodeType wanted) {
  for (const hipGraphNode_t node : nodes_of(hip, graph)) {
    hipGraphNodeType type{};
    if (hip.hipGraphNodeGetType(node, &type) == hipSuccess && type == wanted) return true;
  }
  return false;
}

class TakesTheFirstOfNoNodes final : public hip::ApiLayer {
  using Self = TakesTheFirstOfNoNodes;

  void start() override { replace().hipGraphInstantiate = instantiate; }

  struct Command {
    hipGraphNodeType type{};
  };
  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    const hip::Api& hip = current<Self>().inner();
    std::vector<std::unique_ptr<Command>> commands;
    for (const hipGraphNode_t each : nodes_of(hip, graph)) {
      hipGraphNodeType type{};
      if (hip.hipGraphNodeGetType(each, &type) != hipSuccess || type == hipGraphNodeTypeEmpty) continue;
      commands.push_back(std::make_unique<Command>(Command{type}));
    }
    // The first command decides where the graph starts.
    const Command* volatile first = commands.empty() ? nullptr : commands.front().get();
    const volatile hipGraphNodeType begins_with = first->type;
    static_cast<void>(begins_with);
    return hip.hipGraphInstantiate(exec, graph, node, log, bytes);
  }
};

class ForgetsTheChildsLastLaunch final : public hip::ApiLayer {
  using Self = ForgetsTheChildsLastLaunch;

  void start() override {
    with_children_.clear();
    replace().hipGraphInstantiate = instantiate;
    replace().hipGraphLaunch = launch;
    replace().hipGraphExecDestroy = destroy;
  }

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphInstantiate(exec, graph, node, log, bytes);
    if (status == hipSuccess && holds(self.inner(), graph, hipGraphNodeTypeGraph)) self.with_children_[*exec] = nullptr;
    return status;
  }
  static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphLaunch(exec, stream);
    const auto child = self.with_children_.find(exec);
    if (status != hipSuccess || child == self.with_children_.end()) return status;
    if (child->second != nullptr) static_cast<void>(self.inner().hipEventDestroy(child->second));
    child->second = nullptr;
    return self.inner().hipEventCreateWithFlags(&child->second, hipEventDisableTiming);
  }
  static hipError_t destroy(hipGraphExec_t exec) {
    Self& self = current<Self>();
    self.with_children_.erase(exec);
    return self.inner().hipGraphExecDestroy(exec);
  }

  std::map<hipGraphExec_t, hipEvent_t> with_children_;  // the completion of each one's latest launch
};

}  // namespace

std::vector<RuntimeFault> lives_faults() {
  return {{"U15", layer_factory<TakesTheFirstOfNoNodes>()}, {"U16", layer_factory<ForgetsTheChildsLastLaunch>()}};
}

}  // namespace fuzz
