// Copies that are no nodes. Sources: hipMemcpy* in HIP's header documentation; CUDA's "API synchronization behavior"
// for the waits of copies of pageable memory; clr's ihipMemcpy2D and ihipMemcpy3D_validate for pitches.
#include "model/abi/convert.h"

namespace model::abi {
namespace {

// Whether there is memory at an address: of a live allocation, of a reservation, or of the process itself.
bool exists(const AddressSpace& space, Address address) {
  return space.find_or_promised(address) != nullptr || space.is_foreign_host(address);
}

bool pageable(const AddressSpace& space, Address address) {
  const Allocation* found = space.find_or_promised(address);
  return found == nullptr || found->kind == MemoryKind::kPageable;
}

}  // namespace

// A stream copy of memory that does not exist is refused at once. (clr checks only ranges that it knows; the behaviour
// for other ranges is unpredictable.) Copies of pageable memory are over when the call returns.
Status copy_on_stream(State& state, const CopyParams& params, hipStream_t handle, bool async) {
  Stream* stream = find(state, handle);
  if (stream == nullptr) return Status::kContextIsDestroyed;
  if (params.extent.width == 0 || params.extent.height == 0 || params.extent.depth == 0) return Status::kSuccess;
  const AddressSpace& space = state.runtime.memory();
  if (const Status status = validate(params, space); status != Status::kSuccess) return status;
  if (!exists(space, params.dst.base) || !exists(space, params.src.base)) return Status::kInvalidValue;
  const bool waits = !async || pageable(space, params.dst.base) || pageable(space, params.src.base);
  if (const Status refused = refuse_waiting(state, *stream, async); refused != Status::kSuccess) return refused;
  // To wait for another stream than the null stream is an unsafe call while any stream captures (streams.cpp).
  if (!async && stream->id() != 0) {
    if (const Status refused = refuse_unsafe_call(state); refused != Status::kSuccess) return refused;
  }
  const bool captured = state.runtime.capture_of(*stream) != nullptr;
  if (const Status status = state.runtime.enqueue(*stream, params); status != Status::kSuccess) return status;
  return waits && !captured ? state.runtime.synchronize(*stream) : Status::kSuccess;
}

namespace {

Status copy_1d(State& state, void* dst, const void* src, std::size_t size, hipMemcpyKind kind, hipStream_t stream,
               bool async) {
  if (size == 0) return find(state, stream) == nullptr ? Status::kContextIsDestroyed : Status::kSuccess;
  return copy_on_stream(state, linear_copy(to_address(dst), to_address(src), size, static_cast<CopyKind>(kind)), stream,
                        async);
}

struct Rows {
  void* dst;
  std::size_t dst_pitch;
  const void* src;
  std::size_t src_pitch, width, height;
  hipMemcpyKind kind;
};

Status copy_2d(State& state, const Rows& rows, hipStream_t stream, bool async) {
  if (rows.width == 0 || rows.height == 0) return Status::kSuccess;
  if (rows.width > rows.dst_pitch || rows.width > rows.src_pitch) return Status::kInvalidPitchValue;
  CopyParams params;
  params.dst = {to_address(rows.dst), rows.dst_pitch, rows.width, rows.height};
  params.src = {to_address(rows.src), rows.src_pitch, rows.width, rows.height};
  params.extent = {rows.width, rows.height, 1};
  params.kind = static_cast<CopyKind>(rows.kind);
  return copy_on_stream(state, params, stream, async);
}

#ifdef HGMODEL_SHARED
// The driver's struct has a host and a device pointer for each side; the side's memory type says which one counts.
Status to_rows(const hip_Memcpy2D* copy, Rows* out) {
  if (copy == nullptr) return Status::kInvalidValue;
  if (copy->srcMemoryType == hipMemoryTypeArray || copy->dstMemoryType == hipMemoryTypeArray) {
    return Status::kNotSupported;
  }
  const bool from_host = copy->srcMemoryType == hipMemoryTypeHost, to_host = copy->dstMemoryType == hipMemoryTypeHost;
  const void* src = from_host ? copy->srcHost : copy->srcDevice;
  void* dst = to_host ? copy->dstHost : copy->dstDevice;
  if (src == nullptr || dst == nullptr) return Status::kInvalidValue;
  out->src = static_cast<const char*>(src) + copy->srcY * copy->srcPitch + copy->srcXInBytes;
  out->dst = static_cast<char*>(dst) + copy->dstY * copy->dstPitch + copy->dstXInBytes;
  out->src_pitch = copy->srcPitch, out->dst_pitch = copy->dstPitch;
  out->width = copy->WidthInBytes, out->height = copy->Height;
  out->kind = hipMemcpyDefault;
  return Status::kSuccess;
}
#endif

Status copy_3d(State& state, const hipMemcpy3DParms* params, hipStream_t stream, bool async) {
  CopyParams converted;
  if (const Status status = from_hip(params, &converted); status != Status::kSuccess) return status;
  return copy_on_stream(state, converted, stream, async);
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipMemcpy(void* dst, const void* src, size_t size, hipMemcpyKind kind) {
  return call([&](State& state) { return copy_1d(state, dst, src, size, kind, nullptr, false); });
}

hipError_t hipMemcpyAsync(void* dst, const void* src, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  return call([&](State& state) { return copy_1d(state, dst, src, size, kind, stream, true); });
}

hipError_t hipMemcpyWithStream(void* dst, const void* src, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  return call([&](State& state) { return copy_1d(state, dst, src, size, kind, stream, false); });
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, const void* src, size_t size) {
  return call([&](State& state) { return copy_1d(state, dst, src, size, hipMemcpyHostToDevice, nullptr, false); });
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, const void* src, size_t size, hipStream_t stream) {
  return call([&](State& state) { return copy_1d(state, dst, src, size, hipMemcpyHostToDevice, stream, true); });
}

hipError_t hipMemcpyDtoH(void* dst, hipDeviceptr_t src, size_t size) {
  return call([&](State& state) { return copy_1d(state, dst, src, size, hipMemcpyDeviceToHost, nullptr, false); });
}

hipError_t hipMemcpyDtoHAsync(void* dst, hipDeviceptr_t src, size_t size, hipStream_t stream) {
  return call([&](State& state) { return copy_1d(state, dst, src, size, hipMemcpyDeviceToHost, stream, true); });
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t size) {
  return call([&](State& state) { return copy_1d(state, dst, src, size, hipMemcpyDeviceToDevice, nullptr, false); });
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t size, hipStream_t stream) {
  return call([&](State& state) { return copy_1d(state, dst, src, size, hipMemcpyDeviceToDevice, stream, true); });
}

hipError_t hipMemcpy2D(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  return call([&](State& state) {
    return copy_2d(state, {dst, dst_pitch, src, src_pitch, width, height, kind}, nullptr, false);
  });
}

hipError_t hipMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  return call([&](State& state) {
    return copy_2d(state, {dst, dst_pitch, src, src_pitch, width, height, kind}, stream, true);
  });
}

hipError_t hipMemcpy3D(const hipMemcpy3DParms* params) {
  return call([&](State& state) { return copy_3d(state, params, nullptr, false); });
}

hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* params, hipStream_t stream) {
  return call([&](State& state) { return copy_3d(state, params, stream, true); });
}

#ifdef HGMODEL_SHARED
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* copy, hipStream_t stream) {
  return call([&](State& state) {
    Rows rows{};
    if (const Status status = to_rows(copy, &rows); status != Status::kSuccess) return status;
    return copy_2d(state, rows, stream, true);
  });
}

hipError_t hipMemcpyParam2D(const hip_Memcpy2D* copy) {
  return call([&](State& state) {
    Rows rows{};
    if (const Status status = to_rows(copy, &rows); status != Status::kSuccess) return status;
    return copy_2d(state, rows, nullptr, false);
  });
}

hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* copy) {
  return hipMemcpyParam2D(copy);
}
#endif

HGMODEL_FUNCTIONS_END
