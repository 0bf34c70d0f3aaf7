// verify::Environment: the environment variables that a program sets for the runtime under test.
//
// A runtime reads its variables when it starts, so programs with other variables run in another subject process. The
// model reads none, and a library in this process (lib=PATH) has started already: there they change nothing.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace verify {

inline constexpr std::size_t kMaxVariables = 64;         // of a program
using Environment = std::map<std::string, std::string>;  // values by name

// Reads "NAME=VALUE". A name is letters, digits and _; a value has no character that a shell would read (a subject may
// run behind ssh). Otherwise nothing, and `error`, where it is not null, names the flaw.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> parse_variable(std::string_view text,
                                                                                std::string* error = nullptr);

}  // namespace verify
