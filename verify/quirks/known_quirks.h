// The known quirks of a subject, with the strategies under which its programs may run: a quirk counts if it counts
// under one of them.
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
  std::vector<StrategyKind> strategies = {StrategyKind::kPatch};

  [[nodiscard]] const Quirk* explain(const Program& program, const Divergence& divergence) const {
    for (const StrategyKind strategy : strategies) {
      if (const Quirk* quirk = quirks.explain(program, strategy, divergence)) return quirk;
    }
    return nullptr;
  }
  // Whether the command of that thread triggers a quirk in that state of a program.
  [[nodiscard]] bool triggered(const State& state, const Command& command, Id thread,
                               const Environment& environment) const {
    return std::ranges::any_of(strategies, [&](StrategyKind strategy) {
      return quirks.triggered(state, command, strategy, thread, environment) != nullptr;
    });
  }
  // Whether the program holds a trigger of a quirk that damages the subject's process.
  [[nodiscard]] bool corrupts(const Program& program) const {
    return std::ranges::any_of(strategies, [&](StrategyKind strategy) { return quirks.corrupts(program, strategy); });
  }
};

// The ways of a library of commands: setting nodes, updating, and instantiating at a launch.
inline std::vector<StrategyKind> strategies_of_commands() {
  return {StrategyKind::kPatch, StrategyKind::kUpdate, StrategyKind::kRemap};
}

}  // namespace verify
