// A kernel node that had one attribute set refuses to tell the others.
//
// Documentation: hip_runtime_api.h, hipGraphKernelNodeGetAttribute: "Gets a node's attribute"; attributes are
// independent, and one that was not set has its default, which is what the call returns before any is set.
// What happens: the node remembers which attribute was set last; asking for any other returns hipErrorInvalidValue,
// even for one that was set before. A copy or clone of the node carries the last one alone.
// Source: GraphKernelNode::kernelAttrInUse_.
#include "../check.h"

__global__ void store(int* out) {
  *out = 1;
}

int main() {
  int* memory = device_ints(1);
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = kernel_node(graph, {}, store, memory);
  hipKernelNodeAttrValue window{}, cooperative{};
  cooperative.cooperative = 1;
  check("getting the access window, nothing set", hipSuccess,
        hipGraphKernelNodeGetAttribute(node, hipKernelNodeAttributeAccessPolicyWindow, &window));
  MUST(hipGraphKernelNodeSetAttribute(node, hipKernelNodeAttributeAccessPolicyWindow, &window));
  MUST(hipGraphKernelNodeSetAttribute(node, hipKernelNodeAttributeCooperative, &cooperative));
  check("getting the access window, both set", hipSuccess,
        hipGraphKernelNodeGetAttribute(node, hipKernelNodeAttributeAccessPolicyWindow, &window));
  check("getting cooperative, both set", hipSuccess,
        hipGraphKernelNodeGetAttribute(node, hipKernelNodeAttributeCooperative, &cooperative));
  return verdict();
}
