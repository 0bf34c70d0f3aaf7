// A kernel node accepts only one order of the entries of `extra`.
// The story: finding.toml.
#include "../check.h"

__global__ void store(int* out, int value) {
  *out = value;
}

int main() {
  in_child("a node whose extra has the size first", [] {
    struct {
      int* out;
      int value;
    } buffer = {device_ints(1), 7};
    size_t size = sizeof buffer;
    void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer,
                     HIP_LAUNCH_PARAM_END};
    hipFunction_t function = nullptr;
    MUST(hipGetFuncBySymbol(&function, reinterpret_cast<const void*>(store)));
    const hipError_t launch = hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra);
    hipKernelNodeParams params = one_thread(reinterpret_cast<const void*>(store), nullptr);
    params.extra = extra;
    hipGraph_t graph = new_graph();
    hipGraphNode_t node = nullptr;
    check("adding the node answers as hipModuleLaunchKernel", launch,
          hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    hipGraphExec_t exec = nullptr;
    check("instantiating", hipSuccess, hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  });
  return verdict();
}
