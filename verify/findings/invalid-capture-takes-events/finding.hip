// hipEventRecord and hipStreamWaitEvent succeed on a stream whose capture is invalid.
// The story: finding.toml.
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
