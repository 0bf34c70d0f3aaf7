// NVIDIA instantiates a graph with a circle that passes through a child graph node.
// The story: finding.toml.
#include "../check.cuh"

namespace {

// Makes `second` depend on `first`.
void connect(cudaGraph_t graph, cudaGraphNode_t first, cudaGraphNode_t second) {
#if CUDART_VERSION >= 13000
  MUST(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
#else
  MUST(cudaGraphAddDependencies(graph, &first, &second, 1));
#endif
}

}  // namespace

int main() {
  cudaGraph_t inner = nullptr, graph = nullptr;
  cudaGraphNode_t child = nullptr, empty = nullptr;
  MUST(cudaGraphCreate(&inner, 0));
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddChildGraphNode(&child, graph, nullptr, 0, inner));
  MUST(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
  connect(graph, child, empty);
  connect(graph, empty, child);
  cudaGraphExec_t exec = nullptr;
  check("status of cudaGraphInstantiate", cudaErrorInvalidValue, cudaGraphInstantiate(&exec, graph, 0));
  return verdict();
}
