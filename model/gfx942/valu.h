// Vector instructions from functions on one lane.
//
// vector<(F)>() makes a table entry from a captureless function F (in parentheses: GCC 12 takes a `>` in its body for
// the end of the arguments): its parameter types are the types of the sources, its result type that of the destination.
// The loop over lanes computes all 64 (no operation traps), and the write is masked. Where all lanes are written whole,
// processors with wide vectors (wide.h) write the result's registers directly.
#pragma once

#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include "model/gfx942/lanes.h"
#include "model/gfx942/table.h"
#include "model/gfx942/wide.h"

namespace gfx942 {

template <class T>
inline constexpr bool kWide = sizeof(T) == 8;

template <class T>
T from_bits(u32 low, u32 high) {
  if constexpr (kWide<T>) {
    return std::bit_cast<T>(low | static_cast<u64>(high) << 32);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(low);
  } else {
    return std::bit_cast<T>(static_cast<u16>(low));
  }
}

template <class T>
u32 low_bits(T value) {
  if constexpr (kWide<T>) {
    return static_cast<u32>(std::bit_cast<u64>(value));
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<u32>(value);
  } else {
    return std::bit_cast<u16>(value);
  }
}

template <class T>
u32 high_bits(T value) {
  return static_cast<u32>(std::bit_cast<u64>(value) >> 32);
}

[[nodiscard]] inline bool flushes(const Wave& w, Type type) {
  return type == Type::kF32 ? w.mode.flush32 : is_float(type) && w.mode.flush64;
}

// One source operand of type T, for all lanes.
template <class T>
class Lanes {
 public:
  Lanes(Wave& w, const Instruction& in, u32 operand) : low_(read_lanes(w, in, in.op[operand], 0, rows_[0])) {
    if constexpr (kWide<T>) high_ = read_lanes(w, in, in.op[operand], 1, rows_[1]);
    if constexpr (is_float(kTypeOf<T>)) {
      if (flushes(w, kTypeOf<T>)) flush();
    }
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  [[nodiscard]] T operator[](u32 lane) const {
    if constexpr (kWide<T>) {
      return from_bits<T>(low_[lane], high_[lane]);
    } else {
      return from_bits<T>(low_[lane], 0);
    }
  }

 private:
  void flush() {
    if (low_ != rows_[0].lane) std::memcpy(rows_[0].lane, low_, sizeof(Row));
    low_ = rows_[0].lane;
    if constexpr (kWide<T>) {
      if (high_ != rows_[1].lane) std::memcpy(rows_[1].lane, high_, sizeof(Row));
      high_ = rows_[1].lane;
    }
    flush_denormals(kTypeOf<T>, rows_[0], rows_[kWide<T> ? 1 : 0]);
  }

  Row rows_[kWide<T> ? 2 : 1];
  const u32* low_;
  const u32* high_ = nullptr;
};

// A result of type T, for all lanes, written by store().
template <class T>
class Result {
 public:
  void set(u32 lane, T value) {
    rows_[0].lane[lane] = low_bits(value);
    if constexpr (kWide<T>) rows_[1].lane[lane] = high_bits(value);
  }
  void store(Wave& w, const Instruction& in, u32 operand) {
    if constexpr (is_float(kTypeOf<T>)) {
      if (flushes(w, kTypeOf<T>)) flush_denormals(kTypeOf<T>, rows_[0], rows_[kWide<T> ? 1 : 0]);
    }
    if constexpr (kWide<T>) {
      commit_pair(w, in, in.op[operand], rows_[0], rows_[1]);
    } else {
      commit(w, in, in.op[operand], 0, rows_[0]);
    }
  }

 private:
  Row rows_[kWide<T> ? 2 : 1];
};

template <class F>
struct Signature;
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> {
  using Return = R;
  using Arguments = std::tuple<A...>;
  static constexpr u32 kCount = sizeof...(A);
};
template <auto F>
using SignatureOf = Signature<decltype(&std::remove_cvref_t<decltype(F)>::operator())>;

// Source I of a lane function: the number keeps two sources of one type apart.
template <u32 I, class T>
struct Source : Lanes<T> {
  using Lanes<T>::Lanes;
};

template <class Numbers, class Arguments>
struct Sources;
template <u32... I, class... A>
struct Sources<std::integer_sequence<u32, I...>, std::tuple<A...>> : Source<I, A>... {
  Sources(Wave& w, const Instruction& in, u32 first) : Source<I, A>(w, in, first + I)... {}

  template <auto F>
  [[nodiscard]] auto call(u32 lane) const {
    return F((*static_cast<const Source<I, A>*>(this))[lane]...);
  }
};

template <auto F>
using SourcesOf = Sources<std::make_integer_sequence<u32, SignatureOf<F>::kCount>, typename SignatureOf<F>::Arguments>;

template <auto F>
void run_vector(Wave& w, const Instruction& in) {
  const SourcesOf<F> sources(w, in, 1);
  Result<typename SignatureOf<F>::Return> result;
  for (u32 lane = 0; lane < kLanes; ++lane) result.set(lane, sources.template call<F>(lane));
  result.store(w, in, 0);
}

// A source whose lanes lie in registers or in a copy of them; and one that is the same for all lanes.
template <class T>
struct LanesSource {
  const u32* low;
  const u32* high;
  [[nodiscard, gnu::always_inline]] T operator[](u32 lane) const {
    return from_bits<T>(low[lane], kWide<T> ? high[lane] : 0);
  }
};
template <class T>
struct SameSource {
  T value;
  [[nodiscard, gnu::always_inline]] T operator[](u32 /*lane*/) const { return value; }
};

template <class T>
[[gnu::always_inline]] inline LanesSource<T> lanes_source(Wave& w, const Instruction& in, u32 operand, Row* copies) {
  const Operand& o = in.op[operand];
  return {read_lanes(w, in, o, 0, copies[0]), kWide<T> ? read_lanes(w, in, o, 1, copies[1]) : nullptr};
}
template <class T>
[[gnu::always_inline]] inline SameSource<T> same_source(const Wave& w, const Operand& o) {
  if constexpr (kWide<T>) {
    return {std::bit_cast<T>(scalar64(w, o))};
  } else {
    return {from_bits<T>(scalar32(w, o), 0)};
  }
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"  // loops that call <cmath> stay as they are
#endif
template <auto F, class... S>
[[gnu::always_inline]] inline void write_whole(Wave& w, const Operand& destination, const S... source) {
  using R = typename SignatureOf<F>::Return;
  u32* const low = w.row(destination, 0).lane;
  u32* const high = kWide<R> ? w.row(destination, 1).lane : nullptr;
  GFX942_LANES_ARE_APART
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const R value = F(source[lane]...);
    low[lane] = low_bits(value);
    if constexpr (kWide<R>) high[lane] = high_bits(value);
  }
}

// The first source of many instructions is a scalar register or a constant, which needs no copy for each lane.
template <auto F, u32... I, class First, class... A>
[[gnu::always_inline]] inline void run_whole(Wave& w, const Instruction& in, std::integer_sequence<u32, I...>,
                                             std::type_identity<std::tuple<First, A...>>) {
  Row copies[1 + sizeof...(A)][2];
  const Operand& first = in.op[1];
  if (first.plain && (first.kind == Kind::kSgpr || first.kind == Kind::kConstant)) {
    write_whole<F>(w, in.op[0], same_source<First>(w, first), lanes_source<A>(w, in, 2 + I, copies[1 + I])...);
  } else {
    write_whole<F>(w, in.op[0], lanes_source<First>(w, in, 1, copies[0]),
                   lanes_source<A>(w, in, 2 + I, copies[1 + I])...);
  }
}

template <class... A>
[[nodiscard]] bool any_flushes(const Wave& w, std::type_identity<std::tuple<A...>>) {
  return (flushes(w, kTypeOf<A>) || ...);
}

template <auto F>
GFX942_WIDE void run_wide(Wave& w, const Instruction& in) {
  using S = SignatureOf<F>;
  using Arguments = std::type_identity<typename S::Arguments>;
  const bool whole = in.plain && w.exec() == ~u64{0};
  if (!whole || flushes(w, kTypeOf<typename S::Return>) || any_flushes(w, Arguments{})) return run_vector<F>(w, in);
  run_whole<F>(w, in, std::make_integer_sequence<u32, S::kCount - 1>{}, Arguments{});
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

template <class R, class... A>
constexpr std::array<Type, kOperands> types_of() {
  return {kTypeOf<R>, kTypeOf<A>...};
}

template <auto F>
constexpr std::array<Type, kOperands> vector_types() {
  using S = SignatureOf<F>;
  return []<class... A>(std::type_identity<std::tuple<A...>>) {
    return types_of<typename S::Return, A...>();
  }(std::type_identity<typename S::Arguments>{});
}

template <auto F>
Semantics vector() {
  Semantics s;
  s.handler = has_wide_vectors() ? &run_wide<F> : &run_vector<F>;
  s.types = vector_types<F>();
  return s;
}

// An operation whose last source is its destination (fmac): the decoder repeats the first operand at the end.
template <auto F>
Semantics accumulating() {
  Semantics s = vector<F>();
  s.accumulates = true;
  return s;
}

}  // namespace gfx942
