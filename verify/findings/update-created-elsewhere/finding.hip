// hipGraphExecUpdate refuses a graph that was created while another device was current than when the executable graph
// was instantiated. Needs two devices.
//
// Documentation: hipGraphExecUpdate, hipGraphCreate: neither names the current device; CUDA: a graph is no device's,
// and an update is refused where the context of a kernel's function changes.
// What happens: the executable graph is updated from the very graph that it was instantiated from, with the device of
// its only kernel current: hipErrorGraphExecUpdateFailure, hipGraphExecUpdateErrorUnsupportedFunctionChange.
#include "../check.h"

__global__ void count(int* counter) {
  *counter += 1;
}

int main() {
  in_child("an update", [] {
    hipGraph_t graph = nullptr;
    MUST(hipSetDevice(0));
    MUST(hipGraphCreate(&graph, 0));
    MUST(hipSetDevice(1));
    int* counter = device_ints(1);
    kernel_node(graph, {}, count, counter);
    hipGraphExec_t exec = instantiate(graph);
    hipGraphNode_t node = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateSuccess;
    check("the update", hipSuccess, hipGraphExecUpdate(exec, graph, &node, &result));
    check("its result", hipGraphExecUpdateSuccess, result);
  });
  return verdict();
}
