// P8's measure: what a runtime holds after few rounds of a program's cycle, and after many.
//
// A program's commands that make nothing new stand several times in a row, twice or kManyCycles times. What the runtime
// holds when the last one is done (handles, allocations, their bytes) has to be the same.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "verify/execute/observation.h"
#include "verify/program/program.h"

namespace verify {

inline constexpr std::uint32_t kFewCycles = 2, kManyCycles = 64;

// `program` with each command that may stand `times` in a row, and that means the same each time, standing so; injected
// failures are left out. Nothing where no command may, or where one command would be too many.
[[nodiscard]] std::optional<Program> cycled(const Program& program, std::uint32_t times);

// What `many` holds more than `few` did before it, in words, or nothing. Left out is what few cycles behind it make
// grow as much again: a pool that gets a piece now and then, whatever runs.
[[nodiscard]] std::string grown(std::span<const Held> few, std::span<const Held> many, std::span<const Held> few_again);

}  // namespace verify
