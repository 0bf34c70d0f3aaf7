// hipStreamEndCapture crashes after a side stream has waited for its own event.
// The story: finding.toml.
#include "../check.h"

void capture_with_wait(bool aside) {
  hipStream_t origin = nullptr, side = nullptr;
  hipEvent_t fork = nullptr, own = nullptr, join = nullptr;
  MUST(hipStreamCreate(&origin));
  MUST(hipStreamCreate(&side));
  for (hipEvent_t* event : {&fork, &own, &join}) MUST(hipEventCreate(event));
  MUST(hipStreamBeginCapture(origin, hipStreamCaptureModeRelaxed));
  MUST(hipEventRecord(fork, origin));
  MUST(hipStreamWaitEvent(side, fork, 0));
  const hipStream_t stream = aside ? side : origin;
  MUST(hipEventRecord(own, stream));
  MUST(hipStreamWaitEvent(stream, own, 0));
  MUST(hipEventRecord(join, side));
  MUST(hipStreamWaitEvent(origin, join, 0));
  hipGraph_t graph = nullptr;
  check("the end of the capture", hipSuccess, hipStreamEndCapture(origin, &graph));
}

int main() {
  in_child("a wait for an own event on the capture's first stream", [] { capture_with_wait(false); });
  in_child("a wait for an own event on a side stream", [] { capture_with_wait(true); });
  return verdict();
}
