// The parts of a program's variants that must observe the same as the program (P9), and the pairs that have a file of
// their own here (p9_*.cpp), which opens with its sentence. verify/oracle/metamorphic.h lists all pairs.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "verify/execute/observation.h"
#include "verify/program/program.h"
#include "verify/program/state.h"

namespace verify {

inline constexpr std::size_t kNoStep = std::numeric_limits<std::size_t>::max();

// A program with steps added to it, and where each of its steps comes from.
struct Derived {
  Program program;
  // For each step the original's, or kNoStep for one that was added. Empty: step by step the original's.
  std::vector<std::size_t> origin;

  // Takes a step over, or adds one.
  void keep(const Step& step, std::size_t at);
  void add(Command command);
};

struct Variant {
  std::string_view change;  // "the other argument style", ...
  Derived derived;
  // What has to observe the same: the original program, or this.
  std::optional<Derived> reference = std::nullopt;
  // A property that says of this pair more precisely what P9 says of all, and names a difference in its place.
  std::optional<PropertyId> precisely = std::nullopt;
};

// What a variant is not to do where the program's state is so, as a generator's: a release does it wrongly.
using Avoid = std::function<bool(const State&, const Command&)>;

// What a run of `derived` observed, in the steps of the original, which has `steps` of them. Only what a client sees of
// statuses, bytes and host functions: graphs that were built differently have other queries answered on purpose.
[[nodiscard]] Observation as_original(const Observation& observation, const Derived& derived, std::size_t steps);

// The pairs; nothing where a program gives no occasion.
[[nodiscard]] std::optional<Variant> instantiated_from_clones(const Program& program);
[[nodiscard]] std::optional<Variant> flattened_children(const Program& program);
[[nodiscard]] std::optional<Variant> disabled_is_empty(const Program& program);
[[nodiscard]] std::optional<Variant> other_form(const Program& program, const Avoid& avoid);

}  // namespace verify
