// A copy that is enabled after its memory was freed never runs again.
// The story: finding.toml.
#include "../check.h"

void copy_once(bool freed_before) {
  int *from = device_ints(64), *other = device_ints(64), *to = device_ints(64);
  const int seven = 7;
  MUST(hipMemcpy(other, &seven, sizeof seven, hipMemcpyHostToDevice));
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, sizeof(int), hipMemcpyDeviceToDevice));
  hipGraphExec_t exec = instantiate(graph);
  MUST(hipGraphNodeSetEnabled(exec, node, 0));
  if (freed_before) MUST(hipFree(from));
  MUST(hipGraphNodeSetEnabled(exec, node, 1));
  MUST(hipGraphExecMemcpyNodeSetParams1D(exec, node, to, other, sizeof(int), hipMemcpyDeviceToDevice));
  if (!freed_before) MUST(hipFree(from));
  run(exec);
  check("what was copied", 7, read_int(to));
}

int main() {
  in_child("freed when the node was set", [] { copy_once(false); });
  in_child("freed when the node was enabled", [] { copy_once(true); });
  return verdict();
}
