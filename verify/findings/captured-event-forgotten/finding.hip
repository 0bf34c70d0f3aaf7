// An event that was recorded in a capture counts as complete when the capture has ended.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  MUST(hipEventRecord(event, stream));
  MUST(hipStreamEndCapture(stream, &graph));
  check("query of the event", hipErrorCapturedEvent, hipEventQuery(event));
  check("waiting for it", hipErrorCapturedEvent, hipEventSynchronize(event));
  return verdict();
}
