// A kernel node that had one attribute set refuses to tell the others.
//
// Documentation: hip_runtime_api.h, hipGraphKernelNodeGetAttribute: "Gets a node's attribute"; an attribute that was not set
// has its default, which is what the call returns before any attribute is set.
// What happens: the node remembers which attribute was set last; asking for any other returns hipErrorInvalidValue, even
// for one that was set before. Copying and cloning carry the last one alone.
// Source: GraphKernelNode::kernelAttrInUse_.
#include "check.h"

__global__ void store(int* out) { *out = 1; }

int main() {
  int* memory = device_ints(1);
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = kernel_node(graph, {}, store, memory);
  hipKernelNodeAttrValue value{};
  check("priority, nothing set", hipSuccess,
        hipGraphKernelNodeGetAttribute(node, hipKernelNodeAttributePriority, &value));
  value.cooperative = 1;
  MUST(hipGraphKernelNodeSetAttribute(node, hipKernelNodeAttributeCooperative, &value));
  check("priority, cooperative set", hipSuccess,
        hipGraphKernelNodeGetAttribute(node, hipKernelNodeAttributePriority, &value));
  value.priority = 0;
  MUST(hipGraphKernelNodeSetAttribute(node, hipKernelNodeAttributePriority, &value));
  check("cooperative, set before priority", hipSuccess,
        hipGraphKernelNodeGetAttribute(node, hipKernelNodeAttributeCooperative, &value));
  return verdict();
}
