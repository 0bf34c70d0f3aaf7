// hip::CachedAllocator: device allocations by name, which keep their addresses.
//
// A command buffer wants addresses that do not move from step to step. The same name gives the same memory, as long as
// it is large enough.
//
//   get      one lock around look-up, allocation and insertion: two threads that name the same buffer get one
//            allocation, and no allocation is lost. The lock is held while HIP allocates, so get() is one atomic step.
//   growing  a buffer that is too small is replaced: the larger one is allocated before the smaller one is freed, and
//            the caller is told that the address has changed. hipFree waits for the memory's own device, so work of
//            that device that still uses the smaller one is over. If work of other devices uses it, the caller has to
//            wait for that work before a get() for which replaces() is true.
//   captures of other clients are left alone (hip/beside_captures.h). Memory that a capture has used must not be
//            replaced or freed before the captured graph is destroyed; this is not checked.
//   failure  leaves the cache as it was; the next get() tries again.
//   teardown every allocation is freed once. If freeing fails, the allocation is kept, and clear() and the destructor
//            (which tries twice) try again; errors are returned or reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "hip/api/api.h"
#include "hip/errors.h"
#include "hip/sync/sync.h"

namespace hip {

struct CachedAllocatorOptions {
  int device = 0;
  ErrorSink errors{};  // receives errors that cannot be returned, such as the destructor's
};

class CachedAllocator {
 public:
  using Name = std::uint64_t;
  struct Buffer {
    void* address = nullptr;
    std::size_t bytes = 0;
    bool moved = false;  // it is new, or its address is not that of the last get() of that name
  };

  explicit CachedAllocator(const Api& api, const CachedAllocatorOptions& options = {});
  CachedAllocator(const CachedAllocator&) = delete;
  CachedAllocator& operator=(const CachedAllocator&) = delete;
  ~CachedAllocator();

  // A buffer of at least `bytes` bytes; `bytes` must not be 0.
  [[nodiscard]] Result<Buffer> get(Name name, std::size_t bytes);
  // Whether get(name, bytes) would replace the buffer of that name, and free it.
  [[nodiscard]] bool replaces(Name name, std::size_t bytes) const;
  // Whether any of these `bytes` bytes lies in a cached buffer. Takes logarithmic time in the number of cached buffers.
  [[nodiscard]] bool holds(const void* address, std::size_t bytes = 1) const;
  [[nodiscard]] std::size_t size() const;
  // Frees the buffer of that name, if there is one. If freeing it fails, clear() tries again.
  Status release(Name name);
  // Frees every allocation, also after one could not be freed; returns the first error.
  Status clear();

 private:
  struct Entry {
    void* address = nullptr;
    std::size_t bytes = 0;
  };
  struct Cache {
    std::map<Name, Entry> entries;
    std::map<std::uintptr_t, std::uintptr_t> extents;  // of the entries: begin and end
    std::vector<void*> stuck;                          // could not be freed yet
  };
  [[nodiscard]] Result<void*> allocate(std::size_t bytes) const;
  [[nodiscard]] Status free(void* memory) const;
  static void keep(Cache& cache, Entry& in, const Entry& entry);

  const Api& api_;
  const CachedAllocatorOptions options_;
  mutable sync::Mutex mutex_;
  sync::Cell<Cache> cache_;  // guarded by mutex_
};

}  // namespace hip
