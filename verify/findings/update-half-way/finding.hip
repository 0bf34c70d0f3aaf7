// A failed hipGraphExecUpdate has changed the nodes before the one that it refuses.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

int main() {
  int* memory = device_ints(2);
  hipGraph_t old_graph = new_graph(), other_graph = new_graph();
  hipGraphNode_t first = kernel_node(old_graph, {}, store, memory, 1), empty = nullptr;
  kernel_node(old_graph, {first}, store, memory + 1, 1);
  first = kernel_node(other_graph, {}, store, memory, 2);
  MUST(hipGraphAddEmptyNode(&empty, other_graph, &first, 1));

  hipGraphExec_t exec = instantiate(old_graph);
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  check("update with another type of node", hipErrorGraphExecUpdateFailure,
        hipGraphExecUpdate(exec, other_graph, &error_node, &result));
  run(exec);
  check("what the first node writes after it", 1, read_int(memory));
  return verdict();
}
