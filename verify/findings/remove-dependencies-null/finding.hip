// hipGraphRemoveDependencies crashes when a node is null.
//
// Documentation: hip_runtime_api.h, hipGraphRemoveDependencies: returns hipSuccess or hipErrorInvalidValue;
// hipGraphAddDependencies returns hipErrorInvalidValue for the same arguments.
// What happens: the nodes are used without a look at them: SIGSEGV.
// Source: hipGraphRemoveDependencies, `toNode[i]->GetParentGraph()`; hipGraphAddDependencies tests for null first.
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
