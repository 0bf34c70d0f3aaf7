#include "hip/allocation_count.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

bool counting = false;
const bool* skipping = nullptr;
std::uint64_t counted = 0;

void* allocate(std::size_t size) {
  if (counting && !(skipping != nullptr && *skipping)) ++counted;
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
