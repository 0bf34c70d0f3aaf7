// Memory pools, libhgmodel.so only. Sources: HIP's header documentation; catch/unit/memory: hipMemPoolApi.cc.
//
// The model takes memory from one address space whatever the pool, and gives it back promptly, so a pool is what was
// chosen for it: its device and its attributes. It keeps no memory in reserve.
#include <map>
#include <memory>

#include "model/abi/context.h"

namespace model::abi {
namespace {

struct Pool {
  int device = 0;
  bool of_device = false;  // a device's default pool, which cannot be destroyed
  std::uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};  // by attribute, from hipMemPoolReuseFollowEventDependencies
};

// Guarded by the instance's lock. Pools are told apart by their addresses, which are looked up and never followed.
struct Pools {
  std::map<const void*, std::unique_ptr<Pool>> all;
  std::map<int, Pool*> defaults, current;  // by device
};
Pools& pools() {
  static Pools* const only = new Pools;
  return *only;
}

Pool* find_pool(hipMemPool_t handle) {
  const auto found = pools().all.find(handle);
  return found == pools().all.end() ? nullptr : found->second.get();
}

Pool* make_pool(int device) {
  auto made = std::make_unique<Pool>();
  made->device = device;
  Pool* pool = made.get();
  pools().all.emplace(pool, std::move(made));
  return pool;
}

Pool* default_pool(int device) {
  Pool*& pool = pools().defaults[device];
  if (pool == nullptr) {
    pool = make_pool(device);
    pool->of_device = true;
  }
  return pool;
}

bool is_device(const State& state, int device) {
  return device >= 0 && device < state.runtime.options().devices;
}

hipMemPool_t handle_of(Pool* pool) {
  return reinterpret_cast<hipMemPool_t>(pool);
}

Status get_attribute(const State& state, const Pool& pool, hipMemPoolAttr attribute, void* value) {
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      *static_cast<int*>(value) = pool.reuse[attribute - hipMemPoolReuseFollowEventDependencies];
      return Status::kSuccess;
    case hipMemPoolAttrReleaseThreshold:
      *static_cast<std::uint64_t*>(value) = pool.release_threshold;
      return Status::kSuccess;
    case hipMemPoolAttrReservedMemCurrent:
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemCurrent:
    case hipMemPoolAttrUsedMemHigh:
      *static_cast<std::uint64_t*>(value) = state.runtime.memory().live_bytes();
      return Status::kSuccess;
  }
  return Status::kInvalidValue;
}

Status set_attribute(Pool& pool, hipMemPoolAttr attribute, const void* value) {
  switch (attribute) {
    case hipMemPoolReuseFollowEventDependencies:
    case hipMemPoolReuseAllowOpportunistic:
    case hipMemPoolReuseAllowInternalDependencies:
      pool.reuse[attribute - hipMemPoolReuseFollowEventDependencies] = *static_cast<const int*>(value);
      return Status::kSuccess;
    case hipMemPoolAttrReleaseThreshold:
      pool.release_threshold = *static_cast<const std::uint64_t*>(value);
      return Status::kSuccess;
    case hipMemPoolAttrReservedMemHigh:
    case hipMemPoolAttrUsedMemHigh:
      return *static_cast<const std::uint64_t*>(value) == 0 ? Status::kSuccess : Status::kInvalidValue;
    default:
      return Status::kInvalidValue;
  }
}

}  // namespace
}  // namespace model::abi

using namespace model;
using namespace model::abi;

extern "C" {

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return call([&](State& state) {
    if (pool == nullptr) return Status::kInvalidValue;
    if (!is_device(state, device)) return Status::kInvalidDevice;
    *pool = handle_of(default_pool(device));
    return Status::kSuccess;
  });
}

hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return call([&](State& state) {
    if (pool == nullptr) return Status::kInvalidValue;
    if (!is_device(state, device)) return Status::kInvalidDevice;
    Pool* current = pools().current[device];
    *pool = handle_of(current != nullptr ? current : default_pool(device));
    return Status::kSuccess;
  });
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return call([&](State& state) {
    if (!is_device(state, device)) return Status::kInvalidDevice;
    Pool* found = find_pool(pool);
    if (found == nullptr) return Status::kInvalidValue;
    pools().current[device] = found;
    return Status::kSuccess;
  });
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  return call([&](State& state) {
    if (pool == nullptr || properties == nullptr) return Status::kInvalidValue;
    if (properties->allocType != hipMemAllocationTypePinned) return Status::kInvalidValue;
    if (properties->location.type != hipMemLocationTypeDevice || !is_device(state, properties->location.id)) {
      return Status::kInvalidValue;
    }
    *pool = handle_of(make_pool(properties->location.id));
    return Status::kSuccess;
  });
}

hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return call([&](State&) {
    const Pool* found = find_pool(pool);
    if (found == nullptr || found->of_device) return Status::kInvalidValue;
    for (auto& [device, current] : pools().current) {
      if (current == found) current = nullptr;
    }
    pools().all.erase(found);
    return Status::kSuccess;
  });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t) {
  return call([&](State&) { return find_pool(pool) == nullptr ? Status::kInvalidValue : Status::kSuccess; });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return call([&](State& state) {
    const Pool* found = find_pool(pool);
    if (found == nullptr || value == nullptr) return Status::kInvalidValue;
    return get_attribute(state, *found, attribute, value);
  });
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return call([&](State&) {
    Pool* found = find_pool(pool);
    if (found == nullptr || value == nullptr) return Status::kInvalidValue;
    return set_attribute(*found, attribute, value);
  });
}

// Every device reaches all memory.
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* access, size_t count) {
  return call([&](State&) {
    return find_pool(pool) == nullptr || (access == nullptr && count != 0) ? Status::kInvalidValue : Status::kSuccess;
  });
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool, hipMemLocation* location) {
  return call([&](State&) {
    if (flags == nullptr || location == nullptr || find_pool(pool) == nullptr) return Status::kInvalidValue;
    *flags = hipMemAccessFlagsProtReadWrite;
    return Status::kSuccess;
  });
}

hipError_t hipMallocFromPoolAsync(void** pointer, size_t size, hipMemPool_t pool, hipStream_t stream) {
  const hipError_t known =
      call([&](State&) { return find_pool(pool) == nullptr ? Status::kInvalidValue : Status::kSuccess; });
  return known != hipSuccess ? known : hipMallocAsync(pointer, size, stream);
}

}  // extern "C"
