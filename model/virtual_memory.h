// model::VirtualMemory: reserved ranges of addresses, physical memory, and the mappings of one into the other.
//
// Bytes belong to physical memory, which is live as long as it has a handle or is mapped. Memory that is mapped at two
// addresses has one set of bytes, also for the detector of races (name_by_memory). A mapping has no access when it is
// made. A device reads and writes it as its right says; work behind a change of a mapping sees the change. Changes take
// effect at once and wait for nothing: Runtime (remapping.cpp) reports work that was in flight meanwhile.
//
// Sources: group Virtual in HIP's header documentation; catch/unit/virtualMemoryManagement; where these say nothing,
// CUDA's documentation of the driver (Virtual Memory Management). kGranularity is the page of the host.
//
// Which device carries out a copy or memset is open in both documentations; hip-tests copies memory of which only its
// own device has access on streams of others (hipMemSetGetAccess.cc, Vmm2PeerDevMemCpy), and memory of which only the
// stream's device has access (hipMemMap.cc, PhysicalMemoryReuse_MultiDev). One of these two devices has to have access.
//
// The pages of physical memory are shared mappings of this process (MAP_SHARED), because only these can be seen at two
// addresses. So after fork() parent and child see each other's writes to physical memory, and to no other memory.
//
// Not modelled: handles for other processes, memory of the host, maps of a part of the memory that begins past its
// first byte (HIP: the offset "currently must be zero"), an operation that uses one memory under two addresses (its own
// accesses are in program order), and changes that a stream waits for (remapping.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/address_space.h"
#include "model/interval.h"
#include "model/object.h"
#include "model/status.h"

namespace model {

inline constexpr std::size_t kGranularity = 4096;  // of sizes and mapped addresses; smallest and recommended, as on 7.2
inline constexpr Address kFirstMemoryName = Address{1} << 63;  // no address is as high

// The numbers of hipMemAccessFlags.
enum class AccessRight : int { kNone = 0, kRead = 1, kReadWrite = 3 };
struct DeviceRight {
  int device = 0;
  AccessRight right = AccessRight::kNone;
};

// hipMemAllocationProp; all but the device are kept for the getter.
struct PhysicalProperties {
  int device = 0;
  int type = 0, handle_types = 0;
  unsigned char compression = 0, rdma = 0;
  unsigned short usage = 0;
  bool operator==(const PhysicalProperties&) const = default;
};

struct PhysicalMemory {
  ObjectId id = 0;
  std::size_t size = 0;
  PhysicalProperties properties;
  std::byte* pages = nullptr;
  Address name = 0;  // its first byte, in the logs of accesses
  unsigned handles = 1, mappings = 0;
};

// A part of a reserved range that the host maps, unmaps or gives rights to.
struct MappingPart {
  Interval addresses;
  std::set<int> devices;  // the devices whose right is another one now; empty: the mapping changed, for every device
  int owner = 0;          // the device of the memory, where rights changed
  // Whether the change is one for an operation of `device`. A copy goes by the right of the owner, too.
  [[nodiscard]] bool concerns(int device, bool copy) const {
    return devices.empty() || devices.contains(device) || (copy && devices.contains(owner));
  }
  bool operator==(const MappingPart&) const = default;
};

struct AddressRange {
  Address base = 0;
  std::size_t size = 0;
  std::byte* pages = nullptr;  // as many; a mapping shares its part with the physical memory
  [[nodiscard]] bool contains(Address address) const { return address - base < size; }
};

class VirtualMemory {
 public:
  VirtualMemory(ObjectTable& objects, AddressSpace& space);
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;
  ~VirtualMemory();
  // Gives up all ranges and all memory.
  void clear();

  // Reserves addresses, at `wish` if that is free. kInvalidValue for a size that is 0 or not a multiple of the
  // granularity and for an alignment that is neither 0 nor a power of two (HIP's header lists no other error; releases
  // before 7 and hipMemAddressReserve.cc say hipErrorMemoryAllocation); kOutOfMemory.
  Status reserve(std::size_t size, std::size_t alignment, Address wish, Address* out);
  // "The size must match what was given to memAddressReserve and the ptr given must match what was returned" (CUDA);
  // nothing may be mapped there. Else kInvalidValue.
  Status unreserve(Address base, std::size_t size);

  // kInvalidValue for a size that is 0 or not a multiple of the granularity; kOutOfMemory.
  Status create(std::size_t size, const PhysicalProperties& properties, ObjectId* out);
  // Memory that has a handle, else null. release() takes one handle of it away.
  [[nodiscard]] const PhysicalMemory* find_memory(std::uint64_t id) const;
  Status release(std::uint64_t id);
  // One more handle of the memory that is mapped at an address, even if all handles were released. kInvalidValue.
  Status retain(Address address, ObjectId* out);

  // The range has to lie in one reserved range where nothing is mapped, and the memory must be at least as large.
  // Address and size are multiples of the granularity. Else kInvalidValue. kOutOfMemory: the process has no more
  // mappings.
  Status map(Address base, std::size_t size, std::uint64_t memory);
  // The range has to consist of whole mappings without gaps (CUDA: "cannot unmap a sub-range of an address range mapped
  // by cuMemCreate / cuMemMap"), else kInvalidValue. set_access() likewise ("must be a fully mapped address range
  // containing all allocations created by cuMemMap"); `changed` gets the mappings where a right is another one now.
  Status unmap(Address base, std::size_t size);
  Status set_access(Address base, std::size_t size, std::span<const DeviceRight> rights,
                    std::vector<MappingPart>* changed);
  // kInvalidValue where nothing is mapped.
  Status get_access(Address address, int device, AccessRight* out) const;

  // The mapping that holds an address, as an allocation; null where nothing is mapped.
  [[nodiscard]] const Allocation* find(Address address) const;
  // The reserved range that holds an address; null outside of all ranges.
  [[nodiscard]] const AddressRange* range_at(Address address) const;
  [[nodiscard]] std::span<const AddressRange> ranges() const { return ranges_; }  // by address
  [[nodiscard]] std::size_t memories() const { return memories_.size(); }

  // As AddressSpace::access, for an address in a reserved range. An access may go over several mappings of the range.
  [[nodiscard]] std::byte* access(Address address, std::size_t size, bool write, Accessor who, int device,
                                  BadAccess* why) const;
  // The bytes of a fully mapped part of a reserved range, whatever the rights; else null.
  [[nodiscard]] std::byte* peek(Address address, std::size_t size) const;

  // Puts the names of the memory's bytes in the place of the addresses that it is mapped at, which go to mapped_reads
  // and mapped_writes.
  void name_by_memory(AccessLog* log) const;
  // For people: an address at which the bytes are mapped, where these are names of mapped memory.
  [[nodiscard]] Interval address_of(const Interval& bytes) const;

 private:
  struct Mapping {
    Allocation allocation;
    PhysicalMemory* memory = nullptr;
    std::map<int, AccessRight> rights;  // by device
  };
  [[nodiscard]] const Mapping* mapping_at(Address address) const;
  // The mappings that make up a range exactly; empty: it cuts one or has a gap.
  [[nodiscard]] std::vector<Mapping*> whole_mappings(Address base, std::size_t size);
  [[nodiscard]] static Denial denied(const Mapping* mapping, bool write, Accessor who, int device);
  [[nodiscard]] IntervalSet named(const IntervalSet& set, IntervalSet* mapped) const;
  [[nodiscard]] std::byte* reserve_pages(std::size_t size, std::size_t alignment, Address wish) const;
  void drop_if_unused(PhysicalMemory& memory);

  ObjectTable& objects_;
  AddressSpace& space_;
  std::vector<AddressRange> ranges_;     // sorted by base
  std::map<Address, Mapping> mappings_;  // by base
  std::map<ObjectId, PhysicalMemory> memories_;
  Address next_name_ = kFirstMemoryName;
};

}  // namespace model
