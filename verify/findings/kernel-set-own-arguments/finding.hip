// Setting a kernel node's parameters from its own argument values reads them after they were freed.
//
// Documentation: CUDA Runtime API, cudaGraphKernelNodeGetParams: the arrays and values returned "are owned by the
// node. This memory remains valid until the node is destroyed or its parameters are modified [...] Use
// cudaGraphKernelNodeSetParams to update the parameters of this node". HIP's header: gets and sets the parameters.
// What happens: the natural way to change one argument (get the parameters, make a new array that takes the others'
// values from what was returned, set) frees the old values before it copies them: the kernel runs with garbage, or
// faults. Only the very same array pointer is recognised.
// Source: GraphKernelNode::SetParams: freeParams(), then copyParams(params).
#include "../check.h"

__global__ void digits(int* out, int a, int b, int c) {
  *out = a * 100 + b * 10 + c;
}

int main() {
  in_child("changing one argument", [] {
    int* memory = device_ints(1);
    hipGraph_t graph = new_graph();
    hipGraphNode_t node = kernel_node(graph, {}, digits, memory, 1, 2, 3);
    hipKernelNodeParams params{};
    MUST(hipGraphKernelNodeGetParams(node, &params));
    int* out = memory;
    int changed = 7;
    void* arguments[] = {&out, &changed, params.kernelParams[2], params.kernelParams[3]};
    params.kernelParams = arguments;
    MUST(hipGraphKernelNodeSetParams(node, &params));
    hipKernelNodeParams now{};
    MUST(hipGraphKernelNodeGetParams(node, &now));
    check("first number", 7, *static_cast<int*>(now.kernelParams[1]));
    check("second number", 2, *static_cast<int*>(now.kernelParams[2]));
    check("third number", 3, *static_cast<int*>(now.kernelParams[3]));
    run(instantiate(graph));
    check("what the kernel computed", 723, read_int(memory));
  });
  return verdict();
}
