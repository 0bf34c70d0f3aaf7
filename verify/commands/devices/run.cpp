// How commands about devices run.
#include "hip/errors.h"
#include "verify/run/run_command.h"

namespace verify {

template <>
hip::Status run_command(Run& run, const PeerAccess& c) {
  const hip::Api& api = run.context.api;
  if (api.hipDeviceCanAccessPeer == nullptr || api.hipDeviceEnablePeerAccess == nullptr ||
      api.hipDeviceDisablePeerAccess == nullptr)
    return lacking(run.context, "hipDeviceEnablePeerAccess");
  const int device = static_cast<int>(c.device), peer = static_cast<int>(c.peer);
  if (c.verb == PeerVerb::kCan) {
    int can = -1;
    hip::Status status = hip::call<&hip::Api::hipDeviceCanAccessPeer>(api, &can, device, peer);
    if (status) run.attempt.seen = std::to_string(can);
    return status;
  }
  return on_device(api, c.device, [&] {
    const bool enable = c.verb == PeerVerb::kEnable;
    hip::Status status = enable ? hip::call<&hip::Api::hipDeviceEnablePeerAccess>(api, peer, 0)
                                : hip::call<&hip::Api::hipDeviceDisablePeerAccess>(api, peer);
    if (status && enable) run.peers.insert({c.device, c.peer});
    if (status && !enable) run.peers.erase({c.device, c.peer});
    return status;
  });
}

template <>
hip::Status run_command(Run& run, const DeviceMemory& c) {
  return run.platform.leave_free(c.bytes) ? hip::Status() : run.unsupported("devices of a stated size");
}

template struct FamilyRun<DevicesCommands>;

}  // namespace verify
