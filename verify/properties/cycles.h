// P8's measure: the handles and memory that a runtime holds after few rounds of a program's cycle, and after many.
//
// Each command that makes nothing new is repeated in its place, twice or kManyCycles times. After the program's last
// command the runtime has to hold the same handles, allocations and bytes in both cases.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "verify/execute/observation.h"
#include "verify/program/program.h"

namespace verify {

inline constexpr std::uint32_t kFewCycles = 2, kManyCycles = 64;

// `program` with each command repeated `times` in a row where that is valid and means the same each time. Injected
// failures are left out. No value where no command can be repeated, or where the program would be too long.
[[nodiscard]] std::optional<Program> cycled(const Program& program, std::uint32_t times);

// Returns, in words, the counts that are larger in `many` than in the earlier `few`, or nothing. Counts that grow as
// much again in the later `few_again` are left out: a pool may grow now and then, whatever runs.
[[nodiscard]] std::string grown(std::span<const Held> few, std::span<const Held> many, std::span<const Held> few_again);

}  // namespace verify
