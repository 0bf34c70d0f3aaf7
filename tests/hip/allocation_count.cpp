#include "hip/allocation_count.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

bool counting = false;
const bool* skipping = nullptr;
std::uint64_t counted = 0;

void note() {
  if (counting && !(skipping != nullptr && *skipping)) ++counted;
}

}  // namespace

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HGCHECK_TSAN
#endif
#elif defined(__SANITIZE_THREAD__)
#define HGCHECK_TSAN
#endif

#ifdef HGCHECK_TSAN
// ThreadSanitizer's own operator new cannot be replaced; it tells this hook of every allocation.
extern "C" void __sanitizer_malloc_hook(const volatile void*, std::size_t) {  // NOLINT(bugprone-reserved-identifier)
  note();
}
extern "C" void __sanitizer_free_hook(const volatile void*) {}  // NOLINT(bugprone-reserved-identifier)
#else
namespace {

void* allocate(std::size_t size) {
  note();
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace allocation {

Counter::Counter(const bool* skip) {
  skipping = skip;
  counted = 0;
  counting = true;
}

Counter::~Counter() {
  counting = false;
}

std::uint64_t Counter::count() {
  return counted;
}

}  // namespace allocation
