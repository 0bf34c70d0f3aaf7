// Programs that must observe the same as the program they are made from, with other commands on streams:
// its launches replaced by eager work (P6), its captures recorded by hand (P9).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "verify/execute/observation.h"
#include "verify/program/program.h"

namespace verify {

// The most steps of a variant: a longer variant is given up.
inline constexpr std::size_t kMaxVariantSteps = 4000;

struct StreamVariant {
  Program program;
  std::vector<std::size_t> origin;  // of each step, the step of the program that it stands for
};

// Replaces every launch by the work of its nodes, given to its stream one after the other in an order that the edges
// allow. That orders more than the graph does, so it adds no race. No value when nothing is launched, or where a frozen
// scalar may have taken another address than the buffer has now.
[[nodiscard]] std::optional<StreamVariant> launched_eagerly(const Program& program);

// Replaces every capture by a graph to which its nodes are added where the capture ended. No value when the program
// captures nothing, or where the result would differ: something is refused, a graph is launched into a capture (an
// executable graph cannot be named as a child), a capture goes into a graph, or memory that it uses is unmapped or
// freed before it ends.
[[nodiscard]] std::optional<StreamVariant> recorded_by_hand(const Program& program);

// Returns a variant's observation in terms of the program it was made from. Steps that it lacks are as `expected`.
[[nodiscard]] Observation in_terms_of(const Program& program, const StreamVariant& variant, const Observation& expected,
                                      Observation observed);

}  // namespace verify
