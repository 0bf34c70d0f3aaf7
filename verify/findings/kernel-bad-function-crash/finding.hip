// A kernel node whose function is not a kernel crashes the process.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out) {
  *out = 1;
}
void host_function() {}

int main() {
  static int* memory = nullptr;
  static void* arguments[] = {&memory};
  const hipKernelNodeParams bad = one_thread(reinterpret_cast<const void*>(host_function), arguments);
  in_child("adding a node of a host function", [&bad] {
    memory = device_ints(1);
    const hipError_t launch =
        hipLaunchKernel(reinterpret_cast<const void*>(host_function), dim3(1), dim3(1), arguments, 0, nullptr);
    check("a plain launch is refused", 1, launch != hipSuccess);
    hipGraphNode_t node = nullptr;
    const hipError_t error = hipGraphAddKernelNode(&node, new_graph(), nullptr, 0, &bad);
    check("adding a node of a host function", hipErrorInvalidDeviceFunction, error);
  });
  in_child("setting a node to a host function", [&bad] {
    memory = device_ints(1);
    hipGraphNode_t node = kernel_node(new_graph(), {}, store, memory);
    check("setting a node to a host function is refused", 1, hipGraphKernelNodeSetParams(node, &bad) != hipSuccess);
  });
  return verdict();
}
