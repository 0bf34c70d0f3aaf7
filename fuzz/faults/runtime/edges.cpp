// U11 and U24: runtimes that mistake the edges of a graph.
//
// U11 (CHIP-SPV/chipStar#1491). The author believed: an edge that other edges imply does not occur, since no program
// needs it. The mistake: such an edge is legal, and a graph that has one cannot be launched. P9.
//
// U24 (CHIP-SPV/chipStar#1501). The author believed: a launch may prune edges that others imply, since they order
// nothing. The mistake: it prunes the graph of the caller, who can ask for its edges. P2.
#include <set>

#include "fuzz/faults/runtime/faults.h"
#include "fuzz/faults/runtime/queries.h"

namespace fuzz {

namespace {

using Dependents = std::map<hipGraphNode_t, std::set<hipGraphNode_t>>;

void walk(const Dependents& graph, hipGraphNode_t node, std::set<hipGraphNode_t>& seen) {
  const auto found = graph.find(node);
  if (found == graph.end()) return;
  std::vector<hipGraphNode_t> open(found->second.begin(), found->second.end());
  while (!open.empty()) {
    const hipGraphNode_t next = open.back();
    open.pop_back();
    if (!seen.insert(next).second) continue;
    const auto further = graph.find(next);
    if (further != graph.end()) open.insert(open.end(), further->second.begin(), further->second.end());
  }
}

// The edges that connect two nodes which other edges connect already.
Edges redundant(const Edges& edges) {
  Dependents graph;
  for (std::size_t i = 0; i < edges.from.size(); ++i) graph[edges.from[i]].insert(edges.to[i]);
  Edges found;
  for (const auto& [node, dependents] : graph) {
    if (dependents.size() < 2) continue;
    std::set<hipGraphNode_t> beyond;
    for (const hipGraphNode_t dependent : dependents) walk(graph, dependent, beyond);
    for (const hipGraphNode_t dependent : dependents) {
      if (!beyond.contains(dependent)) continue;
      found.from.push_back(node);
      found.to.push_back(dependent);
    }
  }
  return found;
}

class RefusesRedundantEdges final : public hip::ApiLayer {
  using Self = RefusesRedundantEdges;

  void start() override {
    refused_.clear();
    replace().hipGraphInstantiate = instantiate;
    replace().hipGraphLaunch = launch;
  }

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphInstantiate(exec, graph, node, log, bytes);
    if (status != hipSuccess) return status;
    self.refused_.erase(*exec);
    if (!redundant(edges_of(self.inner(), graph)).from.empty()) self.refused_.insert(*exec);
    return status;
  }
  static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
    Self& self = current<Self>();
    return self.refused_.contains(exec) ? hipErrorUnknown : self.inner().hipGraphLaunch(exec, stream);
  }

  std::set<hipGraphExec_t> refused_;
};

class PrunesTheCallersGraph final : public hip::ApiLayer {
  using Self = PrunesTheCallersGraph;

  void start() override {
    graphs_.clear();
    replace().hipGraphInstantiate = instantiate;
    replace().hipGraphLaunch = launch;
    replace().hipGraphDestroy = destroy;
  }

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    Self& self = current<Self>();
    const hipError_t status = self.inner().hipGraphInstantiate(exec, graph, node, log, bytes);
    if (status == hipSuccess) self.graphs_[*exec] = graph;
    return status;
  }
  static hipError_t launch(hipGraphExec_t exec, hipStream_t stream) {
    Self& self = current<Self>();
    if (const auto of = self.graphs_.find(exec); of != self.graphs_.end()) {
      const Edges pruned = redundant(edges_of(self.inner(), of->second));
      static_cast<void>(self.inner().hipGraphRemoveDependencies(of->second, pruned.from.data(), pruned.to.data(),
                                                                pruned.from.size()));
    }
    return self.inner().hipGraphLaunch(exec, stream);
  }
  static hipError_t destroy(hipGraph_t graph) {
    Self& self = current<Self>();
    std::erase_if(self.graphs_, [graph](const auto& each) { return each.second == graph; });
    return self.inner().hipGraphDestroy(graph);
  }

  std::map<hipGraphExec_t, hipGraph_t> graphs_;  // the graphs that still exist
};

}  // namespace

std::vector<RuntimeFault> edges_faults() {
  return {{"U11", layer_factory<RefusesRedundantEdges>()}, {"U24", layer_factory<PrunesTheCallersGraph>()}};
}

}  // namespace fuzz
