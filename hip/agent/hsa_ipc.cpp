// HSA's functions about device memory that several processes use.
#include <hsa/hsa_ext_amd.h>

#include "hip/agent/machine.h"

using agent::address_of;
using agent::Machine;
using agent::Range;
using agent::u32;
using agent::u64;

extern "C" {

hsa_status_t hsa_amd_ipc_memory_create(void* ptr, size_t len, hsa_amd_ipc_memory_t* handle) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  Range range;
  if (handle == nullptr || !machine.map().find(address_of(ptr), &range)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const bool first_byte = range.base == address_of(ptr) && range.kind == agent::Kind::kDevice;
  const bool whole = agent::round_up(len, agent::kPage) == agent::round_up(range.size, agent::kPage);
  if (!first_byte || !whole) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return machine.shared_memory().create(range, handle);
}

hsa_status_t hsa_amd_ipc_memory_attach(const hsa_amd_ipc_memory_t* handle, size_t len, uint32_t num_agents,
                                       const hsa_agent_t* mapping_agents, void** mapped_ptr) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  const bool listed = num_agents == 0 || mapping_agents != nullptr;
  if (handle == nullptr || mapped_ptr == nullptr || !listed) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  agent::AgentSet agents = num_agents == 0 ? agent::agent_bit(machine.agents() + 1) - 1 : 0;
  for (u32 i = 0; i < num_agents; ++i) {
    u32 index = 0;
    if (!machine.agent_of(mapping_agents[i], index)) return HSA_STATUS_ERROR_INVALID_AGENT;
    agents |= agent::agent_bit(index);
  }
  u64 base = 0;
  const hsa_status_t status = machine.shared_memory().attach(*handle, len, machine.agents(), agents, &base);
  *mapped_ptr = agent::pointer_to(base);
  return status;
}

hsa_status_t hsa_amd_ipc_memory_detach(void* mapped_ptr) {
  Machine& machine = Machine::get();
  if (!machine.running()) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  return machine.shared_memory().detach(address_of(mapped_ptr));
}
}
