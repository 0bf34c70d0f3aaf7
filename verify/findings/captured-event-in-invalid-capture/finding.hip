// Once a capture is invalid, waiting for an event that it recorded is called an unsafe call.
//
// Documentation: hipErrorCapturedEvent: "The operation is not permitted on an event which was last recorded in a
// capturing stream."
// What happens: hipErrorStreamCaptureUnsupported.
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
