// Recording an event on a capturing stream makes the stream wait for the null stream.
// The story: finding.toml.
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
