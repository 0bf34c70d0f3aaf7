// hipGraphGetNodes refuses a graph with a cycle.
// The story: finding.toml.
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
