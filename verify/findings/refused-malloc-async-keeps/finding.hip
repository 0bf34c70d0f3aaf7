// A refused hipMallocAsync keeps the free memory of the device.
// The story: finding.toml.
#include "../check.h"

int main() {
  in_child("the calls", [] {
    hipStream_t stream = nullptr;
    MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    size_t before = 0, after = 0, total = 0;
    void *most = nullptr, *memory = nullptr;
    MUST(hipMemGetInfo(&before, &total));
    MUST(hipMalloc(&most, total / 3 * 2));
    MUST(hipMemGetInfo(&before, &total));
    check("hipMallocAsync of half of the device", hipErrorOutOfMemory, hipMallocAsync(&memory, total / 2, stream));
    MUST(hipStreamSynchronize(stream));
    MUST(hipMemGetInfo(&after, &total));
    check("less free memory, in MiB", 0, (static_cast<long long>(before) - static_cast<long long>(after)) >> 20);
    check("hipMallocAsync of an eighth", hipSuccess, hipMallocAsync(&memory, total / 8, stream));
  });
  return verdict();
}
