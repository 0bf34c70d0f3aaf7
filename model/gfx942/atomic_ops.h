// Read-modify-write operations, for global memory and LDS alike.
//
// The operations are atomic for the host's threads as well: a launch may share fine-grained memory with the host.
#pragma once

#include <algorithm>
#include <atomic>

#include "model/gfx942/float_ops.h"

namespace gfx942 {

// Replaces *at by f(*at) in one step and returns the old value.
template <class T, class F>
T modify(std::byte* at, F f) {
  std::atomic_ref<T> value(*reinterpret_cast<T*>(at));
  T old = value.load(std::memory_order_acquire);
  while (!value.compare_exchange_weak(old, f(old), std::memory_order_acq_rel, std::memory_order_acquire)) {}
  return old;
}

// The operations; `m` is the value in memory, `d` the data.
inline constexpr auto kSwap = [](auto /*m*/, auto d) { return d; };
inline constexpr auto kAtomicAdd = [](auto m, auto d) { return m + d; };
inline constexpr auto kAtomicSub = [](auto m, auto d) { return m - d; };
inline constexpr auto kAtomicReverseSub = [](auto m, auto d) { return d - m; };
inline constexpr auto kAtomicMin = [](auto m, auto d) { return std::min(m, d); };
inline constexpr auto kAtomicMax = [](auto m, auto d) { return std::max(m, d); };
inline constexpr auto kAtomicAnd = [](auto m, auto d) { return m & d; };
inline constexpr auto kAtomicOr = [](auto m, auto d) { return m | d; };
inline constexpr auto kAtomicXor = [](auto m, auto d) { return m ^ d; };
inline constexpr auto kAtomicInc = [](auto m, auto d) { return m >= d ? decltype(m){0} : m + 1; };
inline constexpr auto kAtomicDec = [](auto m, auto d) { return m == 0 || m > d ? d : m - 1; };
inline constexpr auto kAtomicFloatMin = [](auto m, auto d) { return minimum(m, d); };
inline constexpr auto kAtomicFloatMax = [](auto m, auto d) { return maximum(m, d); };

// Adds halves, of which 32 bits hold two.
inline constexpr auto kAtomicPackedAddF16 = [](u32 m, u32 d) {
  u32 result = 0;
  for (u32 shift = 0; shift < 32; shift += 16) {
    const Half a{static_cast<u16>(m >> shift)};
    const Half b{static_cast<u16>(d >> shift)};
    result |= static_cast<u32>(to_half(to_float(a) + to_float(b)).bits) << shift;
  }
  return result;
};

// The upper 16 bits of a float, rounded to nearest even.
inline u32 to_bfloat(float x) {
  const u32 bits = std::bit_cast<u32>(x);
  if (std::isnan(x)) return bits >> 16 | 0x40;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
inline constexpr auto kAtomicPackedAddBf16 = [](u32 m, u32 d) {
  u32 result = 0;
  for (u32 shift = 0; shift < 32; shift += 16) {
    const float a = std::bit_cast<float>((m >> shift & 0xffff) << 16);
    const float b = std::bit_cast<float>((d >> shift & 0xffff) << 16);
    result |= to_bfloat(a + b) << shift;
  }
  return result;
};

}  // namespace gfx942
