// Vector operations that look at lanes: selection by a mask, reading and writing one lane, counting active lanes.
#include "model/gfx942/valu.h"

namespace gfx942 {
namespace {

void run_cndmask(Wave& w, const Instruction& in) {
  const Lanes<u32> a(w, in, 1);
  const Lanes<u32> b(w, in, 2);
  Row mask;
  expand_mask(scalar64(w, in.op[3]), mask);
  Result<u32> result;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    result.set(lane, (b[lane] & mask.lane[lane]) | (a[lane] & ~mask.lane[lane]));
  }
  result.store(w, in, 0);
}

// Reads the first active lane; lane 0 when no lane is active.
void run_readfirstlane(Wave& w, const Instruction& in) {
  const Lanes<u32> source(w, in, 1);
  const u64 exec = w.exec();
  set_scalar32(w, in.op[0], source[exec == 0 ? 0 : static_cast<u32>(std::countr_zero(exec))]);
}

// v_readlane and v_writelane ignore EXEC.
void run_readlane(Wave& w, const Instruction& in) {
  const Lanes<u32> source(w, in, 1);
  set_scalar32(w, in.op[0], source[scalar32(w, in.op[2]) & 63]);
}
void run_writelane(Wave& w, const Instruction& in) {
  w.row(in.op[0]).lane[scalar32(w, in.op[2]) & 63] = scalar32(w, in.op[1]);
}

// Counts the mask's bits below each lane; the low and the high half of the wave are two instructions.
template <bool High>
void run_mbcnt(Wave& w, const Instruction& in) {
  const Lanes<u32> mask(w, in, 1);
  const Lanes<u32> add(w, in, 2);
  Result<u32> result;
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u64 below = (u64{1} << lane) - 1;
    const u32 half = static_cast<u32>(High ? below >> 32 : below);
    result.set(lane, static_cast<u32>(std::popcount(mask[lane] & half)) + add[lane]);
  }
  result.store(w, in, 0);
}

void run_swap(Wave& w, const Instruction& in) {
  Row first = w.row(in.op[0]);
  Row second = w.row(in.op[1]);
  commit(w, in, in.op[0], 0, second);
  commit(w, in, in.op[1], 0, first);
}

Semantics entry(Handler handler, std::array<Type, kOperands> types) {
  Semantics s;
  s.handler = handler;
  s.types = types;
  return s;
}

}  // namespace

void add_lane_operations(Table& t) {
  constexpr Type kWord = Type::kU32;
  t.add("v_cndmask_b32", entry(&run_cndmask, {kWord, kWord, kWord, Type::kU64}));
  t.add("v_readfirstlane_b32", entry(&run_readfirstlane, {kWord, kWord}));
  t.add("v_readlane_b32", entry(&run_readlane, {kWord, kWord, kWord}));
  t.add("v_writelane_b32", entry(&run_writelane, {kWord, kWord, kWord}));
  t.add("v_mbcnt_lo_u32_b32", entry(&run_mbcnt<false>, {kWord, kWord, kWord}));
  t.add("v_mbcnt_hi_u32_b32", entry(&run_mbcnt<true>, {kWord, kWord, kWord}));
  t.add("v_swap_b32", entry(&run_swap, {kWord, kWord}));
}

}  // namespace gfx942
