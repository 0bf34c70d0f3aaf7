// model::abi::DeviceImage: a code object in the model's memory, whose kernels the gfx942 interpreter runs.
//
// Promises: every access of a kernel is checked by the model's address space (a stale pointer is a fault that names
// kernel, instruction, address and former owner); code and constants cannot be written; variables are memory like any
// other, found by name. Kernels get the implicit arguments of code object versions 4 to 6: grid and block sizes, the
// hostcall buffer (device printf), and for cooperative launches the counter of a grid-wide barrier.
//
// Race detection knows which bytes a launch read and wrote, to the byte. It does not know that an access was atomic (an
// atomic update counts as a write, so kernels of unordered streams that update the same counter are reported), nor
// anything about order within one launch.
//
// Not supported: device-side malloc, images, the default queue of a device, a heap, printf of -mprintf-kind=buffered.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/abi/hostcall.h"
#include "model/kernel.h"

namespace model::abi {

inline constexpr std::uint64_t kInstructionBudget = std::uint64_t{1} << 34;  // of one launch

class DeviceImage {
 public:
  struct Variable {
    Address address = 0;
    std::size_t size = 0;
  };

  // Allocates memory for the segments of `code` and copies them. kOutOfMemory, kInvalidImage, or kNotSupported where
  // this build has no interpreter; `why` is for people.
  [[nodiscard]] static Status load(AddressSpace& memory, int device, std::span<const std::byte> code,
                                   std::shared_ptr<HostcallService> hostcalls, std::shared_ptr<DeviceImage>* out,
                                   std::string* why);
  ~DeviceImage();
  DeviceImage(const DeviceImage&) = delete;
  DeviceImage& operator=(const DeviceImage&) = delete;

  // Gives the memory back; no kernel of the image may run afterwards.
  void unload(AddressSpace& memory);

  [[nodiscard]] std::optional<Variable> find_variable(std::string_view name) const;

  // Returns the function that executes the named kernel. The function keeps `image` alive, but not the image's memory.
  [[nodiscard]] static Semantics semantics(const std::shared_ptr<DeviceImage>& image, const std::string& kernel);
  [[nodiscard]] Resources resources(std::string_view kernel) const;

  struct Loaded;  // for the implementation

 private:
  DeviceImage();
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace model::abi
