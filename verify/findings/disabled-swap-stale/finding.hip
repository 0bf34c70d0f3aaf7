// Enabling one node and disabling another between two launches leaves the first one off and the second one on.
//
// Documentation: hip_runtime_api.h, hipGraphNodeSetEnabled: "Node is enabled if != 0, otherwise the node is
// disabled", "Disabled nodes are functionally equivalent to empty nodes until they are reenabled".
// What happens: the list of packets without the disabled nodes' is kept between launches and is only made anew when
// its length changes. Swapping which of two nodes is disabled does not change the length, so the old list runs
// again. hipGraphNodeGetEnabled reports the new state all the while. Graphs of kernels on one stream (fewer than 16
// nodes).
// Source: GraphExec::PacketBatch::rebuildFilteredLists, "Cache is valid if size matches".
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
