// Recording an event on a stream that captures gives the stream work: it waits for the null stream.
//
// Documentation: hipStreamBeginCapture: what is pushed into the stream "will not be executed" but captured.
// What happens: a stream that was idle before the capture, and that has done nothing but capture, is not ready behind
// it: it waits for what the null stream was doing. A kernel that is captured instead of the event leaves it idle.
#include "../check.h"

__global__ void spin(int* to, int spins) {
  int x = 1;
  for (int i = 0; i < spins; ++i) x = x * 31 + i;
  to[0] = x;
}

void capture_then_ask(const char* what, bool record) {
  int* memory = device_ints(1);
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  hipGraph_t graph = nullptr;
  MUST(hipStreamCreate(&stream));
  MUST(hipEventCreate(&event));
  MUST(hipDeviceSynchronize());
  spin<<<1, 1>>>(memory, 200000);
  MUST(hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  if (record) MUST(hipEventRecord(event, stream));
  if (!record) MUST(hipMemsetAsync(memory, 1, 4, stream));
  MUST(hipStreamEndCapture(stream, &graph));
  check(what, hipSuccess, hipStreamQuery(stream));
  MUST(hipDeviceSynchronize());
}

int main() {
  capture_then_ask("the stream that captured a memset", false);
  capture_then_ask("the stream that captured an event", true);
  return verdict();
}
