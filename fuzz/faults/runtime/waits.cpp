// U07 and U08: runtimes whose launches lack waits.
//
// U07 (ROCm/rocm-systems#11359): a disabled node is no node at all. The author believed: a disabled node has no
// commands, so nothing has to wait for it. The mistake: a disabled node still orders the nodes before it and the nodes
// behind it. Here the nodes behind it wait for nothing any more. P5.
//
// U08 (ROCm/rocm-systems#11499). The author believed: when a node has more dependents than there are streams, the
// further dependents are on the node's own stream and need not wait for it. The mistake: streams are assigned in turn,
// so only every kStreams-th of them is. The other dependents wait for nothing and may run before the node. P5.
//
// An executable graph is replaced by one without these edges, made from a clone that is taken at instantiation. An
// executable graph that was changed, or whose graph cannot be cloned, is launched as it is. The replacement has no
// flags: they matter to graphs with memory nodes, which cannot be cloned.
#include <set>

#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

class LaunchesWithoutEdges : public hip::ApiLayer {
  using Self = LaunchesWithoutEdges;

 protected:
  struct Held {
    hipGraph_t clone = nullptr;  // owned; null: the executable graph is launched as it is
    std::set<hipGraphNode_t> disabled;
    hipGraphExec_t without = nullptr;  // launched in its place, made when first needed
    bool drops_nothing = false;        // with these nodes disabled
  };
  // The edges of the clone that launches lack.
  [[nodiscard]] virtual Edges dropped(const Held& held) const = 0;

 private:
  void start() override {
    held_.clear();
    replace().hipGraphNodeSetEnabled = enable;
    replace().hipGraphLaunch = launch;
    replace().hipGraphExecDestroy = destroy;
    wrap<&hip::Api::hipGraphInstantiate>();
    wrap<&hip::Api::hipGraphInstantiateWithFlags>();
    wrap<&hip::Api::hipGraphInstantiateWithParams>();
    wrap<&hip::Api::hipGraphExecUpdate>();
    wrap<&hip::Api::hipGraphExecKernelNodeSetParams>();
    wrap<&hip::Api::hipGraphExecMemcpyNodeSetParams>();
    wrap<&hip::Api::hipGraphExecMemcpyNodeSetParams1D>();
    wrap<&hip::Api::hipGraphExecMemcpyNodeSetParamsToSymbol>();
    wrap<&hip::Api::hipGraphExecMemcpyNodeSetParamsFromSymbol>();
    wrap<&hip::Api::hipGraphExecMemsetNodeSetParams>();
    wrap<&hip::Api::hipGraphExecHostNodeSetParams>();
    wrap<&hip::Api::hipGraphExecChildGraphNodeSetParams>();
    wrap<&hip::Api::hipGraphExecEventRecordNodeSetEvent>();
    wrap<&hip::Api::hipGraphExecEventWaitNodeSetEvent>();
    wrap<&hip::Api::hipGraphExecBatchMemOpNodeSetParams>();
    wrap<&hip::Api::hipGraphExecNodeSetParams>();
    wrap<&hip::Api::hipDrvGraphExecMemcpyNodeSetParams>();
    wrap<&hip::Api::hipDrvGraphExecMemsetNodeSetParams>();
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
    held->second.drops_nothing = false;
    return status;
  }
  static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
    Self& self = current<Self>();
    const auto held = self.held_.find(exec);
    if (held == self.held_.end() || held->second.clone == nullptr || !self.make(held->second)) {
      return self.inner().hipGraphLaunch(exec, stream);
    }
    return self.inner().hipGraphLaunch(held->second.without, stream);
  }
  static hipError_t destroy(hipGraphExec_t exec) {
    changing(exec).held_.erase(exec);
    return current<Self>().inner().hipGraphExecDestroy(exec);
  }

  // ---- calls that make an executable graph or change one

  static Self& changing(hipGraphExec_t exec) {
    Self& self = current<Self>();
    if (const auto held = self.held_.find(exec); held != self.held_.end()) self.leave_alone(held->second);
    return self;
  }
  template <auto Function>
  struct Wrapped;
  template <class... Rest, hipError_t (*hip::Api::*Function)(hipGraphExec_t*, hipGraph_t, Rest...)>
  struct Wrapped<Function> {
    static hipError_t call(hipGraphExec_t* exec, hipGraph_t graph, Rest... rest) {
      Self& self = current<Self>();
      const hipError_t status = (self.inner().*Function)(exec, graph, rest...);
      if (status != hipSuccess) return status;
      Held& held = self.held_[*exec];
      if (self.inner().hipGraphClone(&held.clone, graph) != hipSuccess) held.clone = nullptr;
      return status;
    }
  };
  template <class... Rest, hipError_t (*hip::Api::*Function)(hipGraphExec_t, Rest...)>
  struct Wrapped<Function> {
    static hipError_t call(hipGraphExec_t exec, Rest... rest) {
      return (changing(exec).inner().*Function)(exec, rest...);
    }
  };
  template <auto Function>
  void wrap() {
    if constexpr (requires { &Wrapped<Function>::call; }) {  // this release has the function
      if (inner().*Function != nullptr) replace().*Function = Wrapped<Function>::call;
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
    if (held.drops_nothing) return false;
    const hip::Api& hip = inner();
    const auto [from, to] = dropped(held);
    held.drops_nothing = from.empty();
    if (held.drops_nothing) return false;
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

class DropsTheEdgesOfDisabledNodes final : public LaunchesWithoutEdges {
  [[nodiscard]] Edges dropped(const Held& held) const override {
    if (held.disabled.empty()) return {};
    const Edges all = edges_of(inner(), held.clone);
    Edges found;
    for (std::size_t i = 0; i < all.from.size(); ++i) {
      if (!held.disabled.contains(all.from[i]) && !held.disabled.contains(all.to[i])) continue;
      found.from.push_back(all.from[i]);
      found.to.push_back(all.to[i]);
    }
    return found;
  }
};

class SkipsWaitsPastTheLastStream final : public LaunchesWithoutEdges {
  static constexpr std::size_t kStreams = 2;  // as the runtime is configured; few streams wrap around sooner

  // The edges that no wait implements: to a dependent on another stream that waits for one node only. Streams are dealt
  // out to dependents in the order in which they were added.
  [[nodiscard]] Edges dropped(const Held& held) const override {
    const Edges edges = edges_of(inner(), held.clone);
    std::map<hipGraphNode_t, std::vector<hipGraphNode_t>> parents;
    for (std::size_t i = 0; i < edges.from.size(); ++i) parents[edges.to[i]].push_back(edges.from[i]);
    std::map<hipGraphNode_t, std::size_t> dealt;
    Edges without;
    for (const hipGraphNode_t node :
         edges.from.empty() ? std::vector<hipGraphNode_t>() : nodes_of(inner(), held.clone)) {
      const std::vector<hipGraphNode_t>& waits_for = parents[node];
      for (const hipGraphNode_t parent : waits_for) {
        const std::size_t index = dealt[parent]++;
        if (index < kStreams || index % kStreams == 0 || waits_for.size() > 1) continue;
        without.from.push_back(parent);
        without.to.push_back(node);
      }
    }
    return without;
  }
};

}  // namespace

std::vector<RuntimeFault> waits_faults() {
  return {{"U07", layer_factory<DropsTheEdgesOfDisabledNodes>()},
          {"U08", layer_factory<SkipsWaitsPastTheLastStream>()}};
}

}  // namespace fuzz
