// The memory pools that agents report, and allocations from them.
//
// The host has three (fine-grained with kernel arguments, fine-grained, coarse-grained), each gfx942 two
// (coarse-grained device memory, and the group segment, from which nothing is allocated). Large BAR: the host may touch
// device memory.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "hip/agent/address_map.h"
#include "hip/agent/types.h"

namespace agent {

class Machine;

struct Pool {
  u32 index = 0;
  u32 owner = kHostAgent;
  bool group = false;
  u32 flags = 0;  // hsa_amd_memory_pool_global_flag_t
  u64 size = 0;
  Kind kind = Kind::kDevice;

  [[nodiscard]] hsa_amd_memory_pool_t handle() const;
};

[[nodiscard]] u32 pool_count(u32 owner);
[[nodiscard]] Pool pool_of(u32 owner, u32 number);
// False for a handle that is no pool.
[[nodiscard]] bool find_pool(const Machine& machine, hsa_amd_memory_pool_t handle, Pool& pool);
[[nodiscard]] Pool pool_by_index(u32 index);
[[nodiscard]] u32 owner_of_pool(u32 index);

hsa_status_t allocate(Machine& machine, const Pool& pool, u64 size, u64* address);
hsa_status_t release(Machine& machine, u64 address);

}  // namespace agent
