// The heap allocations of a thread: a deterministic measure of work, for any code of this process (P10).
//
// Counts operator new in all its forms, which is replaced once for the whole program, so calls from loaded libraries
// count, too. Memory that C code takes by malloc is not counted.
#pragma once

#include <cstdint>

namespace verify {

struct HeapUse {
  std::uint64_t allocations = 0;
  std::uint64_t bytes = 0;
};

// The allocations of this thread since it began. 0 where heap_is_counted() is false.
[[nodiscard]] HeapUse heap_use();
// False under sanitizers, which replace operator new themselves.
[[nodiscard]] bool heap_is_counted();

}  // namespace verify
