// hipGraphKernelNodeCopyAttributes writes into nodes that are no kernel nodes.
//
// Documentation: hip_runtime_api.h, hipGraphKernelNodeCopyAttributes: copies kernel node attributes between two kernel nodes;
// hipGraphKernelNodeSetAttribute returns hipErrorInvalidValue for a node of another type.
// What happens: hipSuccess, and the attributes are written where a kernel node would have them, which for an empty node is
// beyond its end on the heap. Source: hipGraphKernelNodeCopyAttributes casts both nodes without a look at their type.
#include "check.h"

__global__ void store(int* out) { *out = 1; }

int main() {
  in_child("copying attributes to an empty node", [] {
    int* memory = device_ints(1);
    hipGraph_t graph = new_graph();
    hipGraphNode_t kernel = kernel_node(graph, {}, store, memory), empty = nullptr;
    MUST(hipGraphAddEmptyNode(&empty, graph, nullptr, 0));
    hipKernelNodeAttrValue value{};
    value.cooperative = 1;
    MUST(hipGraphKernelNodeSetAttribute(kernel, hipKernelNodeAttributeCooperative, &value));
    check("setting an empty node's attribute is refused", 1,
          hipGraphKernelNodeSetAttribute(empty, hipKernelNodeAttributeCooperative, &value) != hipSuccess);
    check("copying attributes to an empty node is refused", 1,
          hipGraphKernelNodeCopyAttributes(kernel, empty) != hipSuccess);
  });
  return verdict();
}
