// Virtual memory management: reserved addresses, handles of physical memory, and mappings of memory at addresses.
//
// Physical memory is a memfd: it can be mapped at several addresses at once, and outlives its handle while it is
// mapped. No agent may access a mapping before set_access(). Arguments out of bounds and misuse return HSA errors, as
// the documentation of hsa_amd_vmem_* describes.
//
// Not checked: whether the host may access a mapping. Its pages are accessible as soon as any agent may access them.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "hip/agent/address_map.h"
#include "hip/agent/configure.h"
#include "hip/agent/types.h"

namespace agent {

struct PhysicalMemory {
  int file = -1;
  u64 size = 0;
  u32 owner = kHostAgent;
  u32 pool = 0;
  hip::sync::Atomic<u64>* counted = nullptr;  // where its bytes are counted; null: another object counts them
  // The number of its handles: the first of `size` addresses of the process that nothing else has, as ROCr's handles
  // are. AMD's runtime looks memory up by ranges of such numbers.
  u64 key = 0;

  PhysicalMemory() = default;
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;
  ~PhysicalMemory();
  // Takes the addresses for the key; false: there are none.
  [[nodiscard]] bool take_key();
};

class VirtualMemory {
 public:
  explicit VirtualMemory(AddressMap& map) : map_(map) {}
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;
  ~VirtualMemory();

  hsa_status_t reserve(u64 size, u64 hint, u64 alignment, u64* base);
  hsa_status_t free(u64 base, u64 size);
  hsa_status_t create(u64 size, u32 owner, u32 pool, u64* handle);
  hsa_status_t release(u64 handle);
  hsa_status_t map(u64 base, u64 size, u64 offset, u64 handle);
  hsa_status_t unmap(u64 base, u64 size);
  hsa_status_t set_access(u64 base, u64 size, AgentSet agents, AgentSet readers, AgentSet writers);
  hsa_status_t get_access(u64 address, u32 agent, hsa_access_permission_t* permission);
  // A handle of the memory that is mapped at `address`; the caller has to release it.
  hsa_status_t retain(u64 address, u64* handle);
  hsa_status_t export_handle(u64 handle, int* file);
  hsa_status_t import_handle(int file, u64* handle);

  // The reservation around `address`.
  [[nodiscard]] bool find_reservation(u64 address, u64* base, u64* size) const;
  [[nodiscard]] u64 reservations() const;
  [[nodiscard]] u64 handles() const;
  // The bytes of physical memory that an agent gives.
  [[nodiscard]] u64 bytes(u32 owner) const { return bytes_[owner].load(std::memory_order_relaxed); }

 private:
  struct Mapping {
    u64 size;
    AgentSet readers = 0;
    AgentSet writers = 0;
    std::shared_ptr<PhysicalMemory> memory;
  };
  struct Handle {
    std::shared_ptr<PhysicalMemory> memory;
    u64 references = 1;
  };
  [[nodiscard]] std::optional<u64> reservation_of(u64 base, u64 size) const;
  [[nodiscard]] std::map<u64, Mapping>::iterator mapping_at(u64 address);
  using Mappings = std::pair<std::map<u64, Mapping>::iterator, std::map<u64, Mapping>::iterator>;
  // The mappings that together fill exactly this range; an empty range if no mappings do.
  [[nodiscard]] Mappings mappings_of(u64 base, u64 size);
  void unmap_one(u64 base, const Mapping& mapping);
  [[nodiscard]] u64 add_handle(std::shared_ptr<PhysicalMemory> memory);

  hip::sync::Atomic<u64> bytes_[HGAGENT_MAX_AGENTS + 1] = {};  // outlives the memory that it counts
  AddressMap& map_;
  mutable hip::sync::Mutex mutex_;
  std::map<u64, u64> reserved_;
  std::map<u64, Mapping> mappings_;
  std::map<u64, Handle> handles_;
};

}  // namespace agent
