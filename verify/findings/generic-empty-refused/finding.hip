// hipGraphAddNode refuses an empty node.
//
// Documentation: hip_runtime_api.h, hipGraphNodeType: hipGraphNodeTypeEmpty is one of the types that hipGraphNodeParams
// names; CUDA, cudaGraphAddNode: "Adds a node of arbitrary type to a graph". What happens: the function has no case for
// the type and answers hipErrorInvalidValue; hipGraphAddEmptyNode adds the node. Source: hipGraphAddNode.
#include "../check.h"

int main() {
  hipGraph_t graph = new_graph();
  hipGraphNode_t node = nullptr;
  hipGraphNodeParams params{};
  params.type = hipGraphNodeTypeEmpty;
  check("hipGraphAddNode of an empty node", hipSuccess, hipGraphAddNode(&node, graph, nullptr, 0, &params));
  return verdict();
}
