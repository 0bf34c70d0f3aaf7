// The rules of the commands about devices (HIP, peer device memory access).
#include <algorithm>

#include "verify/commands/define_rules.h"

namespace verify {

template <>
constexpr Traits kTraits<PeerAccess>{kLegalInCapture, kSucceeds, kSometimesRefusable, kNothingSeen,
                                     kNamesDevices,   kTwice,    kSometimesAgain};

template <>
Reason check(const State& state, const PeerAccess& c) {
  if (Reason reason = unknown_device(std::max(c.device, c.peer))) return reason;
  if (c.verb == PeerVerb::kCan) return {};
  if (c.device == c.peer) return "a device is no peer of itself";
  if (!state.captures().empty()) return "access is not changed while a stream captures";
  if (!state.idle()) return "work that is running may need what it reaches: synchronise first";
  return {};
}

template <>
Id highest_device(const PeerAccess& c) {
  return std::max(c.device, c.peer);
}

// HIP may refuse to enable access that is enabled, and to disable access that is not enabled.
template <>
bool may_be_refused(const State& state, const PeerAccess& c) {
  return c.verb != PeerVerb::kCan && state.peer_enabled(c.device, c.peer) == (c.verb == PeerVerb::kEnable);
}

template <>
void apply(State& state, const PeerAccess& c) {
  if (c.verb == PeerVerb::kEnable) state.change().peers.insert({c.device, c.peer});
  if (c.verb == PeerVerb::kDisable) state.change().peers.erase({c.device, c.peer});
}

template <>
bool may_stand_again(const State&, const PeerAccess& c) {
  return c.verb == PeerVerb::kCan;
}

template struct Rules<PeerAccess>;

}  // namespace verify
