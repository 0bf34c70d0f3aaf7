// Events: what a command asks of a HIP runtime, in numbers that a quirk's trigger can be written in.
//
// One command makes several: one for each node that it concerns, and one for the graph as a whole. What a patch or a
// set means to the runtime depends on the strategy, which is an attribute like any other. attributes.inc has them all.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "verify/program/program.h"
#include "verify/program/state.h"

namespace verify {

enum class Attribute : std::uint8_t {
#define ATTRIBUTE(name, words) k_##name,
#include "verify/quirks/attributes.inc"
#undef ATTRIBUTE
  kCount
};
inline constexpr std::size_t kAttributes = static_cast<std::size_t>(Attribute::kCount);
inline constexpr std::int64_t kUnset = std::numeric_limits<std::int64_t>::min();

[[nodiscard]] std::string_view attribute_name(Attribute attribute);
[[nodiscard]] std::optional<Attribute> find_attribute(std::string_view name);
// The number of one of the attribute's words ("memset" of "node"), or nothing.
[[nodiscard]] std::optional<std::int64_t> find_word(Attribute attribute, std::string_view word);

class Event {
 public:
  Event() { values_.fill(kUnset); }
  [[nodiscard]] std::int64_t operator[](Attribute a) const { return values_[static_cast<std::size_t>(a)]; }
  template <class Number>
  void set(Attribute a, Number value) {
    values_[static_cast<std::size_t>(a)] = static_cast<std::int64_t>(value);
  }

 private:
  std::array<std::int64_t, kAttributes> values_;
};

// Those that are asked for by name; the others are 0 patch and 2 update.
inline constexpr int kRebuilding = 1, kStabilising = 3, kBeingCareful = 4, kByCommandBuffer = 5;

// Calls `visit` with every event of `command`, which may stand where `state` is; stops when `visit` says true, and says
// whether it did. `strategy`: 0 patch, 1 rebuild, 2 update, 3 stabilise, 4 careful, 5 command-buffer.
bool any_event(const State& state, const Command& command, int strategy,
               const std::function<bool(const Event&)>& visit);

}  // namespace verify
