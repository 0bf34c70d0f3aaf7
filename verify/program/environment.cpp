#include "verify/program/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace verify {

std::optional<std::pair<std::string, std::string>> parse_variable(std::string_view text, std::string* error) {
  const auto refuse = [error](std::string reason) {
    if (error != nullptr) *error = std::move(reason);
    return std::nullopt;
  };
  const auto word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  const auto plain = [&](char c) {
    return word(static_cast<unsigned char>(c)) || std::string_view("+,-./:=@").find(c) != std::string_view::npos;
  };
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == std::string_view::npos || name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ||
      !std::ranges::all_of(name, word)) {
    return refuse(fmt::format("expected a variable like AMD_SERIALIZE_KERNEL=3, found '{}'", text));
  }
  const std::string_view value = text.substr(equals + 1);
  if (!std::ranges::all_of(value, plain)) {
    return refuse(
        fmt::format("a variable's value has letters, digits and any of _+,-./:=@, and '{}' has others", value));
  }
  return std::pair(std::string(name), std::string(value));
}

}  // namespace verify
