// An event may be recorded on a stream whose capture is invalid.
//
// Documentation: hipErrorStreamCaptureInvalidated: "The operation is not permitted because it would affect a capture
// sequence that has been invalidated due to a previous error"; memsets are refused in the same place.
// What happens: hipSuccess.
#include "../check.h"

int main() {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  if (hipStreamQuery(stream) != hipErrorStreamCaptureUnsupported) return 2;  // invalidates
  check("recording an event", hipErrorStreamCaptureInvalidated, hipEventRecord(event, stream));
  return verdict();
}
