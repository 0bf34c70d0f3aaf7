// hipGraphKernelNodeCopyAttributes writes into nodes that are no kernel nodes.
//
// Documentation: hip_runtime_api.h, hipGraphKernelNodeCopyAttributes: copies kernel node attributes between two
// kernel nodes; hipGraphKernelNodeSetAttribute returns hipErrorInvalidValue for a node of another type.
// What happens: hipSuccess, and the attributes are written where a kernel node would have them, which for a smaller
// node is beyond its end on the heap. (For other types the call may fail by chance, on what it reads there.)
// Source: hipGraphKernelNodeCopyAttributes casts both nodes without a look at their type.
#include "../check.h"

__global__ void store(int* out) {
  *out = 1;
}

int main() {
  constexpr int kNodes = 50;
  in_child("copying attributes to memset nodes", [] {
    int* memory = device_ints(1);
    hipGraph_t graph = new_graph();
    hipGraphNode_t kernel = kernel_node(graph, {}, store, memory);
    hipKernelNodeAttrValue value{};
    value.cooperative = 1;
    MUST(hipGraphKernelNodeSetAttribute(kernel, hipKernelNodeAttributeCooperative, &value));
    hipMemsetParams params{};
    params.dst = memory;
    params.elementSize = 4;
    params.width = params.height = 1;
    int set = 0, copied = 0;
    for (int i = 0; i < kNodes; i++) {
      hipGraphNode_t other = nullptr;
      MUST(hipGraphAddMemsetNode(&other, graph, nullptr, 0, &params));
      set += hipGraphKernelNodeSetAttribute(other, hipKernelNodeAttributeCooperative, &value) == hipSuccess;
      copied += hipGraphKernelNodeCopyAttributes(kernel, other) == hipSuccess;
    }
    check("memset nodes, of 50, whose kernel attribute could be set", 0, set);
    check("memset nodes, of 50, to which kernel attributes could be copied", 0, copied);
  });
  return verdict();
}
