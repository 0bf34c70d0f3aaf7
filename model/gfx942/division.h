// The three helpers of IEEE division: v_div_scale, v_div_fmas and v_div_fixup, for float and double.
//
// They keep the Newton steps of a division away from overflow and denormals, and correct the special cases. The
// thresholds are the ISA document's.
#pragma once

#include "model/gfx942/float_ops.h"

namespace gfx942 {

template <class T>
struct DivisionLimits;
template <>
struct DivisionLimits<float> {
  static constexpr i32 kSpread = 96;  // exponents this far apart: the quotient nears the largest number
  static constexpr i32 kScale = 64;   // the exponent of v_div_scale's factor
  static constexpr i32 kTinyNumerator = 23;
  static constexpr i32 kUnderflow = -150;
};
template <>
struct DivisionLimits<double> {
  static constexpr i32 kSpread = 768;
  static constexpr i32 kScale = 128;
  static constexpr i32 kTinyNumerator = 53;
  static constexpr i32 kUnderflow = -1075;
};

template <class T>
struct Scaled {
  T value;
  bool undo;  // VCC: v_div_fmas has to scale back
};

template <class T>
bool denormal(T x) {
  return std::fpclassify(x) == FP_SUBNORMAL;
}

template <class T>
bool same_bits(T a, T b) {
  return a == b && std::signbit(a) == std::signbit(b);
}

// `x` is the value to scale: the denominator or the numerator, passed a second time.
template <class T>
Scaled<T> div_scale(T x, T denominator, T numerator) {
  using L = DivisionLimits<T>;
  if (numerator == 0 || denominator == 0) return {std::numeric_limits<T>::quiet_NaN(), false};
  const bool is_denominator = same_bits(x, denominator);
  const bool is_numerator = same_bits(x, numerator);
  const T up = std::ldexp(x, L::kScale);
  if (biased_exponent(numerator) - biased_exponent(denominator) >= L::kSpread) return {is_denominator ? up : x, true};
  if (denormal(denominator)) return {up, false};
  const bool tiny_reciprocal = denormal(T{1} / denominator);
  const bool tiny_quotient = denormal(numerator / denominator);
  const T down = std::ldexp(x, -L::kScale);
  // Scaled down, unlike in the document: scaling up would overflow the denominator, which is large here.
  if (tiny_reciprocal && tiny_quotient) return {is_denominator ? down : x, true};
  if (tiny_reciprocal) return {down, false};
  if (tiny_quotient) return {is_numerator ? up : x, true};
  if (biased_exponent(numerator) <= L::kTinyNumerator) return {up, false};
  return {x, false};
}

// a * b + c, the last step of a division, scaled back and rounded once. A large quotient was made small by its scaled
// denominator, a small one large by its numerator; `c` is the quotient so far. When the result is denormal, `value` was
// rounded before: if that put it half way between two results, the rest that this rounding lost decides.
template <class T, class Fused>
T fused_unscaled(T a, T b, T c, Fused fused_multiply_add) {
  using N = std::numeric_limits<T>;
  constexpr i32 kScale = DivisionLimits<T>::kScale;
  const T value = fused_multiply_add(a, b, c);
  if (biased_exponent(c) > N::max_exponent - 1) return std::ldexp(value, kScale);
  const T result = std::ldexp(value, -kScale);
  const T half_a_step = std::ldexp(T{1}, N::min_exponent - N::digits - 1 + kScale);
  const T rest = fused_multiply_add(a, b, c - value);
  const bool tie = std::fabs(value - std::ldexp(result, kScale)) == half_a_step;
  if (!tie || rest == 0) return result;
  return std::ldexp(value + (rest > 0 ? half_a_step : -half_a_step), -kScale);
}

template <class T>
T div_fixup(T quotient, T denominator, T numerator) {
  using L = DivisionLimits<T>;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T infinity = std::numeric_limits<T>::infinity();
  const bool negative = std::signbit(denominator) != std::signbit(numerator);
  const auto with_sign = [negative](T magnitude) { return negative ? -magnitude : magnitude; };
  if (std::isnan(numerator)) return numerator;
  if (std::isnan(denominator)) return denominator;
  if (denominator == 0 && numerator == 0) return -nan;
  if (std::isinf(denominator) && std::isinf(numerator)) return -nan;
  if (denominator == 0 || std::isinf(numerator)) return with_sign(infinity);
  if (std::isinf(denominator) || numerator == 0) return with_sign(T{0});
  if (biased_exponent(numerator) - biased_exponent(denominator) < L::kUnderflow) return with_sign(T{0});
  // A NaN although the operands are finite: the steps before overflowed.
  if (std::isnan(quotient)) return with_sign(infinity);
  return with_sign(std::fabs(quotient));
}

}  // namespace gfx942
