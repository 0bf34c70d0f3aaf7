// The text form of a program: one command a line, a version line first, written and read by people.
//
// parse(print(p)) == p for every program that fits the bounds of program.h. A parse error names line and column (both
// from 1) and the expected word. The parser takes any text without crashing; verify/program/state.h decides whether a
// program is valid. Not kept: comments ('#' to the end of a line), blank lines, spacing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "verify/language/parse_error.h"
#include "verify/program/program.h"

namespace verify {

inline constexpr std::uint32_t kTextVersion = 1;

[[nodiscard]] std::variant<Program, ParseError> parse_program(std::string_view text);

[[nodiscard]] std::string print_program(const Program& program);
[[nodiscard]] std::string print_command(const Command& command);
// "kernel", "memcpy", ..., "instantiate", ...: the first word of a command.
[[nodiscard]] std::string_view command_word(const Command& command);

}  // namespace verify
