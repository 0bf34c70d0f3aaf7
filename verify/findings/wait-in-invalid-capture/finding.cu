// A wait for an event that was never recorded is refused on a stream whose capture is invalid on NVIDIA.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t captured = nullptr;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaEventCreate(&event));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  static_cast<void>(cudaEventQuery(event));  // forbidden here: it makes the capture invalid
  check("status of cudaStreamWaitEvent", cudaSuccess, cudaStreamWaitEvent(stream, event, 0));
  static_cast<void>(cudaStreamEndCapture(stream, &captured));
  return verdict();
}
