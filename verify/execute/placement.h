// Where a program's buffers live: verify::BufferMemory places, moves and frees them on a platform.
//
// `arena`: one runtime allocation for each kind of memory and device, sub-allocated best fit with coalescing as
// frameworks do, so that addresses repeat. `native`: one runtime allocation for each buffer. A moved buffer keeps its
// contents. The address of every runtime allocation is noted in a script; a second platform that is given the script
// gets the same layout, so both sides of a comparison see the same bits. Moves and contents belong to the harness: they
// use the plain table and are no part of the test. They wait first for all work of the devices.
//
// With `mapped`, each buffer of device memory of a program with native placement has physical memory of its own
// (verify/execute/mapped_allocations.h). In an arena buffers share one allocation, and releases refuse to map a part of
// memory.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "hip/relocation.h"
#include "hip/result/result.h"
#include "verify/execute/mapped_allocations.h"
#include "verify/execute/platform.h"
#include "verify/execute/runner.h"
#include "verify/program/program.h"

namespace verify {

// Best-fit allocation with coalescing in [base, base + bytes); of equally large free ranges the lowest is taken.
class BestFit {
 public:
  BestFit(hip::DeviceAddress base, std::uint64_t bytes) : free_{{base, bytes}} {}
  [[nodiscard]] std::optional<hip::DeviceAddress> allocate(std::uint64_t bytes);
  void release(hip::DeviceAddress address, std::uint64_t bytes);
  // From now on no address is given out twice (shows whether a defect needs addresses to be reused).
  void never_reuse() { reuse_ = false; }
  [[nodiscard]] static std::uint64_t rounded(std::uint64_t bytes);

 private:
  std::map<hip::DeviceAddress, std::uint64_t> free_;  // base -> bytes
  bool reuse_ = true;
};

struct PlacementOptions {
  Placement placement = Placement::kArena;
  // Every move goes to an address that was never used, whatever the program asks for.
  bool fresh_addresses = false;
  bool mapped = false;
};

class BufferMemory {
 public:
  // `script`: the layout to repeat; empty: choose a layout and report it through script().
  BufferMemory(Platform& platform, const Program& program, PlacementOptions options, AddressScript script);
  BufferMemory(const BufferMemory&) = delete;
  BufferMemory& operator=(const BufferMemory&) = delete;

  hip::Status declare(Id buffer, std::uint64_t bytes, MemoryKind memory, Id device = 0);
  // The first `bytes` bytes of the platform's n-th variable of device code, which has to exist. Never moved or freed.
  hip::Status declare_symbol(Id buffer, std::uint64_t bytes, std::uint32_t n);
  // The first bytes of a variable of a module, until module_gone(). Its contents stay.
  static constexpr Id kOfCodeObject = kMaxId + 1;  // stands for a module that the program does not load itself
  hip::Status declare_variable(Id buffer, std::uint64_t bytes, const std::string& name, Id module, hipModule_t loaded);
  void module_gone(Id module);
  hip::Status move(const std::vector<BufferMove>& moves);
  hip::Status release(Id buffer);
  hip::Status release_everything();
  // Writes a pattern over the whole buffer, or, where there is `data`, writes it at `offset`.
  hip::Status write(Id buffer, std::uint64_t seed, std::uint64_t offset = 0, std::span<const std::uint8_t> data = {});
  hip::Status read(Id buffer, std::vector<std::byte>& bytes);
  // Reads the same bytes with a copy by the runtime, where read() reads host memory directly. The device has to be
  // idle.
  hip::Status read_by_runtime(Id buffer, std::vector<std::byte>& bytes);

  [[nodiscard]] const AddressScript& script() const { return script_; }
  [[nodiscard]] hip::DeviceAddress address(Id buffer) const { return addresses_[buffer]; }
  // By buffer id; 0 for a buffer that is not declared (yet). A freed buffer keeps its last address.
  [[nodiscard]] const hip::AddressTable& addresses() const { return addresses_; }
  // The addresses that frozen scalars take: the addresses in the run that the script came from. They differ from
  // addresses() on a platform that cannot place allocations.
  [[nodiscard]] const hip::AddressTable& frozen_addresses() const { return frozen_; }
  [[nodiscard]] std::uint64_t bytes(Id buffer) const { return places_[buffer].bytes; }
  [[nodiscard]] MemoryKind memory(Id buffer) const { return places_[buffer].kind.memory; }
  [[nodiscard]] Id device(Id buffer) const { return places_[buffer].kind.device; }
  [[nodiscard]] bool alive(Id buffer) const { return places_[buffer].alive; }
  [[nodiscard]] std::size_t size() const { return places_.size(); }
  // The pointer by which HIP's functions name the variable; null where the buffer is no variable.
  [[nodiscard]] const void* symbol(Id buffer) const { return places_[buffer].symbol; }
  // Notes memory that is not owned here, but read and named at `address`: of a graph or a stream, or a view.
  void show_elsewhere(Id buffer, std::uint64_t bytes, hip::DeviceAddress address, Id device = 0);
  // Null: the buffers are not mapped.
  [[nodiscard]] MappedAllocations* mapped() { return mapped_ ? &*mapped_ : nullptr; }
  // The largest size in bytes of a buffer of device memory that the program declares.
  [[nodiscard]] std::uint64_t most_device_bytes() const { return most_device_bytes_; }
  // Calls `reserve`, which reserves a range of addresses, and notes the range in the script like an allocation.
  hip::Result<hip::DeviceAddress> place_range(const std::function<hip::Status(void** range)>& reserve);

 private:
  using Kind = KeptMemory::Kind;
  struct Place {
    std::uint64_t bytes = 0;
    std::uint64_t capacity = 0;  // of the place it occupies
    Kind kind;
    bool alive = false;
    const void* symbol = nullptr;
    std::optional<Id> module{};  // the module that has the variable
    bool elsewhere = false;      // show_elsewhere() named the place: maybe no other device has a right to it
  };
  struct NewPlace {
    hip::DeviceAddress address;
    std::uint64_t capacity;
    bool fresh;  // no buffer leaves it
  };
  // The device that is current when the host reads or writes the buffer: 0, or that of a view's memory, because
  // AMD's 7.2 copies with a kernel of the current device.
  [[nodiscard]] Id copying_device(Id buffer) {
    const Place& place = places_[buffer];
    return place.elsewhere ? place.kind.device : 0;
  }
  // Finds a place for each move. Where one is refused, all are given back: the program makes the same move again.
  hip::Status find_places(const std::vector<BufferMove>& moves, std::vector<NewPlace>& targets);
  hip::Result<hip::DeviceAddress> runtime_allocate(std::uint64_t bytes, Kind kind);
  hipError_t allocate_of_kind(std::uint64_t bytes, MemoryKind memory, void** allocated);
  // An allocation that the platform kept from an earlier program, or a new one.
  hip::Result<hip::DeviceAddress> kept_or_new(std::uint64_t bytes, Kind kind);
  hip::Status runtime_free(hip::DeviceAddress address, MemoryKind memory);
  hip::Result<hip::DeviceAddress> place(std::uint64_t bytes, Kind kind);
  [[nodiscard]] bool is_mapped(Kind kind) const { return mapped_ && kind.memory == MemoryKind::kDevice; }
  [[nodiscard]] hip::DeviceAddress place_as_scripted();
  [[nodiscard]] hip::DeviceAddress take_scripted();
  hip::DeviceAddress note_in_script(void* allocated, hip::DeviceAddress scripted);
  void settle(Id buffer, hip::DeviceAddress address);
  hip::Status unplace(hip::DeviceAddress address, std::uint64_t capacity, Kind kind);
  hip::Status store(hip::DeviceAddress address, MemoryKind memory, const std::byte* bytes, std::uint64_t size);
  hip::Status load(hip::DeviceAddress address, MemoryKind memory, std::byte* bytes, std::uint64_t size);
  hip::Status wait();

  struct Arena {
    hip::DeviceAddress base = 0;
    BestFit space;
  };
  Platform& platform_;
  PlacementOptions options_;
  AddressScript script_;
  std::size_t script_next_ = 0;
  bool replaying_ = false;
  std::optional<hip::DeviceAddress> next_range_;  // chosen for a range that is not reserved yet
  bool freed_some_ = false;                       // then the runtime may give freed memory again, so it places buffers
  Id devices_ = 1;
  std::map<Kind, std::uint64_t> arena_bytes_;
  std::map<Kind, Arena> arenas_;
  std::optional<MappedAllocations> mapped_;
  std::uint64_t most_device_bytes_ = 0;
  std::vector<Place> places_;
  hip::AddressTable addresses_, frozen_;
  std::map<hip::DeviceAddress, hip::DeviceAddress>
      scripted_;  // allocation -> its address in the script, where it differs
  std::vector<std::byte> scratch_;
};

// Fills `bytes` with the content of a buffer after `declare` (seed 0) or `write`: depends on buffer, seed and offset.
void fill_pattern(Id buffer, std::uint64_t seed, std::vector<std::byte>& bytes);

}  // namespace verify
