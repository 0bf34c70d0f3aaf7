// An event of a capture that has ended is an invalid value.
//
// Documentation: cudaErrorCapturedEvent, "The operation is not permitted on an event which was last recorded in a
// capturing stream".
// What happens: cudaErrorInvalidValue.
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
