// P5's two halves: what a run reads back of the edges, and which legal orders of a program are to be run.
#pragma once

#include <cstdint>

#include "verify/program/program.h"
#include "verify/properties/evidence.h"

namespace verify {

// A program with no more legal orders of its launches than that is run in every one of them; others in some.
inline constexpr std::uint64_t kMaxOrders = 96;
inline constexpr std::uint64_t kRandomOrders = 12;
inline constexpr std::uint64_t kMaxOrderedSteps = 10;  // of one graph whose orders are counted

// How many numbers kCountedOrder has to count through so that every legal order is run, or nothing: more than
// kMaxOrders, or a program that uses several streams, whose order is a matter of its own.
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
