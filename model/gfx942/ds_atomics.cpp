// Atomic operations on LDS, with and without a result. Lanes act in order.
#include "model/gfx942/atomic_ops.h"
#include "model/gfx942/reach.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

template <class T>
T data_of(Wave& w, const Operand& o, u32 lane) {
  if constexpr (kWide<T>) {
    return from_bits<T>(w.row(o, 0).lane[lane], w.row(o, 1).lane[lane]);
  } else {
    return from_bits<T>(w.row(o, 0).lane[lane], 0);
  }
}

template <class T>
std::byte* atomic_place(Wave& w, Reach& reach, u64 offset, u32 lane) {
  if (offset % sizeof(T) == 0) return reach.local(lane, offset, sizeof(T));
  w.raise(FaultKind::kMisaligned, "an atomic operation needs an aligned LDS offset", lane, offset);
  return nullptr;
}

// [address, data], or [destination, address, data] when Returns. `change` gives a lane's memory its new value.
template <class T, bool Returns, class Change>
void change_memory(Wave& w, const Instruction& in, const Change& change) {
  Reach reach(w, true);
  const Row address = w.row(in.op[Returns ? 1 : 0]);
  Result<T> before;
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    std::byte* at = atomic_place<T>(w, reach, u64{address.lane[lane]} + static_cast<u64>(in.offset), lane);
    if (at == nullptr) return;
    before.set(lane, modify<T>(at, [&](T m) { return change(m, lane); }));
  }
  if constexpr (Returns) before.store(w, in, 0);
}

template <class T, auto F, bool Returns>
void run_atomic(Wave& w, const Instruction& in) {
  const Operand& data = in.op[Returns ? 2 : 1];
  change_memory<T, Returns>(w, in, [&](T m, u32 lane) { return static_cast<T>(F(m, data_of<T>(w, data, lane))); });
}

// Unlike for global memory, the value to compare with comes before the new value.
template <class T, bool Returns>
void run_compare_store(Wave& w, const Instruction& in) {
  const Operand* data = &in.op[Returns ? 2 : 1];
  change_memory<T, Returns>(
      w, in, [&](T m, u32 lane) { return m == data_of<T>(w, data[0], lane) ? data_of<T>(w, data[1], lane) : m; });
}

// "add" and "u32" make ds_add_u32 and ds_add_rtn_u32.
void add_pair(Table& t, const std::string& name, const std::string& type, Type result, Handler plain, Handler returns) {
  constexpr Type kW = Type::kU32;
  Semantics s;
  s.handler = plain;
  s.types = {kW, kW, kW};
  s.optional_operands = 1;
  t.add("ds_" + name + "_" + type, s);
  s.handler = returns;
  s.types = {result, kW, kW, kW};
  t.add("ds_" + name + "_rtn_" + type, s);
}

template <class T, auto F>
void add_one(Table& t, const std::string& name, const std::string& type) {
  add_pair(t, name, type, kTypeOf<T>, &run_atomic<T, F, false>, &run_atomic<T, F, true>);
}

template <class U, class I>
void add_integers(Table& t, const std::string& width) {
  add_one<U, kAtomicAdd>(t, "add", "u" + width);
  add_one<U, kAtomicSub>(t, "sub", "u" + width);
  add_one<U, kAtomicReverseSub>(t, "rsub", "u" + width);
  add_one<U, kAtomicInc>(t, "inc", "u" + width);
  add_one<U, kAtomicDec>(t, "dec", "u" + width);
  add_one<I, kAtomicMin>(t, "min", "i" + width);
  add_one<I, kAtomicMax>(t, "max", "i" + width);
  add_one<U, kAtomicMin>(t, "min", "u" + width);
  add_one<U, kAtomicMax>(t, "max", "u" + width);
  add_one<U, kAtomicAnd>(t, "and", "b" + width);
  add_one<U, kAtomicOr>(t, "or", "b" + width);
  add_one<U, kAtomicXor>(t, "xor", "b" + width);
  add_one<U, kSwap>(t, "wrxchg", "b" + width);
  add_pair(t, "cmpst", "b" + width, kTypeOf<U>, &run_compare_store<U, false>, &run_compare_store<U, true>);
}

}  // namespace

void add_local_atomics(Table& t) {
  add_integers<u32, i32>(t, "32");
  add_integers<u64, i64>(t, "64");
  add_one<float, kAtomicAdd>(t, "add", "f32");
  add_one<float, kAtomicFloatMin>(t, "min", "f32");
  add_one<float, kAtomicFloatMax>(t, "max", "f32");
  add_one<double, kAtomicAdd>(t, "add", "f64");
  add_one<double, kAtomicFloatMin>(t, "min", "f64");
  add_one<double, kAtomicFloatMax>(t, "max", "f64");
  add_one<u32, kAtomicPackedAddF16>(t, "pk_add", "f16");
  add_one<u32, kAtomicPackedAddBf16>(t, "pk_add", "bf16");
}

}  // namespace gfx942
