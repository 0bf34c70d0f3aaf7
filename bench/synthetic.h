// Costs that cannot be had on this machine, made by keeping the thread busy. Every figure measured with such a cost is
// synthetic and says so.
#pragma once

#include <cstdint>

#include "hip/api/api.h"

namespace bench {

// Spends that much of the calling thread's processor time, the clock of the benchmarks: other threads do not count.
void spend(std::uint32_t microseconds);

// `inner`, except that making a stream takes that much of the calling thread's time on top. One such table at a time.
[[nodiscard]] hip::Api with_slow_streams(const hip::Api& inner, std::uint32_t microseconds);

}  // namespace bench
