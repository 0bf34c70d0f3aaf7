// A wait for an event of another capture is accepted.
//
// Documentation: hipErrorStreamCaptureMerge: "A merge of two separate capture sequences would have been required" (by
// waiting in one for an event of the other).
// What happens: hipSuccess.
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
