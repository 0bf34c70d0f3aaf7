// Stream-ordered memory and memory pools. Sources: HIP's header documentation; catch/unit/memory: hipMallocAsync.cc,
// hipFreeAsync.cc, hipMallocFromPoolAsync.cc, hipMemPool*.cc, hipDevice*MemPool.cc. Where these sources name no error
// code, the model answers the same code as AMD's runtime.
//
// Every device reaches all memory, so access rights are checked and have no effect.
#include "model/abi/context.h"

namespace model::abi {
namespace {

bool is_place(const State& state, const hipMemLocation& location) {
  return location.type == hipMemLocationTypeDevice && is_device(state, location.id);
}

Status get_attribute(const MemoryPool& pool, hipMemPoolAttr attribute, void* value) {
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      return put(static_cast<int*>(value),
                 pool.reuse[static_cast<std::size_t>(attribute - hipMemPoolReuseFollowEventDependencies)]);
    case hipMemPoolAttrReleaseThreshold:
      return put(static_cast<std::uint64_t*>(value), pool.release_threshold);
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrUsedMemCurrent:
      return put(static_cast<std::uint64_t*>(value), pool.used);
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      return put(static_cast<std::uint64_t*>(value), pool.used_high);
  }
  return Status::kInvalidValue;
}

// "High watermark can only be reset to zero": the reset sets it to the present use.
Status set_attribute(MemoryPool& pool, hipMemPoolAttr attribute, const void* value) {
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      pool.reuse[static_cast<std::size_t>(attribute - hipMemPoolReuseFollowEventDependencies)] =
          *static_cast<const int*>(value);
      return Status::kSuccess;
    case hipMemPoolAttrReleaseThreshold:
      pool.release_threshold = *static_cast<const std::uint64_t*>(value);
      return Status::kSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      if (*static_cast<const std::uint64_t*>(value) != 0) return Status::kInvalidValue;
      pool.used_high = pool.used;
      return Status::kSuccess;
    default:
      return Status::kInvalidValue;
  }
}

// The device of a pool cannot lose its access rights.
Status check_access(const State& state, const MemoryPool& pool, const hipMemAccessDesc& access) {
  const auto flags = static_cast<int>(access.flags);
  const bool none = flags == hipMemAccessFlagsProtNone;
  const bool known = none || flags == hipMemAccessFlagsProtRead || flags == hipMemAccessFlagsProtReadWrite;
  if (access.location.type != hipMemLocationTypeDevice || !known) return Status::kInvalidValue;
  if (!is_device(state, access.location.id)) return Status::kInvalidDevice;
  return none && access.location.id == pool.device ? Status::kInvalidDevice : Status::kSuccess;
}

// Null when `given` names no live pool.
MemoryPool* pool_for(State& state, const Stream& stream, const hipMemPool_t* given) {
  return given == nullptr ? &state.runtime.current_pool(stream.device()) : find(state, *given);
}

Status allocate_async(State& state, void** pointer, std::size_t size, const hipMemPool_t* given, hipStream_t handle) {
  if (pointer == nullptr) return Status::kInvalidValue;
  Stream* stream = find(state, handle);
  if (stream == nullptr) return Status::kInvalidHandle;
  MemoryPool* pool = pool_for(state, *stream, given);
  if (pool == nullptr) return Status::kInvalidValue;
  if (size == 0) {
    return put(pointer, nullptr);
  }
  Address address = 0;
  const Status status = state.runtime.allocate_async(size, *pool, *stream, &address);
  if (status == Status::kSuccess) *pointer = to_pointer(address);
  return status;
}

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipMallocAsync(void** pointer, size_t size, hipStream_t stream) {
  return call([&](State& state) { return allocate_async(state, pointer, size, nullptr, stream); });
}

hipError_t hipMallocFromPoolAsync(void** pointer, size_t size, hipMemPool_t pool, hipStream_t stream) {
  return call([&](State& state) { return allocate_async(state, pointer, size, &pool, stream); });
}

hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return call([&](State& state) {
    if (pointer == nullptr) return Status::kInvalidValue;
    Stream* on = find(state, stream);
    if (on == nullptr) return Status::kInvalidHandle;
    return state.runtime.free_async(to_address(pointer), *on);
  });
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return call([&](State& state) {
    if (pool == nullptr) return Status::kInvalidValue;
    if (!is_device(state, device)) return Status::kInvalidDevice;
    return put(pool, to_handle<hipMemPool_t>(state.runtime.default_pool(device).id));
  });
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return call([&](State& state) {
    if (pool == nullptr || !is_device(state, device)) return Status::kInvalidValue;
    return put(pool, to_handle<hipMemPool_t>(state.runtime.current_pool(device).id));
  });
}

// "The memory pool must be local to the specified device."
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return call_on(pool, [&](State& state, MemoryPool& found) {
    if (!is_device(state, device)) return Status::kInvalidValue;
    if (found.device != device) return Status::kInvalidDevice;
    state.runtime.set_current_pool(device, found);
    return Status::kSuccess;
  });
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  return call([&](State& state) {
    if (pool == nullptr || properties == nullptr) return Status::kInvalidValue;
    if (properties->allocType != hipMemAllocationTypePinned) return Status::kInvalidValue;
    if (!is_place(state, properties->location)) return Status::kInvalidValue;
    return put(pool, to_handle<hipMemPool_t>(state.runtime.create_pool(properties->location.id).id));
  });
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return call_on(pool, [](State& state, MemoryPool& found) { return state.runtime.destroy_pool(found); });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t) {
  return call([&](State& state) { return find(state, pool) == nullptr ? Status::kInvalidValue : Status::kSuccess; });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return call_on(pool, [&](State&, const MemoryPool& found) { return get_attribute(found, attribute, value); });
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return call_on(pool, [&](State&, MemoryPool& found) {
    return value == nullptr ? Status::kInvalidValue : set_attribute(found, attribute, value);
  });
}

hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* access, size_t count) {
  return call_on(pool, [&](State& state, const MemoryPool& found) {
    if (access == nullptr) return Status::kInvalidValue;
    if (count > static_cast<std::size_t>(state.runtime.options().devices)) return Status::kInvalidDevice;
    for (std::size_t i = 0; i < count; ++i) {
      if (const Status flaw = check_access(state, found, access[i]); flaw != Status::kSuccess) return flaw;
    }
    return Status::kSuccess;
  });
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool, hipMemLocation* location) {
  return call([&](State& state) {
    if (flags == nullptr || location == nullptr || find(state, pool) == nullptr) return Status::kInvalidValue;
    if (!is_place(state, *location)) return Status::kInvalidValue;
    return put(flags, hipMemAccessFlagsProtReadWrite);
  });
}

HGMODEL_FUNCTIONS_END
