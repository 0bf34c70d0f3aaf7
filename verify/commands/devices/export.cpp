// How the commands about devices are written as HIP calls (verify/commands/export.h).
#include "verify/commands/export.h"

#include <fmt/format.h>

#include "verify/export/exporter.h"

namespace verify {
static void export_question(Exporter& out, const PeerAccess& c) {
  const std::string can = fmt::format("can{}", out.text().number(LocalKind::kCall));
  out.text().line(fmt::format("int {} = -1;", can));
  out.call(fmt::format("hipDeviceCanAccessPeer(&{}, {}, {})", can, c.device, c.peer));
  out.text().equal(can, fmt::format("\"{}\"", out.expected().seen), fmt::format("std::to_string({})", can));
  out.answered();
}

template <>
void export_command(Exporter& out, const PeerAccess& c) {
  if (c.verb == PeerVerb::kCan) return export_question(out, c);
  out.text().on_device(c.device, [&] {
    out.call(c.verb == PeerVerb::kEnable ? fmt::format("hipDeviceEnablePeerAccess({}, 0)", c.peer)
                                         : fmt::format("hipDeviceDisablePeerAccess({})", c.peer));
  });
}

// The written file cannot take memory away from a device.
template <>
void export_command(Exporter& out, const DeviceMemory& /*command*/) {
  out.refuse_command();
}

template void export_family(DevicesCommands, Exporter&, const Command&);

}  // namespace verify
