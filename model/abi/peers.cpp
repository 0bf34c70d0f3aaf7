// Peer devices: access of a device to the memory of its peers, and copies with a device named for each end. Sources:
// hipDeviceCanAccessPeer and its neighbours in HIP's header documentation; catch/unit/device
// (hipDeviceEnableDisablePeerAccess.cc), catch/unit/memory (hipMemcpyPeer.cc, hipMemcpyPeerAsync.cc).
//
// Every device of the model reaches every allocation, except mapped memory (virtual_memory.h). Enabling access changes
// only the statuses of these functions, and the devices named for a copy make no difference. Kernels are not checked
// for access to peers that is not enabled.
#include "model/abi/convert.h"

namespace model::abi {
namespace {

Status copy_peer(State& state, void* dst, int dst_device, const void* src, int src_device, std::size_t size,
                 hipStream_t stream, bool async) {
  if (!is_device(state, dst_device) || !is_device(state, src_device)) return Status::kInvalidDevice;
  if (size == 0) return find(state, stream) == nullptr ? Status::kContextIsDestroyed : Status::kSuccess;
  return copy_on_stream(state, linear_copy(to_address(dst), to_address(src), size, CopyKind::kDeviceToDevice), stream,
                        async);
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](State& state) {
    if (can == nullptr) return Status::kInvalidValue;
    if (!is_device(state, device) || !is_device(state, peer)) return Status::kInvalidDevice;
    return put(can, device != peer ? 1 : 0);
  });
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call([&](State& state) {
    if (flags != 0) return Status::kInvalidValue;
    return state.runtime.set_peer_access(state.thread->device, peer, true);
  });
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
  return call([&](State& state) { return state.runtime.set_peer_access(state.thread->device, peer, false); });
}

hipError_t hipMemcpyPeer(void* dst, int dst_device, const void* src, int src_device, size_t size) {
  return call([&](State& state) { return copy_peer(state, dst, dst_device, src, src_device, size, nullptr, false); });
}

hipError_t hipMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device, size_t size,
                              hipStream_t stream) {
  return call([&](State& state) { return copy_peer(state, dst, dst_device, src, src_device, size, stream, true); });
}

HGMODEL_FUNCTIONS_END
