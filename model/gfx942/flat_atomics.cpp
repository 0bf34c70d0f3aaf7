// Atomic operations on flat and global memory.
//
// Lanes act in order. With sc0 the destination gets the old value from memory; without sc0 the decoder sets no
// destination.
#include "model/gfx942/atomic_ops.h"
#include "model/gfx942/reach.h"
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

template <class T>
T data_of(const Row* rows, u32 lane) {
  if constexpr (kWide<T>) {
    return from_bits<T>(rows[0].lane[lane], rows[1].lane[lane]);
  } else {
    return from_bits<T>(rows[0].lane[lane], 0);
  }
}

// The memory that the operation of lane `lane` changes; null after a fault.
template <class T>
std::byte* atomic_place(Wave& w, const Addresses& addresses, Reach& reach, u32 lane) {
  if (addresses[lane] % sizeof(T) == 0) return addresses.at(reach, lane, sizeof(T));
  w.raise(FaultKind::kMisaligned, "an atomic operation needs an aligned address", lane, addresses[lane]);
  return nullptr;
}

// `change` gives a lane's memory its new value, from the rows of the data operand.
template <class T, class Change>
void change_memory(Wave& w, const Instruction& in, const Change& change) {
  const Addresses addresses(w, in);
  Reach reach(w, true);
  const Row* data = &w.row(in.op[2]);
  Result<T> before;
  for (u64 left = w.exec(); left != 0; left &= left - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    std::byte* at = atomic_place<T>(w, addresses, reach, lane);
    if (at == nullptr) return;
    before.set(lane, modify<T>(at, [&](T m) { return change(m, data, lane); }));
  }
  if (in.op[0].kind != Kind::kNone) before.store(w, in, 0);
}

template <class T, auto F>
void run_atomic(Wave& w, const Instruction& in) {
  change_memory<T>(w, in, [](T m, const Row* data, u32 lane) { return static_cast<T>(F(m, data_of<T>(data, lane))); });
}

// The data is the new value, then the value to compare with.
template <class T>
void run_compare_swap(Wave& w, const Instruction& in) {
  change_memory<T>(w, in, [](T m, const Row* data, u32 lane) {
    return m == data_of<T>(data + (kWide<T> ? 2 : 1), lane) ? data_of<T>(data, lane) : m;
  });
}

struct Family {
  Table& table;
  std::string prefix;
  Segment segment;

  void add(const std::string& name, Type type, Handler handler) const {
    Semantics s;
    s.handler = handler;
    s.shape = Shape::kAtomic;
    s.segment = segment;
    s.types[0] = type;
    table.add(prefix + name, s);
  }
};

template <class U, class I>
void add_integers(const Family& f, const std::string& width) {
  constexpr Type kType = kTypeOf<U>;
  f.add("swap" + width, kType, &run_atomic<U, kSwap>);
  f.add("cmpswap" + width, kType, &run_compare_swap<U>);
  f.add("add" + width, kType, &run_atomic<U, kAtomicAdd>);
  f.add("sub" + width, kType, &run_atomic<U, kAtomicSub>);
  f.add("smin" + width, kType, &run_atomic<I, kAtomicMin>);
  f.add("umin" + width, kType, &run_atomic<U, kAtomicMin>);
  f.add("smax" + width, kType, &run_atomic<I, kAtomicMax>);
  f.add("umax" + width, kType, &run_atomic<U, kAtomicMax>);
  f.add("and" + width, kType, &run_atomic<U, kAtomicAnd>);
  f.add("or" + width, kType, &run_atomic<U, kAtomicOr>);
  f.add("xor" + width, kType, &run_atomic<U, kAtomicXor>);
  f.add("inc" + width, kType, &run_atomic<U, kAtomicInc>);
  f.add("dec" + width, kType, &run_atomic<U, kAtomicDec>);
}

}  // namespace

void add_vector_atomics(Table& table) {
  for (const Family& f :
       {Family{table, "flat_atomic_", Segment::kFlat}, Family{table, "global_atomic_", Segment::kGlobal}}) {
    add_integers<u32, i32>(f, "");
    add_integers<u64, i64>(f, "_x2");
    f.add("add_f32", Type::kF32, &run_atomic<float, kAtomicAdd>);
    f.add("add_f64", Type::kF64, &run_atomic<double, kAtomicAdd>);
    f.add("min_f64", Type::kF64, &run_atomic<double, kAtomicFloatMin>);
    f.add("max_f64", Type::kF64, &run_atomic<double, kAtomicFloatMax>);
    f.add("pk_add_f16", Type::kU32, &run_atomic<u32, kAtomicPackedAddF16>);
    f.add("pk_add_bf16", Type::kU32, &run_atomic<u32, kAtomicPackedAddBf16>);
  }
}

}  // namespace gfx942
