// A hipGraphAdd...Node call that is refused for its dependencies leaves the node, and some edges, in the graph.
//
// Documentation: hip_runtime_api.h, hipGraphAdd...Node: "Creates a [...] node and adds it to a graph", or returns
// hipErrorInvalidValue. A call that returns an error has added nothing.
// What happens: the node is put into the graph before its dependencies are looked at. After a refused call (a
// dependency given twice, or one of another graph) the graph has a node that the caller has no business with: it
// runs at the next launch, without the edges that were asked for. Here a kernel runs although adding it failed.
// Source: ihipGraphAddNode: graph->AddNode(graphNode) comes first.
#include "../check.h"

__global__ void count(int* counter) {
  *counter += 1;
}

int main() {
  int* counter = device_ints(1);
  hipGraph_t graph = new_graph(), other = new_graph();
  hipGraphNode_t first = nullptr, foreign = nullptr, added = nullptr;
  MUST(hipGraphAddEmptyNode(&first, graph, nullptr, 0));
  MUST(hipGraphAddEmptyNode(&foreign, other, nullptr, 0));
  void* arguments[] = {&counter};
  const hipKernelNodeParams params = one_thread(reinterpret_cast<const void*>(count), arguments);
  const hipGraphNode_t twice[] = {first, first}, mixed[] = {first, foreign};
  check("adding with a dependency twice", hipErrorInvalidValue,
        hipGraphAddKernelNode(&added, graph, twice, 2, &params));
  check("adding with a foreign dependency", hipErrorInvalidValue,
        hipGraphAddKernelNode(&added, graph, mixed, 2, &params));
  size_t nodes = 0, edges = 0;
  MUST(hipGraphGetNodes(graph, nullptr, &nodes));
  MUST(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  check("nodes of the graph", 1, static_cast<long long>(nodes));
  check("edges of the graph", 0, static_cast<long long>(edges));
  run(instantiate(graph));
  check("runs of the kernel that was refused", 0, read_int(counter));
  return verdict();
}
