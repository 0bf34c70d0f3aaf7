// A refused hipGraphAdd...Node call leaves the node in the graph.
// The story: finding.toml.
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
  const hipGraphNode_t twice[] = {first, first}, mixed[] = {first, foreign}, missing[] = {nullptr};
  check("adding with a dependency twice", hipErrorInvalidValue,
        hipGraphAddKernelNode(&added, graph, twice, 2, &params));
  check("adding with a foreign dependency", hipErrorInvalidValue,
        hipGraphAddKernelNode(&added, graph, mixed, 2, &params));
  check("adding with a null dependency", hipErrorInvalidValue,
        hipGraphAddKernelNode(&added, graph, missing, 1, &params));
  size_t nodes = 0, edges = 0;
  MUST(hipGraphGetNodes(graph, nullptr, &nodes));
  MUST(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  check("nodes of the graph", 1, static_cast<long long>(nodes));
  check("edges of the graph", 0, static_cast<long long>(edges));
  run(instantiate(graph));
  check("runs of the kernel that was refused", 0, read_int(counter));
  return verdict();
}
