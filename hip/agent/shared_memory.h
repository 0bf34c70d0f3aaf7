// Device memory that several processes use: what is behind hsa_amd_ipc_memory_create, _attach and _detach.
//
// An allocation is ordinary memory of its process until a handle of it is asked for. Its bytes then move into a memory
// file (memfd), which is mapped at the same addresses. Kernels and copy engines stand still meanwhile, so no write is
// lost. A handle names the file by the process and its descriptor; another process opens /proc/PROCESS/fd/DESCRIPTOR
// and maps it at addresses of its own. The file lives as long as a process has it mapped: an attached mapping keeps its
// bytes when the owner frees the allocation or ends. A handle is good until then.
//
// Promises: a handle whose allocation or process is gone is refused, and so is one whose descriptor has come to mean
// another file. A shared allocation costs one descriptor until it is freed. Says on standard error why it refuses.
//
// Not checked: writes by threads of the program itself during create(). After a fork (hgagent_rest, hgagent_wake), the
// child has a copy of ordinary device memory, but allocations with a handle and attached memory are the same memory in
// parent and child: each process sees the writes of the other. Not supported: processes of other users, of
// other process namespaces, or without /proc; they are told so.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <map>

#include "hip/agent/address_map.h"
#include "hip/agent/types.h"

namespace agent {

class SharedMemory {
 public:
  explicit SharedMemory(AddressMap& map) : map_(map) {}
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  // A handle of a whole allocation of device memory.
  hsa_status_t create(const Range& allocation, hsa_amd_ipc_memory_t* handle);
  // Maps the memory of a handle, for these agents; `devices` is how many gfx942s this process has.
  hsa_status_t attach(const hsa_amd_ipc_memory_t& handle, u64 size, u32 devices, AgentSet agents, u64* base);
  hsa_status_t detach(u64 base);
  // Gives the addresses of an allocation ordinary memory again, if it was shared. Its range is erased already. False,
  // and it is said on standard error: the system has no memory for that, so the file stays and the addresses must not
  // be allocated again.
  [[nodiscard]] bool take_back(const Range& allocation);

 private:
  [[nodiscard]] bool move_to_file(const Range& allocation, int file);

  AddressMap& map_;
  hip::sync::Mutex mutex_;
  std::map<u64, int> files_;     // of shared allocations, by their addresses
  std::map<u64, u64> attached_;  // addresses to their number, with the inaccessible page behind
  std::map<u64, u64> left_;      // detached while a kernel used them; unmapped at the end
};

}  // namespace agent
