// An executable graph does not tell that it uses the priorities of nodes.
//
// Documentation: cudaGraphExecGetFlags: "Returns the flags that were passed to instantiation"; upload is left out.
// What happens: 0 where cudaGraphInstantiateFlagUseNodePriority (8) was passed.
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
