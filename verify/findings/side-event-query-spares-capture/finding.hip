// Asking for an event that a side stream of a capture recorded does not invalidate the capture.
//
// Documentation: a call that capture forbids invalidates the capture (CUDA, stream capture).
// What happens: the query answers hipErrorCapturedEvent, and the capture ends as if nothing had been.
#include "../check.h"

int main() {
  hipStream_t origin = nullptr, side = nullptr;
  hipEvent_t fork = nullptr, event = nullptr;
  MUST(hipStreamCreate(&origin));
  MUST(hipStreamCreate(&side));
  MUST(hipEventCreate(&fork));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(origin, hipStreamCaptureModeRelaxed));
  MUST(hipEventRecord(fork, origin));
  MUST(hipStreamWaitEvent(side, fork, 0));
  MUST(hipEventRecord(event, side));
  static_cast<void>(hipEventQuery(event));
  hipGraph_t graph = nullptr;
  check("the end of the capture", hipErrorStreamCaptureInvalidated, hipStreamEndCapture(origin, &graph));
  return verdict();
}
