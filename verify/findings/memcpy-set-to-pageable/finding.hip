// A 1D copy that is set from pinned to pageable memory still does the old copy.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

int main() {
  static int pageable = 1;
  int* pinned = nullptr;
  MUST(hipHostMalloc(reinterpret_cast<void**>(&pinned), sizeof(int), hipHostMallocDefault));
  *pinned = 2;
  int* memory = device_ints(4);
  auto copy_from = [memory](int* source, hipGraphNode_t* node) {
    hipGraph_t graph = new_graph();
    hipGraphNode_t before = kernel_node(graph, {}, store, memory + 1, 1);
    MUST(hipGraphAddMemcpyNode1D(node, graph, &before, 1, memory, source, sizeof(int), hipMemcpyHostToDevice));
    kernel_node(graph, {*node}, store, memory + 2, 1);
    return graph;
  };
  hipGraphNode_t node = nullptr, other = nullptr;
  hipGraphExec_t exec = instantiate(copy_from(pinned, &node));
  MUST(hipGraphExecMemcpyNodeSetParams1D(exec, node, memory, &pageable, sizeof(int), hipMemcpyHostToDevice));
  run(exec);
  check("copied after the setter", 1, read_int(memory));

  MUST(hipMemset(memory, 0, sizeof(int)));
  MUST(hipDeviceSynchronize());
  exec = instantiate(copy_from(pinned, &node));
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  MUST(hipGraphExecUpdate(exec, copy_from(&pageable, &other), &error_node, &result));
  run(exec);
  check("copied after the update", 1, read_int(memory));
  return verdict();
}
