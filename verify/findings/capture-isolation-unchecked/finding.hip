// A stream that captures may wait for an event that was recorded outside of the capture.
//
// Documentation: hipErrorStreamCaptureIsolation: "A dependency would have been created which crosses the capture
// sequence boundary. Only implicit in-stream ordering dependencies are allowed to cross the boundary."
// What happens: hipSuccess; the dependency is not in the graph, and the capture stays valid.
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
