// race::Clock: a vector clock over the few threads of a schedule.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "hip/sync/scheduler.h"

namespace verify::race {

using hip::sync::ThreadNumber;

// Masks have one bit for each thread, clocks one word.
inline constexpr std::size_t kMaxThreads = 8;
using Mask = std::uint8_t;

[[nodiscard]] constexpr Mask bit(ThreadNumber thread) {
  return static_cast<Mask>(1U << thread);
}

struct Clock {
  std::array<std::uint32_t, kMaxThreads> at{};

  void join(const Clock& other) {
    for (std::size_t i = 0; i < kMaxThreads; ++i) at[i] = std::max(at[i], other.at[i]);
  }
  // Whether the thread's operation at `time` is known here.
  [[nodiscard]] bool knows(ThreadNumber thread, std::uint32_t time) const { return time <= at[thread]; }
};

}  // namespace verify::race
