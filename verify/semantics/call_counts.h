// Which functions of the model's table generated programs call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace verify {

// Calls by function; a function that the model lacks is not in it.
using CallCounts = std::map<std::string, std::uint64_t>;

// Runs `programs` generated programs under each strategy on the model. Programs with `bad` calls are left out.
[[nodiscard]] CallCounts count_calls(std::size_t programs);

}  // namespace verify
