// Programs for tests: parsing that fails the test instead of returning an error, and the programs that several use.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "verify/program/state.h"
#include "verify/program/text.h"

namespace verify {

// RapidCheck prints counterexamples with this.
inline void showValue(const Program& program, std::ostream& out) {
  out << "\n" << print_program(program);
}

inline Program parsed(std::string_view text) {
  const auto result = parse_program(text);
  if (const auto* error = std::get_if<ParseError>(&result)) {
    ADD_FAILURE() << error->text("program") << "\n" << text;
    return {};
  }
  return std::get<Program>(result);
}

// Commands only: the version line is put in front.
inline Program program_of(std::string_view commands) {
  return parsed("hgcheck-program 1\n" + std::string(commands));
}

// Why the text of the program "p" cannot be parsed, or nothing. The version line is put in front.
inline std::string parse_error_of(const std::string& commands) {
  const auto result = parse_program("hgcheck-program 1\n" + commands);
  const auto* error = std::get_if<ParseError>(&result);
  return error == nullptr ? "" : error->text("p");
}

// Why the program is not valid, or nothing.
inline std::string flaw(const Program& program) {
  const std::optional<Invalid> invalid = validate(program);
  return invalid ? "line " + std::to_string(invalid->line) + ": " + invalid->reason : "";
}

// Behind all of its commands, whether or not they may stand.
inline State state_after(const Program& program) {
  State state;
  for (const Step& step : program.steps) state.apply(step.command);
  return state;
}

// The program that opens docs/program-language.md.
inline constexpr std::string_view kExample =
    "hgcheck-program 1\n"
    "placement arena\n"
    "buffer b0 4096\n"
    "buffer b1 4096\n"
    "graph g0\n"
    "kernel g0.n0 axpy_u64 out=b0+0 in=b1+256 n=64 a=addr(b0) style=extra\n"
    "memcpy g0.n1 dst=b1+0 src=b0+0 bytes=512 kind=d2d after=n0\n"
    "instantiate e0 g0\n"
    "launch e0 s0\n"
    "move b0\n"
    "patch e0\n"
    "launch e0 s0\n"
    "read b1\n";

}  // namespace verify
