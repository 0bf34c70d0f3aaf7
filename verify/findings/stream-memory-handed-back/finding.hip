// Memory that another stream frees goes back to its allocating stream before the other has finished with it.
// The story: finding.toml.
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
