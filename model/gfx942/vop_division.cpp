// v_div_scale and v_div_fmas, which use VCC besides their operands.
#include "model/gfx942/division.h"
#include "model/gfx942/float_ops.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

// [value, VCC, x, denominator, numerator].
template <class T>
void run_div_scale(Wave& w, const Instruction& in) {
  const Lanes<T> x(w, in, 2);
  const Lanes<T> denominator(w, in, 3);
  const Lanes<T> numerator(w, in, 4);
  Result<T> result;
  u8 undo[kLanes];
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const Scaled<T> scaled = div_scale(x[lane], denominator[lane], numerator[lane]);
    result.set(lane, scaled.value);
    undo[lane] = scaled.undo ? 1 : 0;
  }
  const u64 lanes = written_lanes(w, in);
  result.store(w, in, 0);
  set_scalar64(w, in.op[1], pack_bits(undo) & lanes);
}

// A fused multiply-add, scaled back where VCC says so.
template <class T>
void run_div_fmas(Wave& w, const Instruction& in) {
  const Lanes<T> a(w, in, 1);
  const Lanes<T> b(w, in, 2);
  const Lanes<T> c(w, in, 3);
  const u64 undo = w.pair(kVcc);
  Result<T> result;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    constexpr auto kFused = [](T x, T y, T z) { return fused(x, y, z); };
    const bool scaled = (undo >> lane & 1) != 0;
    result.set(lane, scaled ? fused_unscaled(a[lane], b[lane], c[lane], kFused) : fused(a[lane], b[lane], c[lane]));
  }
  result.store(w, in, 0);
}

template <class T>
void add_division(Table& t, const std::string& suffix) {
  constexpr Type type = kTypeOf<T>;
  Semantics s;
  s.handler = &run_div_scale<T>;
  s.types = {type, Type::kU64, type, type, type};
  t.add("v_div_scale_" + suffix, s);
  s.handler = &run_div_fmas<T>;
  s.types = {type, type, type, type};
  t.add("v_div_fmas_" + suffix, s);
}

}  // namespace

void add_divisions(Table& table) {
  add_division<float>(table, "f32");
  add_division<double>(table, "f64");
}

}  // namespace gfx942
