// model::AddressSpace: the memory of the modelled machine.
//
// Addresses are numbers; the bytes live elsewhere (except with `identity`). An allocation has an identity that
// is never reused, so an address that was freed and handed out again belongs to another allocation; a freed range is
// remembered (the last kMaxFreed of them) so that a stale access can name its former owner. An access is legal when it
// lies within one live allocation: touching two neighbours with one access is an overrun of the first.
//
// Placement: the addresses queued with place_next(), in order, else the lowest free address of the window at
// `device_base` (first fit: freed addresses are reused soon, so that stale pointers reach other allocations), aligned
// to kAlignment; reservations go to the window's upper half first, ranges to its last quarter. With `identity` every
// address is the address of its backing, for programs that dereference pointers from hipHostMalloc; freed backings are
// kept while the freed range is remembered, so that their addresses cannot turn up in the caller's own heap.
//
// Virtual memory management is in virtual_memory.h, which adds reserved ranges and mappings; find() and access() know
// them, too.
//
// Not modelled: paging, caches, access rights of devices except to mapped memory (every device reaches every
// allocation).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/interval.h"
#include "model/status.h"

namespace model {

using AllocationId = std::uint64_t;  // 0: none; never reused within a runtime's life, reset excepted

inline constexpr std::size_t kAlignment = 256;                      // of every address that the model chooses
inline constexpr std::size_t kMaxFreed = 1024;                      // freed ranges that are remembered
inline constexpr std::size_t kMaxKeptBytes = std::size_t{1} << 28;  // of freed backings, with identity
inline constexpr Address kFirstHostAddress = 1 << 16;               // nothing below this address is memory, as on Linux

enum class MemoryKind : std::uint8_t {
  kDevice,    // hipMalloc: accessible to kernels, copies and memsets, not to the host
  kPinned,    // hipHostMalloc: accessible to all of them
  kManaged,   // hipMallocManaged: accessible to all of them
  kPageable,  // ordinary memory of the host: accessible to copies and the host, not to kernels
};

struct Allocation {
  AllocationId id = 0;
  Address base = 0;
  std::size_t size = 0;
  MemoryKind kind = MemoryKind::kDevice;
  int device = 0;
  std::byte* bytes = nullptr;
  bool adopted = false;        // the bytes are the calling process's own
  bool mapped = false;         // memory of a reservation
  bool registered = false;     // pageable memory that pin() made pinned, until unpin()
  bool of_stream = false;      // memory of a stream's reservation, not of a graph's
  std::uint32_t physical = 0;  // the memory that is mapped here (VirtualMemory::map); 0: this is no mapping
  [[nodiscard]] bool contains(Address address) const { return address - base < size; }
};

// The origin of an access to memory.
enum class Accessor : std::uint8_t { kKernel, kCopy, kHost };

// Why memory of a reserved range (virtual_memory.h) cannot be accessed.
enum class Denial : std::uint8_t { kNone, kUnmapped, kNoAccess, kReadOnly };

// Why an access is not legal.
struct BadAccess {
  Address address = 0;
  std::size_t size = 0;
  bool write = false;
  bool freed = false;                    // the address used to belong to `allocation`, which is freed
  bool overrun = false;                  // the access begins in `allocation` (live) and ends behind it
  Denial denial = Denial::kNone;         // of the first part that is denied; `allocation` is the mapping or the range
  int device = 0;                        // of the accessor, where access is denied
  std::optional<Allocation> allocation;  // the present or former owner; `bytes` is null
};

struct AddressSpaceOptions {
  Address device_base = 0x3000'0000'0000;
  std::size_t device_bytes = std::size_t{1} << 40;  // of the window
  std::size_t capacity = std::size_t{1} << 34;      // bytes that can be live at once; past it: out of memory
  bool identity = false;
  // An address of no live or remembered allocation, from kFirstHostAddress up and outside the window (with identity
  // there is none), is taken for memory of the calling process and accessed directly. The model does not check that.
  bool unknown_is_host = false;
  std::byte fresh{0};  // the value of each byte of new memory
};

class AddressSpace;
class VirtualMemory;

// A range of addresses that is kept, with or without memory in it, as long as this object lives. A memory allocation
// node of a graph gets it when the node is added, a stream gets it when it allocates. The range has memory from the
// execution of the node or the allocation until the free.
class Reservation : public std::enable_shared_from_this<Reservation> {
 public:
  Reservation(AddressSpace& space, Address base, std::size_t bytes, int device)
      : space_(space), base_(base), bytes_(bytes), device_(device) {}
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;
  ~Reservation();
  [[nodiscard]] Address base() const { return base_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] int device() const { return device_; }

  // In the order of the calls, not of their execution: a launch or a stream allocated it, and no call freed it since.
  bool promised = false;
  // A range has one free node at a time, in any graph. The node and its executable graphs own the value of this
  // pointer.
  std::weak_ptr<const char> free_node;
  bool of_stream = false;  // a stream allocated the range, not a graph

 private:
  AddressSpace& space_;
  Address base_;
  std::size_t bytes_;
  int device_;
};

// Frees the bytes of an allocation.
struct FreeBacking {
  std::size_t mapped = 0;  // bytes that came from mmap; 0: they came from calloc
  void operator()(std::byte* raw) const;
};

class AddressSpace {
 public:
  explicit AddressSpace(const AddressSpaceOptions& options = {});
  // Forgets every allocation, live and freed, and starts over.
  void reset(const AddressSpaceOptions& options);

  // Sets how many bytes can be live at once.
  void limit(std::size_t capacity) { options_.capacity = capacity; }

  // Places the next allocation exactly at `address`; several addresses may be queued. The allocation fails with
  // kOutOfMemory when its range is taken. Must not be used with identity.
  void place_next(Address address);

  // kInvalidValue for size 0 (where HIP returns a null pointer, the C ABI does that), kOutOfMemory.
  Status allocate(std::size_t size, MemoryKind kind, int device, Address* out);
  // Only the base of a live allocation can be freed, else kInvalidValue.
  Status release(Address base);
  // Makes memory of the calling process an allocation at its own address (hipHostRegister) until release(). The caller
  // keeps the bytes. kInvalidValue for size 0, kHostMemoryAlreadyRegistered if a live or reserved range overlaps it.
  Status adopt(std::byte* bytes, std::size_t size, MemoryKind kind, int device);

  // Make a whole pageable allocation pinned (hipHostRegister), and pageable again. kInvalidValue for a part of an
  // allocation or another kind of memory, kHostMemoryAlreadyRegistered, kHostMemoryNotRegistered.
  Status pin(Address base, std::size_t size);
  Status unpin(Address base);

  // Reserves addresses of device memory, without the memory (placement: top of this file).
  Status reserve(std::size_t size, int device, std::shared_ptr<Reservation>* out);
  // Memory for a whole reservation, until release(base). kOutOfMemory; kInvalidValue when the range has memory already.
  Status map(const Reservation& reservation);
  // The reservation that holds `address`, or null.
  [[nodiscard]] Reservation* find_reservation(Address address) const;
  // The live allocation that holds `address` or, where there is none, the allocation that map() would make there.
  [[nodiscard]] const Allocation* find_or_promised(Address address) const;
  // The bytes from an address to the end of that allocation; of a mapping, to the end of its reserved range, because
  // mappings change. 0: none.
  [[nodiscard]] std::size_t room_behind(Address address) const;
  // For a device: the bytes of memory that reservations of graphs have at present, and the highest value of this number
  // since reset_mapped_high().
  [[nodiscard]] std::size_t mapped_bytes(int device) const;
  [[nodiscard]] std::size_t mapped_high(int device) const;
  void reset_mapped_high(int device) { mapped_high_[device] = mapped_bytes(device); }

  // The live allocation that holds `address` (not one past its end), mappings included, or null.
  [[nodiscard]] const Allocation* find(Address address) const;
  // The latest remembered freed allocation that held `address`, or null.
  [[nodiscard]] const Allocation* find_freed(Address address) const;

  // The bytes of [address, address + size) for an access by `who`; null when the access is not legal (`why`, if given,
  // is filled in). Size 0 is no access: null.
  // `device` carries the access out; only mapped memory asks for it.
  [[nodiscard]] std::byte* access(Address address, std::size_t size, bool write, Accessor who, BadAccess* why = nullptr,
                                  int device = 0) const;
  // For host code that looks at pinned, managed or pageable memory of the model. Null when the access is not legal.
  [[nodiscard]] std::byte* view(Address address, std::size_t size) const;
  // White box: the bytes of any live allocation, device memory included. Null for a range that is not within one.
  [[nodiscard]] std::byte* peek(Address address, std::size_t size) const;

  // True for host memory that no allocation covers (unknown_is_host).
  [[nodiscard]] bool is_foreign_host(Address address) const;

  [[nodiscard]] const std::vector<Allocation>& live() const { return live_; }  // by address
  [[nodiscard]] std::size_t live_bytes() const { return live_bytes_; }

 private:
  friend class Reservation;
  friend class VirtualMemory;
  using Backing = std::unique_ptr<std::byte, FreeBacking>;  // begins up to kAlignment - 1 bytes before the bytes in use
  struct Freed {
    Allocation allocation;
    Backing kept;  // with identity
  };
  struct Reserved {
    Allocation allocation;  // the allocation that map() makes, except for its id
    Backing backing;
    Reservation* owner = nullptr;
  };
  [[nodiscard]] const Reserved* reserved_at(Address address) const;
  [[nodiscard]] const Allocation* find_own(Address address) const;  // no mapping
  [[nodiscard]] bool in_a_range(Address address) const;             // of VirtualMemory
  void unreserve(Address base);
  [[nodiscard]] std::vector<std::pair<Address, Address>> taken() const;  // first and one past last, by address
  [[nodiscard]] std::optional<Address> choose(std::size_t size);
  [[nodiscard]] bool is_free(Address base, std::size_t size) const;
  [[nodiscard]] std::optional<Address> choose_for_reservation(std::size_t size);
  [[nodiscard]] std::optional<Address> choose_for_range(std::size_t size, std::size_t alignment, Address wish);
  [[nodiscard]] std::optional<Address> first_fit(std::size_t size, Address from,
                                                 std::size_t alignment = kAlignment) const;
  [[nodiscard]] Backing take_backing(std::size_t size);
  static Backing zeros(std::size_t bytes);                     // null when the process has no memory left
  void renew(const Backing& backing, std::size_t size) const;  // gives each byte the value of new memory
  void remember(const Allocation& allocation, Backing backing);
  void forget_oldest_freed();
  void insert(const Allocation& allocation, Backing backing);
  void explain(Address address, std::size_t size, bool write, BadAccess* why) const;

  AddressSpaceOptions options_;
  std::vector<Allocation> live_;    // sorted by base
  std::vector<Backing> backing_;    // of live_, index for index
  std::deque<Freed> freed_;         // oldest first
  std::vector<Reserved> reserved_;  // sorted by base
  std::map<int, std::size_t> mapped_high_;
  std::deque<Address> placements_;
  VirtualMemory* virtual_ = nullptr;  // the one of this address space
  std::size_t live_bytes_ = 0;        // physical memory included
  std::size_t kept_bytes_ = 0;
  AllocationId last_id_ = 0;
};

// "write of 16 bytes at 0x1000: 8 bytes into allocation 3 (64 bytes at 0xff8, freed)": for people, on failure paths
// only.
[[nodiscard]] std::string describe(const BadAccess& bad);
// The part of that text behind the colon.
[[nodiscard]] std::string describe_owner(const BadAccess& bad);

}  // namespace model
