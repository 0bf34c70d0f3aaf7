// verify::KeptMemory: allocations of a runtime that one program held at its end and that a later program reuses.
//
// On a GPU an allocation of pinned or device memory and its release cost up to milliseconds in the driver, which serves
// one process at a time. A program cannot tell whether memory was allocated for it: the harness writes every buffer
// before a program reads it. Arenas round their size up to a power of two, so that few serve all programs.
//
// Promises: take() returns an allocation that give() got with the same kind and size, and returns it once. Frees
// nothing: the allocations last until their process ends. For one thread at a time.
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
  // The size of an arena that needs `bytes`.
  [[nodiscard]] static std::uint64_t rounded(std::uint64_t bytes) { return std::bit_ceil(bytes); }

  [[nodiscard]] std::optional<hip::DeviceAddress> take(Kind kind, std::uint64_t bytes) {
    const auto found = kept_.find({kind, bytes});
    if (found == kept_.end()) return {};
    const hip::DeviceAddress address = found->second;
    kept_.erase(found);
    return address;
  }
  void give(Kind kind, std::uint64_t bytes, hip::DeviceAddress address) { kept_.emplace(Size{kind, bytes}, address); }

 private:
  struct Size {
    Kind kind;
    std::uint64_t bytes = 0;
    auto operator<=>(const Size&) const = default;
  };
  std::multimap<Size, hip::DeviceAddress> kept_;
};

}  // namespace verify
