// Float operations on one value that several formats share.
//
// fused() is an exact fused multiply-add of single precision without the instruction: the product of two floats is
// exact in double, and the sum is rounded to odd, so that the last rounding gives the same result as for the exact sum.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "model/gfx942/types.h"

namespace gfx942 {

// a + b rounded to odd: the exact sum if a double can hold it, else the neighbour with an odd last bit.
inline double add_to_odd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  const u64 bits = std::bit_cast<u64>(sum);
  const bool finite = (bits & 0x7ff0000000000000) != 0x7ff0000000000000;
  const bool adjust = finite && error != 0 && (bits & 1) == 0;
  const u64 step = (error > 0) == (sum > 0) ? 1 : ~u64{0};
  return std::bit_cast<double>(adjust ? bits + step : bits);
}

inline float fused(float a, float b, float c) {
  return static_cast<float>(add_to_odd(static_cast<double>(a) * static_cast<double>(b), static_cast<double>(c)));
}

inline double fused(double a, double b, double c) {
  return std::fma(a, b, c);
}

inline Half fused(Half a, Half b, Half c) {
  const double product = static_cast<double>(to_float(a)) * static_cast<double>(to_float(b));
  return to_half(add_to_odd(product, static_cast<double>(to_float(c))));
}

inline bool signalling(float x) {
  return std::isnan(x) && (std::bit_cast<u32>(x) >> 22 & 1) == 0;
}
inline bool signalling(double x) {
  return std::isnan(x) && (std::bit_cast<u64>(x) >> 51 & 1) == 0;
}

// If one value is a NaN, the other one is the result; -0 is below +0. A signalling NaN wins and becomes quiet (the IEEE
// mode that compute kernels start in).
template <class T>
T minimum(T a, T b) {
  if (signalling(a) || signalling(b)) return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
  if (signalling(a) || signalling(b)) return std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T>
T median(T a, T b, T c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) return minimum(minimum(a, b), c);
  return maximum(minimum(a, b), minimum(maximum(a, b), c));
}

// x - floor(x), below 1.
template <class T>
T fraction(T x) {
  const T below_one = std::nextafter(T{1}, T{0});
  const T f = x - std::floor(x);
  return f > below_one ? below_one : f;
}

// v_frexp_*: infinities and NaNs have the exponent 0 and are their own mantissa.
template <class T>
i32 exponent_of(T x) {
  if (!std::isfinite(x) || x == 0) return 0;
  int exponent = 0;
  (void)std::frexp(x, &exponent);
  return exponent;
}
template <class T>
T mantissa_of(T x) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  return std::frexp(x, &exponent);
}

// The biased exponent field.
inline i32 biased_exponent(float x) {
  return static_cast<i32>(std::bit_cast<u32>(x) >> 23 & 0xff);
}
inline i32 biased_exponent(double x) {
  return static_cast<i32>(std::bit_cast<u64>(x) >> 52 & 0x7ff);
}

// Converts to an integer, toward zero. A value out of range saturates, a NaN becomes zero.
template <class I, class F>
I truncated(F x) {
  if (std::isnan(x)) return 0;
  constexpr F kAbove = static_cast<F>(u64{1} << (std::numeric_limits<I>::digits - 1)) * 2;
  if (x >= kAbove) return std::numeric_limits<I>::max();
  const F low = std::numeric_limits<I>::is_signed ? -kAbove : F{0};
  if (x <= low) return std::numeric_limits<I>::min();
  return static_cast<I>(x);
}

// The arguments of v_sin and v_cos are turns, not radians.
inline double sine_of_turns(double x) {
  return std::sin((x - std::floor(x)) * 6.283185307179586476925);
}
inline double cosine_of_turns(double x) {
  return std::cos((x - std::floor(x)) * 6.283185307179586476925);
}

}  // namespace gfx942
