// Attributes are not copied to a kernel node that has one which the other node has not.
//
// Documentation: hip_runtime_api.h, hipGraphKernelNodeCopyAttributes: "Copies attributes from source node to
// destination node. Both node must have the same context", as they have here. What happens: hipErrorInvalidContext, and
// the node keeps its attribute. Without the attribute, or with it on both nodes, it succeeds. Source:
// GraphKernelNode::CopyAttr refuses when the two nodes had different attributes set last.
#include "../check.h"

__global__ void store(int* out) {
  *out = 1;
}

int main() {
  int* memory = device_ints(1);
  hipGraph_t graph = new_graph();
  hipGraphNode_t with = kernel_node(graph, {}, store, memory), without = kernel_node(graph, {}, store, memory),
                 other = kernel_node(graph, {}, store, memory);
  hipKernelNodeAttrValue value{};
  value.cooperative = 1;
  MUST(hipGraphKernelNodeCopyAttributes(without, other));
  MUST(hipGraphKernelNodeSetAttribute(with, hipKernelNodeAttributeCooperative, &value));
  MUST(hipGraphKernelNodeSetAttribute(other, hipKernelNodeAttributeCooperative, &value));
  check("copying the same attribute", hipSuccess, hipGraphKernelNodeCopyAttributes(other, with));
  check("copying from a node that had none set", hipSuccess, hipGraphKernelNodeCopyAttributes(without, with));
  MUST(hipGraphKernelNodeGetAttribute(with, hipKernelNodeAttributeCooperative, &value));
  check("cooperative", 0, value.cooperative);
  return verdict();
}
