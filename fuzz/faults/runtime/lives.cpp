// U15, U16 and U28: runtimes that expect objects which need not exist: a command in a graph, a next launch, a success.
//
// U15 (openxla/xla#39417). The author believed: a graph has work in it. Empty nodes are no work, so they are not put on
// the list of commands. The mistake: a traced graph may be empty, and an empty list has no first command. P11.
//
// U16 (ROCm/rocm-systems#6860). The author believed: the next launch releases a child graph's completion, when it
// stores its own completion in the same place. The mistake: the last launch has no next launch. P8.
//
// U28 (vllm.cpp#3049). The author believed: whoever gets an executable graph destroys it, and with it all that was made
// for it. The mistake: an instantiation that fails hands out nothing, and leaves what it had made. P8.
#include <algorithm>

#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

bool holds(const hip::Api& hip, hipGraph_t graph, hipGraphNodeType wanted) {
  return std::ranges::any_of(nodes_of(hip, graph), [&](hipGraphNode_t node) { return has_type(hip, node, wanted); });
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

  std::map<hipGraphExec_t, hipEvent_t> with_children_;  // the completion of the latest launch of each
};

class LeavesAFailedInstantiation final : public hip::ApiLayer {
  using Self = LeavesAFailedInstantiation;

  void start() override { replace().hipGraphInstantiate = instantiate; }

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    const hip::Api& hip = current<Self>().inner();
    const hipError_t status = hip.hipGraphInstantiate(exec, graph, node, log, bytes);
    hipGraph_t made = nullptr;  // the runtime's own copy, which the executable graph would own
    if (status != hipSuccess && graph != nullptr) static_cast<void>(hip.hipGraphClone(&made, graph));
    return status;
  }
};

}  // namespace

std::vector<RuntimeFault> lives_faults() {
  return {{"U15", layer_factory<TakesTheFirstOfNoNodes>()},
          {"U16", layer_factory<ForgetsTheChildsLastLaunch>()},
          {"U28", layer_factory<LeavesAFailedInstantiation>()}};
}

}  // namespace fuzz
