// hipStreamEndCapture on the wrong thread returns an error, but ends the capture on NVIDIA.
// The story: finding.toml.
#include <thread>

#include "../check.cuh"

int main() {
  cudaStream_t stream = nullptr;
  cudaGraph_t captured = nullptr;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = cudaStreamEndCapture(stream, &captured); }).join();
  if (elsewhere != cudaErrorStreamCaptureWrongThread) return 2;
  check("status of cudaStreamEndCapture", cudaSuccess, cudaStreamEndCapture(stream, &captured));
  return verdict();
}
