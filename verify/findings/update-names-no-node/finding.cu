// A refused update reports no error node if a node has other dependencies.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr, third = nullptr;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  MUST(cudaGraphAddEmptyNode(&second, graph, nullptr, 0));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaGraphDestroyNode(second));
  MUST(cudaGraphAddEmptyNode(&third, graph, &first, 1));
  cudaGraphExecUpdateResultInfo info{};
  check("status", cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, graph, &info));
  check("result", cudaGraphExecUpdateErrorTopologyChanged, info.result);
  check("error node is the node that was added", 1, info.errorNode == third ? 1 : 0);
  return verdict();
}
