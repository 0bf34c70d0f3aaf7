// LLVM's disassembler for gfx942: bytes to the text of one instruction.
//
// Only its implementation includes LLVM's headers. An object may be used by one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/gfx942/types.h"

namespace gfx942 {

struct Disassembled {
  u32 bytes = 0;     // 0: not an instruction
  std::string text;  // without leading white space
};

class Disassembler {
 public:
  Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  ~Disassembler();

  // False when the library has no gfx942.
  [[nodiscard]] bool works() const { return context_ != nullptr; }
  [[nodiscard]] Disassembled next(std::span<const std::byte> code, u64 address) const;

 private:
  void* context_ = nullptr;
};

}  // namespace gfx942
