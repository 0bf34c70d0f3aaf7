// Events: the requests that a command makes of a HIP runtime, as numbers that a quirk's trigger can be written in.
//
// One command makes several events: one for each node that it concerns, and one for the graph as a whole. The calls
// that a patch or a set makes depend on the strategy. attributes.inc has all attributes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>

#include "verify/program/program.h"
#include "verify/program/state.h"
#include "verify/program/strategy_kind.h"

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

// Calls `visit` with every event of `command`, which has to be valid in `state`. Stops when `visit` returns true, and
// returns whether it did (verify/quirks/describe.cpp).
bool any_event(const State& state, const Command& command, StrategyKind strategy,
               const std::function<bool(const Event&)>& visit);

}  // namespace verify
