// cudaGraphExecGetFlags leaves out the flag for node priorities.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  unsigned long long flags = 0;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagUseNodePriority));
  MUST(cudaGraphExecGetFlags(exec, &flags));
  check("flags", cudaGraphInstantiateFlagUseNodePriority, static_cast<long long>(flags));
  return verdict();
}
