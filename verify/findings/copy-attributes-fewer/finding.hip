// hipGraphKernelNodeCopyAttributes fails if the target has an attribute that the source lacks.
// The story: finding.toml.
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
