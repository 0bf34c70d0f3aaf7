// A wait for an event lets a stream reuse memory that the event's stream frees only later.
// The story: finding.toml.
#include "../check.h"

__global__ void slow_fill(int* out, int value, int n, int spins) {
  int x = 0;
  for (int i = 0; i < spins; ++i) x = x * 31 + i;
  for (int i = 0; i < n; ++i) out[i] = value + (x == 1 ? 1 : 0);
}

int main() {
  hipStream_t first = nullptr, second = nullptr;
  MUST(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  MUST(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  hipEvent_t early = nullptr;
  MUST(hipEventCreateWithFlags(&early, hipEventDisableTiming));
  void *memory = nullptr, *next = nullptr;
  MUST(hipMallocAsync(&memory, 256, first));
  MUST(hipEventRecord(early, first));
  slow_fill<<<1, 1, 0, first>>>(static_cast<int*>(memory), 7, 64, 200000);
  MUST(hipFreeAsync(memory, first));
  MUST(hipStreamWaitEvent(second, early, 0));
  MUST(hipMallocAsync(&next, 256, second));
  MUST(hipMemsetD32Async(static_cast<hipDeviceptr_t>(next), 9, 64, second));
  MUST(hipStreamSynchronize(second));
  MUST(hipDeviceSynchronize());
  check("what the second stream wrote to its memory", 9, read_int(static_cast<const int*>(next)));
  return verdict();
}
