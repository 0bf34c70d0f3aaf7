// A call that invalidates a capture leaves the capture's other streams capturing.
// The story: finding.toml.
#include "../check.h"

enum class Asked { kOrigin, kSide, kDevice };

void capture_and(Asked asked, bool work_behind) {
  hipStream_t origin = nullptr, side = nullptr;
  hipEvent_t event = nullptr, joined = nullptr;
  hipGraph_t graph = nullptr;
  int* memory = device_ints(1);
  MUST(hipStreamCreate(&origin));
  MUST(hipStreamCreate(&side));
  MUST(hipEventCreate(&event));
  MUST(hipEventCreate(&joined));
  MUST(hipStreamBeginCapture(origin, hipStreamCaptureModeGlobal));
  MUST(hipEventRecord(event, origin));
  MUST(hipStreamWaitEvent(side, event, 0));
  MUST(hipMemsetAsync(memory, 1, sizeof(int), side));
  MUST(hipEventRecord(joined, side));
  MUST(hipStreamWaitEvent(origin, joined, 0));
  const hipError_t refused =
      asked == Asked::kDevice ? hipDeviceSynchronize() : hipStreamQuery(asked == Asked::kSide ? side : origin);
  check("the call", hipErrorStreamCaptureUnsupported, refused);
  if (asked == Asked::kSide) {
    check("work for the origin", hipErrorStreamCaptureInvalidated, hipMemsetAsync(memory, 2, sizeof(int), origin));
  } else {
    check("work for the side stream", hipErrorStreamCaptureInvalidated, hipMemsetAsync(memory, 2, sizeof(int), side));
  }
  check("the end of the capture", hipErrorStreamCaptureInvalidated, hipStreamEndCapture(origin, &graph));
  if (work_behind) check("work when it is over", hipSuccess, hipMemsetAsync(memory, 3, sizeof(int), side));
}

int main() {
  in_child("a query of the side stream", [] { capture_and(Asked::kSide, false); });
  in_child("a query of the origin", [] { capture_and(Asked::kOrigin, false); });
  in_child("a synchronisation of the device", [] { capture_and(Asked::kDevice, true); });
  return verdict();
}
