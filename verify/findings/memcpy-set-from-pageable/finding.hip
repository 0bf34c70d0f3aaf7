// A 1D copy that is set from pageable to pinned or device memory copies nothing.
// The story: finding.toml.
#include "../check.h"

int main() {
  static int pageable = 1;
  int* pinned = nullptr;
  MUST(hipHostMalloc(reinterpret_cast<void**>(&pinned), sizeof(int), hipHostMallocDefault));
  *pinned = 2;
  int* target = device_ints(1);
  auto copy_from = [target](int* source, hipGraphNode_t* node) {
    hipGraph_t graph = new_graph();
    MUST(hipGraphAddMemcpyNode1D(node, graph, nullptr, 0, target, source, sizeof(int), hipMemcpyHostToDevice));
    return graph;
  };
  hipGraphNode_t node = nullptr, other = nullptr;
  hipGraphExec_t exec = instantiate(copy_from(&pageable, &node));
  MUST(hipGraphExecMemcpyNodeSetParams1D(exec, node, target, pinned, sizeof(int), hipMemcpyHostToDevice));
  run(exec);
  check("copied after the setter", 2, read_int(target));

  MUST(hipMemset(target, 0, sizeof(int)));
  MUST(hipDeviceSynchronize());
  exec = instantiate(copy_from(&pageable, &node));
  hipGraphNode_t error_node = nullptr;
  hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
  MUST(hipGraphExecUpdate(exec, copy_from(pinned, &other), &error_node, &result));
  run(exec);
  check("copied after the update", 2, read_int(target));
  return verdict();
}
