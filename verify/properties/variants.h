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

  // Takes over step `at` of the original, or adds a new step.
  void keep(const Step& step, std::size_t at);
  void add(Command command);
};

struct Variant {
  std::string_view change;  // "the other argument style", ...
  Derived derived;
  // The program that must observe the same as `derived`; without a value it is the original program.
  std::optional<Derived> reference = std::nullopt;
  // A property that describes this pair more precisely than P9, and names a difference in the place of P9.
  std::optional<PropertyId> precisely = std::nullopt;
};

// Whether a variant must avoid a command of a thread in a state, as a generator must: the release executes it wrongly.
using Avoid = std::function<bool(const State&, const Command&, Id)>;

// Maps the observation of a run of `derived` to the `steps` steps of the original. Keeps only the statuses, bytes and
// host functions that a client sees: graphs that were built differently answer other queries differently on purpose.
[[nodiscard]] Observation as_original(const Observation& observation, const Derived& derived, std::size_t steps);

// The pairs; no value where the program has nothing to change.
[[nodiscard]] std::optional<Variant> instantiated_from_clones(const Program& program);
[[nodiscard]] std::optional<Variant> flattened_children(const Program& program);
[[nodiscard]] std::optional<Variant> disabled_is_empty(const Program& program);
[[nodiscard]] std::optional<Variant> other_form(const Program& program, const Avoid& avoid);

}  // namespace verify
