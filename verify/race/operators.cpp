// operator new and delete of programs that explore (see arena.h), and the options of AddressSanitizer for them.
#include "verify/race/operators.h"

#include <cstdlib>
#include <new>

#include "verify/race/arena.h"
#include "verify/race/sanitizers.h"

namespace verify::race {

bool count_memory() {
  constexpr bool counted = !sanitizers::kThread && !sanitizers::kAddress;
  Arena::of_process().set_usable(counted);
  return counted;
}

#if !defined(HGCHECK_RACE_TSAN) && !defined(HGCHECK_RACE_ASAN)

namespace {

void* take(std::size_t size, std::size_t alignment) {
  Arena& arena = Arena::of_process();
  if (arena.on()) {
    if (void* const memory = arena.allocate(size, alignment)) return memory;
  }
  const std::size_t rounded = (size == 0 ? 1 : size) + alignment - 1;
  return alignment <= alignof(std::max_align_t) ? std::malloc(size == 0 ? 1 : size)
                                                : std::aligned_alloc(alignment, rounded / alignment * alignment);
}

void give(void* memory) noexcept {
  if (memory == nullptr || Arena::of_process().release(memory)) return;
  std::free(memory);
}

}  // namespace

#endif

}  // namespace verify::race

#if !defined(HGCHECK_RACE_TSAN) && !defined(HGCHECK_RACE_ASAN)

void* operator new(std::size_t size) {
  if (void* const memory = verify::race::take(size, alignof(std::max_align_t))) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* const memory = verify::race::take(size, static_cast<std::size_t>(alignment))) return memory;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return operator new(size, alignment);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return verify::race::take(size, alignof(std::max_align_t));
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return verify::race::take(size, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept {
  verify::race::give(memory);
}
void operator delete[](void* memory) noexcept {
  verify::race::give(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  verify::race::give(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  verify::race::give(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  verify::race::give(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  verify::race::give(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  verify::race::give(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  verify::race::give(memory);
}

#endif

// A schedule that shows a failure is given up, and the memory of its threads is never freed. So leaks at the end of the
// process say nothing (the arena counts them where there is no sanitizer). An abandoned fiber would also leave behind
// the stack on which AddressSanitizer looks for a use after return.
#ifdef HGCHECK_RACE_ASAN
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:detect_stack_use_after_return=0";
}
#endif
