// A wait for an event counts for memory that the event's stream frees after the event was recorded.
//
// Documentation: HIP's header, hipMallocAsync: an allocation may reuse memory that another stream freed only where the
// runtime knows the two to be ordered; hipMemPoolReuseFollowEventDependencies: "as long as a stream ordering dependency
// of the allocating stream on the free action exists". hipEventRecord captures what the stream was told until then, and
// a wait is for that. What happens: one stream allocates; an event is recorded; then the stream runs a kernel that
// writes the memory, and frees it. Another stream waits for the event and allocates: it gets the same address at once,
// and the kernel writes over what it puts there. Nothing orders the second stream behind the kernel or the free.
// Source: hipStreamWaitEvent calls AddSafeStream for the stream that the event was recorded on, and MemoryTimestamp
// takes the waiting stream for a safe one of all memory that is free then, whenever the event was recorded.
// hipEventRecord notes the stream before it looks at the event, so a record that it refuses counts as well.
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
