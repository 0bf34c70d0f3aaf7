// A failed hipGraphAddDependencies or hipGraphRemoveDependencies call keeps part of its changes.
// The story: finding.toml.
#include "../check.h"

long long edges_of(hipGraph_t graph) {
  size_t edges = 0;
  MUST(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  return static_cast<long long>(edges);
}

int main() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t a = nullptr, b = nullptr, c = nullptr;
  MUST(hipGraphAddEmptyNode(&a, graph, nullptr, 0));
  MUST(hipGraphAddEmptyNode(&b, graph, &a, 1));
  MUST(hipGraphAddEmptyNode(&c, graph, nullptr, 0));

  const hipGraphNode_t add_from[] = {b, a}, add_to[] = {c, b};  // b -> c is new, a -> b is there already
  check("adding a new edge and one that exists", hipErrorInvalidValue,
        hipGraphAddDependencies(graph, add_from, add_to, 2));
  check("edges after it", 1, edges_of(graph));

  const long long before = edges_of(graph);
  const hipGraphNode_t remove_from[] = {a, a}, remove_to[] = {b, c};  // there is no a -> c
  check("removing an edge and one that does not exist", hipErrorInvalidValue,
        hipGraphRemoveDependencies(graph, remove_from, remove_to, 2));
  check("edges after it", before, edges_of(graph));
  return verdict();
}
