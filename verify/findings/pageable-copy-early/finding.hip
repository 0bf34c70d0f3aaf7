// A copy node from pageable memory reads its source when hipGraphLaunch is called.
// The story: finding.toml.
#include "../check.h"

int pageable = 0;
int* target_of_host_node = &pageable;
void write_late(void* number) {
  usleep(100000);
  *static_cast<volatile int*>(target_of_host_node) = *static_cast<int*>(number);
}

hipGraphNode_t add_writer(hipGraph_t graph, int* number) {
  hipHostNodeParams params{};
  params.fn = write_late;
  params.userData = number;
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddHostNode(&node, graph, nullptr, 0, &params));
  return node;
}

int main() {
  static int seven = 7, eight = 8;
  int* memory = device_ints(1);
  hipGraph_t both = new_graph(), writes = new_graph(), copies = new_graph();
  hipGraphNode_t writer = add_writer(both, &seven), copy = nullptr;
  MUST(hipGraphAddMemcpyNode1D(&copy, both, &writer, 1, memory, &pageable, sizeof(int), hipMemcpyHostToDevice));
  add_writer(writes, &eight);
  MUST(hipGraphAddMemcpyNode1D(&copy, copies, nullptr, 0, memory, &pageable, sizeof(int), hipMemcpyHostToDevice));

  run(instantiate(both));
  check("copied behind a host node of the same graph", 7, read_int(memory));
  hipGraphExec_t first = instantiate(writes), second = instantiate(copies);
  MUST(hipGraphLaunch(first, nullptr));
  MUST(hipGraphLaunch(second, nullptr));
  MUST(hipDeviceSynchronize());
  check("copied behind a host node of an earlier launch", 8, read_int(memory));
  return verdict();
}
