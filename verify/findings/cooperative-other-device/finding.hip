// A kernel node whose attribute was set with another device current cannot be instantiated.
// The story: finding.toml. Needs two devices.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

hipError_t instantiated(int current_for_attribute) {
  MUST(hipSetDevice(1));
  int* memory = device_ints(16);
  int value = 7;
  void* arguments[] = {&memory, &value};
  hipFunction_t of_device = nullptr;
  MUST(hipGetFuncBySymbol(&of_device, reinterpret_cast<const void*>(store)));
  const hipKernelNodeParams params = one_thread(of_device, arguments);
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  MUST(hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  MUST(hipSetDevice(current_for_attribute));
  hipLaunchAttributeValue cooperative{};
  cooperative.cooperative = 1;
  MUST(hipGraphKernelNodeSetAttribute(node, hipLaunchAttributeCooperative, &cooperative));
  MUST(hipSetDevice(1));
  hipGraphExec_t exec = nullptr;
  return hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
}

int main() {
  check("set with device 1 current", hipSuccess, instantiated(1));
  check("set with device 0 current", hipSuccess, instantiated(0));
  return verdict();
}
