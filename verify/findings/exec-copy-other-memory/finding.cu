// A copy of an executable graph cannot be set to memory of another kind on NVIDIA.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  static char pageable[64];
  void *from = nullptr, *to = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  cudaGraphExec_t exec = nullptr;
  MUST(cudaMalloc(&from, 64));
  MUST(cudaMalloc(&to, 64));
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, 1, cudaMemcpyDefault));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  const cudaError_t set = cudaGraphExecMemcpyNodeSetParams1D(exec, node, pageable, from, 1, cudaMemcpyDefault);
  if (set == cudaErrorInvalidValue) return verdict();  // as documented
  MUST(set);
  static_cast<void>(cudaGraphLaunch(exec, nullptr));
  check("status of cudaDeviceSynchronize", cudaSuccess, cudaDeviceSynchronize());
  return verdict();
}
