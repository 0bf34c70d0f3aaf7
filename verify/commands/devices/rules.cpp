// The rules of the commands about devices (HIP, peer device memory access).
#include <fmt/format.h>

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

// ---- DeviceMemory

template <>
constexpr Traits kTraits<DeviceMemory>{kMemoryCall, kSucceeds, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
Reason check(const State& state, const DeviceMemory& c) {
  const MemoryState& memory = state.parts().memory;
  if (c.bytes < DeviceMemory::kLeast || c.bytes > DeviceMemory::kMost)
    return fmt::format("{} to {} bytes may be left free", DeviceMemory::kLeast, DeviceMemory::kMost);
  if (memory.left_free) return "the free memory of the devices is stated once";
  if (state.parts().failing_below) return "the free memory is stated before a call below the runtime may fail";
  if (memory.runtime_allocates || !memory.pools.empty())
    return "the free memory is stated before there are pools, and before graphs, streams or malloc allocate";
  if (memory.other_bytes() > MemoryState::kMaxOtherBytes)
    return fmt::format("the program has more than {} bytes of buffers and physical memory, freed ones included",
                       MemoryState::kMaxOtherBytes);
  return {};
}

template <>
void apply(State& state, const DeviceMemory& c) {
  state.change().memory.left_free = c.bytes;
}

template struct Rules<PeerAccess>;
template struct Rules<DeviceMemory>;

}  // namespace verify
