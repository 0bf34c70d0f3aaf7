// hipGraphMemsetNodeSetParams refuses every 2D memset, even the parameters that the node has.
//
// Documentation: hip_runtime_api.h, hipGraphMemsetNodeSetParams: "Sets a memset node's parameters"; no shape is
// excluded. (CUDA lets no multi-dimensional memset be *changed* in an executable graph; here nothing is.)
// What happens: hipErrorInvalidValue for height > 1, unless the memory comes from hipMallocPitch or hipMalloc3D.
// hipGraphExecMemsetNodeSetParams accepts the same parameters. hipGraphExecChildGraphNodeSetParams fails in the same
// way when the child has a 2D memset.
// Source: GraphMemsetNode::SetParamsInternal compares the width and height with those that the allocation remembers,
// which are 0 for memory of hipMalloc.
#include "../check.h"

int main() {
  int* memory = device_ints(64);
  hipMemsetParams params{};
  params.dst = memory;
  params.value = 1;
  params.elementSize = 1;
  params.width = 8;
  params.height = 4;
  params.pitch = 16;
  hipGraph_t child = new_graph(), graph = new_graph();
  hipGraphNode_t node = nullptr, child_node = nullptr;
  MUST(hipGraphAddMemsetNode(&node, child, nullptr, 0, &params));
  check("setting a 2D memset's own parameters", hipSuccess, hipGraphMemsetNodeSetParams(node, &params));
  check("the same in an executable graph", hipSuccess,
        hipGraphExecMemsetNodeSetParams(instantiate(child), node, &params));
  MUST(hipGraphAddChildGraphNode(&child_node, graph, nullptr, 0, child));
  check("setting a child graph to itself", hipSuccess,
        hipGraphExecChildGraphNodeSetParams(instantiate(graph), child_node, child));
  return verdict();
}
