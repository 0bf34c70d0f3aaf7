// U07 (ROCm/rocm-systems#11359): a runtime in which a disabled node is no node at all.
//
// The author believed: a disabled node has no commands, so nothing has to wait for it. The mistake: a disabled node
// still orders the nodes before it and the nodes behind it. Here the nodes behind it wait for nothing any more. P5.
//
// An executable graph with disabled nodes is replaced by one without their edges, made from a clone that is taken at
// instantiation. An executable graph that was changed, or whose graph cannot be cloned, is launched as it is.
#include <set>

#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

class DropsTheEdgesOfDisabledNodes final : public hip::ApiLayer {
  using Self = DropsTheEdgesOfDisabledNodes;

  struct Held {
    hipGraph_t clone = nullptr;  // owned; null: the executable graph is launched as it is
    std::set<hipGraphNode_t> disabled;
    hipGraphExec_t without = nullptr;  // launched in its place, made when first needed
  };

  void start() override {
    held_.clear();
    replace().hipGraphInstantiate = instantiate;
    replace().hipGraphNodeSetEnabled = enable;
    replace().hipGraphLaunch = launch;
    replace().hipGraphExecDestroy = destroy;
    tell<&hip::Api::hipGraphExecUpdate>();
    tell<&hip::Api::hipGraphExecKernelNodeSetParams>();
    tell<&hip::Api::hipGraphExecMemcpyNodeSetParams>();
    tell<&hip::Api::hipGraphExecMemcpyNodeSetParams1D>();
    tell<&hip::Api::hipGraphExecMemcpyNodeSetParamsToSymbol>();
    tell<&hip::Api::hipGraphExecMemcpyNodeSetParamsFromSymbol>();
    tell<&hip::Api::hipGraphExecMemsetNodeSetParams>();
    tell<&hip::Api::hipGraphExecHostNodeSetParams>();
    tell<&hip::Api::hipGraphExecChildGraphNodeSetParams>();
    tell<&hip::Api::hipGraphExecEventRecordNodeSetEvent>();
    tell<&hip::Api::hipGraphExecEventWaitNodeSetEvent>();
    tell<&hip::Api::hipGraphExecBatchMemOpNodeSetParams>();
    tell<&hip::Api::hipGraphExecNodeSetParams>();
    tell<&hip::Api::hipDrvGraphExecMemcpyNodeSetParams>();
    tell<&hip::Api::hipDrvGraphExecMemsetNodeSetParams>();
  }

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphInstantiate(exec, graph, node, log, bytes);
    if (status != hipSuccess) return status;
    Held& held = self.held_[*exec];
    if (self.inner().hipGraphClone(&held.clone, graph) != hipSuccess) held.clone = nullptr;
    return status;
  }
  static hipError_t enable(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphNodeSetEnabled(exec, node, enabled);
    const auto held = self.held_.find(exec);
    if (status != hipSuccess || held == self.held_.end() || held->second.clone == nullptr) return status;
    hipGraphNode_t cloned = nullptr;
    if (self.inner().hipGraphNodeFindInClone(&cloned, node, held->second.clone) != hipSuccess) return status;
    if (enabled == 0) {
      held->second.disabled.insert(cloned);
    } else {
      held->second.disabled.erase(cloned);
    }
    self.drop(held->second);
    return status;
  }
  static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
    Self& self = current<Self>();
    const auto held = self.held_.find(exec);
    if (held == self.held_.end() || held->second.disabled.empty() || held->second.clone == nullptr ||
        !self.make(held->second)) {
      return self.inner().hipGraphLaunch(exec, stream);
    }
    return self.inner().hipGraphLaunch(held->second.without, stream);
  }
  static hipError_t destroy(hipGraphExec_t exec) {
    changing(exec).held_.erase(exec);
    return current<Self>().inner().hipGraphExecDestroy(exec);
  }

  // ---- calls that change an executable graph

  static Self& changing(hipGraphExec_t exec) {
    Self& self = current<Self>();
    if (const auto held = self.held_.find(exec); held != self.held_.end()) self.leave_alone(held->second);
    return self;
  }
  template <auto Function>
  struct Telling;
  template <class... Rest, hipError_t (*hip::Api::*Function)(hipGraphExec_t, Rest...)>
  struct Telling<Function> {
    static hipError_t call(hipGraphExec_t exec, Rest... rest) {
      return (changing(exec).inner().*Function)(exec, rest...);
    }
  };
  template <auto Function>
  void tell() {
    if constexpr (requires { &Telling<Function>::call; }) {  // this release has the function
      if (inner().*Function != nullptr) replace().*Function = Telling<Function>::call;
    }
  }

  void drop(Held& held) {
    if (held.without == nullptr) return;
    static_cast<void>(inner().hipDeviceSynchronize());
    static_cast<void>(inner().hipGraphExecDestroy(held.without));
    held.without = nullptr;
  }
  void leave_alone(Held& held) {
    drop(held);
    if (held.clone != nullptr) static_cast<void>(inner().hipGraphDestroy(held.clone));
    held.clone = nullptr;
  }
  bool make(Held& held) {
    if (held.without != nullptr) return true;
    const hip::Api& hip = inner();
    std::size_t count = 0;
    if (hip.hipGraphGetEdges(held.clone, nullptr, nullptr, &count) != hipSuccess || count == 0) return false;
    std::vector<hipGraphNode_t> all_from(count), all_to(count), from, to;
    if (hip.hipGraphGetEdges(held.clone, all_from.data(), all_to.data(), &count) != hipSuccess) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!held.disabled.contains(all_from[i]) && !held.disabled.contains(all_to[i])) continue;
      from.push_back(all_from[i]);
      to.push_back(all_to[i]);
    }
    if (from.empty()) return false;
    if (hip.hipGraphRemoveDependencies(held.clone, from.data(), to.data(), from.size()) != hipSuccess) return false;
    const bool made = hip.hipGraphInstantiate(&held.without, held.clone, nullptr, nullptr, 0) == hipSuccess;
    static_cast<void>(hip.hipGraphAddDependencies(held.clone, from.data(), to.data(), from.size()));
    if (!made) held.without = nullptr;
    for (const hipGraphNode_t node : held.disabled) {
      if (made) static_cast<void>(hip.hipGraphNodeSetEnabled(held.without, node, 0));
    }
    return made;
  }

  std::map<hipGraphExec_t, Held> held_;
};

}  // namespace

std::vector<RuntimeFault> disabled_faults() {
  return {{"U07", layer_factory<DropsTheEdgesOfDisabledNodes>()}};
}

}  // namespace fuzz
