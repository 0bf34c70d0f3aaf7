// Splits the text of an instruction into its parts, and parses the text of one operand.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/gfx942/instruction.h"

namespace gfx942 {

struct Words {
  std::string_view mnemonic;
  std::vector<std::string_view> operands;
  std::vector<std::string_view> modifiers;
};

// Splits at commas and spaces outside of brackets.
[[nodiscard]] Words split_text(std::string_view text);

// No value when the text is not an operand of that type.
[[nodiscard]] std::optional<Operand> parse_operand(std::string_view text, Type type);

// Decimal or hexadecimal, with a sign.
[[nodiscard]] std::optional<i64> parse_integer(std::string_view text);

// "[1,0,1]" as bits, the first entry in the lowest bit, and the number of entries.
struct BitList {
  u8 bits = 0;
  u8 count = 0;
};
[[nodiscard]] std::optional<BitList> parse_bits(std::string_view text);

}  // namespace gfx942
