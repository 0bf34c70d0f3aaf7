// Graphs of a stated shape: chains, diamonds, grids, parallel chains and random ones, in which every edge carries data.
//
// Each node is a kernel that writes a cell of its own from the cells of up to three nodes that it waits for, so that an
// edge that a runtime loses is a wrong value as soon as the order shows it. Internal to verify/generate.
#pragma once

#include <vector>

#include "verify/generate/choices.h"
#include "verify/program/program.h"

namespace verify {

inline constexpr std::uint64_t kCellBytes = 16;
inline constexpr std::uint64_t kMostFan = 96;  // nodes of one command

// The nodes of `graph`, at most `most` commands and as many nodes as `bytes` bytes of buffer `cells` have room for;
// none when there is no room for two.
[[nodiscard]] std::vector<AddNode> draw_shape(Choices& choices, Id graph, Id cells, std::uint64_t bytes,
                                              std::uint64_t most);

}  // namespace verify
