// The rules of the commands about user objects.
#include <fmt/format.h>

#include "verify/commands/define_rules.h"

namespace verify {

// ---- DeclareUserObject

template <>
constexpr Traits kTraits<DeclareUserObject>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                            kNoDevice,       kTwice,    kOnce};

template <>
Reason check(const State& state, const DeclareUserObject& c) {
  if (state.user_objects().contains(c.object)) return fmt::format("u{} is declared already", c.object);
  return {};
}

template <>
void apply(State& state, const DeclareUserObject& c) {
  state.change().graphs.objects[c.object] = 1;
}

// ---- RetainUserObject

template <>
constexpr Traits kTraits<RetainUserObject>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                           kNoDevice,       kTwice,    kOnce};

template <>
Reason check(const State& state, const RetainUserObject& c) {
  const auto held = state.user_objects().find(c.object);
  if (held == state.user_objects().end()) return fmt::format("u{} is not declared", c.object);
  if (held->second == 0) return fmt::format("the program holds no reference to u{} any more", c.object);
  return state.missing_graph(c.graph);
}

template <>
void apply(State& state, const RetainUserObject& c) {
  GraphsState& graphs = state.change().graphs;
  ++graphs.graphs.at(c.graph).objects[c.object];
  if (c.move) --graphs.objects.at(c.object);
}

// ---- ReleaseUserObject

template <>
constexpr Traits kTraits<ReleaseUserObject>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                            kNoDevice,       kTwice,    kOnce};

template <>
Reason check(const State& state, const ReleaseUserObject& c) {
  const auto held = state.user_objects().find(c.object);
  if (held == state.user_objects().end()) return fmt::format("u{} is not declared", c.object);
  if (!c.graph) {
    if (held->second == 0) return fmt::format("the program holds no reference to u{} any more", c.object);
    return {};
  }
  if (Reason reason = state.missing_graph(*c.graph)) return reason;
  if (c.beyond && held->second != 0) return {};  // the object is alive, whether the graph has it or not
  const auto& objects = state.graph(*c.graph)->objects;
  if (!objects.contains(c.object)) return fmt::format("g{} holds no reference to u{}", *c.graph, c.object);
  return {};
}

template <>
void apply(State& state, const ReleaseUserObject& c) {
  if (c.beyond) return;
  GraphsState& graphs = state.change().graphs;
  if (!c.graph) {
    --graphs.objects.at(c.object);
    return;
  }
  std::map<Id, std::uint32_t>& held = graphs.graphs.at(*c.graph).objects;
  if (--held.at(c.object) == 0) held.erase(c.object);
}

template struct Rules<DeclareUserObject>;
template struct Rules<RetainUserObject>;
template struct Rules<ReleaseUserObject>;

}  // namespace verify
