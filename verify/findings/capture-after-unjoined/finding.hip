// Removed dependencies of a side stream count as unjoined; the origin's removed ones hide unjoined streams.
// The story: finding.toml.
#include "../check.h"

void fork_and_take_out(bool of_origin) {
  hipStream_t origin = nullptr, side = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  int* memory = device_ints(2);
  MUST(hipStreamCreate(&origin));
  MUST(hipStreamCreate(&side));
  MUST(hipEventCreate(&event));
  MUST(hipStreamBeginCapture(origin, hipStreamCaptureModeRelaxed));
  MUST(hipEventRecord(event, origin));
  MUST(hipStreamWaitEvent(side, event, 0));
  if (of_origin) MUST(hipMemsetAsync(memory, 1, sizeof(int), origin));
  MUST(hipMemsetAsync(memory + 1, 1, sizeof(int), side));
  MUST(hipStreamUpdateCaptureDependencies(of_origin ? origin : side, nullptr, 0, hipStreamSetCaptureDependencies));
  check(of_origin ? "the end, the side stream not joined" : "the end, the side stream's node taken out",
        of_origin ? hipErrorStreamCaptureUnjoined : hipSuccess, hipStreamEndCapture(origin, &graph));
}

int main() {
  in_child("the side stream's", [] { fork_and_take_out(false); });
  in_child("the origin's", [] { fork_and_take_out(true); });
  return verdict();
}
