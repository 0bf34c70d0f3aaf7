// Numbers from a seed; the contract is in the header.
#include "hip/agent/schedule.h"

#include <algorithm>
#include <chrono>

namespace agent {
namespace {

// The finaliser of splitmix64: every bit of the input reaches every bit of the output.
u64 mix(u64 x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9;
  x ^= x >> 27;
  x *= 0x94d049bb133111eb;
  return x ^ x >> 31;
}

constexpr std::chrono::milliseconds kNap{1};  // a stop is noticed after this long
constexpr u64 kGolden = 0x9e3779b97f4a7c15;

}  // namespace

void Schedule::configure(u64 seed, u32 max_delay_us, u64 max_delays) {
  seed_.store(seed, std::memory_order_relaxed);
  max_delay_us_.store(max_delay_us, std::memory_order_relaxed);
  constexpr u64 kNoBound = u64{1} << 62;
  delays_left_.store(static_cast<i64>(max_delays == 0 ? kNoBound : std::min(max_delays, kNoBound)),
                     std::memory_order_relaxed);
}

u64 Schedule::Stream::next() {
  return mix(mix(schedule_.seed_.load(std::memory_order_relaxed) + kGolden * (who_ + 1)) + kGolden * ++count_);
}

u32 Schedule::Stream::choose(u32 choices) {
  if (choices <= 1 || !schedule_.on()) return 0;
  return static_cast<u32>(next() >> 32) % choices;
}

void Schedule::Stream::delay(const hip::sync::Atomic<bool>& stop) {
  const u32 longest = schedule_.max_delay_us_.load(std::memory_order_relaxed);
  if (longest == 0 || !schedule_.on()) return;
  const u64 number = next();
  if ((number & 1) == 0 || schedule_.delays_left_.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
  const std::chrono::microseconds wait((number >> 32) % longest + 1);
  const auto end = std::chrono::steady_clock::now() + wait;
  for (auto now = std::chrono::steady_clock::now(); now < end && !stop.load(std::memory_order_relaxed);
       now = std::chrono::steady_clock::now()) {
    hip::sync::sleep_for(std::min<std::chrono::nanoseconds>(end - now, kNap));
  }
}

}  // namespace agent
