// Scenarios: sequences of actions on one system, drawn from one source of choices.
//
// Every action is valid at its place (SystemsState). Values come from few candidates, so that keys collide, buffers
// are grown by a little and by a lot, and a cache runs full. One scenario in a few injects failures and switches
// devices.
#pragma once

#include <vector>

#include "verify/commands/systems/systems.h"
#include "verify/generate/choices.h"

namespace verify {

struct ScenarioOptions {
  std::uint32_t size = 20;  // actions
  int devices = 2;          // that the runtime has
  bool failures = true;     // may be injected
};

// One action that is valid in `state`.
[[nodiscard]] SystemAction draw_action(Choices& choices, System system, const SystemsState& state,
                                       const ScenarioOptions& options);
[[nodiscard]] std::vector<SystemAction> draw_scenario(Choices& choices, System system, const ScenarioOptions& options);

}  // namespace verify
