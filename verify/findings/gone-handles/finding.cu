// Handles of destroyed graphs and streams are used as if they were valid.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeCount;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
  MUST(cudaGraphDestroyNode(node));
  check("status of cudaGraphNodeGetType", cudaErrorInvalidValue, cudaGraphNodeGetType(node, &type));
  return verdict();
}
