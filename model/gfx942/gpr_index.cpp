// Moving register numbers at run time; the contract is in the header.
#include "model/gfx942/gpr_index.h"

#include "model/gfx942/table.h"
#include "model/gfx942/wave.h"

namespace gfx942 {
namespace {

bool shift_register(Wave& w, Operand& o, u32 by) {
  if (o.kind != Kind::kVgpr) return true;
  if (o.index + by + o.count - 1 > 255) {
    w.raise(FaultKind::kUnknown, "GPR-index mode reaches past v255");
    return false;
  }
  o.index = static_cast<u16>(o.index + by);
  return true;
}

void run_indexed(Wave& w, const Instruction& in) {
  Instruction moved = in;
  const u32 index = w.gpr_index & 0xff;
  const u32 operands = w.gpr_index >> 12 & 15;
  constexpr u32 kBits[] = {kIndexDestination, kIndexSource0, kIndexSource1, kIndexSource2};
  for (u32 i = 0; i < 4; ++i) {
    if ((operands & kBits[i]) != 0 && !shift_register(w, moved.op[i], index)) return;
  }
  in.indexed(w, moved);
}

}  // namespace

void make_indexed(Instruction& in) {
  // Scalar instructions, branches included, have no vector registers to move and run as they are.
  bool vector = false;
  for (const Operand& o : in.op) vector = vector || o.kind == Kind::kVgpr;
  if (!vector || in.handler == &run_unknown) return;
  in.indexed = in.handler;
  in.handler = &run_indexed;
}

}  // namespace gfx942
