// hipGraphExecUpdate refuses a graph that was created with another device current.
// The story: finding.toml. Needs two devices.
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
