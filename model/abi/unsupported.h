// The functions of AMD's library that the model lacks, and the address of every function by its name.
//
// A program that is linked against AMD's runtime names functions that it may never call; all of them are exported, or
// it would not start. Functions that the model lacks answer hipErrorNotSupported, and each reports it once on stderr.
#pragma once

#include <string_view>

namespace model::abi {

// The address of the exported function of that name; null for a name that is not in the table.
[[nodiscard]] void* find_function(std::string_view name);

// Whether the model implements the function. False for a name that is not in the table.
[[nodiscard]] bool is_supported(std::string_view name);

// Reports on stderr, once for each name, that `name` was called; returns hipErrorNotSupported.
[[nodiscard]] int unsupported(const char* name);

}  // namespace model::abi
