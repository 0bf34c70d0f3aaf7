// The features that a program exercises, counted for the coverage part of a report.
//
// The list is fixed, so that a feature that was never generated shows as a zero and not as a missing line.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "verify/program/program.h"

namespace verify {

// "command move", "node memset", "kernel axpy_u64", "scalar addr() in 2 bytes", "move swap", ...
[[nodiscard]] std::span<const std::string> feature_names();

// Adds the features of `program` to `counts`, which is as long as feature_names().
void count_features(const Program& program, std::span<std::uint64_t> counts);
}  // namespace verify
