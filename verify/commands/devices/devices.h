// The family of commands about devices: whether a device may reach the memory of another device, and how much memory a
// device has.
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

// From here on only `bytes` of each device's memory are free. Not a call of HIP.
struct DeviceMemory {
  static constexpr std::uint64_t kLeast = std::uint64_t{64} << 20, kMost = std::uint64_t{1} << 29;
  std::uint64_t bytes = kLeast;
  static constexpr auto spec() {
    return describe_command(
        "device_memory",
        "Leaves BYTES of each device's memory free for the rest of the program (64 to 512 MiB). "
        "A `malloc` or `malloc_async` of more than is left is refused, and changes nothing. Whether one fits has to be "
        "clear: 32 MiB are left to the runtime for itself, and what was freed may still be kept. There are no pools "
        "and no memory of graphs, and the program's other memory has 64 KiB at most. Only the model and the software "
        "GPU can do it.",
        kDrawnByHand, kNoDeviation,
        NumberField<std::uint64_t DeviceMemory::*>{&DeviceMemory::bytes, "BYTES", "a size in bytes", "a size in bytes",
                                                   kLeast, kMost, "at least 64 MiB are left free", Simpler::kLess});
  }
  bool operator==(const DeviceMemory&) const = default;
};

using DevicesCommands = CommandList<PeerAccess, DeviceMemory>;

}  // namespace verify
