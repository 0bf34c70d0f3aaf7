// A memory pool that refused an allocation crashes when it is destroyed.
// The story: finding.toml.
#include "../full_device.h"

static void destroy_pool(bool full) {
  hipStream_t stream = nullptr;
  hipMemPool_t pool = nullptr;
  void *kept = nullptr, *memory = nullptr;
  hipMemPoolProps props{};
  props.allocType = hipMemAllocationTypePinned;
  props.location.type = hipMemLocationTypeDevice;
  MUST(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  MUST(hipMemPoolCreate(&pool, &props));
  MUST(hipMalloc(&kept, 32 << 20));
  if (full) take_all_memory();
  check("the allocation", full ? hipErrorOutOfMemory : hipSuccess, hipMallocFromPoolAsync(&memory, 64, pool, stream));
  MUST(hipFree(kept));
  if (!full) MUST(hipFreeAsync(memory, stream));
  MUST(hipStreamSynchronize(stream));
  check("the end of the pool", hipSuccess, hipMemPoolDestroy(pool));
}

int main() {
  in_child("a pool that allocated", [] { destroy_pool(false); });
  if (verdict() != 0) return 2;
  in_child("a pool that refused", [] { destroy_pool(true); });
  return verdict();
}
