// Common names of hip/agent: integers, sizes, sets of agents, and conversions between addresses and pointers.
#pragma once

#include <cstdint>

namespace agent {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

inline constexpr u32 kWavesPerComputeUnit = 32;
inline constexpr u64 kPage = 4096;
inline constexpr u64 kLargePage = u64{2} << 20;
inline constexpr u64 kHostMemoryBytes = u64{64} << 30;     // that the host's pools report
inline constexpr u64 kDeviceMemoryBytes = u64{192} << 30;  // of each agent at most; pages exist once touched

// Agent 0 is the host, 1 to 8 are the gfx942s. A set of agents has bit n for agent n.
inline constexpr u32 kHostAgent = 0;
using AgentSet = u32;
[[nodiscard]] constexpr AgentSet agent_bit(u32 agent) {
  return AgentSet{1} << agent;
}

[[nodiscard]] constexpr u64 round_up(u64 value, u64 multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
[[nodiscard]] inline u64 address_of(const void* p) {
  return reinterpret_cast<u64>(p);
}
template <class T = void>
[[nodiscard]] T* pointer_to(u64 address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace agent
