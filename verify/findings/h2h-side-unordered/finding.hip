// A host-to-host memcpy node on a side stream does not wait for its dependencies on other streams.
//
// Documentation: HIP, "HIP graphs": a launch executes the operations "while respecting their dependencies".
// What happens: in a graph that is spread over streams (16 nodes or more), a copy between two pageable buffers is
// done by the thread that calls hipGraphLaunch, after it has waited for the copy's own stream alone. Its dependency
// here, a host node that takes 0.2 s to write the source, is on another stream: the copy reads the old bytes.
// Source: GraphMemcpyNode1D::CreateCommand makes no command for such a copy, so that there is nothing to carry the
// waits, and EnqueueCommands calls ihipHtoHMemcpy(..., *stream).
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
