// Virtual memory management through the C ABI. The rules and their sources: model/virtual_memory.h, and here for the
// arguments: HIP's header documentation; catch/unit/virtualMemoryManagement, file by file.
//
// Streams that capture do not matter to these calls: neither documentation lists them among the unsafe ones, and 7.2,
// 6.4 and CUDA 13.0 on an H200 carry them out. A map of the first part of a memory is legal (hipMemMap.cc,
// MapPartialPhysicalMem); on that H200 it is not. Handles for other processes (hipMemExportToShareableHandle and its
// inverse) and arrays are not supported.
#include "model/abi/context.h"

namespace model::abi {
namespace {

VirtualMemory& memory_of(State& state) {
  return state.runtime.virtual_memory();
}

bool is_device(const State& state, const hipMemLocation& location) {
  return location.type == hipMemLocationTypeDevice && is_device(state, location.id);
}

// hipMemCreate.cc and hipMemGetAllocationGranularity.cc, "Negative": each of these is hipErrorInvalidValue.
bool is_valid(const State& state, const hipMemAllocationProp* prop) {
  return prop != nullptr && (prop->type == hipMemAllocationTypePinned || prop->type == hipMemAllocationTypeUncached) &&
         is_device(state, prop->location);
}

PhysicalProperties from_hip(const hipMemAllocationProp& prop) {
  return {.device = prop.location.id,
          .type = prop.type,
          .handle_types = prop.requestedHandleTypes,
          .compression = prop.allocFlags.compressionType,
          .rdma = prop.allocFlags.gpuDirectRDMACapable,
          .usage = prop.allocFlags.usage};
}

hipMemAllocationProp to_hip(const PhysicalProperties& properties) {
  hipMemAllocationProp prop{};
  prop.type = static_cast<hipMemAllocationType>(properties.type);
  prop.requestedHandleTypes = static_cast<hipMemAllocationHandleType>(properties.handle_types);
  prop.location = {hipMemLocationTypeDevice, properties.device};
  prop.allocFlags.compressionType = properties.compression;
  prop.allocFlags.gpuDirectRDMACapable = properties.rdma;
  prop.allocFlags.usage = properties.usage;
  return prop;
}

Status put_handle(Status status, hipMemGenericAllocationHandle_t* out, ObjectId id) {
  return status == Status::kSuccess ? put(out, to_handle<hipMemGenericAllocationHandle_t>(id)) : status;
}

bool is_right(hipMemAccessFlags flags) {
  return flags == hipMemAccessFlagsProtNone || flags == hipMemAccessFlagsProtRead ||
         flags == hipMemAccessFlagsProtReadWrite;
}
static_assert(static_cast<int>(AccessRight::kNone) == hipMemAccessFlagsProtNone &&
              static_cast<int>(AccessRight::kRead) == hipMemAccessFlagsProtRead &&
              static_cast<int>(AccessRight::kReadWrite) == hipMemAccessFlagsProtReadWrite);

}  // namespace
}  // namespace model::abi

HGMODEL_FUNCTIONS_BEGIN

hipError_t hipMemAddressReserve(void** range, size_t size, size_t alignment, void* wish, unsigned long long flags) {
  return call([&](State& state) {
    if (range == nullptr || flags != 0) return Status::kInvalidValue;
    Address base = 0;
    const Status reserved = memory_of(state).reserve(size, alignment, to_address(wish), &base);
    return reserved == Status::kSuccess ? put(range, to_pointer(base)) : reserved;
  });
}

hipError_t hipMemAddressFree(void* range, size_t size) {
  return teardown([&](State& state) { return memory_of(state).unreserve(to_address(range), size); });
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t size, const hipMemAllocationProp* prop,
                        unsigned long long flags) {
  return call([&](State& state) {
    if (handle == nullptr || size == 0 || flags != 0 || !is_valid(state, prop)) return Status::kInvalidValue;
    if (const Status room = state.runtime.make_room(size); room != Status::kSuccess) return room;
    ObjectId id = 0;
    return put_handle(memory_of(state).create(size, from_hip(*prop), &id), handle, id);
  });
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  return teardown([&](State& state) { return memory_of(state).release(to_id(handle)); });
}

hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* address) {
  return call([&](State& state) {
    if (handle == nullptr || address == nullptr) return Status::kInvalidValue;
    ObjectId id = 0;
    return put_handle(memory_of(state).retain(to_address(address), &id), handle, id);
  });
}

hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* prop, hipMemGenericAllocationHandle_t handle) {
  return call([&](State& state) {
    const PhysicalMemory* memory = memory_of(state).find_memory(to_id(handle));
    return memory == nullptr ? Status::kInvalidValue : put(prop, to_hip(memory->properties));
  });
}

hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* prop,
                                          hipMemAllocationGranularity_flags option) {
  return call([&](State& state) {
    const bool known = option == hipMemAllocationGranularityMinimum || option == hipMemAllocationGranularityRecommended;
    return known && is_valid(state, prop) ? put(granularity, kGranularity) : Status::kInvalidValue;
  });
}

hipError_t hipMemMap(void* range, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags) {
  return call([&](State& state) {
    if (offset != 0 || flags != 0) return Status::kInvalidValue;
    return state.runtime.map(to_address(range), size, to_id(handle));
  });
}

hipError_t hipMemUnmap(void* range, size_t size) {
  return teardown([&](State& state) { return state.runtime.unmap(to_address(range), size); });
}

// All or nothing: every description is checked before the first right is set.
hipError_t hipMemSetAccess(void* range, size_t size, const hipMemAccessDesc* list, size_t count) {
  return call([&](State& state) {
    if (list == nullptr || count == 0) return Status::kInvalidValue;
    std::vector<DeviceRight> rights;
    for (const hipMemAccessDesc& one : std::span(list, count)) {
      if (!is_device(state, one.location) || !is_right(one.flags)) return Status::kInvalidValue;
      rights.push_back({one.location.id, static_cast<AccessRight>(one.flags)});
    }
    return state.runtime.set_access(to_address(range), size, rights);
  });
}

hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* address) {
  return call([&](State& state) {
    if (flags == nullptr || location == nullptr || !is_device(state, *location)) return Status::kInvalidValue;
    AccessRight right = AccessRight::kNone;
    const Status found = memory_of(state).get_access(to_address(address), location->id, &right);
    return found == Status::kSuccess ? put(flags, static_cast<unsigned long long>(right)) : found;
  });
}

HGMODEL_FUNCTIONS_END
