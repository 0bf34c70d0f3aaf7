// Memory that another stream frees is given back to the stream that allocated it before the other one is done with it.
//
// Documentation: HIP's header, hipFreeAsync: it "inserts a free operation into stream", and the allocation is not used
// after "stream execution reaches the free"; hipMemPoolReuseFollowEventDependencies: memory that was freed in another
// stream is used again "as long as a stream ordering dependency of the allocating stream on the free action exists".
// What happens: one stream allocates and fills; another one waits for that by an event, runs a kernel that reads the
// memory, and frees it. The first stream allocates again: it gets the same address at once, and what it writes there is
// what the kernel reads. Nothing orders the first stream behind the second.
// Source: Heap::FindMemory asks MemoryTimestamp::IsSafeFind, and the streams that are safe for memory are the one that
// freed it and the one that it was allocated on, which MemoryPool::FreeMemory leaves among them.
#include "../check.h"

__global__ void slow_copy(int* out, const int* in, int n, int spins) {
  int x = 0;
  for (int i = 0; i < spins; ++i) x = x * 31 + i;
  for (int i = 0; i < n; ++i) out[i] = in[i] + (x == 1 ? 1 : 0);
}

int main() {
  hipStream_t first = nullptr, second = nullptr;
  MUST(hipStreamCreateWithFlags(&first, hipStreamNonBlocking));
  MUST(hipStreamCreateWithFlags(&second, hipStreamNonBlocking));
  hipEvent_t filled = nullptr;
  MUST(hipEventCreateWithFlags(&filled, hipEventDisableTiming));
  int* out = device_ints(64);
  void *memory = nullptr, *next = nullptr;
  MUST(hipMallocAsync(&memory, 256, first));
  MUST(hipMemsetD32Async(static_cast<hipDeviceptr_t>(memory), 7, 64, first));
  MUST(hipEventRecord(filled, first));
  MUST(hipStreamWaitEvent(second, filled, 0));
  slow_copy<<<1, 1, 0, second>>>(out, static_cast<const int*>(memory), 64, 200000);
  MUST(hipFreeAsync(memory, second));
  MUST(hipMallocAsync(&next, 256, first));
  MUST(hipMemsetD32Async(static_cast<hipDeviceptr_t>(next), 9, 64, first));
  MUST(hipStreamSynchronize(first));
  MUST(hipDeviceSynchronize());
  check("what the second stream's kernel read", 7, read_int(out));
  return verdict();
}
