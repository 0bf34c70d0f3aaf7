// The pools; the contract is in the header.
#include "hip/agent/pools.h"

#include "hip/agent/machine.h"

namespace agent {
namespace {

constexpr u64 kPoolHandles = 0x1000;
constexpr u32 kPoolsPerAgent = 4;
constexpr u64 kGroupBytes = 64 * 1024;

}  // namespace

hsa_amd_memory_pool_t Pool::handle() const {
  return {kPoolHandles + index};
}

u32 pool_count(u32 owner) {
  return owner == kHostAgent ? 3 : 2;
}

Pool pool_of(u32 owner, u32 number) {
  Pool pool;
  pool.index = owner * kPoolsPerAgent + number;
  pool.owner = owner;
  if (owner != kHostAgent) {
    pool.group = number == 1;
    pool.size = pool.group ? kGroupBytes : Machine::get().device_memory();
    pool.flags = pool.group ? 0 : HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
    return pool;
  }
  constexpr u32 kFlags[] = {HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT | HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
                            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
                            HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED};
  pool.flags = kFlags[number];
  pool.size = kHostMemoryBytes;
  pool.kind = number == 2 ? Kind::kCoarseHost : Kind::kFineHost;
  return pool;
}

u32 owner_of_pool(u32 index) {
  return index / kPoolsPerAgent;
}

Pool pool_by_index(u32 index) {
  return pool_of(owner_of_pool(index), index % kPoolsPerAgent);
}

bool find_pool(const Machine& machine, hsa_amd_memory_pool_t handle, Pool& pool) {
  if (handle.handle < kPoolHandles) return false;
  const u64 index = handle.handle - kPoolHandles;
  const u64 owner = index / kPoolsPerAgent;
  if (owner > machine.agents() || index % kPoolsPerAgent >= pool_count(static_cast<u32>(owner))) return false;
  pool = pool_by_index(static_cast<u32>(index));
  return true;
}

hsa_status_t allocate(Machine& machine, const Pool& pool, u64 size, u64* address) {
  if (pool.group) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (machine.must_fail(Call::kAllocation)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const u64 taken = machine.allocated(pool.owner);
  if (taken > pool.size || size > pool.size - taken) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const u64 base = machine.heap(pool.owner).allocate(size);
  if (base == 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  Range range;
  range.base = base;
  range.size = size;
  range.kind = pool.kind;
  range.owner = pool.owner;
  range.pool = pool.index;
  range.readers = agent_bit(pool.owner) | agent_bit(kHostAgent);
  range.writers = range.readers;
  machine.map().insert(range);
  machine.count_allocation(pool.owner, 1, static_cast<i64>(size));
  *address = base;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t release(Machine& machine, u64 address) {
  Range range;
  if (!machine.map().find(address, &range) || range.base != address) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const bool allocation =
      range.kind == Kind::kDevice || range.kind == Kind::kFineHost || range.kind == Kind::kCoarseHost;
  if (!allocation || !machine.map().erase(address, range.kind)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  machine.count_allocation(range.owner, -1, -static_cast<i64>(range.size));
  if (machine.shared_memory().take_back(range)) machine.heap(range.owner).release(address, range.size);
  return HSA_STATUS_SUCCESS;
}

}  // namespace agent
