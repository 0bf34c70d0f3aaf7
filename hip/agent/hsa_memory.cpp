// HSA's functions about memory: pools, allocations, registered host memory, copies, virtual memory.
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <cstring>

#include "hip/agent/machine.h"
#include "hip/agent/pools.h"

using agent::address_of;
using agent::AgentSet;
using agent::Kind;
using agent::Machine;
using agent::pointer_to;
using agent::put;
using agent::Range;
using agent::u32;
using agent::u64;

namespace {

constexpr auto kInvalidPool = static_cast<hsa_status_t>(HSA_STATUS_ERROR_INVALID_MEMORY_POOL);

hsa_status_t noted(agent::Event event, u64 kind, u64 details, hsa_status_t status) {
  Machine::get().signature().note(event, kind << 16 | static_cast<u64>(status & 0xffff), details);
  return status;
}

// The set of the agents in a list; false if a handle is no agent's.
bool set_of(const Machine& machine, const hsa_agent_t* agents, std::size_t count, AgentSet& set) {
  set = 0;
  for (std::size_t i = 0; i < count; ++i) {
    u32 index = 0;
    if (!machine.agent_of(agents[i], index)) return false;
    set |= agent::agent_bit(index);
  }
  return true;
}

AgentSet all_agents(const Machine& machine) {
  return agent::agent_bit(machine.agents() + 1) - 1;
}

hsa_status_t lock_memory(Machine& machine, void* pointer, size_t size, const hsa_agent_t* agents, int count) {
  if (pointer == nullptr || size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  AgentSet set = all_agents(machine);
  if (agents != nullptr && count > 0 && !set_of(machine, agents, static_cast<std::size_t>(count), set)) {
    return HSA_STATUS_ERROR_INVALID_AGENT;
  }
  if (machine.must_fail(agent::Call::kAllocation)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  Range range;
  range.base = address_of(pointer);
  range.size = size;
  range.kind = Kind::kLocked;
  range.readers = set | agent::agent_bit(agent::kHostAgent);
  range.writers = range.readers;
  machine.map().insert(range);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t start_copy(Machine& machine, agent::CopyWork work, hsa_agent_t to, hsa_agent_t from, u32 dependencies,
                        const hsa_signal_t* signals, hsa_signal_t completion, int engine) {
  u32 to_agent = 0;
  u32 from_agent = 0;
  if (!machine.agent_of(to, to_agent) || !machine.agent_of(from, from_agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (dependencies != 0 && signals == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (u32 i = 0; i < dependencies; ++i) {
    if (signals[i].handle == 0) return HSA_STATUS_ERROR_INVALID_SIGNAL;
    work.dependencies.push_back(agent::slot_of(signals[i]));
  }
  if (completion.handle == 0) return HSA_STATUS_ERROR_INVALID_SIGNAL;
  work.completion = agent::slot_of(completion);
  // Accesses are checked for the agent that is not the host; for two such agents, for the one that is written to.
  const u32 owner = std::max(u32{1}, to_agent != agent::kHostAgent ? to_agent : from_agent);
  if (engine < 0) engine = to_agent != agent::kHostAgent ? 0 : 1;
  const agent::CopyShape& s = work.shape;
  const u64 kind =
      u64{s.height * s.depth > 1} << 2 | u64{to_agent != agent::kHostAgent} << 1 | u64{from_agent != agent::kHostAgent};
  const u64 size = agent::size_class(s.width * s.height * s.depth);
  machine.engine(owner, static_cast<u32>(engine)).add(std::move(work));
  return noted(agent::Event::kCopy, kind, size, HSA_STATUS_SUCCESS);
}

// `engine` -1: the usual engine of that direction.
hsa_status_t start_linear_copy(void* dst, hsa_agent_t to, const void* src, hsa_agent_t from, size_t size,
                               u32 dependencies, const hsa_signal_t* signals, hsa_signal_t completion, int engine) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (dst == nullptr || src == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  agent::CopyWork work;
  work.to = address_of(dst);
  work.from = address_of(src);
  work.shape.width = size;
  return start_copy(Machine::get(), std::move(work), to, from, dependencies, signals, completion, engine);
}

hsa_status_t engines_of(Machine& machine, hsa_agent_t to, hsa_agent_t from, u32* mask, bool free_only) {
  if (mask == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  u32 to_agent = 0;
  u32 from_agent = 0;
  if (!machine.agent_of(to, to_agent) || !machine.agent_of(from, from_agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  const u32 owner = std::max(u32{1}, to_agent != agent::kHostAgent ? to_agent : from_agent);
  *mask = 0;
  for (u32 i = 0; i < agent::kEngines; ++i) {
    if (!free_only || !machine.engine_busy(owner, i)) *mask |= u32{1} << i;
  }
  return *mask == 0 ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_SUCCESS;
}

hsa_amd_pointer_type_t type_of(Kind kind) {
  if (kind == Kind::kLocked) return HSA_EXT_POINTER_TYPE_LOCKED;
  if (kind == Kind::kAttached) return HSA_EXT_POINTER_TYPE_IPC;
  return kind == Kind::kMapped ? HSA_EXT_POINTER_TYPE_HSA_VMEM : HSA_EXT_POINTER_TYPE_HSA;
}

// Describes the memory at `address` for hsa_amd_pointer_info. False when there is none.
bool describe(Machine& machine, u64 address, hsa_amd_pointer_info_t& info, AgentSet& agents) {
  Range range;
  const bool live = machine.map().find(address, &range) && address - range.base < range.size;
  if (live || (machine.map().find_locked(address, &range) && address - range.base < range.size)) {
    info.type = type_of(range.kind);
    info.agentBaseAddress = pointer_to(range.base);
    info.hostBaseAddress = pointer_to(range.base);
    info.sizeInBytes = range.size;
    info.userData = nullptr;
    info.agentOwner = Machine::agent_handle(range.owner);
    info.global_flags = agent::pool_by_index(range.pool).flags;
    info.registered = range.kind == Kind::kLocked;
    agents = range.readers & all_agents(machine);
    return true;
  }
  u64 base = 0;
  u64 size = 0;
  if (!machine.virtual_memory().find_reservation(address, &base, &size)) return false;
  info.type = HSA_EXT_POINTER_TYPE_RESERVED_ADDR;
  info.agentBaseAddress = pointer_to(base);
  info.hostBaseAddress = pointer_to(base);
  info.sizeInBytes = size;
  info.agentOwner = Machine::agent_handle(agent::kHostAgent);
  return true;
}

}  // namespace

extern "C" {

hsa_status_t hsa_amd_agent_iterate_memory_pools(hsa_agent_t handle,
                                                hsa_status_t (*callback)(hsa_amd_memory_pool_t, void*), void* data) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  u32 index = 0;
  if (!Machine::get().agent_of(handle, index)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (callback == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (u32 i = 0; i < agent::pool_count(index); ++i) {
    const hsa_status_t status = callback(agent::pool_of(index, i).handle(), data);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_pool_get_info(hsa_amd_memory_pool_t handle, hsa_amd_memory_pool_info_t attribute,
                                          void* value) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  agent::Pool pool;
  if (!agent::find_pool(Machine::get(), handle, pool)) return kInvalidPool;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  switch (attribute) {
    case HSA_AMD_MEMORY_POOL_INFO_SEGMENT:
      return put<u32>(value, pool.group ? HSA_AMD_SEGMENT_GROUP : HSA_AMD_SEGMENT_GLOBAL);
    case HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS:
      return put<u32>(value, pool.flags);
    case HSA_AMD_MEMORY_POOL_INFO_SIZE:
    case HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE:
      return put<size_t>(value, pool.size);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED:
      return put<bool>(value, !pool.group);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE:
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALIGNMENT:
      return put<size_t>(value, pool.group ? 0 : agent::kPage);
    case HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_REC_GRANULE:
      return put<size_t>(value, pool.group ? 0 : agent::kLargePage);
    case HSA_AMD_MEMORY_POOL_INFO_ACCESSIBLE_BY_ALL:
      return put<bool>(value, pool.owner == agent::kHostAgent);
    case HSA_AMD_MEMORY_POOL_INFO_LOCATION:
      return put<u32>(
          value, pool.owner == agent::kHostAgent ? HSA_AMD_MEMORY_POOL_LOCATION_CPU : HSA_AMD_MEMORY_POOL_LOCATION_GPU);
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_amd_agent_memory_pool_get_info(hsa_agent_t handle, hsa_amd_memory_pool_t pool_handle,
                                                hsa_amd_agent_memory_pool_info_t attribute, void* value) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  u32 index = 0;
  agent::Pool pool;
  if (!machine.agent_of(handle, index)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (!agent::find_pool(machine, pool_handle, pool)) return kInvalidPool;
  if (value == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool own = index == pool.owner;
  switch (attribute) {
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS:
      if (pool.group && !own) return put<u32>(value, HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED);
      return put<u32>(value, own ? HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT
                                 : HSA_AMD_MEMORY_POOL_ACCESS_DISALLOWED_BY_DEFAULT);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS:
      return put<u32>(value, own ? 0 : 1);
    case HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO: {
      if (own) return HSA_STATUS_SUCCESS;
      hsa_amd_memory_pool_link_info_t link{};
      const bool host = index == agent::kHostAgent || pool.owner == agent::kHostAgent;
      link.link_type = host ? HSA_AMD_LINK_INFO_TYPE_PCIE : HSA_AMD_LINK_INFO_TYPE_XGMI;
      link.max_bandwidth = 64000;
      link.min_bandwidth = 64000;
      link.atomic_support_32bit = true;
      link.atomic_support_64bit = true;
      link.coherent_support = true;
      link.numa_distance = host ? 20 : 15;
      return put(value, link);
    }
    default:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
}

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t size, uint32_t /*flags*/, void** ptr) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  agent::Pool pool;
  if (!agent::find_pool(machine, handle, pool)) return kInvalidPool;
  if (ptr == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  u64 address = 0;
  const hsa_status_t status = noted(agent::Event::kAllocate, u64{pool.index}, agent::size_class(size),
                                    agent::allocate(machine, pool, size, &address));
  *ptr = pointer_to(address);
  return status;
}

hsa_status_t hsa_amd_memory_pool_free(void* ptr) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr) return HSA_STATUS_SUCCESS;
  return noted(agent::Event::kFree, 0, 0, agent::release(Machine::get(), address_of(ptr)));
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t* agents, const uint32_t* /*flags*/,
                                         const void* ptr) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (count == 0 || agents == nullptr || ptr == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  AgentSet set = 0;
  if (!set_of(machine, agents, count, set)) return HSA_STATUS_ERROR_INVALID_AGENT;
  Range range;
  if (!machine.map().find(address_of(ptr), &range)) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  set |= agent::agent_bit(range.owner) | agent::agent_bit(agent::kHostAgent);
  if (range.readers == set) return HSA_STATUS_SUCCESS;
  machine.map().set_access(range.base, set, set);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_lock_to_pool(void* pointer, size_t size, hsa_agent_t* agents, int count,
                                         hsa_amd_memory_pool_t handle, uint32_t /*flags*/, void** agent_pointer) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  agent::Pool pool;
  if (!agent::find_pool(machine, handle, pool) || pool.owner != agent::kHostAgent) {
    return kInvalidPool;
  }
  if (agent_pointer == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  *agent_pointer = nullptr;
  const hsa_status_t status =
      noted(agent::Event::kLock, 0, agent::size_class(size), lock_memory(machine, pointer, size, agents, count));
  if (status == HSA_STATUS_SUCCESS) *agent_pointer = pointer;
  return status;
}

hsa_status_t hsa_amd_memory_unlock(void* pointer) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (pointer == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  Range range;
  if (!machine.map().erase(address_of(pointer), Kind::kLocked, &range)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  // The caller may unmap the pages now: no kernel and no copy may still use them.
  static_cast<void>(machine.map().quiesce());
  return noted(agent::Event::kUnlock, 0, 0, HSA_STATUS_SUCCESS);
}

hsa_status_t hsa_memory_register(void* pointer, size_t size) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return lock_memory(Machine::get(), pointer, size, nullptr, 0);
}

hsa_status_t hsa_memory_deregister(void* pointer, size_t /*size*/) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Machine::get().map().erase(address_of(pointer), Kind::kLocked);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_copy(void* to, const void* from, size_t size) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (to == nullptr || from == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (!machine.host_may_touch(address_of(to), size) || !machine.host_may_touch(address_of(from), size)) {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  std::memmove(to, from, size);
  return noted(agent::Event::kHostCopy, 0, agent::size_class(size), HSA_STATUS_SUCCESS);
}

hsa_status_t hsa_amd_pointer_info(const void* ptr, hsa_amd_pointer_info_t* info, void* (*alloc)(size_t),
                                  uint32_t* count, hsa_agent_t** accessible) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (ptr == nullptr || info == nullptr || info->size == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  hsa_amd_pointer_info_t found{};
  AgentSet agents = 0;
  if (!describe(machine, address_of(ptr), found, agents)) found.type = HSA_EXT_POINTER_TYPE_UNKNOWN;
  // A caller of an older release has a smaller structure.
  const size_t size = std::min<size_t>(info->size, sizeof(found));
  found.size = static_cast<u32>(size);
  std::memcpy(info, &found, size);
  if (alloc == nullptr || count == nullptr || accessible == nullptr) return HSA_STATUS_SUCCESS;
  *count = 0;
  *accessible = nullptr;
  if (found.type == HSA_EXT_POINTER_TYPE_UNKNOWN) return HSA_STATUS_SUCCESS;
  *accessible = static_cast<hsa_agent_t*>(alloc(sizeof(hsa_agent_t) * (machine.agents() + 1)));
  if (*accessible == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  for (u32 i = 0; i <= machine.agents(); ++i) {
    if ((agents & agent::agent_bit(i)) != 0) (*accessible)[(*count)++] = Machine::agent_handle(i);
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_async_copy(void* dst, hsa_agent_t dst_agent, const void* src, hsa_agent_t src_agent,
                                       size_t size, uint32_t dependencies, const hsa_signal_t* signals,
                                       hsa_signal_t completion) {
  return start_linear_copy(dst, dst_agent, src, src_agent, size, dependencies, signals, completion, -1);
}

hsa_status_t hsa_amd_memory_async_copy_on_engine(void* dst, hsa_agent_t dst_agent, const void* src,
                                                 hsa_agent_t src_agent, size_t size, uint32_t dependencies,
                                                 const hsa_signal_t* signals, hsa_signal_t completion,
                                                 hsa_amd_sdma_engine_id_t engine, bool /*force*/) {
  const int number = engine == HSA_AMD_SDMA_ENGINE_0 ? 0 : 1;
  return start_linear_copy(dst, dst_agent, src, src_agent, size, dependencies, signals, completion, number);
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t* dst, const hsa_dim3_t* dst_offset,
                                            const hsa_pitched_ptr_t* src, const hsa_dim3_t* src_offset,
                                            const hsa_dim3_t* range, hsa_agent_t copy_agent,
                                            hsa_amd_copy_direction_t direction, uint32_t dependencies,
                                            const hsa_signal_t* signals, hsa_signal_t completion) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const bool complete = dst != nullptr && dst_offset != nullptr && src != nullptr && src_offset != nullptr;
  if (!complete || range == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  agent::CopyWork work;
  const auto start = [](const hsa_pitched_ptr_t& p, const hsa_dim3_t& o) {
    return address_of(p.base) + o.z * p.slice + o.y * p.pitch + o.x;
  };
  work.to = start(*dst, *dst_offset);
  work.from = start(*src, *src_offset);
  work.shape = {range->x, range->y, range->z, dst->pitch, dst->slice, src->pitch, src->slice};
  const hsa_agent_t host = Machine::agent_handle(agent::kHostAgent);
  const hsa_agent_t to = direction == hsaDeviceToHost ? host : copy_agent;
  const hsa_agent_t from = direction == hsaHostToDevice ? host : copy_agent;
  return start_copy(Machine::get(), std::move(work), to, from, dependencies, signals, completion, -1);
}

hsa_status_t hsa_amd_memory_copy_engine_status(hsa_agent_t dst, hsa_agent_t src, uint32_t* mask) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return engines_of(Machine::get(), dst, src, mask, true);
}

hsa_status_t hsa_amd_memory_get_preferred_copy_engine(hsa_agent_t dst, hsa_agent_t src, uint32_t* mask) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return engines_of(Machine::get(), dst, src, mask, false);
}

hsa_status_t hsa_amd_vmem_address_reserve(void** va, size_t size, uint64_t address, uint64_t flags) {
  return hsa_amd_vmem_address_reserve_align(va, size, address, 0, flags);
}

hsa_status_t hsa_amd_vmem_address_reserve_align(void** va, size_t size, uint64_t address, uint64_t alignment,
                                                uint64_t /*flags*/) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (va == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  u64 base = 0;
  const hsa_status_t status = noted(agent::Event::kReserve, 0, agent::size_class(size),
                                    Machine::get().virtual_memory().reserve(size, address, alignment, &base));
  *va = pointer_to(base);
  return status;
}

hsa_status_t hsa_amd_vmem_address_free(void* va, size_t size) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Machine::get().virtual_memory().free(address_of(va), size);
}

hsa_status_t hsa_amd_vmem_handle_create(hsa_amd_memory_pool_t handle, size_t size, hsa_amd_memory_type_t /*type*/,
                                        uint64_t /*flags*/, hsa_amd_vmem_alloc_handle_t* memory) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  agent::Pool pool;
  if (!agent::find_pool(machine, handle, pool) || pool.group) return kInvalidPool;
  if (memory == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (machine.must_fail(agent::Call::kAllocation)) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const u64 taken = machine.allocated(pool.owner);
  if (taken > pool.size || size > pool.size - taken) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  return machine.virtual_memory().create(size, pool.owner, pool.index, &memory->handle);
}

hsa_status_t hsa_amd_vmem_handle_release(hsa_amd_vmem_alloc_handle_t memory) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return Machine::get().virtual_memory().release(memory.handle);
}

hsa_status_t hsa_amd_vmem_map(void* va, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t memory,
                              uint64_t /*flags*/) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return noted(agent::Event::kMap, 0, agent::size_class(size),
               Machine::get().virtual_memory().map(address_of(va), size, offset, memory.handle));
}

hsa_status_t hsa_amd_vmem_unmap(void* va, size_t size) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return noted(agent::Event::kUnmap, 0, agent::size_class(size),
               Machine::get().virtual_memory().unmap(address_of(va), size));
}

hsa_status_t hsa_amd_vmem_set_access(void* va, size_t size, const hsa_amd_memory_access_desc_t* list, size_t count) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (list == nullptr || count == 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  AgentSet agents = 0;
  AgentSet readers = 0;
  AgentSet writers = 0;
  for (size_t i = 0; i < count; ++i) {
    u32 index = 0;
    if (!machine.agent_of(list[i].agent_handle, index)) return HSA_STATUS_ERROR_INVALID_AGENT;
    const hsa_access_permission_t p = list[i].permissions;
    agents |= agent::agent_bit(index);
    if (p == HSA_ACCESS_PERMISSION_RO || p == HSA_ACCESS_PERMISSION_RW) readers |= agent::agent_bit(index);
    if (p == HSA_ACCESS_PERMISSION_WO || p == HSA_ACCESS_PERMISSION_RW) writers |= agent::agent_bit(index);
  }
  return noted(agent::Event::kAccess, u64{readers} << 16 | writers, 0,
               machine.virtual_memory().set_access(address_of(va), size, agents, readers, writers));
}

hsa_status_t hsa_amd_vmem_get_access(void* va, hsa_access_permission_t* permission, hsa_agent_t handle) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  u32 index = 0;
  if (!machine.agent_of(handle, index)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (permission == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return machine.virtual_memory().get_access(address_of(va), index, permission);
}

hsa_status_t hsa_amd_vmem_retain_alloc_handle(hsa_amd_vmem_alloc_handle_t* memory, void* address) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (memory == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return Machine::get().virtual_memory().retain(address_of(address), &memory->handle);
}

hsa_status_t hsa_amd_vmem_export_shareable_handle(int* file, hsa_amd_vmem_alloc_handle_t memory, uint64_t /*flags*/) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (file == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return Machine::get().virtual_memory().export_handle(memory.handle, file);
}

hsa_status_t hsa_amd_vmem_import_shareable_handle(int file, hsa_amd_vmem_alloc_handle_t* memory) {
  if (!Machine::get().running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (memory == nullptr) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return Machine::get().virtual_memory().import_handle(file, &memory->handle);
}
}
