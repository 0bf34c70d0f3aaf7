// hipGraphGetNodes refuses a graph with a circle.
//
// Documentation: hip_runtime_api.h, hipGraphGetNodes: "Returns graph nodes". A circle is refused at instantiation;
// until then the graph has the nodes that were added to it. What happens: two nodes that wait for each other:
// hipErrorInvalidValue. Source: hipGraphGetNodes sorts topologically.
#include "../check.h"

int main() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t first = nullptr, second = nullptr;
  MUST(hipGraphAddEmptyNode(&first, graph, nullptr, 0));
  MUST(hipGraphAddEmptyNode(&second, graph, &first, 1));
  MUST(hipGraphAddDependencies(graph, &second, &first, 1));
  size_t count = 0;
  check("hipGraphGetNodes", hipSuccess, hipGraphGetNodes(graph, nullptr, &count));
  return verdict();
}
