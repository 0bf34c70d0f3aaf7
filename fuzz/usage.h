// Completion for shells and the manual page, made of the option definitions that parse the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fuzz {

[[nodiscard]] std::string bash_completion(const CLI::App& app);
[[nodiscard]] std::string zsh_completion(const CLI::App& app);
// The manual page in troff, with the man macros.
[[nodiscard]] std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace fuzz
