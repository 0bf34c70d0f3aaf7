// Setting a kernel node's parameters from its own argument values reads freed memory.
// The story: finding.toml.
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
