// The project's device kernels, compiled for the host: the semantics that the model gives to the code objects.
//
// The one source is kernels.inc. For the host every pointer is an hg::Ptr that holds the address bits of the simulated
// machine and reaches memory only through a HostMemory, which checks bounds and records the accesses. A kernel runs
// its whole grid in one call (grid-stride loops with one work item), in the order of the elements.
//
// Argument layouts are derived from the C++ parameter types (natural alignment, as the AMDGPU kernel ABI packs them);
// the tests hold them against the metadata of the code object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hg {

// The memory of a kernel's host semantics. Implemented by the model; one range per call.
class HostMemory {
 public:
  virtual ~HostMemory() = default;
  // The bytes behind [address, address + size), for reading or writing; null when the access is not legal. After a null
  // the kernel's remaining accesses read zero and write nowhere (they do not call access(), and the kernel soon stops),
  // and the implementation reports the fault.
  virtual std::byte* access(std::uint64_t address, std::size_t size, bool write) = 0;
};

// Memory of this process: a device address is a host address.
class ThisProcess final : public HostMemory {
 public:
  std::byte* access(std::uint64_t address, std::size_t, bool) override {
    return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
};

// One argument in the packed block.
struct HostArgument {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool pointer =
      false;  // the argument itself is a pointer; pointers inside by-value structs are in HostKernel::pointers
};

struct HostKernel {
  std::string_view name;         // as in the code object
  std::uint32_t argument_bytes;  // of the explicit arguments, packed
  // Runs the whole grid. `arguments` is the packed block, at least argument_bytes long.
  void (*run)(std::span<const std::byte> arguments, HostMemory& memory);
  std::span<const HostArgument> arguments;  // in the order of the parameters
  std::span<const std::uint32_t> pointers;  // offsets of every 8-byte pointer in the block, by-value structs included
};

[[nodiscard]] std::span<const HostKernel> host_kernels();

}  // namespace hg
