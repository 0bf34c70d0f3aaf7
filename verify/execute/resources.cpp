#include "verify/execute/resources.h"

#include <malloc.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "verify/execute/heap_counter.h"

// Functions of the allocators that may stand in for glibc's: null in a process that does not have them.
extern "C" {
struct HeapArea {  // the first fields of mimalloc's mi_heap_area_t
  void* blocks;
  std::size_t reserved, committed, used, block_size;
};
using VisitArea = bool(const void* heap, const HeapArea* area, void* block, std::size_t block_size, void* argument);
[[gnu::weak]] void* mi_heap_get_default();
[[gnu::weak]] void mi_collect(bool force);
[[gnu::weak]] bool mi_heap_visit_blocks(const void* heap, bool blocks, VisitArea* visit, void* argument);
[[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();  // NOLINT(bugprone-reserved-identifier)
}

namespace verify {

namespace {

bool add_area(const void*, const HeapArea* area, void* block, std::size_t, void* sum) {
  if (block == nullptr) *static_cast<std::uint64_t*>(sum) += area->used * area->block_size;
  return true;
}

// Where mimalloc is the allocator, only the heap of this thread counts: it makes the calls.
std::uint64_t heap_bytes() {
  if (mi_heap_visit_blocks != nullptr) {
    std::uint64_t bytes = 0;
    mi_collect(false);  // takes back what other threads have freed
    mi_heap_visit_blocks(mi_heap_get_default(), false, add_area, &bytes);
    return bytes;
  }
  if (__sanitizer_get_current_allocated_bytes != nullptr) return __sanitizer_get_current_allocated_bytes();
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::uint64_t entries(const char* folder) {
  std::error_code none;
  const std::filesystem::directory_iterator each(folder, none);
  return static_cast<std::uint64_t>(std::distance(begin(each), end(each)));
}

std::uint64_t resident_bytes() {
  std::uint64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::vector<Held> held_by_the_process() {
  std::vector<Held> held = {
      {kHeapBytes, heap_bytes()}, {kFileDescriptors, entries("/proc/self/fd")}, {kThreads, entries("/proc/self/task")}};
  if (heap_is_counted()) held.push_back({kResidentBytes, resident_bytes()});
  return held;
}

std::vector<Held> reported_by_the_runtime(const hip::Api& api) {
  std::vector<Held> held;
  std::size_t free = 0, total = 0;
  if (api.hipMemGetInfo != nullptr && api.hipMemGetInfo(&free, &total) == hipSuccess)
    held.push_back({kBytesOfTheDevice, total - free});
  int device = 0;
  if (api.hipGetDevice(&device) != hipSuccess) return held;
  std::uint64_t used = 0;
  hipMemPool_t pool = nullptr;
  if (api.hipDeviceGetDefaultMemPool != nullptr && api.hipMemPoolGetAttribute != nullptr &&
      api.hipDeviceGetDefaultMemPool(&pool, device) == hipSuccess &&
      api.hipMemPoolGetAttribute(pool, hipMemPoolAttrUsedMemCurrent, &used) == hipSuccess)
    held.push_back({"bytes of the default memory pool", used});
  if (api.hipDeviceGetGraphMemAttribute != nullptr &&
      api.hipDeviceGetGraphMemAttribute(device, hipGraphMemAttrUsedMemCurrent, &used) == hipSuccess)
    held.push_back({"bytes of graphs", used});
  return held;
}

}  // namespace verify
