// model::Kernel: a kernel in the model: its name, the layout of its arguments, and its effects on memory (semantics).
//
// The semantics is a callable that runs the whole grid at once and reaches memory only through a MemoryAccess, which
// checks every access and records it exactly. Behaviour between accesses (races inside of one kernel, order of work
// items) is not modelled. The callable may be a function written for the host, or an interpreter of the device's
// instructions that the maker of the Kernel provides; the model does not distinguish them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/address_space.h"
#include "model/object.h"

namespace model {

enum class ArgumentKind : std::uint8_t { kPointer, kValue };

struct Argument {
  std::uint32_t offset = 0;  // into the packed block
  std::uint32_t size = 0;
  ArgumentKind kind = ArgumentKind::kValue;
};

struct Signature {
  std::uint32_t argument_bytes = 0;  // of the explicit arguments, packed
  std::vector<Argument> arguments;   // by offset, within argument_bytes
};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
};

struct LaunchShape {
  Dim3 grid;
  Dim3 block;
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;  // the workgroups may wait for each other
  bool operator==(const LaunchShape&) const = default;
};

// The access of one operation to memory. After the first illegal access every access answers null.
//
// Kernels walk several buffers side by side, element by element, so there is one walk for each buffer: an access that
// continues a walk costs a few comparisons, any other access is looked up. finish() writes the touched bytes to the
// log; apply() calls it.
class MemoryAccess {
 public:
  MemoryAccess(const AddressSpace& space, Accessor who, AccessLog* log, int device = 0)
      : space_(space), who_(who), log_(log), device_(device) {}
  MemoryAccess(const MemoryAccess&) = delete;
  MemoryAccess& operator=(const MemoryAccess&) = delete;
  ~MemoryAccess() { finish(); }

  // The bytes of [address, address + size), or null when the access is not legal. Size 0 touches nothing: null, legal.
  [[nodiscard]] std::byte* access(Address address, std::size_t size, bool write) {
    if (turn_ < used_) {
      Walk& walk = walks_[turn_];
      if (address == walk.next && write == walk.write && size <= walk.limit - address) {
        walk.next += size;
        if (++turn_ == used_) turn_ = 0;
        return walk.bytes + (address - walk.begin);
      }
    }
    return access_elsewhere(address, size, write);
  }
  [[nodiscard]] const std::byte* read(Address address, std::size_t size) { return access(address, size, false); }
  [[nodiscard]] std::byte* write(Address address, std::size_t size) { return access(address, size, true); }

  // Zero where the access is not legal.
  template <class T>
  [[nodiscard]] T load(Address address) {
    T value{};
    if (const std::byte* bytes = read(address, sizeof(T))) std::memcpy(&value, bytes, sizeof(T));
    return value;
  }
  // Writes nothing where the access is not legal.
  template <class T>
  void store(Address address, const T& value) {
    if (std::byte* bytes = write(address, sizeof(T))) std::memcpy(bytes, &value, sizeof(T));
  }

  // For callables that access memory in no regular order: the live allocation around [address, address + size) when the
  // access is legal, else null bytes. The access is not logged: the caller reports its accesses with touched().
  struct Stretch {
    std::byte* bytes = nullptr;
    Address begin = 0, end = 0;
    AllocationId id = 0;
  };
  [[nodiscard]] Stretch reach(Address address, std::size_t size, bool write);
  void touched(Address begin, std::size_t size, bool write);
  [[nodiscard]] bool logs() const { return log_ != nullptr; }
  [[nodiscard]] const AddressSpace& space() const { return space_; }

  // Brings the log up to date.
  void finish();

  // The callable reports that the operation failed, and the reason; `why` is for people. The first call counts.
  void fail(Status status, std::string why);
  struct Failure {
    Status status = Status::kLaunchFailure;
    std::string why;
  };
  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }

  [[nodiscard]] const std::optional<BadAccess>& bad() const { return bad_; }

 private:
  // [begin, next) was touched, all of it read or all of it written; the walk may go on up to `limit`.
  struct Walk {
    Address begin, next, limit;
    std::byte* bytes;  // of `begin`
    bool write;
  };
  static constexpr std::size_t kWalks = 64;

  std::byte* access_elsewhere(Address address, std::size_t size, bool write);
  void begin_walk(const Walk& walk);
  void log(const Walk& walk);

  const AddressSpace& space_;
  Accessor who_;
  AccessLog* log_;
  int device_;  // that carries the operation out
  std::optional<BadAccess> bad_;
  std::optional<Failure> failure_;
  std::size_t used_ = 0, turn_ = 0, oldest_ = 0;
  std::array<Walk, kWalks> walks_;  // no allocation comes or goes while an operation runs
};

// The function that executes a kernel. `arguments` is the packed block, at least argument_bytes long.
using Semantics =
    std::function<void(std::span<const std::byte> arguments, const LaunchShape& shape, MemoryAccess& memory)>;

// The resources that a kernel needs, for queries; 0 where they are unknown.
struct Resources {
  std::uint32_t shared_bytes = 0;   // static, of a workgroup
  std::uint32_t private_bytes = 0;  // of a work item
  std::uint32_t registers = 0;      // of a work item
};

struct Kernel {
  std::string name;
  Signature signature;
  Semantics semantics;  // empty: can be loaded and recorded; executing it is a fault that says so
  Resources resources = {};
};

// A kernel of a loaded module. Graphs and pending work may outlive the module: they keep the kernel, and executing it
// after its module was unloaded is a fault that says so.
struct LoadedKernel {
  std::shared_ptr<const Kernel> kernel;
  ObjectId id = 0;  // of the Function
  bool unloaded = false;
  int device = 0;  // that it was loaded for
};
using KernelRef = std::shared_ptr<const LoadedKernel>;

}  // namespace model
