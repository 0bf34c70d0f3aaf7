// hipStreamEndCapture crashes after the null stream waited for an event of the capture.
// The story: finding.toml.
#include "../check.h"

void capture_and_wait(bool null_stream) {
  hipStream_t origin = nullptr, other = nullptr;
  hipEvent_t event = nullptr;
  MUST(hipStreamCreate(&origin));
  MUST(hipStreamCreate(&other));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(origin, hipStreamCaptureModeGlobal));
  MUST(hipEventRecord(event, origin));
  const hipError_t waited = hipStreamWaitEvent(null_stream ? nullptr : other, event, 0);
  if (null_stream) check("the wait", hipErrorStreamCaptureImplicit, waited);
  hipGraph_t graph = nullptr;
  check("the end of the capture", null_stream ? hipErrorStreamCaptureInvalidated : hipSuccess,
        hipStreamEndCapture(origin, &graph));
}

int main() {
  in_child("a wait of another stream", [] { capture_and_wait(false); });
  in_child("a wait of the null stream", [] { capture_and_wait(true); });
  return verdict();
}
