// An edge that was added and removed again makes an update fail on NVIDIA.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr, third = nullptr;
  cudaGraphExec_t exec = nullptr;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  MUST(cudaGraphAddEmptyNode(&second, graph, &first, 1));
  MUST(cudaGraphAddEmptyNode(&third, graph, nullptr, 0));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
#if CUDART_VERSION >= 13000
  MUST(cudaGraphAddDependencies(graph, &second, &first, nullptr, 1));
  MUST(cudaGraphRemoveDependencies(graph, &second, &first, nullptr, 1));
#else
  MUST(cudaGraphAddDependencies(graph, &second, &first, 1));
  MUST(cudaGraphRemoveDependencies(graph, &second, &first, 1));
#endif
  cudaGraphExecUpdateResultInfo result{};
  check("status of cudaGraphExecUpdate", cudaSuccess, cudaGraphExecUpdate(exec, graph, &result));
  return verdict();
}
