// Beside a capture, NVIDIA returns other errors for captures of the null stream and refuses waits for it.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaStream_t stream = nullptr;
  cudaGraph_t captured = nullptr;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check("status of cudaStreamSynchronize", cudaSuccess, cudaStreamSynchronize(nullptr));
  static_cast<void>(cudaStreamEndCapture(stream, &captured));
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check("status of cudaStreamEndCapture", cudaErrorIllegalState, cudaStreamEndCapture(nullptr, &captured));
  static_cast<void>(cudaStreamEndCapture(stream, &captured));
  return verdict();
}
