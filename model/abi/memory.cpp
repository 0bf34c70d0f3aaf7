// Allocation and memsets. Sources: HIP's header documentation; catch/unit/memory: hipFree.cc (a pointer that is none of
// HIP's is hipErrorInvalidValue), hipMalloc.cc (size 0 succeeds and gives null); clr's ihipMemset_validate.
#include "model/abi/context.h"

namespace model::abi {
namespace {

constexpr unsigned kHostFlags = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                                hipHostMallocUncached | hipHostMallocNumaUser | hipHostMallocCoherent |
                                hipHostMallocNonCoherent;

Status allocate(State& state, void** out, std::size_t size, MemoryKind kind) {
  if (out == nullptr) return Status::kInvalidValue;
  if (size == 0) {
    *out = nullptr;
    return Status::kSuccess;
  }
  Address address = 0;
  const Status status = state.runtime.memory().allocate(size, kind, state.thread->device, &address);
  if (status == Status::kSuccess) *out = to_pointer(address);
  return status;
}

// Device and managed memory through hipFree, pinned memory through hipHostFree, each only there.
Status release(State& state, void* pointer, bool pinned) {
  if (pointer == nullptr) return Status::kSuccess;
  const Allocation* found = state.runtime.memory().find(to_address(pointer));
  if (found == nullptr || (found->kind == MemoryKind::kPinned) != pinned) return Status::kInvalidValue;
  return state.runtime.free(to_address(pointer));
}

Status allocate_host(State& state, void** out, std::size_t size, unsigned flags) {
  if ((flags & ~kHostFlags) != 0) return Status::kInvalidValue;
  if ((flags & hipHostMallocCoherent) != 0 && (flags & hipHostMallocNonCoherent) != 0) return Status::kInvalidValue;
  return allocate(state, out, size, MemoryKind::kPinned);
}

// hipMemset* without Async is over when it returns (clr waits for the stream; HIP's documentation calls only the Async
// forms asynchronous, unlike CUDA's).
Status fill(State& state, const MemsetParams& set, hipStream_t handle, bool async) {
  Stream* stream = find(state, handle);
  if (stream == nullptr) return Status::kContextIsDestroyed;
  if (set.width == 0 || set.height == 0) return Status::kSuccess;
  if (const Status status = state.runtime.enqueue(*stream, set); status != Status::kSuccess) return status;
  return async ? Status::kSuccess : state.runtime.synchronize(*stream);
}

MemsetParams elements(void* dst, std::uint32_t value, std::uint32_t size, std::size_t count) {
  return {.dst = to_address(dst), .pitch = 0, .value = value, .element_size = size, .width = count, .height = 1};
}

MemsetParams rows(void* dst, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return {.dst = to_address(dst),
          .pitch = pitch,
          .value = static_cast<std::uint32_t>(value),
          .element_size = 1,
          .width = width,
          .height = height};
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipMalloc(void** pointer, size_t size) {
  return call([&](State& state) { return allocate(state, pointer, size, MemoryKind::kDevice); });
}

hipError_t hipMallocManaged(void** pointer, size_t size, unsigned int flags) {
  return call([&](State& state) {
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return Status::kInvalidValue;
    if (size == 0) return Status::kInvalidValue;
    return allocate(state, pointer, size, MemoryKind::kManaged);
  });
}

hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return call([&](State& state) {
    if (pointer == nullptr || pitch == nullptr) return Status::kInvalidValue;
    if (width == 0 || height == 0) {
      *pointer = nullptr;
      return Status::kSuccess;
    }
    std::size_t bytes = 0;
    const std::size_t row = (width + kAlignment - 1) / kAlignment * kAlignment;
    if (row < width || __builtin_mul_overflow(row, height, &bytes)) return Status::kOutOfMemory;
    const Status status = allocate(state, pointer, bytes, MemoryKind::kDevice);
    if (status == Status::kSuccess) *pitch = row;
    return status;
  });
}

hipError_t hipFree(void* pointer) {
  return call([&](State& state) { return release(state, pointer, false); }, CallKind::kTeardown);
}

hipError_t hipHostMalloc(void** pointer, size_t size, unsigned int flags) {
  return call([&](State& state) { return allocate_host(state, pointer, size, flags); });
}

hipError_t hipHostAlloc(void** pointer, size_t size, unsigned int flags) {
  return call([&](State& state) { return allocate_host(state, pointer, size, flags); });
}

hipError_t hipMallocHost(void** pointer, size_t size) {
  return call([&](State& state) { return allocate_host(state, pointer, size, 0); });
}

hipError_t hipHostFree(void* pointer) {
  return call([&](State& state) { return release(state, pointer, true); }, CallKind::kTeardown);
}

hipError_t hipFreeHost(void* pointer) {
  return call([&](State& state) { return release(state, pointer, true); }, CallKind::kTeardown);
}

hipError_t hipMallocAsync(void** pointer, size_t size, hipStream_t stream) {
  return call([&](State& state) {
    if (find(state, stream) == nullptr) return Status::kContextIsDestroyed;
    return allocate(state, pointer, size, MemoryKind::kDevice);
  });
}

hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return call([&](State& state) {
    if (pointer == nullptr) return Status::kInvalidValue;
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kContextIsDestroyed;
    return state.runtime.free_async(to_address(pointer), *on);
  });
}

hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return call([&](State& state) {
    if (device == nullptr || host == nullptr || flags != 0) return Status::kInvalidValue;
    const Allocation* found = state.runtime.memory().find(to_address(host));
    if (found == nullptr || found->kind != MemoryKind::kPinned) return Status::kInvalidValue;
    *device = host;
    return Status::kSuccess;
  });
}

hipError_t hipMemGetInfo(size_t* unused, size_t* total) {
  return call([&](State& state) {
    if (unused == nullptr || total == nullptr) return Status::kInvalidValue;
    *total = state.runtime.options().memory.capacity;
    *unused = *total - state.runtime.memory().live_bytes();
    return Status::kSuccess;
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t pointer) {
  return call([&](State& state) {
    if (base == nullptr || size == nullptr) return Status::kInvalidValue;
    const Allocation* found = state.runtime.memory().find(to_address(pointer));
    if (found == nullptr) return Status::kNotFound;
    *base = to_pointer(found->base);
    *size = found->size;
    return Status::kSuccess;
  });
}

// Memory that is none of HIP's is hipMemoryTypeUnregistered, not an error (clr, CUDA from 11.0).
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  return call([&](State& state) {
    if (attributes == nullptr || pointer == nullptr) return Status::kInvalidValue;
    *attributes = {};
    const Allocation* found = state.runtime.memory().find(to_address(pointer));
    if (found == nullptr || found->kind == MemoryKind::kPageable) {
      attributes->type = hipMemoryTypeUnregistered;
      attributes->device = hipInvalidDeviceId;
      return Status::kSuccess;
    }
    attributes->device = found->device;
    attributes->devicePointer = to_pointer(to_address(pointer));
    if (found->kind == MemoryKind::kDevice) {
      attributes->type = hipMemoryTypeDevice;
      return Status::kSuccess;
    }
    attributes->hostPointer = attributes->devicePointer;
    attributes->isManaged = found->kind == MemoryKind::kManaged ? 1 : 0;
    attributes->type = attributes->isManaged != 0 ? hipMemoryTypeManaged : hipMemoryTypeHost;
    return Status::kSuccess;
  });
}

hipError_t hipMemset(void* dst, int value, size_t size) {
  return call([&](State& state) {
    return fill(state, elements(dst, static_cast<std::uint32_t>(value), 1, size), nullptr, false);
  });
}

hipError_t hipMemsetAsync(void* dst, int value, size_t size, hipStream_t stream) {
  return call([&](State& state) {
    return fill(state, elements(dst, static_cast<std::uint32_t>(value), 1, size), stream, true);
  });
}

hipError_t hipMemsetD8(hipDeviceptr_t dst, unsigned char value, size_t count) {
  return call([&](State& state) { return fill(state, elements(dst, value, 1, count), nullptr, false); });
}

hipError_t hipMemsetD8Async(hipDeviceptr_t dst, unsigned char value, size_t count, hipStream_t stream) {
  return call([&](State& state) { return fill(state, elements(dst, value, 1, count), stream, true); });
}

hipError_t hipMemsetD16(hipDeviceptr_t dst, unsigned short value, size_t count) {
  return call([&](State& state) { return fill(state, elements(dst, value, 2, count), nullptr, false); });
}

hipError_t hipMemsetD16Async(hipDeviceptr_t dst, unsigned short value, size_t count, hipStream_t stream) {
  return call([&](State& state) { return fill(state, elements(dst, value, 2, count), stream, true); });
}

hipError_t hipMemsetD32(hipDeviceptr_t dst, int value, size_t count) {
  return call([&](State& state) {
    return fill(state, elements(dst, static_cast<std::uint32_t>(value), 4, count), nullptr, false);
  });
}

hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream) {
  return call([&](State& state) {
    return fill(state, elements(dst, static_cast<std::uint32_t>(value), 4, count), stream, true);
  });
}

hipError_t hipMemset2D(void* dst, size_t pitch, int value, size_t width, size_t height) {
  return call([&](State& state) { return fill(state, rows(dst, pitch, value, width, height), nullptr, false); });
}

hipError_t hipMemset2DAsync(void* dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return call([&](State& state) { return fill(state, rows(dst, pitch, value, width, height), stream, true); });
}

HGMODEL_FUNCTIONS_END

#ifndef HGMODEL_SHARED
void model::abi::fill_memory(hip::Api& api) {
  HGMODEL_ENTER(hipMalloc);
  HGMODEL_ENTER(hipMallocManaged);
  HGMODEL_ENTER(hipMallocPitch);
  HGMODEL_ENTER(hipFree);
  HGMODEL_ENTER(hipHostMalloc);
  HGMODEL_ENTER(hipHostAlloc);
  HGMODEL_ENTER(hipMallocHost);
  HGMODEL_ENTER(hipHostFree);
  HGMODEL_ENTER(hipFreeHost);
  HGMODEL_ENTER(hipMallocAsync);
  HGMODEL_ENTER(hipFreeAsync);
  HGMODEL_ENTER(hipHostGetDevicePointer);
  HGMODEL_ENTER(hipMemGetInfo);
  HGMODEL_ENTER(hipMemGetAddressRange);
  HGMODEL_ENTER(hipPointerGetAttributes);
  HGMODEL_ENTER(hipMemset);
  HGMODEL_ENTER(hipMemsetAsync);
  HGMODEL_ENTER(hipMemsetD8);
  HGMODEL_ENTER(hipMemsetD8Async);
  HGMODEL_ENTER(hipMemsetD16);
  HGMODEL_ENTER(hipMemsetD16Async);
  HGMODEL_ENTER(hipMemsetD32);
  HGMODEL_ENTER(hipMemsetD32Async);
  HGMODEL_ENTER(hipMemset2D);
  HGMODEL_ENTER(hipMemset2DAsync);
}
#endif
