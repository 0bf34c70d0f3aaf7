// hipStreamWaitEvent of a capturing stream accepts an event from outside the capture.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipStream_t stream = nullptr, other = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipStreamCreate(&other));
  MUST(hipEventCreate(&event));
  MUST(hipEventRecord(event, other));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  check("waiting for the event", hipErrorStreamCaptureIsolation, hipStreamWaitEvent(stream, event, 0));
  check("the end of the capture", hipErrorStreamCaptureInvalidated, hipStreamEndCapture(stream, &graph));
  return verdict();
}
