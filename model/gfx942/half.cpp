// Half precision from and to wider floats, by the definition of the format.
//
// One conversion does all: it rounds a double, which holds every float exactly. NaN becomes a quiet NaN that keeps the
// sign and the high payload bits.
#include <bit>
#include <cmath>

#include "model/gfx942/types.h"

namespace gfx942 {
namespace {

constexpr int kMantissa = 10;
constexpr int kLowestExponent = -14;  // of a normal number
constexpr u16 kInfinity = 0x7c00;

Half special(double d) {
  const u64 bits = std::bit_cast<u64>(d);
  const u16 sign = static_cast<u16>(bits >> 48 & 0x8000);
  if (std::isinf(d)) return {static_cast<u16>(sign | kInfinity)};
  return {static_cast<u16>(sign | 0x7e00 | (bits >> 42 & 0x1ff))};
}

Half round_to_half(double d, bool toward_zero) {
  if (!std::isfinite(d)) return special(d);
  const u16 sign = std::signbit(d) ? 0x8000 : 0;
  const double magnitude = std::fabs(d);
  if (magnitude == 0) return {sign};
  int exponent = 0;
  (void)std::frexp(magnitude, &exponent);
  // The weight of the last place that a half has at this magnitude.
  const int place = std::max(exponent - 1, kLowestExponent) - kMantissa;
  const double units = std::ldexp(magnitude, -place);
  const double whole = toward_zero ? std::trunc(units) : std::nearbyint(units);
  const double value = std::ldexp(whole, place);
  if (value >= 65536.0) return {static_cast<u16>(sign | (toward_zero ? 0x7bff : kInfinity))};
  if (value < 0x1p-14) return {static_cast<u16>(sign | static_cast<u16>(value * 0x1p24))};
  const u64 bits = std::bit_cast<u64>(value);
  const u64 biased = (bits >> 52) - 1023 + 15;
  return {static_cast<u16>(sign | biased << kMantissa | (bits >> 42 & 0x3ff))};
}

}  // namespace

float to_float(Half h) {
  const u32 sign = static_cast<u32>(h.bits & 0x8000) << 16;
  const u32 exponent = h.bits >> kMantissa & 0x1f;
  const u32 mantissa = h.bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float value = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -value : value;
}

Half to_half(double d) {
  return round_to_half(d, false);
}

Half to_half(float f) {
  return round_to_half(static_cast<double>(f), false);
}

Half to_half_toward_zero(float f) {
  return round_to_half(static_cast<double>(f), true);
}

}  // namespace gfx942
