// Packed operations (VOP3P): two halves of a register, or two floats of a pair of registers.
//
// op_sel picks the half of each source for the low result, op_sel_hi the half for the high result; neg_lo and neg_hi
// negate that half. An inline integer fills 32 bits with its sign; an inline float has only a low half.
#include <algorithm>
#include <limits>

#include "model/gfx942/float_ops.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

// The half of source `source` that makes result half `part`.
template <class T>
T half_of(const Instruction& in, u32 source, u32 part, u32 bits) {
  const u32 chosen = (part == 0 ? in.op_sel : in.op_sel_hi) >> source & 1;
  u16 half = static_cast<u16>(bits >> 16 * chosen);
  const u32 negated = (part == 0 ? in.neg_lo : in.neg_hi) >> source & 1;
  if (std::is_same_v<T, Half> && negated != 0) half ^= 0x8000;
  return std::bit_cast<T>(half);
}

float clamped(float x) {
  return x > 0 ? std::min(x, 1.0f) : 0.0f;
}

template <auto F>
struct Packed {
  using S = SignatureOf<F>;
  using T = std::tuple_element_t<0, typename S::Arguments>;

  static u16 half(const Instruction& in, u32 part, const std::array<u32, 3>& bits) {
    const auto source = [&](u32 i) { return half_of<T>(in, i, part, bits[i]); };
    typename S::Return value{};
    if constexpr (S::kCount == 2) value = F(source(0), source(1));
    if constexpr (S::kCount == 3) value = F(source(0), source(1), source(2));
    if constexpr (std::is_same_v<typename S::Return, Half>) {
      if (in.clamp) value = to_half(clamped(to_float(value)));
    }
    return std::bit_cast<u16>(value);
  }

  static void run(Wave& w, const Instruction& in) {
    const Lanes<u32> a(w, in, 1);
    const Lanes<u32> b(w, in, 2);
    const Lanes<u32> c(w, in, S::kCount == 3 ? 3 : 2);
    Result<u32> result;
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const std::array<u32, 3> bits{a[lane], b[lane], c[lane]};
      result.set(lane, half(in, 0, bits) | static_cast<u32>(half(in, 1, bits)) << 16);
    }
    result.store(w, in, 0);
  }
};

template <auto F>
Semantics packed() {
  using S = SignatureOf<F>;
  using T = std::tuple_element_t<0, typename S::Arguments>;
  Semantics s;
  s.handler = &Packed<F>::run;
  s.packed = true;
  s.types = {Type::kU32, kTypeOf<T>, kTypeOf<T>, S::kCount == 3 ? kTypeOf<T> : Type::kNone};
  return s;
}

constexpr u16 low(u32 x) {
  return static_cast<u16>(x);
}
constexpr i16 saturate(i32 x) {
  return static_cast<i16>(std::clamp<i32>(x, std::numeric_limits<i16>::min(), std::numeric_limits<i16>::max()));
}

void add_integers(Table& t) {
  for (const char* sign : {"u16", "i16"}) {
    const std::string type(sign);
    t.add("v_pk_add_" + type, packed<([](u16 a, u16 b) { return low(u32{a} + b); })>());
    t.add("v_pk_sub_" + type, packed<([](u16 a, u16 b) { return low(u32{a} - b); })>());
    t.add("v_pk_mad_" + type, packed<([](u16 a, u16 b, u16 c) { return low(u32{a} * b + c); })>());
  }
  t.add("v_pk_add_u16 clamp", packed<([](u16 a, u16 b) { return low(std::min(u32{a} + b, 0xffffu)); })>());
  t.add("v_pk_sub_u16 clamp", packed<([](u16 a, u16 b) { return low(a < b ? 0u : u32{a} - b); })>());
  t.add("v_pk_add_i16 clamp", packed<([](i16 a, i16 b) { return saturate(a + b); })>());
  t.add("v_pk_sub_i16 clamp", packed<([](i16 a, i16 b) { return saturate(a - b); })>());
  t.add("v_pk_mul_lo_u16", packed<([](u16 a, u16 b) { return low(u32{a} * b); })>());
  t.add("v_pk_min_u16", packed<([](u16 a, u16 b) { return std::min(a, b); })>());
  t.add("v_pk_max_u16", packed<([](u16 a, u16 b) { return std::max(a, b); })>());
  t.add("v_pk_min_i16", packed<([](i16 a, i16 b) { return std::min(a, b); })>());
  t.add("v_pk_max_i16", packed<([](i16 a, i16 b) { return std::max(a, b); })>());
  t.add("v_pk_lshlrev_b16", packed<([](u16 n, u16 a) { return low(u32{a} << (n & 15)); })>());
  t.add("v_pk_lshrrev_b16", packed<([](u16 n, u16 a) { return low(u32{a} >> (n & 15)); })>());
  t.add("v_pk_ashrrev_i16", packed<([](i16 n, i16 a) { return static_cast<i16>(a >> (n & 15)); })>());
}

void add_halves(Table& t) {
  t.add("v_pk_add_f16", packed<([](Half a, Half b) { return to_half(to_float(a) + to_float(b)); })>());
  t.add("v_pk_mul_f16", packed<([](Half a, Half b) { return to_half(to_float(a) * to_float(b)); })>());
  t.add("v_pk_min_f16", packed<([](Half a, Half b) { return to_half(minimum(to_float(a), to_float(b))); })>());
  t.add("v_pk_max_f16", packed<([](Half a, Half b) { return to_half(maximum(to_float(a), to_float(b))); })>());
  t.add("v_pk_fma_f16", packed<([](Half a, Half b, Half c) { return fused(a, b, c); })>());
}

// The 32 bits of a 64-bit source that make result half `part`, as a float.
struct FloatSource {
  const u32* values;
  u32 flip;

  FloatSource(Wave& w, const Instruction& in, u32 source, u32 part, Row& scratch)
      : values(read_lanes(w, in, in.op[source + 1], (part == 0 ? in.op_sel : in.op_sel_hi) >> source & 1, scratch)),
        flip(((part == 0 ? in.neg_lo : in.neg_hi) >> source & 1) << 31) {}
  [[nodiscard]] float operator[](u32 lane) const { return std::bit_cast<float>(values[lane] ^ flip); }
};

// v_pk_*_f32: both halves are read before either is written.
template <auto F>
void run_packed_float(Wave& w, const Instruction& in) {
  constexpr u32 kCount = SignatureOf<F>::kCount;
  Row result[2];
  for (u32 part = 0; part < 2; ++part) {
    Row scratch[3];
    const FloatSource a(w, in, 0, part, scratch[0]);
    const FloatSource b(w, in, 1, part, scratch[1]);
    const FloatSource c(w, in, kCount == 3 ? 2 : 1, part, scratch[2]);
    for (u32 lane = 0; lane < kLanes; ++lane) {
      float value = 0;
      if constexpr (kCount == 3) value = F(a[lane], b[lane], c[lane]);
      if constexpr (kCount == 2) value = F(a[lane], b[lane]);
      result[part].lane[lane] = std::bit_cast<u32>(in.clamp ? clamped(value) : value);
    }
    if (w.mode.flush32) flush_denormals(Type::kF32, result[part], result[part]);
  }
  commit(w, in, in.op[0], 0, result[0]);
  commit(w, in, in.op[0], 1, result[1]);
}

template <auto F>
Semantics packed_float() {
  Semantics s;
  s.handler = &run_packed_float<F>;
  s.packed = true;
  // An inline constant is a float of 32 bits.
  s.types = {Type::kU64, Type::kF32, Type::kF32, SignatureOf<F>::kCount == 3 ? Type::kF32 : Type::kNone};
  return s;
}

// v_pk_mov_b32: only op_sel counts. It picks the low result from the first source, the high result from the second.
void run_packed_move(Wave& w, const Instruction& in) {
  Row scratch[2];
  Row result[2];
  for (u32 part = 0; part < 2; ++part) {
    const u32* values = read_lanes(w, in, in.op[1 + part], in.op_sel >> part & 1, scratch[part]);
    std::memcpy(result[part].lane, values, sizeof(Row));
  }
  commit(w, in, in.op[0], 0, result[0]);
  commit(w, in, in.op[0], 1, result[1]);
}

}  // namespace

void add_packed_operations(Table& table) {
  add_integers(table);
  add_halves(table);
  table.add("v_pk_add_f32", packed_float<([](float a, float b) { return a + b; })>());
  table.add("v_pk_mul_f32", packed_float<([](float a, float b) { return a * b; })>());
  table.add("v_pk_fma_f32", packed_float<([](float a, float b, float c) { return fused(a, b, c); })>());
  Semantics move;
  move.handler = &run_packed_move;
  move.packed = true;
  move.types = {Type::kU64, Type::kU32, Type::kU32};
  table.add("v_pk_mov_b32", move);
}

}  // namespace gfx942
