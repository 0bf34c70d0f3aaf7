// The functions of AMD's library that the model does not have, and every function's address by name.
//
// A program that is linked against AMD's runtime names functions that it may never call; all of them are exported, or
// it would not start. Functions that the model lacks answer hipErrorNotSupported, and each reports it once on stderr.
#pragma once

#include <string_view>

namespace model::abi {

// The address of the function of that name, the one that the library exports; null for a name that is not in the table.
[[nodiscard]] void* find_function(std::string_view name);

// Whether calling it does something. Total: false for a name that is not in the table.
[[nodiscard]] bool is_supported(std::string_view name);

// Says once that `name` was called, and answers hipErrorNotSupported.
[[nodiscard]] int unsupported(const char* name);

}  // namespace model::abi
