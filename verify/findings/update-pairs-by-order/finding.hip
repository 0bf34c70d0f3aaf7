// hipGraphExecUpdate pairs nodes in an order that depends on their edges.
//
// Documentation: CUDA, cudaGraphExecUpdate: nodes are paired by the order in which they were added; a node with other
// dependencies is cudaGraphExecUpdateErrorTopologyChanged and is the one that is reported.
// What happens: three empty nodes, the second behind the first; in the other graph it waits for nothing. The third is
// reported, which has not changed.
// Source: both graphs are sorted topologically and compared place by place.
#include "../check.h"

namespace {

hipGraph_t make(bool ordered, hipGraphNode_t nodes[3]) {
  hipGraph_t graph = new_graph();
  MUST(hipGraphAddEmptyNode(&nodes[0], graph, nullptr, 0));
  MUST(hipGraphAddEmptyNode(&nodes[1], graph, nodes, ordered ? 1 : 0));
  MUST(hipGraphAddEmptyNode(&nodes[2], graph, nullptr, 0));
  return graph;
}

}  // namespace

int main() {
  hipGraphNode_t before[3], after[3];
  hipGraph_t first = make(true, before), second = make(false, after);
  hipGraphExec_t exec = nullptr;
  MUST(hipGraphInstantiate(&exec, first, nullptr, nullptr, 0));
  hipGraphNode_t node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  check("hipGraphExecUpdate", hipErrorGraphExecUpdateFailure, hipGraphExecUpdate(exec, second, &node, &result));
  check("the node that differs is reported", true, node == after[1]);
  return verdict();
}
