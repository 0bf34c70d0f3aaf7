// Querying an event that a capture's side stream recorded does not invalidate the capture.
// The story: finding.toml.
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
