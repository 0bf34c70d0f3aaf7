// Vector integer operations of 16 bits, and dot products of small integers.
//
// A 16-bit result zeroes the other half of its register on this generation, unless op_sel places it in the high half.
#include <algorithm>
#include <limits>

#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

constexpr u16 low(u32 x) {
  return static_cast<u16>(x);
}

constexpr u16 saturate(i32 x) {
  return static_cast<u16>(std::clamp<i32>(x, std::numeric_limits<i16>::min(), std::numeric_limits<i16>::max()));
}

template <class T>
constexpr T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// The sum of products of fields of `Width` bits, plus c.
template <u32 Width, bool Signed>
constexpr i64 whole_dot(u32 a, u32 b, u32 c) {
  i64 sum = Signed ? i64{static_cast<i32>(c)} : i64{c};
  for (u32 shift = 0; shift < 32; shift += Width) {
    const u32 x = a >> shift << (32 - Width);
    const u32 y = b >> shift << (32 - Width);
    if constexpr (Signed) {
      sum += i64{static_cast<i32>(x) >> (32 - Width)} * (static_cast<i32>(y) >> (32 - Width));
    } else {
      sum += i64{x >> (32 - Width)} * (y >> (32 - Width));
    }
  }
  return sum;
}
template <u32 Width, bool Signed>
constexpr u32 dot(u32 a, u32 b, u32 c) {
  return static_cast<u32>(whole_dot<Width, Signed>(a, b, c));
}
// The same with `clamp`.
template <u32 Width, bool Signed>
constexpr u32 saturated_dot(u32 a, u32 b, u32 c) {
  using T = std::conditional_t<Signed, i32, u32>;
  const i64 low = std::numeric_limits<T>::min();
  const i64 high = std::numeric_limits<T>::max();
  return static_cast<u32>(std::clamp(whole_dot<Width, Signed>(a, b, c), low, high));
}

void add_arithmetic(Table& t) {
  t.add("v_add_u16", vector<([](u16 a, u16 b) { return low(u32{a} + b); })>());
  t.add("v_sub_u16", vector<([](u16 a, u16 b) { return low(u32{a} - b); })>());
  t.add("v_subrev_u16", vector<([](u16 a, u16 b) { return low(u32{b} - a); })>());
  t.add("v_add_u16 clamp", vector<([](u16 a, u16 b) { return low(std::min(u32{a} + b, 0xffffu)); })>());
  t.add("v_sub_u16 clamp", vector<([](u16 a, u16 b) { return low(a < b ? 0u : u32{a} - b); })>());
  t.add("v_add_i16", vector<([](u16 a, u16 b) { return low(u32{a} + b); })>());
  t.add("v_sub_i16", vector<([](u16 a, u16 b) { return low(u32{a} - b); })>());
  t.add("v_add_i16 clamp", vector<([](i16 a, i16 b) { return saturate(a + b); })>());
  t.add("v_sub_i16 clamp", vector<([](i16 a, i16 b) { return saturate(a - b); })>());
  t.add("v_mul_lo_u16", vector<([](u16 a, u16 b) { return low(u32{a} * b); })>());
  for (const char* name : {"v_mad_legacy_u16", "v_mad_legacy_i16", "v_mad_u16", "v_mad_i16"}) {
    t.add(name, vector<([](u16 a, u16 b, u16 c) { return low(u32{a} * b + c); })>());
  }
  t.add("v_mad_u32_u16", vector<([](u16 a, u16 b, u32 c) { return u32{a} * b + c; })>());
  t.add("v_mad_i32_i16", vector<([](i16 a, i16 b, u32 c) { return static_cast<u32>(i32{a} * b) + c; })>());
  t.add("v_lshlrev_b16", vector<([](u16 n, u16 a) { return low(u32{a} << (n & 15)); })>());
  t.add("v_lshrrev_b16", vector<([](u16 n, u16 a) { return low(u32{a} >> (n & 15)); })>());
  t.add("v_ashrrev_i16", vector<([](u16 n, i16 a) { return static_cast<i16>(a >> (n & 15)); })>());
}

void add_orders(Table& t) {
  t.add("v_min_u16", vector<([](u16 a, u16 b) { return std::min(a, b); })>());
  t.add("v_max_u16", vector<([](u16 a, u16 b) { return std::max(a, b); })>());
  t.add("v_min_i16", vector<([](i16 a, i16 b) { return std::min(a, b); })>());
  t.add("v_max_i16", vector<([](i16 a, i16 b) { return std::max(a, b); })>());
  t.add("v_min3_u16", vector<([](u16 a, u16 b, u16 c) { return std::min(std::min(a, b), c); })>());
  t.add("v_max3_u16", vector<([](u16 a, u16 b, u16 c) { return std::max(std::max(a, b), c); })>());
  t.add("v_min3_i16", vector<([](i16 a, i16 b, i16 c) { return std::min(std::min(a, b), c); })>());
  t.add("v_max3_i16", vector<([](i16 a, i16 b, i16 c) { return std::max(std::max(a, b), c); })>());
  t.add("v_med3_u16", vector<([](u16 a, u16 b, u16 c) { return median(a, b, c); })>());
  t.add("v_med3_i16", vector<([](i16 a, i16 b, i16 c) { return median(a, b, c); })>());
}

void add_dots(Table& t) {
  t.add("v_dot2_u32_u16", vector<([](u32 a, u32 b, u32 c) { return dot<16, false>(a, b, c); })>());
  t.add("v_dot2_i32_i16", vector<([](u32 a, u32 b, u32 c) { return dot<16, true>(a, b, c); })>());
  t.add("v_dot4_u32_u8", vector<([](u32 a, u32 b, u32 c) { return dot<8, false>(a, b, c); })>());
  t.add("v_dot4_i32_i8", vector<([](u32 a, u32 b, u32 c) { return dot<8, true>(a, b, c); })>());
  t.add("v_dot8_u32_u4", vector<([](u32 a, u32 b, u32 c) { return dot<4, false>(a, b, c); })>());
  t.add("v_dot8_i32_i4", vector<([](u32 a, u32 b, u32 c) { return dot<4, true>(a, b, c); })>());
  t.add("v_dot2_u32_u16 clamp", vector<([](u32 a, u32 b, u32 c) { return saturated_dot<16, false>(a, b, c); })>());
  t.add("v_dot2_i32_i16 clamp", vector<([](u32 a, u32 b, u32 c) { return saturated_dot<16, true>(a, b, c); })>());
  t.add("v_dot4_u32_u8 clamp", vector<([](u32 a, u32 b, u32 c) { return saturated_dot<8, false>(a, b, c); })>());
  t.add("v_dot4_i32_i8 clamp", vector<([](u32 a, u32 b, u32 c) { return saturated_dot<8, true>(a, b, c); })>());
  t.add("v_dot8_u32_u4 clamp", vector<([](u32 a, u32 b, u32 c) { return saturated_dot<4, false>(a, b, c); })>());
  t.add("v_dot8_i32_i4 clamp", vector<([](u32 a, u32 b, u32 c) { return saturated_dot<4, true>(a, b, c); })>());
  t.add("v_dot2c_i32_i16", accumulating<([](u32 a, u32 b, u32 c) { return dot<16, true>(a, b, c); })>());
  t.add("v_dot4c_i32_i8", accumulating<([](u32 a, u32 b, u32 c) { return dot<8, true>(a, b, c); })>());
  t.add("v_dot8c_i32_i4", accumulating<([](u32 a, u32 b, u32 c) { return dot<4, true>(a, b, c); })>());
}

}  // namespace

void add_vector_short_integers(Table& table) {
  add_arithmetic(table);
  add_orders(table);
  add_dots(table);
}

}  // namespace gfx942
