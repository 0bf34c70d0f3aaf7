// The known quirks of a subject, with how its graphs may be handled: a quirk counts if it counts under one of these.
//
// A subject has one strategy, except a library of commands (hip/patcher_abi.h, version 2): at each launch it may set
// nodes, update its executable graph or record and instantiate another one, and knows no release.
#pragma once

#include <algorithm>
#include <vector>

#include "verify/quirks/quirk.h"

namespace verify {

struct KnownQuirks {
  QuirkSet quirks;
  std::vector<Handling> ways = {StrategyKind::kPatch};

  [[nodiscard]] const Quirk* explain(const Program& program, const Divergence& divergence) const {
    for (const Handling& way : ways) {
      if (const Quirk* quirk = quirks.explain(program, way, divergence)) return quirk;
    }
    return nullptr;
  }
  // Whether the command of that thread triggers a quirk in that state of a program.
  [[nodiscard]] bool triggered(const State& state, const Command& command, Id thread,
                               const Environment& environment) const {
    return std::ranges::any_of(ways, [&](const Handling& way) {
      return quirks.triggered(state, command, way, thread, environment) != nullptr;
    });
  }
  // Whether the program holds a trigger of a quirk that damages the subject's process.
  [[nodiscard]] bool corrupts(const Program& program) const {
    return std::ranges::any_of(ways, [&](const Handling& way) { return quirks.corrupts(program, way); });
  }
};

// The ways of a library of commands: setting nodes, updating, and instantiating at a launch.
inline std::vector<Handling> ways_of_commands() {
  return {{StrategyKind::kPatch, true}, {StrategyKind::kUpdate, true}, {StrategyKind::kRemap, true}};
}

}  // namespace verify
