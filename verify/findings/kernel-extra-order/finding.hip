// A kernel node takes `extra` in one order of its entries alone, and reads the wrong bytes in another.
//
// Documentation: HIP, hipModuleLaunchKernel and hipKernelNodeParams: `extra` is a list of names and values, ended by
// HIP_LAUNCH_PARAM_END. hipModuleLaunchKernel returns hipErrorInvalidValue when the size comes first.
// What happens: hipGraphAddKernelNode returns hipSuccess, having taken the bytes of the argument buffer for its
// size, and hipGraphInstantiate fails or crashes. Either order would be right, or hipErrorInvalidValue at once.
// Source: GraphKernelNode::copyParams reads extra[1] as the buffer and extra[3] as the size without a look at the
// names.
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
