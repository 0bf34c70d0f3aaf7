// Conversions between single precision and the 8-bit floats (float8.h).
//
// To 8 bits the result is rounded to nearest even, or, by the stochastic ones, the upper 20 (fp8) or 21 (bf8) bits of
// the second source are added to the lowest bits of the float, and the sum is rounded toward zero. Other bytes of the
// register stay.
//
// An open choice: where the result is a subnormal number, more bits of the float are lost than are added. The ISA
// document does not say whether the hardware adds more of them then.
#include <limits>

#include "model/gfx942/float8.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

bool saturates(const Wave& w) {
  constexpr u32 kFp16Overflow = 23;
  return (w.mode.bits >> kFp16Overflow & 1) != 0;
}

u64 two_floats(float low, float high) {
  return std::bit_cast<u32>(low) | static_cast<u64>(std::bit_cast<u32>(high)) << 32;
}

// Two floats to 16 bits, which op_sel puts into the low or the high half.
template <Float8 F>
void run_pack(Wave& w, const Instruction& in) {
  const Lanes<float> a(w, in, 1);
  const Lanes<float> b(w, in, 2);
  const bool saturate = saturates(w);
  Result<u16> result;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 low = to_float8(F, a[lane], Rounding8::kNearestEven, saturate);
    const u32 high = to_float8(F, b[lane], Rounding8::kNearestEven, saturate);
    result.set(lane, static_cast<u16>(low | high << 8));
  }
  result.store(w, in, 0);
}

template <Float8 F>
u8 stochastic(float x, u32 random, bool saturate) {
  if (!std::isfinite(x)) return kFloat8Nan;
  const u32 sum = std::bit_cast<u32>(x) + (random >> (32 - (23 - F.mantissa)));
  // The sum of a number near the largest float is no longer finite: it is too large, not infinite.
  const float moved = std::bit_cast<float>(sum);
  const float finite = std::isfinite(moved) ? moved : std::copysign(std::numeric_limits<float>::max(), x);
  return to_float8(F, finite, Rounding8::kTowardZero, saturate);
}

// The third and fourth bit of op_sel are the number of the byte.
template <Float8 F>
void run_stochastic(Wave& w, const Instruction& in) {
  const Lanes<float> value(w, in, 1);
  const Lanes<u32> random(w, in, 2);
  const bool saturate = saturates(w);
  const u32 shift = 8u * (in.op_sel >> 2 & 3);
  Row result = w.row(in.op[0]);
  for (u32 lane = 0; lane < kLanes; ++lane) {
    u32& to = result.lane[lane];
    to = (to & ~(0xffu << shift)) | static_cast<u32>(stochastic<F>(value[lane], random[lane], saturate)) << shift;
  }
  commit(w, in, in.op[0], 0, result);
}

Semantics pack_entry(Handler handler) {
  Semantics s;
  s.handler = handler;
  s.types = {Type::kU16, Type::kF32, Type::kF32};
  s.preserve_high = true;
  return s;
}

Semantics stochastic_entry(Handler handler) {
  Semantics s;
  s.handler = handler;
  s.types = {Type::kU32, Type::kF32, Type::kU32};
  s.byte_select = true;
  return s;
}

}  // namespace

void add_small_floats(Table& t) {
  t.add("v_cvt_f32_fp8", vector<([](u32 x) { return kFp8Values[x & 0xff]; })>());
  t.add("v_cvt_f32_bf8", vector<([](u32 x) { return kBf8Values[x & 0xff]; })>());
  t.add("v_cvt_pk_f32_fp8",
        vector<([](u32 x) { return two_floats(kFp8Values[x & 0xff], kFp8Values[x >> 8 & 0xff]); })>());
  t.add("v_cvt_pk_f32_bf8",
        vector<([](u32 x) { return two_floats(kBf8Values[x & 0xff], kBf8Values[x >> 8 & 0xff]); })>());
  t.add("v_cvt_pk_fp8_f32", pack_entry(&run_pack<kFp8>));
  t.add("v_cvt_pk_bf8_f32", pack_entry(&run_pack<kBf8>));
  t.add("v_cvt_sr_fp8_f32", stochastic_entry(&run_stochastic<kFp8>));
  t.add("v_cvt_sr_bf8_f32", stochastic_entry(&run_stochastic<kBf8>));
}

}  // namespace gfx942
