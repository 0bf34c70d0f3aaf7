// Counts calls of operator new in this executable, except the calls that the test skips.
#pragma once

#include <cstdint>

namespace allocation {

// Replaces operator new by one that adds one to `count` whenever `skip` (if any) is not set.
struct Counter {
  explicit Counter(const bool* skip);
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter();
  [[nodiscard]] static std::uint64_t count();
};

}  // namespace allocation
