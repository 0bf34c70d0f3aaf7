// P5's two halves: the edges that a run reads back, and the legal orders of a program that are to be run.
#pragma once

#include <cstdint>

#include "verify/program/program.h"
#include "verify/properties/evidence.h"

namespace verify {

// A program with at most that many legal orders of its launches is run in each order, any other program in some.
inline constexpr std::uint64_t kMaxOrders = 96;
inline constexpr std::uint64_t kRandomOrders = 12;
inline constexpr std::uint64_t kMaxOrderedSteps = 10;  // of one graph with counted orders

// How many numbers kCountedOrder has to count through so that every legal order is run. Nothing when there are more
// than kMaxOrders, or when the program uses several streams: the order among streams is not counted.
[[nodiscard]] std::optional<std::uint64_t> orders_to_count(const Program& program);

// The edges that a graph was read back with.
struct EdgesEvidence {
  std::size_t step = 0;
  const hip::Recording& recording;
  Id graph = 0;
  const TopologySeen& seen;
};
bool detect_p5(const EdgesEvidence& evidence, Violations& found);

}  // namespace verify
