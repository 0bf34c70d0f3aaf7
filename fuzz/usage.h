// What shells and manual readers want to know of the command line, made of the very option definitions that parse it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fuzz {

[[nodiscard]] std::string bash_completion(const CLI::App& app);
[[nodiscard]] std::string zsh_completion(const CLI::App& app);
// In the man macros of troff.
[[nodiscard]] std::string man_page(const CLI::App& app, const std::string& version);

}  // namespace fuzz
