// Events: the requests that a command makes of a HIP runtime, as numbers that a quirk's trigger can be written in.
//
// One command makes several events: one for each node that it concerns, and one for the graph as a whole. The calls
// that a patch or a set makes depend on the strategy. attributes.inc has all attributes.
#pragma once

#include <algorithm>
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
inline constexpr std::int64_t kNotCounted = kUnset + 1;  // a number that is counted when somebody asks for it

// The names of the releases, in their order.
inline constexpr std::string_view kWordsOfReleases =
#define RELEASE(major, minor, full) #major "." #minor " "
#define NVIDIA_RELEASE(major, minor, driver) "nvidia-" #major "." #minor " "
#include "hip/releases/releases.inc"
#undef NVIDIA_RELEASE
#undef RELEASE
    ;
struct AttributeText {
  std::string_view name, words;
};
inline constexpr std::array<AttributeText, kAttributes> kAttributeTexts = {{
#define ATTRIBUTE(name, words) {#name, words},
#include "verify/quirks/attributes.inc"
#undef ATTRIBUTE
}};
[[nodiscard]] constexpr std::string_view attribute_name(Attribute attribute) {
  return kAttributeTexts[static_cast<std::size_t>(attribute)].name;
}
[[nodiscard]] constexpr std::optional<Attribute> find_attribute(std::string_view name) {
  const auto* const at = std::ranges::find(kAttributeTexts, name, &AttributeText::name);
  if (at == kAttributeTexts.end()) return {};
  return static_cast<Attribute>(at - kAttributeTexts.begin());
}
// The number of one of the attribute's words ("memset" of "node"), or nothing.
[[nodiscard]] constexpr std::optional<std::int64_t> find_word(Attribute attribute, std::string_view word) {
  std::string_view words = kAttributeTexts[static_cast<std::size_t>(attribute)].words;
  for (std::int64_t number = 0; !words.empty(); ++number) {
    const std::size_t space = std::min(words.find(' '), words.size());
    if (words.substr(0, space) == word) return number;
    words.remove_prefix(std::min(space + 1, words.size()));
  }
  return {};
}

class FactsOfGraph;  // verify/quirks/graph_facts.h

class Event {
 public:
  // `facts`, which outlive the event, count what is set to kNotCounted.
  explicit Event(FactsOfGraph& facts) : facts_(&facts) { values_.fill(kUnset); }
  [[nodiscard]] std::int64_t operator[](Attribute a) const {
    const std::int64_t value = values_[static_cast<std::size_t>(a)];
    return value == kNotCounted ? count(a) : value;
  }
  template <class Number>
  void set(Attribute a, Number value) {
    values_[static_cast<std::size_t>(a)] = static_cast<std::int64_t>(value);
  }

 private:
  [[nodiscard]] std::int64_t count(Attribute a) const;

  FactsOfGraph* facts_;
  std::array<std::int64_t, kAttributes> values_;
};

// Whether the number is one of those that take a walk over a graph's nodes.
[[nodiscard]] bool takes_a_walk(Attribute attribute);

// How executable graphs are brought to new addresses and parameters, as far as quirks depend on it.
struct Handling {
  // Implicit: most subjects are their strategy and nothing else.
  Handling(StrategyKind kind, bool a_library = false) : strategy(kind), library(a_library) {}
  StrategyKind strategy;
  // A library of commands: it may get nodes that hip/patcher_abi.h has no struct for as child graphs of one node, and
  // makes its requests when the program launches.
  bool library;
};

// Calls `visit` with every event of `command`, which has to be valid in `state`, in a thread of a block (0: in none).
// Stops when `visit` returns true, and returns whether it did (verify/quirks/event_emitter.h).
bool any_event(const State& state, const Command& command, Handling handling, Id thread,
               const std::function<bool(const Event&)>& visit);

}  // namespace verify
