// hipMemcpyPeerAsync cannot be captured on NVIDIA.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  void *from = nullptr, *to = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t captured = nullptr;
  MUST(cudaMalloc(&from, 64));
  MUST(cudaMalloc(&to, 64));
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check("status of cudaMemcpyPeerAsync", cudaSuccess, cudaMemcpyPeerAsync(to, 0, from, 0, 1, stream));
  static_cast<void>(cudaStreamEndCapture(stream, &captured));
  return verdict();
}
