// The nodes of a clone count the original graph as theirs, also when it is gone.
//
// Documentation: hipGraphClone: the clone is a copy; "after cloning both graphs may be modified independently", and the
// original may be destroyed. hipGraphExecChildGraphNodeSetParams takes any graph with the child's topology.
// What happens: the setter refuses, with hipErrorUnknown, a graph that lies at the address of the clone's original.
// Once the original is destroyed the next graphs are likely to lie there. Source: hipGraphExecChildGraphNodeSetParams
// compares the new child with the node's GetParentGraph(), which Graph::clone leaves as it was in the original.
#include "../check.h"

int main() {
  constexpr int kGraphs = 1000;
  hipGraph_t inner = new_graph(), original = new_graph(), clone = nullptr;
  hipGraphNode_t child = nullptr, child_in_clone = nullptr;
  MUST(hipGraphAddChildGraphNode(&child, original, nullptr, 0, inner));
  MUST(hipGraphClone(&clone, original));
  MUST(hipGraphNodeFindInClone(&child_in_clone, child, clone));
  hipGraphExec_t exec = instantiate(clone);
  MUST(hipGraphDestroy(original));
  // One of them takes the place of what was destroyed.
  hipError_t answer = hipSuccess;
  for (int i = 0; i < kGraphs && answer == hipSuccess; ++i) {
    answer = hipGraphExecChildGraphNodeSetParams(exec, child_in_clone, new_graph());
  }
  check("setting a clone's child to a new graph", hipSuccess, answer);
  return verdict();
}
