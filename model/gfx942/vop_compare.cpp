// Vector comparisons: v_cmp_* and v_cmpx_*, for every type, and v_cmp_class_*.
//
// The result has a bit for each active lane; the bits of inactive lanes are zero. On this generation v_cmpx writes both
// its destination and EXEC.
#include <string>

#include "model/gfx942/float_ops.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

// The operations by name. The comparisons o and u test whether both values are numbers.
struct False {
  template <class T>
  bool operator()(T, T) const {
    return false;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct LessEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
struct LessGreater {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b || a > b;
  }
};
struct Ordered {
  template <class T>
  bool operator()(T a, T b) const {
    return a == a && b == b;
  }
};
template <class Op>
struct Not {
  template <class T>
  bool operator()(T a, T b) const {
    return !Op{}(a, b);
  }
};

inline float comparable(Half x) {
  return to_float(x);
}
template <class T>
T comparable(T x) {
  return x;
}

void write_mask(Wave& w, const Instruction& in, const u8 (&flags)[kLanes], bool to_exec) {
  const u64 mask = pack_bits(flags) & written_lanes(w, in);
  set_scalar64(w, in.op[0], mask);
  if (to_exec) w.set_pair(kExec, mask);
}

template <class Op, class T, bool ToExec>
void run_compare(Wave& w, const Instruction& in) {
  const Lanes<T> a(w, in, 1);
  const Lanes<T> b(w, in, 2);
  u8 flags[kLanes];
  for (u32 lane = 0; lane < kLanes; ++lane) {
    flags[lane] = Op{}(comparable(a[lane]), comparable(b[lane])) ? 1 : 0;
  }
  write_mask(w, in, flags, ToExec);
}

template <class Op, class T>
void add_one(Table& t, const std::string& name) {
  Semantics s;
  s.types = {Type::kU64, kTypeOf<T>, kTypeOf<T>};
  s.handler = &run_compare<Op, T, false>;
  t.add("v_cmp_" + name, s);
  s.handler = &run_compare<Op, T, true>;
  t.add("v_cmpx_" + name, s);
}

template <class T>
void add_integer(Table& t, const std::string& type) {
  add_one<False, T>(t, "f_" + type);
  add_one<Less, T>(t, "lt_" + type);
  add_one<Equal, T>(t, "eq_" + type);
  add_one<LessEqual, T>(t, "le_" + type);
  add_one<Greater, T>(t, "gt_" + type);
  add_one<Not<Equal>, T>(t, "ne_" + type);
  add_one<GreaterEqual, T>(t, "ge_" + type);
  add_one<Not<False>, T>(t, "t_" + type);
}

// The classes of v_cmp_class, one bit each, in the document's order.
template <class T>
u32 class_of(T x, bool signalling) {
  if (std::isnan(x)) return signalling ? 1 : 2;
  const bool negative = std::signbit(x);
  switch (std::fpclassify(x)) {
    case FP_INFINITE:
      return negative ? 1u << 2 : 1u << 9;
    case FP_NORMAL:
      return negative ? 1u << 3 : 1u << 8;
    case FP_SUBNORMAL:
      return negative ? 1u << 4 : 1u << 7;
    default:
      return negative ? 1u << 5 : 1u << 6;
  }
}
u32 class_bits(float x) {
  return class_of(x, (std::bit_cast<u32>(x) & 0x400000) == 0);
}
u32 class_bits(double x) {
  return class_of(x, (std::bit_cast<u64>(x) >> 51 & 1) == 0);
}
u32 class_bits(Half x) {
  const bool denormal = (x.bits & 0x7c00) == 0 && (x.bits & 0x3ff) != 0;
  if (denormal) return (x.bits & 0x8000) != 0 ? 1u << 4 : 1u << 7;
  return class_of(to_float(x), (x.bits & 0x200) == 0);
}

template <class T, bool ToExec>
void run_class(Wave& w, const Instruction& in) {
  const Lanes<T> a(w, in, 1);
  const Lanes<u32> classes(w, in, 2);
  u8 flags[kLanes];
  for (u32 lane = 0; lane < kLanes; ++lane) flags[lane] = (class_bits(a[lane]) & classes[lane]) != 0 ? 1 : 0;
  write_mask(w, in, flags, ToExec);
}

template <class T>
void add_float(Table& t, const std::string& type) {
  add_one<False, T>(t, "f_" + type);
  add_one<Less, T>(t, "lt_" + type);
  add_one<Equal, T>(t, "eq_" + type);
  add_one<LessEqual, T>(t, "le_" + type);
  add_one<Greater, T>(t, "gt_" + type);
  add_one<LessGreater, T>(t, "lg_" + type);
  add_one<GreaterEqual, T>(t, "ge_" + type);
  add_one<Ordered, T>(t, "o_" + type);
  add_one<Not<Ordered>, T>(t, "u_" + type);
  add_one<Not<GreaterEqual>, T>(t, "nge_" + type);
  add_one<Not<LessGreater>, T>(t, "nlg_" + type);
  add_one<Not<Greater>, T>(t, "ngt_" + type);
  add_one<Not<LessEqual>, T>(t, "nle_" + type);
  add_one<Not<Equal>, T>(t, "neq_" + type);
  add_one<Not<Less>, T>(t, "nlt_" + type);
  add_one<Not<False>, T>(t, "tru_" + type);
  Semantics s;
  s.types = {Type::kU64, kTypeOf<T>, Type::kU32};
  s.handler = &run_class<T, false>;
  t.add("v_cmp_class_" + type, s);
  s.handler = &run_class<T, true>;
  t.add("v_cmpx_class_" + type, s);
}

}  // namespace

void add_compares(Table& table) {
  add_integer<u16>(table, "u16");
  add_integer<i16>(table, "i16");
  add_integer<u32>(table, "u32");
  add_integer<i32>(table, "i32");
  add_integer<u64>(table, "u64");
  add_integer<i64>(table, "i64");
  add_float<Half>(table, "f16");
  add_float<float>(table, "f32");
  add_float<double>(table, "f64");
}

}  // namespace gfx942
