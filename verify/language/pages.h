// Sizes and rights of mapped memory, as programs name them.
#pragma once

#include <cstdint>

namespace verify {

inline constexpr std::uint64_t kPageBytes = 4096;  // the granularity of AMD's runtimes and of the model
inline constexpr std::uint32_t kMaxPages = 64;     // of a range, and of physical memory

enum class AccessRight : std::uint8_t { kNone, kRead, kReadWrite };

}  // namespace verify
