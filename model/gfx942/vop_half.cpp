// Vector half-precision operations, and operations that mix halves and floats.
//
// Sums, products and roots are computed in single precision and rounded once more, which is exact: single precision has
// more than twice the bits of a half, plus two. Fused operations go through double (float_ops.h).
#include "model/gfx942/division.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

constexpr auto kFused = [](Half a, Half b, Half c) { return fused(a, b, c); };

// A function on floats as a function on halves.
template <auto F>
constexpr auto kUnary = [](Half a) { return to_half(F(to_float(a))); };
template <auto F>
constexpr auto kBinary = [](Half a, Half b) { return to_half(F(to_float(a), to_float(b))); };
template <auto F>
constexpr auto kTernary = [](Half a, Half b, Half c) { return to_half(F(to_float(a), to_float(b), to_float(c))); };

void add_arithmetic(Table& t) {
  t.add("v_add_f16", vector<kBinary<([](float a, float b) { return a + b; })>>());
  t.add("v_sub_f16", vector<kBinary<([](float a, float b) { return a - b; })>>());
  t.add("v_subrev_f16", vector<kBinary<([](float a, float b) { return b - a; })>>());
  t.add("v_mul_f16", vector<kBinary<([](float a, float b) { return a * b; })>>());
  t.add("v_min_f16", vector<kBinary<([](float a, float b) { return minimum(a, b); })>>());
  t.add("v_max_f16", vector<kBinary<([](float a, float b) { return maximum(a, b); })>>());
  t.add("v_min3_f16", vector<kTernary<([](float a, float b, float c) { return minimum(minimum(a, b), c); })>>());
  t.add("v_max3_f16", vector<kTernary<([](float a, float b, float c) { return maximum(maximum(a, b), c); })>>());
  t.add("v_med3_f16", vector<kTernary<([](float a, float b, float c) { return median(a, b, c); })>>());
  t.add("v_fma_f16", vector<kFused>());
  for (const char* name : {"v_fmac_f16", "v_fmaak_f16", "v_fmamk_f16"}) {
    Semantics s = std::string_view(name) == "v_fmac_f16" ? accumulating<kFused>() : vector<kFused>();
    s.preserve_high = true;
    t.add(name, s);
  }
}

// The special cases of a division. The quotient was computed in single precision.
constexpr auto kDivFixup = [](Half q, Half d, Half n) {
  return to_half(div_fixup(to_float(q), to_float(d), to_float(n)));
};

void add_functions(Table& t) {
  t.add("v_div_fixup_f16", vector<kDivFixup>());
  t.add("v_rcp_f16", vector<kUnary<([](float a) { return 1.0f / a; })>>());
  t.add("v_sqrt_f16", vector<kUnary<([](float a) { return std::sqrt(a); })>>());
  t.add("v_rsq_f16", vector<kUnary<([](float a) { return 1.0f / std::sqrt(a); })>>());
  t.add("v_exp_f16", vector<kUnary<([](float a) { return std::exp2(a); })>>());
  t.add("v_log_f16", vector<kUnary<([](float a) { return std::log2(a); })>>());
  t.add("v_sin_f16", vector<kUnary<([](float a) { return static_cast<float>(sine_of_turns(a)); })>>());
  t.add("v_cos_f16", vector<kUnary<([](float a) { return static_cast<float>(cosine_of_turns(a)); })>>());
  t.add("v_floor_f16", vector<kUnary<([](float a) { return std::floor(a); })>>());
  t.add("v_ceil_f16", vector<kUnary<([](float a) { return std::ceil(a); })>>());
  t.add("v_trunc_f16", vector<kUnary<([](float a) { return std::trunc(a); })>>());
  t.add("v_rndne_f16", vector<kUnary<([](float a) { return std::nearbyint(a); })>>());
  // 0x3bff is the largest half below one.
  t.add("v_fract_f16",
        vector<kUnary<([](float a) { return std::fmin(a - std::floor(a), to_float(Half{0x3bff})); })>>());
  t.add("v_frexp_mant_f16", vector<kUnary<([](float a) { return mantissa_of(a); })>>());
  t.add("v_frexp_exp_i16_f16", vector<([](Half a) { return static_cast<i16>(exponent_of(to_float(a))); })>());
  t.add("v_ldexp_f16", vector<([](Half a, i16 n) { return to_half(std::ldexp(to_float(a), n)); })>());
}

// One source of v_fma_mix: a float, or the half of a register that op_sel picks.
class Mixed {
 public:
  Mixed(Wave& w, const Instruction& in, u32 source)
      : operand_(in.op[source + 1]),
        is_half_((in.op_sel_hi >> source & 1) != 0),
        shift_((in.op_sel >> source & 1) != 0 ? 16 : 0) {
    Operand whole = operand_;
    whole.plain = true;
    values_ = read_lanes(w, in, whole, 0, scratch_);
  }
  Mixed(const Mixed&) = delete;
  Mixed& operator=(const Mixed&) = delete;

  [[nodiscard]] float operator[](u32 lane) const {
    const u32 bits = values_[lane];
    float x = is_half_ ? to_float(Half{static_cast<u16>(bits >> shift_)}) : std::bit_cast<float>(bits);
    if (operand_.absolute) x = std::fabs(x);
    return operand_.negate ? -x : x;
  }

 private:
  Operand operand_;
  bool is_half_;
  u32 shift_;
  Row scratch_;
  const u32* values_ = nullptr;
};

template <class R>
void run_mix(Wave& w, const Instruction& in) {
  const Mixed a(w, in, 0);
  const Mixed b(w, in, 1);
  const Mixed c(w, in, 2);
  Result<R> result;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    if constexpr (std::is_same_v<R, Half>) {
      const double product = static_cast<double>(a[lane]) * static_cast<double>(b[lane]);
      result.set(lane, to_half(add_to_odd(product, static_cast<double>(c[lane]))));
    } else {
      result.set(lane, fused(a[lane], b[lane], c[lane]));
    }
  }
  result.store(w, in, 0);
}

void add_mixes(Table& t) {
  Semantics s;
  s.packed = true;
  s.types = {Type::kF32, Type::kF32, Type::kF32, Type::kF32};
  s.handler = &run_mix<float>;
  t.add("v_fma_mix_f32", s);
  s.handler = &run_mix<Half>;
  s.types[0] = Type::kF16;
  s.preserve_high = true;
  t.add("v_fma_mixlo_f16", s);
  s.destination_high = true;
  t.add("v_fma_mixhi_f16", s);
}

}  // namespace

void add_vector_halves(Table& table) {
  add_arithmetic(table);
  add_functions(table);
  add_mixes(table);
}

}  // namespace gfx942
