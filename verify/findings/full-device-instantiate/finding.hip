// Instantiating a graph with two paths on a device without free memory crashes.
// The story: finding.toml.
#include "../full_device.h"

__global__ void put(int* to, int value) {
  *to = value;
}

static void instantiate_on_full_device(int roots) {
  int* memory = device_ints(2);
  hipGraph_t graph = new_graph();
  for (int i = 0; i < roots; i++) kernel_node(graph, {}, put, memory + i, 5);
  take_all_memory();
  hipGraphExec_t exec = nullptr;
  check("instantiate", hipErrorOutOfMemory, hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
}

int main() {
  in_child("one root", [] { instantiate_on_full_device(1); });
  if (verdict() != 0) return 2;  // the case is about parallel paths
  in_child("two roots", [] { instantiate_on_full_device(2); });
  return verdict();
}
