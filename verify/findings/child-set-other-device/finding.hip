// hipGraphExecChildGraphNodeSetParams refuses a child graph with kernels of a device that is not current.
// The story: finding.toml. Needs two devices.
#include "../check.h"

__global__ void count(int* counter) {
  *counter += 1;
}

int main() {
  in_child("setting a child", [] {
    hipGraph_t child = nullptr, graph = nullptr;
    MUST(hipGraphCreate(&child, 0));
    for (const int device : {1, 0}) {
      MUST(hipSetDevice(device));
      int* counter = device_ints(1);
      void* arguments[] = {&counter};
      hipFunction_t of_device = nullptr;
      MUST(hipGetFuncBySymbol(&of_device, reinterpret_cast<const void*>(count)));
      const hipKernelNodeParams params = one_thread(of_device, arguments);
      hipGraphNode_t node = nullptr;
      MUST(hipGraphAddKernelNode(&node, child, nullptr, 0, &params));
    }
    MUST(hipGraphCreate(&graph, 0));
    hipGraphNode_t node = nullptr;
    MUST(hipGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
    hipGraphExec_t exec = instantiate(graph);
    check("the child that it has", hipSuccess, hipGraphExecChildGraphNodeSetParams(exec, node, child));
  });
  return verdict();
}
