// P10's measure: how the cost of a program's commands grows with its fans.
//
// A program is run at several sizes: each wide `fan=N` is made narrower. The cost of a command is counted, never timed:
// HIP calls of the subject's side, allocations of the heap and their bytes on the calling thread, and, in the model,
// the nodes and edges that a call visits. A line through the logarithms, by least squares, gives the exponent.
// The stated bounds are data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "verify/execute/observation.h"
#include "verify/program/program.h"
#include "verify/result.h"

namespace verify {

inline constexpr std::uint32_t kCostSizes[] = {16, 64, 256, 1024, 4096};
// Narrower programs say nothing about growth.
inline constexpr std::uint32_t kLeastCostFan = 1024;
// How far a measured exponent may exceed its bound: logarithmic factors, and amounts rounded up to a power of two.
inline constexpr double kCostTolerance = 0.2;

// The stated bound of a command's cost in the nodes of its graph, or nothing for a command that has none.
struct CostBound {
  std::string_view operation;  // "patch": as a program spells it
  std::string_view measure;    // "calls", "allocations", "bytes", "steps"
  double exponent;
  std::string_view because;
};
[[nodiscard]] std::span<const CostBound> cost_bounds();

// Programs that make each bounded operation do its work, at the largest size, by name.
struct CostProgram {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const CostProgram> cost_programs();

// The number of nodes in the widest fan.
[[nodiscard]] std::uint32_t widest_fan(const Program& program);
// The program with no fan wider than `width`.
[[nodiscard]] Program narrowed(const Program& program, std::uint32_t width);

// The slope of log(value) over log(size); nothing for fewer than three points or values that are all the same.
[[nodiscard]] std::optional<double> fitted_exponent(std::span<const std::uint64_t> sizes,
                                                    std::span<const std::uint64_t> values);

// The costs measured by runs at growing sizes: one observation a size, of the program narrowed to it. Commands without
// a bound, and commands that did not succeed everywhere, are left out.
[[nodiscard]] std::vector<CostMeasurement> fit_costs(const Program& program, std::span<const std::uint32_t> sizes,
                                                     std::span<const Observation> observations);

}  // namespace verify
