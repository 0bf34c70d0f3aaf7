// hipGraphKernelNodeGetAttribute fails for all attributes but the one set last.
// The story: finding.toml.
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
