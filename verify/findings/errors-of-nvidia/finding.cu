// NVIDIA's runtime accepts some invalid arguments, returns other errors for them or crashes.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  char* memory = nullptr;
  MUST(cudaMalloc(&memory, 128));
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, memory + 64, 64, cudaMemcpyDeviceToDevice));
  check("status of cudaGraphMemcpyNodeSetParams1D", cudaErrorInvalidValue,
        cudaGraphMemcpyNodeSetParams1D(node, memory, memory, 64, cudaMemcpyDeviceToDevice));
  return verdict();
}
