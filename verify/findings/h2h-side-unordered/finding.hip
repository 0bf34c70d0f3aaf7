// A host-to-host copy node does not wait for dependencies on other streams.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

int source = 0;
void write_source_late(void*) {
  usleep(200000);
  *static_cast<volatile int*>(&source) = 7;
}

int main() {
  int* memory = device_ints(64);
  static int target = 0;
  hipGraph_t graph = new_graph();
  hipHostNodeParams host{};
  host.fn = write_source_late;
  hipGraphNode_t writer = nullptr, copy = nullptr;
  MUST(hipGraphAddHostNode(&writer, graph, nullptr, 0, &host));
  kernel_node(graph, {writer}, store, memory, 1);  // the first dependent gets the writer's stream, the next one another
  MUST(hipGraphAddMemcpyNode1D(&copy, graph, &writer, 1, &target, &source, sizeof source, hipMemcpyHostToHost));
  for (int i = 0; i < 16; i++) kernel_node(graph, {}, store, memory + 16 + i, 1);
  run(instantiate(graph));
  check("what was copied", 7, target);
  return verdict();
}
