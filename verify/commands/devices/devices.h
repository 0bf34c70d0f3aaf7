// The family of commands about devices: whether a device may reach the memory of another device.
#pragma once

#include "verify/commands/fields.h"

namespace verify {

// Asks whether `device` can access the memory of `peer`, enables that access, or disables it.
enum class PeerVerb : std::uint8_t { kCan, kEnable, kDisable };
inline constexpr std::array<std::string_view, 3> kPeerWords = {"can", "enable", "disable"};
struct PeerAccess {
  PeerVerb verb = PeerVerb::kCan;
  Id device = 0;
  Id peer = 0;
  static constexpr auto spec() {
    return describe_command(
        "peer",
        "`hipDeviceCanAccessPeer`, `hipDeviceEnablePeerAccess` or `hipDeviceDisablePeerAccess`, with the "
        "first device current. The answer is an observation. Nothing may be running. A kernel of a device "
        "names memory of another only while access is enabled when it is launched.",
        kDrawnByHand, kDescribedByFields,
        ChoiceField{&PeerAccess::verb, kPeerWords, "can, enable or disable", "peer can, peer enable or peer disable",
                    "peer "},
        field::device_number(&PeerAccess::device, "a device"), field::device_number(&PeerAccess::peer, "its peer"));
  }
  bool operator==(const PeerAccess&) const = default;
};

using DevicesCommands = CommandList<PeerAccess>;

}  // namespace verify
