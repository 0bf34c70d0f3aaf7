// hipStreamWaitEvent refuses an event whose stream has begun to capture since the record.
// The story: finding.toml.
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
