// U03 and U04: runtimes in which setting the parameters of one node changes other nodes.
//
// U03 (CHIP-SPV/chipStar#1498). The author believed: an executable graph has the same nodes as its original graph, so
// a setter can change the node of the original graph. The mistake: the executable graph has nodes of its own. The
// original node is changed instead, and with it every later instantiation. P2.
//
// U04 (CHIP-SPV/chipStar#782). The author believed: arguments can be bound to the handle of the kernel, one handle for
// each kernel. The mistake: two nodes of a graph may run the same kernel, and binding the arguments of the second node
// overwrites the arguments of the first. P2.

#include "fuzz/faults/runtime/faults.h"

namespace fuzz {

namespace {

class SetsTheOriginalNode final : public hip::ApiLayer {
  using Self = SetsTheOriginalNode;

  void start() override {
    using Api = hip::Api;
    replace().hipGraphExecKernelNodeSetParams =
        set<&Api::hipGraphKernelNodeSetParams, &Api::hipGraphExecKernelNodeSetParams>;
    replace().hipGraphExecMemcpyNodeSetParams =
        set<&Api::hipGraphMemcpyNodeSetParams, &Api::hipGraphExecMemcpyNodeSetParams>;
    replace().hipGraphExecMemsetNodeSetParams =
        set<&Api::hipGraphMemsetNodeSetParams, &Api::hipGraphExecMemsetNodeSetParams>;
    replace().hipGraphExecHostNodeSetParams = set<&Api::hipGraphHostNodeSetParams, &Api::hipGraphExecHostNodeSetParams>;
  }

  // A node whose graph was destroyed is set in the executable graph.
  template <auto set_in_graph, auto set_in_exec, class Params>
  static hipError_t set(hipGraphExec_t exec, hipGraphNode_t node, Params* params) {
    const hip::Api& hip = current<Self>().inner();
    const hipError_t status = (hip.*set_in_graph)(node, params);
    return status == hipSuccess ? status : (hip.*set_in_exec)(exec, node, params);
  }
};

class BindsArgumentsToTheKernel final : public hip::ApiLayer {
  using Self = BindsArgumentsToTheKernel;

  void start() override {
    nodes_.clear();
    graphs_.clear();
    replace().hipGraphAddKernelNode = add;
    replace().hipGraphKernelNodeSetParams = set;
    replace().hipGraphDestroy = destroy;
  }

  static hipError_t add(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count,
                        const hipKernelNodeParams* params) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphAddKernelNode(node, graph, after, count, params);
    if (status != hipSuccess) return status;
    self.graphs_[*node] = graph;
    self.bind(*node, *params);
    return status;
  }
  static hipError_t set(hipGraphNode_t node, const hipKernelNodeParams* params) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphKernelNodeSetParams(node, params);
    if (status == hipSuccess) self.bind(node, *params);
    return status;
  }
  static hipError_t destroy(hipGraph_t graph) {
    Self& self = current<Self>();
    std::erase_if(self.graphs_, [graph](const auto& entry) { return entry.second == graph; });
    std::erase_if(self.nodes_, [graph](const auto& entry) { return entry.first.first == graph; });
    return self.inner().hipGraphDestroy(graph);
  }

  // Each node has its own launch dimensions; arguments belong to the kernel's handle.
  void bind(hipGraphNode_t node, const hipKernelNodeParams& params) {
    const hipGraph_t graph = graphs_[node];
    for (auto& [key, others] : nodes_) {
      if (key.first == graph) std::erase(others, node);  // the node may have run another kernel
    }
    std::vector<hipGraphNode_t>& sharing = nodes_[{graph, params.func}];
    for (const hipGraphNode_t other : sharing) {
      hipKernelNodeParams theirs{};
      if (inner().hipGraphKernelNodeGetParams(other, &theirs) != hipSuccess) continue;
      theirs.kernelParams = params.kernelParams;
      theirs.extra = params.extra;
      static_cast<void>(inner().hipGraphKernelNodeSetParams(other, &theirs));
    }
    sharing.push_back(node);
  }

  std::map<std::pair<hipGraph_t, const void*>, std::vector<hipGraphNode_t>> nodes_;  // by kernel
  std::map<hipGraphNode_t, hipGraph_t> graphs_;
};

}  // namespace

std::vector<RuntimeFault> isolation_faults() {
  return {{"U03", layer_factory<SetsTheOriginalNode>()}, {"U04", layer_factory<BindsArgumentsToTheKernel>()}};
}

}  // namespace fuzz
