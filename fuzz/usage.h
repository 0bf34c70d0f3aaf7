// Completion for shells, the manual page, and arguments for another process, made of the option definitions that parse
// the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fuzz {

[[nodiscard]] std::string bash_completion(const CLI::App& app);
// The options of `from` that were given and that `to` has too, as they are written on a command line.
[[nodiscard]] std::vector<std::string> given_options(const CLI::App& from, const CLI::App& to);
[[nodiscard]] std::string zsh_completion(const CLI::App& app);
// The manual page in troff, with the man macros.
[[nodiscard]] std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace fuzz
