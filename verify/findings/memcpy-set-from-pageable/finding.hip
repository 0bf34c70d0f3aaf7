// A 1D copy that is moved from pageable to pinned memory by a setter or an update copies nothing any more.
//
// Documentation: hip_runtime_api.h, hipGraphExecMemcpyNodeSetParams1D and hipGraphExecUpdate.
// What happens: hipSuccess; the launch copies neither from the new source nor from the old one.
// Source: a copy between device and pinned memory is recorded as packets when the graph is instantiated, one from
// pageable memory is enqueued by each launch. A setter that changes which of the two it is does not give the node a
// place among the recorded packets, and the launch leaves it out of the others.
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
