// NVIDIA returns hipErrorInvalidValue for an event whose capture has ended.
// The story: finding.toml.
#include "../check.cuh"

int main() {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t captured = nullptr;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaEventCreate(&event));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaEventRecord(event, stream));
  MUST(cudaStreamEndCapture(stream, &captured));
  check("status of cudaEventQuery", cudaErrorCapturedEvent, cudaEventQuery(event));
  check("status of cudaEventSynchronize", cudaErrorCapturedEvent, cudaEventSynchronize(event));
  check("status of cudaStreamWaitEvent", cudaErrorCapturedEvent, cudaStreamWaitEvent(nullptr, event, 0));
  return verdict();
}
