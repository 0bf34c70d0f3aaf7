// hipStreamWaitEvent accepts a wait that joins two captures.
// The story: finding.toml.
#include "../check.h"

int main() {
  hipStream_t first = nullptr, second = nullptr;
  hipEvent_t event = nullptr;
  MUST(hipStreamCreate(&first));
  MUST(hipStreamCreate(&second));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(first, hipStreamCaptureModeRelaxed));
  MUST(hipStreamBeginCapture(second, hipStreamCaptureModeRelaxed));
  MUST(hipEventRecord(event, first));
  check("waiting for the other capture", hipErrorStreamCaptureMerge, hipStreamWaitEvent(second, event, 0));
  return verdict();
}
