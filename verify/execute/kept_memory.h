// verify::KeptMemory: allocations of a runtime that one program's arenas had and the next program's arenas get.
//
// On a GPU an allocation of pinned or device memory and its release cost up to milliseconds in the driver, which lets
// one process in at a time; a program cannot tell whether its arena was allocated for it, because the harness writes
// every buffer before a program reads it. Sizes are rounded up to powers of two, so that few sizes serve all programs.
//
// Promises: what take() gives was given by give() with the same kind and at least as many bytes, and is given once.
// Does not free anything: the process that asked the runtime ends with it. One thread at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <optional>

#include "hip/relocation.h"
#include "verify/program/program.h"

namespace verify {

class KeptMemory {
 public:
  struct Kind {
    MemoryKind memory = MemoryKind::kDevice;
    Id device = 0;
    auto operator<=>(const Kind&) const = default;
  };
  // The bytes to ask the runtime for where `bytes` are needed.
  [[nodiscard]] static std::uint64_t rounded(std::uint64_t bytes) { return std::bit_ceil(bytes); }

  [[nodiscard]] std::optional<hip::DeviceAddress> take(Kind kind, std::uint64_t bytes) {
    const auto found = kept_.find({kind, rounded(bytes)});
    if (found == kept_.end()) return {};
    const hip::DeviceAddress address = found->second;
    kept_.erase(found);
    return address;
  }
  void give(Kind kind, std::uint64_t bytes, hip::DeviceAddress address) {
    kept_.emplace(Size{kind, rounded(bytes)}, address);
  }

 private:
  struct Size {
    Kind kind;
    std::uint64_t bytes = 0;
    auto operator<=>(const Size&) const = default;
  };
  std::multimap<Size, hip::DeviceAddress> kept_;
};

}  // namespace verify
