// The basic types of this folder: fixed-width integers, half precision, and one row of lanes.
//
// Half holds the bits of an IEEE binary16; conversions round to nearest even and keep denormals.
#pragma once

#include <cstdint>

namespace gfx942 {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

inline constexpr u32 kLanes = 64;

// One 32-bit register of all lanes.
struct alignas(64) Row {
  u32 lane[kLanes];
};

struct Half {
  u16 bits = 0;
};

[[nodiscard]] float to_float(Half h);
[[nodiscard]] Half to_half(float f);
[[nodiscard]] Half to_half(double d);
[[nodiscard]] Half to_half_toward_zero(float f);

// The type of an operand. It decides how constants are read and the meaning of neg, abs and clamp.
enum class Type : u8 { kNone, kU16, kI16, kF16, kU32, kI32, kF32, kU64, kI64, kF64 };

[[nodiscard]] constexpr bool is_float(Type t) {
  return t == Type::kF16 || t == Type::kF32 || t == Type::kF64;
}
[[nodiscard]] constexpr bool is_wide(Type t) {
  return t == Type::kU64 || t == Type::kI64 || t == Type::kF64;
}
[[nodiscard]] constexpr bool is_short(Type t) {
  return t == Type::kU16 || t == Type::kI16 || t == Type::kF16;
}

template <class T>
inline constexpr Type kTypeOf = Type::kNone;
template <>
inline constexpr Type kTypeOf<u16> = Type::kU16;
template <>
inline constexpr Type kTypeOf<i16> = Type::kI16;
template <>
inline constexpr Type kTypeOf<Half> = Type::kF16;
template <>
inline constexpr Type kTypeOf<u32> = Type::kU32;
template <>
inline constexpr Type kTypeOf<i32> = Type::kI32;
template <>
inline constexpr Type kTypeOf<float> = Type::kF32;
template <>
inline constexpr Type kTypeOf<u64> = Type::kU64;
template <>
inline constexpr Type kTypeOf<i64> = Type::kI64;
template <>
inline constexpr Type kTypeOf<double> = Type::kF64;

}  // namespace gfx942
