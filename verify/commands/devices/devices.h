// The family of commands about devices: which of them may reach the memory of which.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

// Whether `device` may reach, from now on reaches, or does not reach any more what is on `peer`.
enum class PeerVerb : std::uint8_t { kCan, kEnable, kDisable };
struct PeerAccess {
  PeerVerb verb = PeerVerb::kCan;
  Id device = 0;
  Id peer = 0;
  bool operator==(const PeerAccess&) const = default;
};

using DevicesCommands = CommandList<PeerAccess>;

}  // namespace verify
