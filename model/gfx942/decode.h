// Translates the text of an instruction into the form that the interpreter runs.
//
// The grammar is that of LLVM's printer: a mnemonic, operands between commas, modifiers between spaces. An unknown
// mnemonic, operand or modifier, or a modifier that the operation cannot have, gives the handler run_unknown.
#pragma once

#include <string_view>

#include "model/gfx942/instruction.h"

namespace gfx942 {

struct Encoded {
  u64 address = 0;
  u32 dword = 0;  // the first dword
  u8 dwords = 1;
};

[[nodiscard]] Instruction decode(std::string_view text, const Encoded& encoded);

// Whether the table of semantics has the mnemonic, with or without the suffix of its encoding, in any form.
[[nodiscard]] bool knows_mnemonic(std::string_view mnemonic);

// Whether GPR-index mode moves the instruction's registers: vector arithmetic only (the ISA document), so neither
// accesses to memory nor matrix instructions.
[[nodiscard]] bool takes_gpr_index(std::string_view text);
// Whether the instruction turns GPR-index mode on or, for the second function, off.
[[nodiscard]] bool starts_gpr_index(std::string_view text);
[[nodiscard]] bool ends_gpr_index(std::string_view text);

}  // namespace gfx942
