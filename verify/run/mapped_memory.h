// verify::MappedMemory: the reserved ranges, the physical memory and the mappings of a run.
//
// The runtime chooses the addresses of ranges: no observation. A view has the address of its range's page.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "hip/address_ranges.h"
#include "hip/result/result.h"
#include "verify/execute/objects.h"
#include "verify/execute/placement.h"
#include "verify/execute/quirk_context.h"

namespace verify {

class MappedMemory {
 public:
  MappedMemory(StrategyContext& context, BufferMemory& memory, Platform& platform)
      : context_(context), memory_(memory), platform_(platform), own_ranges_(free_addresses_of(platform)) {}
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;

  // The smallest granularity of the device's memory, in bytes.
  [[nodiscard]] hip::Result<std::size_t> granularity(Id device) const;
  hip::Status reserve(const ReserveRange& c);
  hip::Status unreserve(const FreeRange& c);
  // Creates memory and fills it.
  hip::Status create(const CreatePhysical& c);
  hip::Status release(const ReleasePhysical& c);
  hip::Status retain(const RetainMemory& c);
  hip::Status map(const MapMemory& c);
  hip::Status unmap(const UnmapMemory& c);
  // Sets the right of a device to a mapping, and returns what HIP then says that the right is.
  hip::Result<hipMemAccessFlags> set_access(const SetAccess& c);
  hip::Status view(const DeclareView& c);
  // Whether the buffer is a view of a range that is still reserved.
  [[nodiscard]] bool has(Id buffer) const { return views_.contains(buffer); }

  // At the program's end: unmaps, releases and gives back all that is left.
  hip::Status give_back();

 private:
  struct Range {
    hip::DeviceAddress base = 0;
    std::size_t bytes = 0;
    Id device = 0;
    struct Mapping {
      std::size_t bytes = 0;
      Id memory = 0;
    };
    std::map<std::uint32_t, Mapping> mappings{};  // by the first page
  };
  struct Memory {
    std::size_t bytes = 0;
    std::vector<hipMemGenericAllocationHandle_t> handles{};  // those to be released, the newest last
  };
  [[nodiscard]] Range* range(Id id);
  // Writes the first contents of memory, through a mapping of the harness.
  hip::Status fill(const CreatePhysical& c, const Memory& memory);
  hip::Status fill_at(const CreatePhysical& c, void* at);

  StrategyContext& context_;
  BufferMemory& memory_;
  Platform& platform_;
  hip::AddressRanges own_ranges_;  // of the harness's mappings, and of what the program left
  std::map<Id, Range> ranges_;
  std::map<Id, Memory> memories_;
  std::map<Id, Id> views_;  // of which range
};

}  // namespace verify
