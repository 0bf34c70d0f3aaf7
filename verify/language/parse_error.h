// Where the text of a program cannot be read, and why: line and column count from 1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace verify {

struct ParseError {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string message;
  // "FILE:3:14: expected ..." the way compilers do.
  [[nodiscard]] std::string text(std::string_view file) const;
};

}  // namespace verify
