// P8's measure: the handles and memory that a runtime holds after few rounds of a program's cycle, and after many.
//
// A program's commands that make nothing new stand several times in a row, twice or kManyCycles times. After the last
// one the runtime has to hold the same handles, allocations and bytes in both cases.
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

// Returns, in words, the counts that are larger in `many` than in `few` before it, or nothing. Counts that grow as much
// again in the few cycles behind it are left out: a pool that gets a piece now and then, whatever runs.
[[nodiscard]] std::string grown(std::span<const Held> few, std::span<const Held> many, std::span<const Held> few_again);

}  // namespace verify
