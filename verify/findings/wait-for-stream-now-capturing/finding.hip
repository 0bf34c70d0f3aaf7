// A wait for an event is refused when the stream that the event was recorded on has begun to capture since.
//
// Documentation: hipStreamWaitEvent: "All future work submitted to stream will wait until event reports completion".
// hipErrorStreamCaptureIsolation: "A dependency would have been created which crosses the capture sequence boundary";
// the event was recorded, and is done, before the capture begins, and the stream that waits does not capture. What
// happens: hipErrorStreamCaptureIsolation until the capture ends; then the same wait succeeds.
#include "../check.h"

int main() {
  hipStream_t captures = nullptr, waits = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreate(&captures));
  MUST(hipStreamCreate(&waits));
  MUST(hipEventCreate(&event));
  MUST(hipEventRecord(event, captures));
  MUST(hipStreamSynchronize(captures));
  check("a wait before the capture", hipSuccess, hipStreamWaitEvent(waits, event, 0));
  MUST(hipStreamBeginCapture(captures, hipStreamCaptureModeRelaxed));
  check("a wait during the capture", hipSuccess, hipStreamWaitEvent(waits, event, 0));
  check("the end of the capture", hipSuccess, hipStreamEndCapture(captures, &graph));
  check("a wait behind it", hipSuccess, hipStreamWaitEvent(waits, event, 0));
  return verdict();
}
