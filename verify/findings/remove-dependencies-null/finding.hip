// hipGraphRemoveDependencies crashes when a node is null.
// The story: finding.toml.
#include "../check.h"

int main() {
  in_child("removing an edge to a null node", [] {
    hipGraph_t graph = new_graph();
    hipGraphNode_t node = nullptr;
    MUST(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
    const hipGraphNode_t from[] = {node}, to[] = {nullptr};
    check("adding an edge to a null node", hipErrorInvalidValue, hipGraphAddDependencies(graph, from, to, 1));
    check("removing an edge to a null node", hipErrorInvalidValue, hipGraphRemoveDependencies(graph, from, to, 1));
  });
  return verdict();
}
