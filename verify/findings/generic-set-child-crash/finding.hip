// hipGraphNodeSetParams of a child graph node with a graph of more nodes crashes.
// The story: finding.toml.
#include "../check.h"

hipGraph_t empty_nodes(int count) {
  hipGraph_t graph = new_graph();
  for (int i = 0; i < count; i++) {
    hipGraphNode_t node = nullptr;
    MUST(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  }
  return graph;
}

int main() {
  in_child("setting a child graph of 1 node to one of 50", [] {
    hipGraph_t graph = new_graph();
    hipGraphNode_t child = nullptr;
    MUST(hipGraphAddChildGraphNode(&child, graph, nullptr, 0, empty_nodes(1)));
    hipGraphNodeParams params{};
    params.type = hipGraphNodeTypeGraph;
    params.graph.graph = empty_nodes(50);
    const hipError_t error = hipGraphNodeSetParams(child, &params);
    hipGraph_t embedded = nullptr;
    MUST(hipGraphChildGraphNodeGetGraph(child, &embedded));
    size_t nodes = 0;
    MUST(hipGraphGetNodes(embedded, nullptr, &nodes));
    check("nodes of the child graph", error == hipSuccess ? 50 : 1, static_cast<long long>(nodes));
  });
  return verdict();
}
