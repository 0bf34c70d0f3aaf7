#include "verify/execute/heap_counter.h"

#include <cstdlib>
#include <new>

#include "hip/sync/sync.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HGCHECK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HGCHECK_SANITIZED 1
#endif
#endif

namespace verify {

namespace {

thread_local constinit HeapUse t_use;

}  // namespace

HeapUse heap_use() {
  return t_use;
}

bool heap_is_counted() {
#ifdef HGCHECK_SANITIZED
  return false;
#else
  return true;
#endif
}

#ifndef HGCHECK_SANITIZED
namespace {

void* counted(std::size_t bytes) {
  ++t_use.allocations;
  t_use.bytes += bytes;
  return std::malloc(bytes == 0 ? 1 : bytes);
}

void* counted_aligned(std::size_t bytes, std::align_val_t alignment) {
  ++t_use.allocations;
  t_use.bytes += bytes;
  const auto to = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(to, (bytes + to - 1) / to * to);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace
#endif

}  // namespace verify

#ifndef HGCHECK_SANITIZED
// The other forms (arrays, nothrow) call these by the standard's default. Weak: a program that defines these operators
// itself keeps its own, and nothing is counted here.
#define HGCHECK_WEAK [[gnu::weak]]
HGCHECK_WEAK void* operator new(std::size_t bytes) {
  return verify::or_throw(verify::counted(bytes));
}
HGCHECK_WEAK void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return verify::or_throw(verify::counted_aligned(bytes, alignment));
}
HGCHECK_WEAK void operator delete(void* memory) noexcept {
  std::free(memory);
}
HGCHECK_WEAK void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
HGCHECK_WEAK void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
HGCHECK_WEAK void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
#undef HGCHECK_WEAK
#endif
