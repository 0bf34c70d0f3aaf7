// verify::MappedAllocations: device memory for the strategy `remap`. Each allocation is physical memory of its own
// (hipMemCreate), mapped at a range of addresses that is reserved for it alone, for all devices of the program to read
// and write.
//
// An executable graph may map the memory under addresses of its own, too: it is a holder. Before memory is released,
// every holder gives it up. Memory has a number that no other memory of the program has.
//
// Calls go to the plain table, because allocating is no part of the test. For one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "hip/address_ranges.h"
#include "hip/remapped_buffers.h"
#include "verify/execute/platform.h"
#include "verify/execute/quirk_context.h"

namespace verify {

class MappedAllocations {
 public:
  class Holder {
   public:
    virtual ~Holder() = default;
    // Unmaps the memory of that number wherever the holder has mapped it.
    virtual hip::Status give_up(std::uint64_t number) = 0;
  };

  MappedAllocations(Platform& platform, Id devices)
      : platform_(platform), devices_(devices), ranges_(free_addresses_of(platform)) {}
  MappedAllocations(const MappedAllocations&) = delete;
  MappedAllocations& operator=(const MappedAllocations&) = delete;

  // A function that allocations and their holders need and the runtime lacks, or null.
  [[nodiscard]] const char* missing_function() const { return missing_function(platform_.api()); }
  [[nodiscard]] static const char* missing_function(const hip::Api& api);
  // The holders use it as well.
  [[nodiscard]] hip::AddressRanges& ranges() { return ranges_; }
  // Memory of `device`, at least `bytes` of it. On an error nothing is left.
  [[nodiscard]] hip::Result<void*> allocate(std::uint64_t bytes, Id device);
  // `address`: as allocate() returned it. Makes every holder give the memory up; the first error is returned.
  [[nodiscard]] hip::Status give_up(void* address);
  // Gives the memory up and frees it. If a holder cannot give it up, nothing is freed, and free() can be called again;
  // behind that everything is tried, and the errors are returned as one. The device has to be idle.
  hip::Status free(void* address);
  // Frees all that is left.
  hip::Status free_all();
  // The memory at an address that allocate() returned; null: there is none.
  [[nodiscard]] const hip::PhysicalMemory* at(hip::DeviceAddress address) const;

  // A holder is removed before it is destroyed.
  void add(Holder& holder) { holders_.push_back(&holder); }
  void remove(Holder& holder) { std::erase(holders_, &holder); }

 private:
  // The granularity of sizes and addresses in bytes: the largest among the devices.
  [[nodiscard]] hip::Result<std::uint64_t> granularity();
  [[nodiscard]] hip::Status map(void* range, const hip::PhysicalMemory& memory) const;

  Platform& platform_;
  const Id devices_;
  hip::AddressRanges ranges_;
  std::uint64_t granularity_ = 0;  // 0: not asked for yet
  std::uint64_t numbers_ = 0;      // given so far
  std::map<hip::DeviceAddress, hip::PhysicalMemory> allocations_;
  std::vector<Holder*> holders_;
};

}  // namespace verify
