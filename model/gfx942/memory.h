// The memory that an interpreted kernel may access outside of its own LDS and scratch.
//
// The implementation knows the live allocations. The bytes behind an address that is a multiple of 8 must be aligned to
// 8, because atomic operations are done on them. Every instruction that touches memory asks the implementation again,
// so that an allocation freed while a kernel runs is gone for the next instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace gfx942 {

// Live memory [begin, end); `bytes` points at its first byte. Null `bytes`: the access is not legal.
struct Extent {
  std::byte* bytes = nullptr;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Memory {
 public:
  virtual ~Memory() = default;

  // A stretch of one live allocation around [address, address + size) in which every access of the same kind is legal
  // (a larger stretch saves calls). The answer is used for the lanes of one instruction only, and the stretch must stay
  // readable (or writable) until the next call or the end of run().
  [[nodiscard]] virtual Extent reach(std::uint64_t address, std::size_t size, bool write) = 0;

  // Why the access is not legal, for the text of the fault: the allocation that the address used to belong to, or the
  // nearest one. Called after reach() refused the access.
  [[nodiscard]] virtual std::string explain(std::uint64_t address, std::size_t size, bool write) = 0;
};

}  // namespace gfx942
