// Vector integer operations of 32 and 64 bits, and operations with a carry.
//
// The names are the ISA document's; each function computes one lane of the operation. Shift amounts use their low bits
// only, as the document says.
#include <algorithm>
#include <limits>

#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

constexpr u32 low24(u32 x) {
  return x & 0xffffff;
}
constexpr i32 signed24(i32 x) {
  return static_cast<i32>(static_cast<u32>(x) << 8) >> 8;
}
constexpr u32 wrap(i32 x) {
  return static_cast<u32>(x);
}

template <class T>
constexpr T median(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

constexpr u32 count_leading(u32 x) {
  return x == 0 ? ~0u : static_cast<u32>(std::countl_zero(x));
}
// The number of the first bit from the top that differs from the sign; -1 when no bit does.
constexpr u32 count_leading_sign(u32 x) {
  return count_leading(static_cast<i32>(x) < 0 ? ~x : x);
}

constexpr u32 reverse_bits(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}

constexpr u32 saturate(i64 x) {
  return static_cast<u32>(std::clamp<i64>(x, std::numeric_limits<i32>::min(), std::numeric_limits<i32>::max()));
}

// v_perm_b32: selectors 0-3 take a byte of the second source, 4-7 a byte of the first, 8-11 give a replicated sign, 12
// gives zero, all others give ones.
constexpr u32 permuted_byte(u64 both, u32 selector) {
  if (selector < 8) return static_cast<u32>(both >> selector * 8) & 0xff;
  if (selector < 12) return (both >> ((selector - 8) * 16 + 15) & 1) != 0 ? 0xff : 0;
  return selector == 12 ? 0 : 0xff;
}

constexpr u32 sum_of_differences(u32 a, u32 b, u32 width) {
  u32 sum = 0;
  const u32 mask = width == 32 ? ~0u : (1u << width) - 1;
  for (u32 shift = 0; shift < 32; shift += width) {
    const u32 x = a >> shift & mask;
    const u32 y = b >> shift & mask;
    sum += x > y ? x - y : y - x;
  }
  return sum;
}

void add_moves_and_bits(Table& t) {
  t.add("v_mov_b32", vector<([](u32 a) { return a; })>());
  t.add("v_mov_b64", vector<([](u64 a) { return a; })>());
  t.add("v_accvgpr_read_b32", vector<([](u32 a) { return a; })>());
  t.add("v_accvgpr_write_b32", vector<([](u32 a) { return a; })>());
  t.add("v_accvgpr_mov_b32", vector<([](u32 a) { return a; })>());
  t.add("v_not_b32", vector<([](u32 a) { return ~a; })>());
  t.add("v_bfrev_b32", vector<([](u32 a) { return reverse_bits(a); })>());
  t.add("v_ffbh_u32", vector<([](u32 a) { return count_leading(a); })>());
  t.add("v_ffbl_b32", vector<([](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countr_zero(a)); })>());
  t.add("v_ffbh_i32", vector<([](u32 a) { return count_leading_sign(a); })>());
  t.add("v_bcnt_u32_b32", vector<([](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; })>());
  t.add("v_and_b32", vector<([](u32 a, u32 b) { return a & b; })>());
  t.add("v_or_b32", vector<([](u32 a, u32 b) { return a | b; })>());
  t.add("v_xor_b32", vector<([](u32 a, u32 b) { return a ^ b; })>());
  t.add("v_xnor_b32", vector<([](u32 a, u32 b) { return ~(a ^ b); })>());
  t.add("v_and_or_b32", vector<([](u32 a, u32 b, u32 c) { return (a & b) | c; })>());
  t.add("v_or3_b32", vector<([](u32 a, u32 b, u32 c) { return a | b | c; })>());
  t.add("v_bfi_b32", vector<([](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); })>());
  t.add("v_bfm_b32", vector<([](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); })>());
  t.add("v_bfe_u32", vector<([](u32 a, u32 b, u32 c) { return a >> (b & 31) & ((1u << (c & 31)) - 1); })>());
  t.add("v_bfe_i32", vector<([](u32 a, u32 b, u32 c) {
          const u32 width = c & 31;
          if (width == 0) return 0u;
          const u32 field = a >> (b & 31) & ((1u << width) - 1);
          const u32 sign = 1u << (width - 1);
          return (field ^ sign) - sign;
        })>());
  t.add("v_perm_b32", vector<([](u32 a, u32 b, u32 c) {
          const u64 both = static_cast<u64>(a) << 32 | b;
          u32 result = 0;
          for (u32 shift = 0; shift < 32; shift += 8) result |= permuted_byte(both, c >> shift & 0xff) << shift;
          return result;
        })>());
  t.add("v_alignbit_b32",
        vector<([](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> (c & 31)); })>());
  t.add(
      "v_alignbyte_b32",
      vector<([](u32 a, u32 b, u32 c) { return static_cast<u32>((static_cast<u64>(a) << 32 | b) >> 8 * (c & 3)); })>());
}

void add_shifts(Table& t) {
  t.add("v_lshlrev_b32", vector<([](u32 n, u32 a) { return a << (n & 31); })>());
  t.add("v_lshrrev_b32", vector<([](u32 n, u32 a) { return a >> (n & 31); })>());
  t.add("v_ashrrev_i32", vector<([](u32 n, i32 a) { return a >> (n & 31); })>());
  t.add("v_lshlrev_b64", vector<([](u32 n, u64 a) { return a << (n & 63); })>());
  t.add("v_lshrrev_b64", vector<([](u32 n, u64 a) { return a >> (n & 63); })>());
  t.add("v_ashrrev_i64", vector<([](u32 n, i64 a) { return a >> (n & 63); })>());
  t.add("v_lshl_add_u32", vector<([](u32 a, u32 n, u32 b) { return (a << (n & 31)) + b; })>());
  t.add("v_add_lshl_u32", vector<([](u32 a, u32 b, u32 n) { return (a + b) << (n & 31); })>());
  t.add("v_lshl_or_b32", vector<([](u32 a, u32 n, u32 b) { return (a << (n & 31)) | b; })>());
  t.add("v_lshl_add_u64", vector<([](u64 a, u32 n, u64 b) { return (a << (n & 7)) + b; })>());
}

void add_arithmetic(Table& t) {
  t.add("v_add_u32", vector<([](u32 a, u32 b) { return a + b; })>());
  t.add("v_sub_u32", vector<([](u32 a, u32 b) { return a - b; })>());
  t.add("v_subrev_u32", vector<([](u32 a, u32 b) { return b - a; })>());
  t.add("v_add_u32 clamp", vector<([](u32 a, u32 b) { return a + b < a ? ~0u : a + b; })>());
  t.add("v_sub_u32 clamp", vector<([](u32 a, u32 b) { return a < b ? 0u : a - b; })>());
  t.add("v_subrev_u32 clamp", vector<([](u32 a, u32 b) { return b < a ? 0u : b - a; })>());
  t.add("v_add_i32", vector<([](u32 a, u32 b) { return a + b; })>());
  t.add("v_sub_i32", vector<([](u32 a, u32 b) { return a - b; })>());
  t.add("v_add_i32 clamp", vector<([](i32 a, i32 b) { return saturate(i64{a} + b); })>());
  t.add("v_sub_i32 clamp", vector<([](i32 a, i32 b) { return saturate(i64{a} - b); })>());
  t.add("v_add3_u32", vector<([](u32 a, u32 b, u32 c) { return a + b + c; })>());
  t.add("v_xad_u32", vector<([](u32 a, u32 b, u32 c) { return (a ^ b) + c; })>());
  t.add("v_min_u32", vector<([](u32 a, u32 b) { return std::min(a, b); })>());
  t.add("v_max_u32", vector<([](u32 a, u32 b) { return std::max(a, b); })>());
  t.add("v_min_i32", vector<([](i32 a, i32 b) { return std::min(a, b); })>());
  t.add("v_max_i32", vector<([](i32 a, i32 b) { return std::max(a, b); })>());
  t.add("v_min3_u32", vector<([](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); })>());
  t.add("v_max3_u32", vector<([](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); })>());
  t.add("v_min3_i32", vector<([](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); })>());
  t.add("v_max3_i32", vector<([](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); })>());
  t.add("v_med3_u32", vector<([](u32 a, u32 b, u32 c) { return median(a, b, c); })>());
  t.add("v_med3_i32", vector<([](i32 a, i32 b, i32 c) { return median(a, b, c); })>());
  // The absolute differences. The Vega document says signed ones, which is acknowledged as an error of the document.
  t.add("v_sad_u32", vector<([](u32 a, u32 b, u32 c) { return sum_of_differences(a, b, 32) + c; })>());
  t.add("v_sad_u16", vector<([](u32 a, u32 b, u32 c) { return sum_of_differences(a, b, 16) + c; })>());
  t.add("v_sad_u8", vector<([](u32 a, u32 b, u32 c) { return sum_of_differences(a, b, 8) + c; })>());
  t.add("v_sad_hi_u8", vector<([](u32 a, u32 b, u32 c) { return (sum_of_differences(a, b, 8) << 16) + c; })>());
}

void add_products(Table& t) {
  t.add("v_mul_lo_u32", vector<([](u32 a, u32 b) { return a * b; })>());
  t.add("v_mul_hi_u32", vector<([](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); })>());
  t.add("v_mul_hi_i32", vector<([](i32 a, i32 b) { return static_cast<u32>(i64{a} * b >> 32); })>());
  t.add("v_mul_u32_u24", vector<([](u32 a, u32 b) { return low24(a) * low24(b); })>());
  t.add("v_mul_hi_u32_u24", vector<([](u32 a, u32 b) { return static_cast<u32>(u64{low24(a)} * low24(b) >> 32); })>());
  t.add("v_mul_i32_i24", vector<([](i32 a, i32 b) { return wrap(signed24(a)) * wrap(signed24(b)); })>());
  t.add("v_mul_hi_i32_i24",
        vector<([](i32 a, i32 b) { return static_cast<u32>(i64{signed24(a)} * signed24(b) >> 32); })>());
  t.add("v_mad_u32_u24", vector<([](u32 a, u32 b, u32 c) { return low24(a) * low24(b) + c; })>());
  t.add("v_mad_i32_i24", vector<([](i32 a, i32 b, u32 c) { return wrap(signed24(a)) * wrap(signed24(b)) + c; })>());
}

struct Carried {
  u32 value;
  bool carry;
};

// [value, carry out, a, b], then the carry in when Extended.
template <auto F, bool Extended>
void run_carry(Wave& w, const Instruction& in) {
  const Lanes<u32> a(w, in, 2);
  const Lanes<u32> b(w, in, 3);
  const u64 carry_in = Extended ? scalar64(w, in.op[4]) : 0;
  Row carries;
  expand_mask(carry_in, carries);
  Result<u32> result;
  u8 flags[kLanes];
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const Carried c = F(a[lane], b[lane], carries.lane[lane] & 1);
    result.set(lane, c.value);
    flags[lane] = c.carry ? 1 : 0;
  }
  const u64 lanes = written_lanes(w, in);
  result.store(w, in, 0);
  set_scalar64(w, in.op[1], pack_bits(flags) & lanes);
}

template <auto F, bool Extended>
Semantics carry() {
  Semantics s;
  s.handler = &run_carry<F, Extended>;
  s.types = {Type::kU32, Type::kU64, Type::kU32, Type::kU32, Extended ? Type::kU64 : Type::kNone};
  s.first_source = 2;
  return s;
}

constexpr auto kAdd = [](u32 a, u32 b, u32 c) {
  const u64 sum = u64{a} + b + c;
  return Carried{static_cast<u32>(sum), (sum >> 32 & 1) != 0};
};
constexpr auto kSubtract = [](u32 a, u32 b, u32 c) { return Carried{a - b - c, u64{a} < u64{b} + c}; };
constexpr auto kSubtractReversed = [](u32 a, u32 b, u32 c) { return Carried{b - a - c, u64{b} < u64{a} + c}; };

void add_carries(Table& t) {
  t.add("v_add_co_u32", carry<kAdd, false>());
  t.add("v_sub_co_u32", carry<kSubtract, false>());
  t.add("v_subrev_co_u32", carry<kSubtractReversed, false>());
  t.add("v_addc_co_u32", carry<kAdd, true>());
  t.add("v_subb_co_u32", carry<kSubtract, true>());
  t.add("v_subbrev_co_u32", carry<kSubtractReversed, true>());
}

// v_mad_u64_u32, v_mad_i64_i32: [value, overflow, a, b, c].
template <class T, class Wide>
void run_multiply_add_wide(Wave& w, const Instruction& in) {
  const Lanes<T> a(w, in, 2);
  const Lanes<T> b(w, in, 3);
  const Lanes<u64> c(w, in, 4);
  Result<u64> result;
  u8 overflow[kLanes];
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u64 product = static_cast<u64>(static_cast<Wide>(a[lane]) * static_cast<Wide>(b[lane]));
    const u64 sum = product + c[lane];
    const u64 carried = sum < product ? 1 : 0;
    // Signed: the sum overflowed if both terms have the opposite sign of the sum.
    const u64 left = (product ^ sum) & (c[lane] ^ sum);
    overflow[lane] = static_cast<u8>(std::is_signed_v<T> ? left >> 63 : carried);
    result.set(lane, sum);
  }
  const u64 lanes = written_lanes(w, in);
  result.store(w, in, 0);
  set_scalar64(w, in.op[1], pack_bits(overflow) & lanes);
}

void add_wide_products(Table& t) {
  Semantics s;
  s.handler = &run_multiply_add_wide<u32, u64>;
  s.types = {Type::kU64, Type::kU64, Type::kU32, Type::kU32, Type::kU64};
  t.add("v_mad_u64_u32", s);
  s.handler = &run_multiply_add_wide<i32, i64>;
  s.types = {Type::kU64, Type::kU64, Type::kI32, Type::kI32, Type::kI64};
  t.add("v_mad_i64_i32", s);
}

}  // namespace

void add_vector_integers(Table& table) {
  add_moves_and_bits(table);
  add_shifts(table);
  add_arithmetic(table);
  add_products(table);
  add_carries(table);
  add_wide_products(table);
}

}  // namespace gfx942
