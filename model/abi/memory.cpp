// Allocation and memsets. Sources: HIP's header documentation; catch/unit/memory: hipFree.cc (a pointer that is not
// HIP's is hipErrorInvalidValue), hipMalloc.cc (size 0 succeeds and gives null); clr's ihipMemset_validate.
#include "model/abi/context.h"

namespace model::abi {
namespace {

constexpr unsigned kHostFlags = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined |
                                hipHostMallocUncached | hipHostMallocNumaUser | hipHostMallocCoherent |
                                hipHostMallocNonCoherent;

Status allocate(State& state, void** out, std::size_t size, MemoryKind kind) {
  if (out == nullptr) return Status::kInvalidValue;
  if (const Status refused = refuse_unsafe_call(state); refused != Status::kSuccess) return refused;
  if (size == 0) {
    return put(out, nullptr);
  }
  if (const Status room = state.runtime.make_room(size); room != Status::kSuccess) return room;
  Address address = 0;
  const Status status = state.runtime.memory().allocate(size, kind, state.thread->device, &address);
  if (status == Status::kSuccess) *out = to_pointer(address);
  return status;
}

Status allocate_rows(State& state, void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  if (pointer == nullptr || pitch == nullptr) return Status::kInvalidValue;
  if (width == 0 || height == 0) {
    return put(pointer, nullptr);
  }
  std::size_t bytes = 0;
  const std::size_t row = (width + kAlignment - 1) / kAlignment * kAlignment;
  if (row < width || __builtin_mul_overflow(row, height, &bytes)) return Status::kOutOfMemory;
  const Status status = allocate(state, pointer, bytes, MemoryKind::kDevice);
  if (status == Status::kSuccess) *pitch = row;
  return status;
}

// Whether a range is managed memory, as the hints (hipMemPrefetchAsync, hipMemAdvise) require.
Status check_managed(State& state, const void* pointer, std::size_t size) {
  const Allocation* found = state.runtime.memory().find(to_address(pointer));
  const bool managed = found != nullptr && found->kind == MemoryKind::kManaged;
  return managed && size > 0 && size <= found->size - (to_address(pointer) - found->base) ? Status::kSuccess
                                                                                          : Status::kInvalidValue;
}

// `pinned`: called by hipHostFree, which frees pinned memory only. hipFree frees all other memory.
Status release(State& state, void* pointer, bool pinned) {
  if (pointer == nullptr) return Status::kSuccess;
  if (const Status refused = refuse_unsafe_call(state); refused != Status::kSuccess) return refused;
  const Allocation* found = state.runtime.memory().find_or_promised(to_address(pointer));
  if (found == nullptr || (found->kind == MemoryKind::kPinned) != pinned) return Status::kInvalidValue;
  const Status freed = state.runtime.free(to_address(pointer));
  if (freed == Status::kSuccess) state.host_flags.erase(to_address(pointer));
  return freed;
}

Status allocate_host(State& state, void** out, std::size_t size, unsigned flags) {
  if ((flags & ~kHostFlags) != 0) return Status::kInvalidValue;
  if ((flags & hipHostMallocCoherent) != 0 && (flags & hipHostMallocNonCoherent) != 0) return Status::kInvalidValue;
  const Status status = allocate(state, out, size, MemoryKind::kPinned);
  if (status == Status::kSuccess && *out != nullptr) state.host_flags[to_address(*out)] = flags;
  return status;
}

// hipMemset* without Async is over when it returns (clr waits for the stream; HIP's documentation calls only the Async
// forms asynchronous, unlike CUDA's).
Status fill(State& state, const MemsetParams& set, hipStream_t handle, bool async) {
  Stream* stream = find(state, handle);
  if (stream == nullptr) return Status::kContextIsDestroyed;
  if (set.width == 0 || set.height == 0) return Status::kSuccess;
  if (const Status refused = refuse_waiting(state, *stream, async); refused != Status::kSuccess) return refused;
  if (const Status status = state.runtime.enqueue(*stream, set); status != Status::kSuccess) return status;
  return async ? Status::kSuccess : state.runtime.synchronize(*stream);
}

MemsetParams elements(void* dst, std::uint32_t value, std::uint32_t size, std::size_t count) {
  return {.dst = to_address(dst), .pitch = 0, .value = value, .element_size = size, .width = count, .height = 1};
}

MemsetParams rows(void* dst, std::size_t pitch, std::uint32_t value, std::size_t width, std::size_t height,
                  std::uint32_t size = 1) {
  return {
      .dst = to_address(dst), .pitch = pitch, .value = value, .element_size = size, .width = width, .height = height};
}

// Slice by slice; the slices are ysize rows apart. All or nothing: the last slice, which reaches farthest, is checked
// first.
Status fill_3d(State& state, const hipPitchedPtr& dst, int value, const hipExtent& extent, hipStream_t handle,
               bool async) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return Status::kSuccess;
  if (extent.width > dst.pitch || (extent.depth > 1 && extent.height > dst.ysize)) return Status::kInvalidValue;
  const std::size_t slice = dst.pitch * dst.ysize;
  const auto at = [&](std::size_t z) {
    return rows(static_cast<char*>(dst.ptr) + z * slice, dst.pitch, static_cast<std::uint32_t>(value), extent.width,
                extent.height);
  };
  const Status valid = validate(NodeParams{at(extent.depth - 1)}, state.runtime.memory());
  if (valid != Status::kSuccess) return valid;
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const bool last = z + 1 == extent.depth;
    const Status status = fill(state, at(z), handle, async || !last);
    if (status != Status::kSuccess) return status;
  }
  return Status::kSuccess;
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
  return call([&](State& state) { return allocate_rows(state, pointer, pitch, width, height); });
}

hipError_t hipFree(void* pointer) {
  return teardown([&](State& state) { return release(state, pointer, false); });
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
  return teardown([&](State& state) { return release(state, pointer, true); });
}

hipError_t hipFreeHost(void* pointer) {
  return teardown([&](State& state) { return release(state, pointer, true); });
}

hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned int flags) {
  return call([&](State& state) {
    if (device == nullptr || host == nullptr || flags != 0) return Status::kInvalidValue;
    const Allocation* found = state.runtime.memory().find(to_address(host));
    if (found == nullptr || found->kind != MemoryKind::kPinned) return Status::kInvalidValue;
    return put(device, host);
  });
}

// Returns the flags given to hipHostMalloc, for any address in that memory. Registered memory has none (CUDA's
// documentation of cudaHostGetFlags: it fails for memory that cudaHostAlloc did not allocate).
hipError_t hipHostGetFlags(unsigned int* flags, void* host) {
  return call([&](State& state) {
    if (flags == nullptr || host == nullptr) return Status::kInvalidValue;
    const Allocation* found = state.runtime.memory().find(to_address(host));
    const auto known = found == nullptr ? state.host_flags.end() : state.host_flags.find(found->base);
    if (known == state.host_flags.end()) return Status::kInvalidValue;
    return put(flags, known->second);
  });
}

hipError_t hipMemGetInfo(size_t* unused, size_t* total) {
  return call([&](State& state) {
    if (unused == nullptr || total == nullptr) return Status::kInvalidValue;
    *total = state.runtime.options().memory.capacity;
    return put(unused, *total - state.runtime.memory().live_bytes());
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t pointer) {
  return call([&](State& state) {
    if (base == nullptr || size == nullptr) return Status::kInvalidValue;
    const Allocation* found = state.runtime.memory().find_or_promised(to_address(pointer));
    if (found == nullptr) return Status::kNotFound;
    *base = to_pointer(found->base);
    return put(size, found->size);
  });
}

// Memory that is not HIP's is hipMemoryTypeUnregistered, not an error (clr, CUDA from 11.0).
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  return call([&](State& state) {
    if (attributes == nullptr || pointer == nullptr) return Status::kInvalidValue;
    *attributes = {};
    const Allocation* found = state.runtime.memory().find_or_promised(to_address(pointer));
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
  return call([&](State& state) {
    return fill(state, rows(dst, pitch, static_cast<std::uint32_t>(value), width, height), nullptr, false);
  });
}

hipError_t hipMemset2DAsync(void* dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return call([&](State& state) {
    return fill(state, rows(dst, pitch, static_cast<std::uint32_t>(value), width, height), stream, true);
  });
}

hipError_t hipMemset3D(hipPitchedPtr dst, int value, hipExtent extent) {
  return call([&](State& state) { return fill_3d(state, dst, value, extent, nullptr, false); });
}

hipError_t hipMemset3DAsync(hipPitchedPtr dst, int value, hipExtent extent, hipStream_t stream) {
  return call([&](State& state) { return fill_3d(state, dst, value, extent, stream, true); });
}

hipError_t hipMemsetD2D8(hipDeviceptr_t dst, size_t pitch, unsigned char value, size_t width, size_t height) {
  return call([&](State& state) { return fill(state, rows(dst, pitch, value, width, height, 1), nullptr, false); });
}

hipError_t hipMemsetD2D8Async(hipDeviceptr_t dst, size_t pitch, unsigned char value, size_t width, size_t height,
                              hipStream_t stream) {
  return call([&](State& state) { return fill(state, rows(dst, pitch, value, width, height, 1), stream, true); });
}

hipError_t hipMemsetD2D16(hipDeviceptr_t dst, size_t pitch, unsigned short value, size_t width, size_t height) {
  return call([&](State& state) { return fill(state, rows(dst, pitch, value, width, height, 2), nullptr, false); });
}

hipError_t hipMemsetD2D16Async(hipDeviceptr_t dst, size_t pitch, unsigned short value, size_t width, size_t height,
                               hipStream_t stream) {
  return call([&](State& state) { return fill(state, rows(dst, pitch, value, width, height, 2), stream, true); });
}

hipError_t hipMemsetD2D32(hipDeviceptr_t dst, size_t pitch, unsigned int value, size_t width, size_t height) {
  return call([&](State& state) { return fill(state, rows(dst, pitch, value, width, height, 4), nullptr, false); });
}

hipError_t hipMemsetD2D32Async(hipDeviceptr_t dst, size_t pitch, unsigned int value, size_t width, size_t height,
                               hipStream_t stream) {
  return call([&](State& state) { return fill(state, rows(dst, pitch, value, width, height, 4), stream, true); });
}

// Makes memory of the process known to HIP; its addresses stay the same. Both calls are unsafe while a stream captures,
// as hipHostMalloc and hipHostFree are: 7.2, and CUDA 13.0 on an H200, do both alike.
hipError_t hipHostRegister(void* pointer, size_t size, unsigned int flags) {
  return call([&](State& state) {
    constexpr unsigned kFlags = hipHostRegisterPortable | hipHostRegisterMapped | hipHostRegisterIoMemory |
                                hipHostRegisterReadOnly | hipExtHostRegisterCoarseGrained | hipExtHostRegisterUncached;
    if (pointer == nullptr || size == 0 || (flags & ~kFlags) != 0) return Status::kInvalidValue;
    if (const Status refused = refuse_unsafe_call(state); refused != Status::kSuccess) return refused;
    if (!state.runtime.memory().is_foreign_host(to_address(pointer))) {
      const Allocation* found = state.runtime.memory().find(to_address(pointer));
      if (found != nullptr && (found->kind == MemoryKind::kPageable || found->registered)) {
        return state.runtime.memory().pin(to_address(pointer), size);
      }
      return found != nullptr && found->adopted ? Status::kHostMemoryAlreadyRegistered : Status::kInvalidValue;
    }
    return state.runtime.memory().adopt(static_cast<std::byte*>(pointer), size, MemoryKind::kPinned,
                                        state.thread->device);
  });
}

hipError_t hipHostUnregister(void* pointer) {
  return teardown([&](State& state) {
    if (pointer == nullptr) return Status::kInvalidValue;
    if (const Status refused = refuse_unsafe_call(state); refused != Status::kSuccess) return refused;
    const Allocation* found = state.runtime.memory().find(to_address(pointer));
    if (found != nullptr && found->registered) {
      const Status synchronized = state.runtime.synchronize_device();
      const Status unpinned = state.runtime.memory().unpin(to_address(pointer));
      return synchronized != Status::kSuccess ? synchronized : unpinned;
    }
    if (found == nullptr || !found->adopted || found->base != to_address(pointer)) {
      return Status::kHostMemoryNotRegistered;
    }
    return state.runtime.free(found->base);
  });
}

hipError_t hipMemAllocHost(void** pointer, size_t size) {
  return call([&](State& state) { return allocate_host(state, pointer, size, 0); });
}

hipError_t hipMalloc3D(hipPitchedPtr* pointer, hipExtent extent) {
  return call([&](State& state) {
    if (pointer == nullptr) return Status::kInvalidValue;
    *pointer = {};
    std::size_t height = 0, pitch = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &height)) return Status::kOutOfMemory;
    void* memory = nullptr;
    const Status status = allocate_rows(state, &memory, &pitch, extent.width, height);
    if (status == Status::kSuccess) *pointer = {memory, pitch, extent.width, extent.height};
    return status;
  });
}

hipError_t hipMemPtrGetInfo(void* pointer, size_t* size) {
  return call([&](State& state) {
    if (pointer == nullptr || size == nullptr) return Status::kInvalidValue;
    const Allocation* found = state.runtime.memory().find_or_promised(to_address(pointer));
    if (found == nullptr || found->base != to_address(pointer)) return Status::kInvalidValue;
    return put(size, found->size);
  });
}

// The model moves no memory: hints have no effect, but their arguments are checked.
hipError_t hipMemPrefetchAsync(const void* pointer, size_t size, int, hipStream_t stream) {
  return call([&](State& state) {
    return find(state, stream) == nullptr ? Status::kContextIsDestroyed : check_managed(state, pointer, size);
  });
}

hipError_t hipMemAdvise(const void* pointer, size_t size, hipMemoryAdvise, int) {
  return call([&](State& state) { return check_managed(state, pointer, size); });
}

HGMODEL_FUNCTIONS_END
