// Vector double-precision operations.
//
// The same promises as vop_float.cpp. v_rcp_f64 and v_rsq_f64 have about half of the bits on the hardware. Here
// v_rcp_f64 is rounded once and v_rsq_f64 twice, and the refinement steps of compilers hardly change the values.
#include "model/gfx942/division.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

constexpr auto kFused = [](double a, double b, double c) { return std::fma(a, b, c); };

// The bits of 2/pi after the binary point, the highest bits first. v_trig_preop_f64 takes 53 of them.
constexpr u64 kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};
constexpr u32 kTwoOverPiBits = 1201;

// Bits [from, from + 53) of 2/pi, counted from the point; zeroes behind the last bit that the operation knows.
u64 two_over_pi_bits(u32 from) {
  u64 bits = 0;
  for (u32 i = from; i < from + 53; ++i) {
    const bool bit = i < kTwoOverPiBits && (kTwoOverPi[i / 64] >> (63 - i % 64) & 1) != 0;
    bits = bits << 1 | (bit ? 1 : 0);
  }
  return bits;
}

// A segment of 2/pi, scaled for the argument reduction of large angles.
double trig_preop(double x, u32 segment) {
  const i32 exponent = biased_exponent(x);
  i32 shift = static_cast<i32>(segment & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  i32 scale = -53 - shift;
  if (exponent >= 1968) scale += 128;
  return std::ldexp(static_cast<double>(two_over_pi_bits(static_cast<u32>(shift))), scale);
}

void add_arithmetic(Table& t) {
  t.add("v_add_f64", vector<([](double a, double b) { return a + b; })>());
  t.add("v_mul_f64", vector<([](double a, double b) { return a * b; })>());
  t.add("v_min_f64", vector<([](double a, double b) { return minimum(a, b); })>());
  t.add("v_max_f64", vector<([](double a, double b) { return maximum(a, b); })>());
  t.add("v_fma_f64", vector<kFused>());
  t.add("v_fmac_f64", accumulating<kFused>());
  t.add("v_div_fixup_f64", vector<([](double q, double d, double n) { return div_fixup(q, d, n); })>());
  t.add("v_ldexp_f64", vector<([](double a, i32 n) { return std::ldexp(a, n); })>());
  t.add("v_trig_preop_f64", vector<([](double a, u32 segment) { return trig_preop(a, segment); })>());
}

}  // namespace

void add_vector_doubles(Table& t) {
  add_arithmetic(t);
  t.add("v_fract_f64", vector<([](double a) { return fraction(a); })>());
  t.add("v_trunc_f64", vector<([](double a) { return std::trunc(a); })>());
  t.add("v_ceil_f64", vector<([](double a) { return std::ceil(a); })>());
  t.add("v_rndne_f64", vector<([](double a) { return std::nearbyint(a); })>());
  t.add("v_floor_f64", vector<([](double a) { return std::floor(a); })>());
  t.add("v_frexp_mant_f64", vector<([](double a) { return mantissa_of(a); })>());
  t.add("v_frexp_exp_i32_f64", vector<([](double a) { return exponent_of(a); })>());
  t.add("v_rcp_f64", vector<([](double a) { return 1.0 / a; })>());
  t.add("v_sqrt_f64", vector<([](double a) { return std::sqrt(a); })>());
  t.add("v_rsq_f64", vector<([](double a) { return 1.0 / std::sqrt(a); })>());
}

}  // namespace gfx942
