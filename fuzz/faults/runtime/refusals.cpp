// U31, U32, U33, U34 and U35: runtimes that change something although they refuse a call. No report names them: each is
// the order of checks and assignments that a reader finds in runtimes' sources.
//
// U31. The author believed: a setter's checks may come behind its assignments, because its caller stops at an error.
// The mistake: a memset node then has the parameters that were refused. P11.
//
// U32. The author wrote a loop that checks an edge and adds it. The mistake: where the second edge is refused, the
// first one is there. P11.
//
// U33. The author believed: a stream that begins a capture has none. The mistake: a second begin is refused and has
// ended the first capture. P4, P7, P11.
//
// U34. The author wrote a loop that compares a node and updates it. The mistake: an update that is refused has updated
// the nodes before the one that differs. P4.
//
// U35. The author let an instantiation take edges out of the graph and put them back at its end. The mistake: one that
// is refused returns before that. P4.
#include <algorithm>
#include <map>
#include <vector>

#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

class StoresBeforeItChecks final : public hip::ApiLayer {
  using Self = StoresBeforeItChecks;

  void start() override {
    refused_.clear();
    replace().hipGraphMemsetNodeSetParams = set;
    replace().hipGraphMemsetNodeGetParams = get;
    replace().hipGraphDestroyNode = destroy_node;
    replace().hipGraphDestroy = destroy;
  }

  static hipError_t set(hipGraphNode_t node, const hipMemsetParams* params) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphMemsetNodeSetParams(node, params);
    self.refused_.erase(node);
    if (status != hipSuccess && params != nullptr) self.refused_[node] = *params;
    return status;
  }
  static hipError_t get(hipGraphNode_t node, hipMemsetParams* params) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphMemsetNodeGetParams(node, params);
    const auto refused = self.refused_.find(node);
    if (status == hipSuccess && refused != self.refused_.end()) *params = refused->second;
    return status;
  }

  static hipError_t destroy_node(hipGraphNode_t node) {
    Self& self = current<Self>();
    self.refused_.erase(node);
    return self.inner().hipGraphDestroyNode(node);
  }
  static hipError_t destroy(hipGraph_t graph) {
    Self& self = current<Self>();
    if (!self.refused_.empty()) {
      for (hipGraphNode_t node : nodes_of(self.inner(), graph)) self.refused_.erase(node);
    }
    return self.inner().hipGraphDestroy(graph);
  }

  std::map<hipGraphNode_t, hipMemsetParams> refused_;
};

class AddsEdgesOneByOne final : public hip::ApiLayer {
  using Self = AddsEdgesOneByOne;

  void start() override { replace().hipGraphAddDependencies = add; }

  static hipError_t add(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to, std::size_t count) {
    const hip::Api& hip = current<Self>().inner();
    if (from == nullptr || to == nullptr || count == 0) return hip.hipGraphAddDependencies(graph, from, to, count);
    hipError_t status = hipSuccess;
    for (std::size_t i = 0; i < count && status == hipSuccess; ++i)
      status = hip.hipGraphAddDependencies(graph, from + i, to + i, 1);
    return status;
  }
};

class EndsTheFirstCapture final : public hip::ApiLayer {
  using Self = EndsTheFirstCapture;

  void start() override { replace().hipStreamBeginCapture = begin; }

  static hipError_t begin(hipStream_t stream, hipStreamCaptureMode mode) {
    const hip::Api& hip = current<Self>().inner();
    const bool captured = stream != nullptr && captures(hip, stream);
    const hipError_t status = hip.hipStreamBeginCapture(stream, mode);
    hipGraph_t graph = nullptr;
    if (captured && status != hipSuccess && hip.hipStreamEndCapture(stream, &graph) == hipSuccess)
      static_cast<void>(hip.hipGraphDestroy(graph));
    return status;
  }
};

class UpdatesUpToTheDifference final : public hip::ApiLayer {
  using Self = UpdatesUpToTheDifference;

  void start() override {
    made_.clear();
    replace().hipGraphInstantiate = instantiate;
    replace().hipGraphExecUpdate = update;
    replace().hipGraphExecDestroy = destroy_exec;
    replace().hipGraphDestroyNode = destroy_node;
    replace().hipGraphDestroy = destroy;
  }

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphInstantiate(exec, graph, node, log, bytes);
    if (status == hipSuccess) self.made_[*exec] = {graph, nodes_of(self.inner(), graph)};
    return status;
  }
  static hipError_t update(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* node,
                           hipGraphExecUpdateResult* result) {
    Self& self = current<Self>();
    const hip::Api& hip = self.inner();
    const hipError_t status = hip.hipGraphExecUpdate(exec, graph, node, result);
    if (status != hipErrorGraphExecUpdateFailure) return status;
    const std::vector<hipGraphNode_t> to = nodes_of(hip, graph), &from = self.made_[exec].nodes;
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
      hipKernelNodeParams params{};
      if (!has_type(hip, from[i], hipGraphNodeTypeKernel) || !has_type(hip, to[i], hipGraphNodeTypeKernel)) break;
      if (hip.hipGraphKernelNodeGetParams(to[i], &params) != hipSuccess || params.kernelParams == nullptr) break;
      if (hip.hipGraphExecKernelNodeSetParams(exec, from[i], &params) != hipSuccess) break;
    }
    return status;
  }

  static hipError_t destroy_exec(hipGraphExec_t exec) {
    Self& self = current<Self>();
    self.made_.erase(exec);
    return self.inner().hipGraphExecDestroy(exec);
  }
  // From a node that is gone on, nothing is updated.
  static hipError_t destroy_node(hipGraphNode_t node) {
    Self& self = current<Self>();
    for (auto& [exec, from] : self.made_) from.nodes.erase(std::ranges::find(from.nodes, node), from.nodes.end());
    return self.inner().hipGraphDestroyNode(node);
  }
  static hipError_t destroy(hipGraph_t graph) {
    Self& self = current<Self>();
    std::erase_if(self.made_, [graph](const auto& entry) { return entry.second.graph == graph; });
    return self.inner().hipGraphDestroy(graph);
  }

  struct Origin {
    hipGraph_t graph = nullptr;
    std::vector<hipGraphNode_t> nodes;
  };
  std::map<hipGraphExec_t, Origin> made_;
};

class KeepsAnEdgeThatItTook final : public hip::ApiLayer {
  using Self = KeepsAnEdgeThatItTook;

  void start() override { replace().hipGraphInstantiate = instantiate; }

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    const hip::Api& hip = current<Self>().inner();
    const hipError_t status = hip.hipGraphInstantiate(exec, graph, node, log, bytes);
    const Edges edges = status == hipSuccess ? Edges() : edges_of(hip, graph);
    if (!edges.from.empty())
      static_cast<void>(hip.hipGraphRemoveDependencies(graph, edges.from.data(), edges.to.data(), 1));
    return status;
  }
};

}  // namespace

std::vector<RuntimeFault> refusals_faults() {
  return {{"U31", layer_factory<StoresBeforeItChecks>()},
          {"U32", layer_factory<AddsEdgesOneByOne>()},
          {"U33", layer_factory<EndsTheFirstCapture>()},
          {"U34", layer_factory<UpdatesUpToTheDifference>()},
          {"U35", layer_factory<KeepsAnEdgeThatItTook>()}};
}

}  // namespace fuzz
