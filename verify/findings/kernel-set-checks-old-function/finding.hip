// Setting a kernel node's function checks the new parameters against the old function.
// The story: finding.toml.
#include "../check.h"

__global__ void no_arguments() {}
__global__ void store(int* out) {
  *out = 1;
}
__global__ void __launch_bounds__(64) small_blocks(int* out) {
  out[threadIdx.x] = 1;
}

int main() {
  int* memory = device_ints(256);
  void* arguments[] = {&memory};
  hipGraph_t graph = new_graph();
  hipGraphNode_t with = kernel_node(graph, {}, store, memory);
  hipGraphNode_t without = kernel_node(graph, {}, no_arguments);
  hipGraphNode_t small = kernel_node(graph, {}, small_blocks, memory);

  const hipKernelNodeParams none = one_thread(reinterpret_cast<const void*>(no_arguments), nullptr);
  check("from a kernel with arguments to one without", hipSuccess, hipGraphKernelNodeSetParams(with, &none));
  const hipKernelNodeParams missing = one_thread(reinterpret_cast<const void*>(store), nullptr);
  hipGraphNode_t added = nullptr;
  check("adding a kernel without its arguments", hipErrorInvalidValue,
        hipGraphAddKernelNode(&added, graph, nullptr, 0, &missing));
  check("setting a kernel without its arguments", hipErrorInvalidValue, hipGraphKernelNodeSetParams(without, &missing));
  hipKernelNodeParams wide = one_thread(reinterpret_cast<const void*>(store), arguments);
  wide.blockDim = dim3(256);
  check("adding a kernel with 256 threads", hipSuccess, hipGraphAddKernelNode(&added, graph, nullptr, 0, &wide));
  check("setting it in place of one with at most 64", hipSuccess, hipGraphKernelNodeSetParams(small, &wide));
  return verdict();
}
