// Reading operands as lanes and writing results under the EXEC mask.
//
// The common case (a vector register without modifiers, all lanes active) is inline and touches the register file
// only; all other cases (scalars, constants, neg and abs, SDWA, DPP, op_sel) are in lanes.cpp.
#pragma once

#include "model/gfx942/wave.h"

namespace gfx942 {

// 32 bits of operand `o` for each lane: part 0 is the low half of a 64-bit operand. `scratch` holds the result where
// there is no row.
[[nodiscard]] const u32* read_slow(Wave& w, const Instruction& in, const Operand& o, u32 part, Row& scratch);
[[nodiscard]] inline const u32* read_lanes(Wave& w, const Instruction& in, const Operand& o, u32 part, Row& scratch) {
  if (o.kind == Kind::kVgpr && o.plain) return w.row(o, part).lane;
  return read_slow(w, in, o, part, scratch);
}

// An operand that is the same for all lanes.
[[nodiscard]] u64 scalar_slow(const Wave& w, const Operand& o);
[[nodiscard]] inline u32 scalar32(const Wave& w, const Operand& o) {
  if (o.kind == Kind::kSgpr) return w.sgpr[o.index];
  if (o.kind == Kind::kConstant) return static_cast<u32>(o.value);
  return static_cast<u32>(scalar_slow(w, o));
}
[[nodiscard]] inline u64 scalar64(const Wave& w, const Operand& o) {
  if (o.kind == Kind::kSgpr) return w.pair(o.index);
  if (o.kind == Kind::kConstant) return o.value;
  return scalar_slow(w, o);
}
inline void set_scalar32(Wave& w, const Operand& o, u32 value) {
  w.sgpr[o.index] = value;
}
inline void set_scalar64(Wave& w, const Operand& o, u64 value) {
  w.set_pair(o.index, value);
}

// For each lane, all ones if its bit of `mask` is set, else 0.
void expand_mask(u64 mask, Row& out);

// The lanes that a vector instruction writes: EXEC without the lanes that DPP disables.
[[nodiscard]] u64 written_lanes(const Wave& w, const Instruction& in);

void commit_slow(Wave& w, const Instruction& in, const Operand& o, u32 part, Row& result);

// Writes a result to the operand's row, in the lanes that the instruction writes. May change `result`.
inline void commit(Wave& w, const Instruction& in, const Operand& o, u32 part, Row& result) {
  if (in.plain && w.exec() == ~u64{0}) {
    std::memcpy(w.row(o, part).lane, result.lane, sizeof(result.lane));
  } else {
    commit_slow(w, in, o, part, result);
  }
}
// The same for a 64-bit result in two rows; clamp and omod apply to the 64-bit value.
void commit_pair_slow(Wave& w, const Instruction& in, const Operand& o, Row& low, Row& high);
inline void commit_pair(Wave& w, const Instruction& in, const Operand& o, Row& low, Row& high) {
  if (in.plain && w.exec() == ~u64{0}) {
    std::memcpy(w.row(o, 0).lane, low.lane, sizeof(low.lane));
    std::memcpy(w.row(o, 1).lane, high.lane, sizeof(high.lane));
  } else {
    commit_pair_slow(w, in, o, low, high);
  }
}

// Packs one flag (0 or 1) for each lane into a mask with one bit for each lane.
[[nodiscard]] u64 pack_bits(const u8 (&flags)[kLanes]);

// Replaces denormals by zeroes of the same sign, for the modes that flush.
void flush_denormals(Type type, Row& low, Row& high);

}  // namespace gfx942
