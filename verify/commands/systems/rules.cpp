// The rules of the actions on systems. SystemsState decides (verify/commands/systems/action.h).
#include "verify/commands/define_rules.h"

namespace verify {

// Some actions have a bound on how often they may be done, so repetitions are applied up to one past that bound.
template <>
constexpr Traits kTraits<SystemAction>{kLegalInCapture, kSucceeds,           kNeverRefused, kNothingSeen,
                                       kNamesDevices,   kMaxStreamWorks + 1, kOnce};

template <>
Reason check(const State& state, const SystemAction& c) {
  return state.parts().systems.check(c);
}

template <>
Id highest_device(const SystemAction& c) {
  return static_cast<Id>(device_of(c));
}

template <>
void apply(State& state, const SystemAction& c) {
  state.change().systems.apply(c);
}

template struct Rules<SystemAction>;

}  // namespace verify
