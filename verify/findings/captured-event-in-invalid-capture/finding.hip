// hipEventQuery and hipEventSynchronize return hipErrorStreamCaptureUnsupported for events of an invalid capture.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  MUST(hipEventRecord(event, stream));
  static_cast<void>(hipDeviceSynchronize());  // forbidden: the capture is invalid now
  check("waiting for the event", hipErrorCapturedEvent, hipEventSynchronize(event));
  hipGraph_t graph = nullptr;
  static_cast<void>(hipStreamEndCapture(stream, &graph));
  return verdict();
}
