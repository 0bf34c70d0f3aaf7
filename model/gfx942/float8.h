// The 8-bit floats of gfx942: fp8 (4 bits of exponent, 3 of mantissa, bias 8) and bf8 (5, 2, bias 16), in the FNUZ
// form.
//
// There is no infinity and no negative zero; 0x80 is the only NaN. The largest numbers are 240 and 57344.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "model/gfx942/types.h"

namespace gfx942 {

struct Float8 {
  int mantissa;  // bits
  int bias;
};
inline constexpr Float8 kFp8{3, 8};
inline constexpr Float8 kBf8{2, 16};
inline constexpr u8 kFloat8Nan = 0x80;

constexpr float power_of_two(int exponent) {
  return std::bit_cast<float>(static_cast<u32>(exponent + 127) << 23);
}

constexpr float float8_value(Float8 f, u32 code) {
  if (code == kFloat8Nan) return std::bit_cast<float>(0x7fc00000u);
  const int exponent = static_cast<int>(code >> f.mantissa & (0x7fu >> f.mantissa));
  const int mantissa = static_cast<int>(code & ((1u << f.mantissa) - 1));
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << f.mantissa);
  const float value = static_cast<float>(whole) * power_of_two((exponent == 0 ? 1 : exponent) - f.bias - f.mantissa);
  return (code & 0x80) != 0 ? -value : value;
}

constexpr std::array<float, 256> float8_values(Float8 f) {
  std::array<float, 256> values{};
  for (u32 code = 0; code < 256; ++code) values[code] = float8_value(f, code);
  return values;
}
inline constexpr std::array<float, 256> kFp8Values = float8_values(kFp8);
inline constexpr std::array<float, 256> kBf8Values = float8_values(kBf8);

enum class Rounding8 : u8 { kNearestEven, kTowardZero };

// A finite number that is too large becomes the largest one (`saturate`, MODE.FP16_OVFL) or a NaN. Infinities and NaNs
// become the NaN. The document leaves open whether an infinity saturates.
inline u8 to_float8(Float8 f, float x, Rounding8 rounding, bool saturate) {
  if (!std::isfinite(x)) return kFloat8Nan;
  if (x == 0) return 0;
  const int lowest = 1 - f.bias;  // the exponent of the smallest normal number
  int exponent = 0;
  (void)std::frexp(x, &exponent);
  // The weight of the last place at this magnitude.
  const int place = std::max(exponent - 1, lowest) - f.mantissa;
  const float units = std::ldexp(std::fabs(x), -place);
  const float whole = rounding == Rounding8::kTowardZero ? std::trunc(units) : std::nearbyint(units);
  // Counts the numbers from 0 up: each place that is one higher has 2^mantissa of them.
  const int code = static_cast<int>(whole) + ((place + f.mantissa - lowest) << f.mantissa);
  if (code == 0) return 0;
  if (code > 0x7f) return saturate ? static_cast<u8>(x < 0 ? 0xff : 0x7f) : kFloat8Nan;
  return static_cast<u8>(code | (x < 0 ? 0x80 : 0));
}

}  // namespace gfx942
