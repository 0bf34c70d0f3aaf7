// Vector single-precision operations.
//
// Promises: IEEE results, rounded to nearest even; denormals as MODE says. The document's approximate operations (rcp,
// rsq, sqrt, exp, log, sin, cos: about one unit in the last place on the hardware, and exp and log flush denormals
// there) give the correctly rounded value, or the rounded result of <cmath> in double precision. Not promised: the sign
// and payload of a NaN result; other rounding modes (setting such a mode ends the launch).
#include "model/gfx942/division.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

constexpr auto kFused = [](float a, float b, float c) { return fused(a, b, c); };

float legacy_product(float a, float b) {
  return a == 0 || b == 0 ? 0.0f : a * b;
}

void add_arithmetic(Table& t) {
  t.add("v_add_f32", vector<([](float a, float b) { return a + b; })>());
  t.add("v_sub_f32", vector<([](float a, float b) { return a - b; })>());
  t.add("v_subrev_f32", vector<([](float a, float b) { return b - a; })>());
  t.add("v_mul_f32", vector<([](float a, float b) { return a * b; })>());
  t.add("v_mul_legacy_f32", vector<([](float a, float b) { return legacy_product(a, b); })>());
  t.add("v_fma_f32", vector<kFused>());
  t.add("v_fmac_f32", accumulating<kFused>());
  t.add("v_fmaak_f32", vector<kFused>());
  t.add("v_fmamk_f32", vector<kFused>());
  t.add("v_min_f32", vector<([](float a, float b) { return minimum(a, b); })>());
  t.add("v_max_f32", vector<([](float a, float b) { return maximum(a, b); })>());
  t.add("v_min3_f32", vector<([](float a, float b, float c) { return minimum(minimum(a, b), c); })>());
  t.add("v_max3_f32", vector<([](float a, float b, float c) { return maximum(maximum(a, b), c); })>());
  t.add("v_med3_f32", vector<([](float a, float b, float c) { return median(a, b, c); })>());
}

void add_roundings(Table& t) {
  t.add("v_fract_f32", vector<([](float a) { return fraction(a); })>());
  t.add("v_trunc_f32", vector<([](float a) { return std::trunc(a); })>());
  t.add("v_ceil_f32", vector<([](float a) { return std::ceil(a); })>());
  t.add("v_rndne_f32", vector<([](float a) { return std::nearbyint(a); })>());
  t.add("v_floor_f32", vector<([](float a) { return std::floor(a); })>());
  t.add("v_frexp_mant_f32", vector<([](float a) { return mantissa_of(a); })>());
  t.add("v_frexp_exp_i32_f32", vector<([](float a) { return exponent_of(a); })>());
  t.add("v_ldexp_f32", vector<([](float a, i32 n) { return std::ldexp(a, n); })>());
}

void add_approximations(Table& t) {
  t.add("v_rcp_f32", vector<([](float a) { return 1.0f / a; })>());
  t.add("v_rcp_iflag_f32", vector<([](float a) { return 1.0f / a; })>());
  t.add("v_sqrt_f32", vector<([](float a) { return std::sqrt(a); })>());
  t.add("v_rsq_f32", vector<([](float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); })>());
  t.add("v_exp_f32", vector<([](float a) { return static_cast<float>(std::exp2(static_cast<double>(a))); })>());
  t.add("v_log_f32", vector<([](float a) { return static_cast<float>(std::log2(static_cast<double>(a))); })>());
  t.add("v_sin_f32", vector<([](float a) { return static_cast<float>(sine_of_turns(static_cast<double>(a))); })>());
  t.add("v_cos_f32", vector<([](float a) { return static_cast<float>(cosine_of_turns(static_cast<double>(a))); })>());
}

}  // namespace

void add_vector_floats(Table& table) {
  add_arithmetic(table);
  add_roundings(table);
  add_approximations(table);
  table.add("v_div_fixup_f32", vector<([](float q, float d, float n) { return div_fixup(q, d, n); })>());
}

}  // namespace gfx942
