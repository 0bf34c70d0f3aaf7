// GPR-index mode: vector registers numbered at run time, for arrays that live in registers.
//
// Between s_set_gpr_idx_on and s_set_gpr_idx_off the index of the former is added to the register numbers of the chosen
// operands. Compilers put both into one straight line, so the decoder knows which instructions lie between. A branch
// that is taken in this mode ends the launch, because the instructions at its target were not decoded for this mode.
#pragma once

#include "model/gfx942/instruction.h"

namespace gfx942 {

// The bits of s_set_gpr_idx_on's second operand, which choose the operands to index.
inline constexpr u32 kIndexSource0 = 1;
inline constexpr u32 kIndexSource1 = 2;
inline constexpr u32 kIndexSource2 = 4;
inline constexpr u32 kIndexDestination = 8;

// Makes an instruction add the index before it runs.
void make_indexed(Instruction& in);

}  // namespace gfx942
