// Words for a shell's command line.
#pragma once

#include <string>
#include <string_view>

namespace fuzz {

// The text as one word of a shell: in single quotes, unless it has only characters that no shell treats specially.
[[nodiscard]] inline std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,@%+-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

}  // namespace fuzz
