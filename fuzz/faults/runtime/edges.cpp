// U08, U11 and U24: runtimes that mistake the edges of a graph.
//
// U08 (ROCm/rocm-systems#11499). The author believed: when a node has more dependents than there are streams, the
// further dependents are on the node's own stream and need not wait for it. The mistake: streams are assigned in turn,
// so only every kStreams-th of them is. The other dependents wait for nothing and may run before the node. P5.
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

struct Edges {
  std::vector<hipGraphNode_t> from, to;
};

// No edges if the runtime reports an error.
Edges edges_of(const hip::Api& hip, hipGraph_t graph) {
  std::size_t count = 0;
  if (hip.hipGraphGetEdges(graph, nullptr, nullptr, &count) != hipSuccess || count == 0) return {};
  Edges edges{std::vector<hipGraphNode_t>(count), std::vector<hipGraphNode_t>(count)};
  if (hip.hipGraphGetEdges(graph, edges.from.data(), edges.to.data(), &count) != hipSuccess) return {};
  return edges;
}

class SkipsWaitsPastTheLastStream final : public hip::ApiLayer {
  using Self = SkipsWaitsPastTheLastStream;
  static constexpr std::size_t kStreams = 2;  // as the runtime is configured; few streams wrap around sooner

  void start() override {
    replace().hipGraphInstantiate = instantiate;
    replace().hipGraphInstantiateWithFlags = instantiate_with_flags;
#if HIP_VERSION >= 60000000  // earlier headers have no such function
    replace().hipGraphInstantiateWithParams = instantiate_with_params;
#endif
    replace().hipGraphExecUpdate = update;
  }

  // The edges that no wait implements: to a dependent on another stream that waits for one node only. Streams are dealt
  // out to dependents in the order in which they were added.
  static Edges skipped(const hip::Api& hip, hipGraph_t graph) {
    const Edges edges = edges_of(hip, graph);
    std::map<hipGraphNode_t, std::vector<hipGraphNode_t>> parents;
    for (std::size_t i = 0; i < edges.from.size(); ++i) parents[edges.to[i]].push_back(edges.from[i]);
    std::map<hipGraphNode_t, std::size_t> dealt;
    Edges without;
    for (const hipGraphNode_t node : edges.from.empty() ? std::vector<hipGraphNode_t>() : nodes_of(hip, graph)) {
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
  // Calls with these edges removed, and then puts them back: the runtime executes the graph without them.
  template <class Call>
  static hipError_t with_waits_skipped(const hip::Api& hip, hipGraph_t graph, const Call& call) {
    const Edges without = skipped(hip, graph);
    const std::size_t count = without.from.size();
    const bool removed = count != 0 && hip.hipGraphRemoveDependencies(graph, without.from.data(), without.to.data(),
                                                                      count) == hipSuccess;
    const hipError_t status = call();
    if (!removed) return status;
    const hipError_t added = hip.hipGraphAddDependencies(graph, without.from.data(), without.to.data(), count);
    return status == hipSuccess ? added : status;
  }

  static hipError_t instantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* node, char* log,
                                std::size_t bytes) {
    const hip::Api& hip = current<Self>().inner();
    return with_waits_skipped(hip, graph, [&] { return hip.hipGraphInstantiate(exec, graph, node, log, bytes); });
  }
  static hipError_t instantiate_with_flags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
    const hip::Api& hip = current<Self>().inner();
    return with_waits_skipped(hip, graph, [&] { return hip.hipGraphInstantiateWithFlags(exec, graph, flags); });
  }
#if HIP_VERSION >= 60000000
  static hipError_t instantiate_with_params(hipGraphExec_t* exec, hipGraph_t graph, hipGraphInstantiateParams* params) {
    const hip::Api& hip = current<Self>().inner();
    return with_waits_skipped(hip, graph, [&] { return hip.hipGraphInstantiateWithParams(exec, graph, params); });
  }
#endif
  static hipError_t update(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* node,
                           hipGraphExecUpdateResult* result) {
    const hip::Api& hip = current<Self>().inner();
    return with_waits_skipped(hip, graph, [&] { return hip.hipGraphExecUpdate(exec, graph, node, result); });
  }
};

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
  return {{"U08", layer_factory<SkipsWaitsPastTheLastStream>()},
          {"U11", layer_factory<RefusesRedundantEdges>()},
          {"U24", layer_factory<PrunesTheCallersGraph>()}};
}

}  // namespace fuzz
