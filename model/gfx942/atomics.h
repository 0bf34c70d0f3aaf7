// Atomic operations on memory, for every way to address it.
//
// Lanes act in order. With sc0 the destination gets the old value from memory; without sc0 the decoder sets no
// destination. `Places` gives the places of the lanes: `at` (null after a fault), the address, and `dropped` for a lane
// whose access a range check drops: its old value is 0.
#pragma once

#include "model/gfx942/atomic_ops.h"
#include "model/gfx942/reach.h"
#include "model/gfx942/valu.h"

namespace gfx942 {

template <class T>
T data_of(const Row* rows, u32 lane) {
  if constexpr (kWide<T>) {
    return from_bits<T>(rows[0].lane[lane], rows[1].lane[lane]);
  } else {
    return from_bits<T>(rows[0].lane[lane], 0);
  }
}

template <class Places>
struct Atomics {
  // The memory that the operation of lane `lane` changes; null after a fault.
  template <class T>
  static std::byte* place(Wave& w, const Places& places, Reach& reach, u32 lane) {
    if (places[lane] % sizeof(T) == 0) return places.at(reach, lane, sizeof(T));
    w.raise(FaultKind::kMisaligned, "an atomic operation needs an aligned address", lane, places[lane]);
    return nullptr;
  }

  // `change` gives a lane's memory its new value, from the rows of the data operand.
  template <class T, class Change>
  static void change_memory(Wave& w, const Instruction& in, const Change& change) {
    const Places places(w, in);
    Reach reach(w, true);
    const Row* data = &w.row(in.op[2]);
    Result<T> before;
    for (u64 left = w.exec(); left != 0; left &= left - 1) {
      const u32 lane = static_cast<u32>(std::countr_zero(left));
      if (places.dropped(lane, sizeof(T))) {
        before.set(lane, T{});
        continue;
      }
      std::byte* at = place<T>(w, places, reach, lane);
      if (at == nullptr) return;
      before.set(lane, modify<T>(at, [&](T m) { return change(m, data, lane); }));
    }
    if (in.op[0].kind != Kind::kNone) before.store(w, in, 0);
  }

  template <class T, auto F>
  static void run(Wave& w, const Instruction& in) {
    change_memory<T>(w, in,
                     [](T m, const Row* data, u32 lane) { return static_cast<T>(F(m, data_of<T>(data, lane))); });
  }

  // The data is the new value, then the value to compare with.
  template <class T>
  static void run_compare_swap(Wave& w, const Instruction& in) {
    change_memory<T>(w, in, [](T m, const Row* data, u32 lane) {
      return m == data_of<T>(data + (kWide<T> ? 2 : 1), lane) ? data_of<T>(data, lane) : m;
    });
  }
};

struct AtomicFamily {
  Table& table;
  std::string prefix;
  Shape shape;
  Segment segment;

  // `registers`: of the data.
  void add(const std::string& name, Type type, Handler handler, u8 registers) const {
    Semantics s;
    s.handler = handler;
    s.shape = shape;
    s.segment = segment;
    s.types[0] = type;
    s.registers = registers;
    table.add(prefix + name, s);
  }
};

template <class Places, class U, class I>
void add_integer_atomics(const AtomicFamily& f, const std::string& width) {
  using A = Atomics<Places>;
  constexpr Type kType = kTypeOf<U>;
  constexpr u8 kRegisters = sizeof(U) / sizeof(u32);
  f.add("swap" + width, kType, &A::template run<U, kSwap>, kRegisters);
  f.add("cmpswap" + width, kType, &A::template run_compare_swap<U>, 2 * kRegisters);
  f.add("add" + width, kType, &A::template run<U, kAtomicAdd>, kRegisters);
  f.add("sub" + width, kType, &A::template run<U, kAtomicSub>, kRegisters);
  f.add("smin" + width, kType, &A::template run<I, kAtomicMin>, kRegisters);
  f.add("umin" + width, kType, &A::template run<U, kAtomicMin>, kRegisters);
  f.add("smax" + width, kType, &A::template run<I, kAtomicMax>, kRegisters);
  f.add("umax" + width, kType, &A::template run<U, kAtomicMax>, kRegisters);
  f.add("and" + width, kType, &A::template run<U, kAtomicAnd>, kRegisters);
  f.add("or" + width, kType, &A::template run<U, kAtomicOr>, kRegisters);
  f.add("xor" + width, kType, &A::template run<U, kAtomicXor>, kRegisters);
  f.add("inc" + width, kType, &A::template run<U, kAtomicInc>, kRegisters);
  f.add("dec" + width, kType, &A::template run<U, kAtomicDec>, kRegisters);
}

template <class Places>
void add_atomics(const AtomicFamily& f) {
  using A = Atomics<Places>;
  add_integer_atomics<Places, u32, i32>(f, "");
  add_integer_atomics<Places, u64, i64>(f, "_x2");
  f.add("add_f32", Type::kF32, &A::template run<float, kAtomicAdd>, 1);
  f.add("add_f64", Type::kF64, &A::template run<double, kAtomicAdd>, 2);
  f.add("min_f64", Type::kF64, &A::template run<double, kAtomicFloatMin>, 2);
  f.add("max_f64", Type::kF64, &A::template run<double, kAtomicFloatMax>, 2);
  f.add("pk_add_f16", Type::kU32, &A::template run<u32, kAtomicPackedAddF16>, 1);
}

}  // namespace gfx942
