// A graph cannot be launched into a capture on NVIDIA.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaGraph_t graph = nullptr, captured = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStream_t stream = nullptr;
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  check("status of cudaGraphLaunch", cudaSuccess, cudaGraphLaunch(exec, stream));
  check("status of cudaStreamEndCapture", cudaSuccess, cudaStreamEndCapture(stream, &captured));
  return verdict();
}
