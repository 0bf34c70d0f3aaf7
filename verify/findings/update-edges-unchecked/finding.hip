// hipGraphExecUpdate accepts a graph with other edges and keeps the old ones.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

hipGraph_t graph_of(int* memory, int reader_waits_for) {
  hipGraph_t graph = new_graph();
  hipGraphNode_t roots[2];
  for (int i = 0; i < 2; i++) roots[i] = kernel_node(graph, {}, store, memory + i, 1);
  kernel_node(graph, {roots[0]}, store, memory + 2, 1);
  kernel_node(graph, {roots[reader_waits_for]}, store, memory + 3, 1);
  return graph;
}

int main() {
  int* memory = device_ints(4);
  hipGraphExec_t exec = instantiate(graph_of(memory, 0));
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  check("update with an edge from another node", hipErrorGraphExecUpdateFailure,
        hipGraphExecUpdate(exec, graph_of(memory, 1), &error_node, &result));
  check("result", hipGraphExecUpdateErrorTopologyChanged, result);
  return verdict();
}
