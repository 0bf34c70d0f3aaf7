// hipStreamEndCapture on a forked stream returns an error, but invalidates the capture on NVIDIA.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaStream_t origin = nullptr, forked = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t captured = nullptr;
  MUST(cudaStreamCreate(&origin));
  MUST(cudaStreamCreate(&forked));
  MUST(cudaEventCreate(&event));
  MUST(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
  MUST(cudaEventRecord(event, origin));
  MUST(cudaStreamWaitEvent(forked, event, 0));
  if (cudaStreamEndCapture(forked, &captured) != cudaErrorStreamCaptureUnmatched) return 2;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  MUST(cudaStreamIsCapturing(origin, &status));
  check("capture status of the origin", cudaStreamCaptureStatusActive, status);
  return verdict();
}
