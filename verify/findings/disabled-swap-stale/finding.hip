// Enabling one node and disabling another between two launches has no effect on either.
// The story: finding.toml.
#include "../check.h"

__global__ void count(int* counter) {
  *counter += 1;
}

int main() {
  int* counters = device_ints(2);
  hipGraph_t graph = new_graph();
  hipGraphNode_t first = kernel_node(graph, {}, count, counters);
  hipGraphNode_t second = kernel_node(graph, {first}, count, counters + 1);
  hipGraphExec_t exec = instantiate(graph);

  MUST(hipGraphNodeSetEnabled(exec, first, 0));
  run(exec);
  check("runs of the first node, disabled", 0, read_int(counters));
  check("runs of the second node", 1, read_int(counters + 1));

  MUST(hipGraphNodeSetEnabled(exec, first, 1));
  MUST(hipGraphNodeSetEnabled(exec, second, 0));
  run(exec);
  check("runs of the first node, enabled again", 1, read_int(counters));
  check("runs of the second node, disabled", 1, read_int(counters + 1));
  return verdict();
}
