// An update pairs nodes in an order that depends on their edges, and reports the wrong change.
// The story: finding.toml.
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
