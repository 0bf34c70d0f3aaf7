// Control flow, barriers, waiting, and the registers behind s_getreg and s_setreg.
//
// Waits (s_waitcnt, s_nop, ...) do nothing: every instruction is complete before the next. s_sleep, s_wakeup and
// messages give the other waves a turn. Of the hardware registers only MODE is modelled. s_getreg reads zero from the
// trap status and the registers that say where a wave runs. Every other access to a hardware register ends the launch.
#include "model/gfx942/code.h"
#include "model/gfx942/lanes.h"
#include "model/gfx942/mode.h"
#include "model/gfx942/table.h"

namespace gfx942 {
namespace {

void jump(Wave& w, u32 index, u64 address) {
  if (index == kNoTarget) {
    char text[64];
    std::snprintf(text, sizeof(text), "no instruction starts at 0x%llx", static_cast<unsigned long long>(address));
    return w.raise(FaultKind::kControlFlow, text, kLanes, address);
  }
  if (w.gpr_index != 0) return w.raise(FaultKind::kUnknown, "a branch in GPR-index mode");
  w.pc = index;
}

void jump_to(Wave& w, u64 address) {
  jump(w, w.code->index_of(address - w.code_base), address);
}

u64 address_behind(const Wave& w, const Instruction& in) {
  return w.code_base + in.address + 4 * in.dwords;
}

void run_branch(Wave& w, const Instruction& in) {
  jump(w, w.code->target_of(in), w.code_base + in.address_of_target());
}
template <auto Condition>
void run_branch_if(Wave& w, const Instruction& in) {
  if (Condition(w)) run_branch(w, in);
}
void run_call(Wave& w, const Instruction& in) {
  set_scalar64(w, in.op[0], address_behind(w, in));
  run_branch(w, in);
}
void run_getpc(Wave& w, const Instruction& in) {
  set_scalar64(w, in.op[0], address_behind(w, in));
}
void run_setpc(Wave& w, const Instruction& in) {
  jump_to(w, scalar64(w, in.op[0]));
}
void run_swappc(Wave& w, const Instruction& in) {
  const u64 address = scalar64(w, in.op[1]);
  set_scalar64(w, in.op[0], address_behind(w, in));
  jump_to(w, address);
}

void run_nothing(Wave& /*w*/, const Instruction& /*in*/) {}
void run_yield(Wave& w, const Instruction& /*in*/) {
  w.state = WaveState::kYielded;
}
void run_barrier(Wave& w, const Instruction& /*in*/) {
  w.state = WaveState::kAtBarrier;
}
void run_end(Wave& w, const Instruction& /*in*/) {
  w.state = WaveState::kEnded;
}
void run_trap(Wave& w, const Instruction& in) {
  w.raise(FaultKind::kTrap, "trap " + std::to_string(in.simm16 & 0xff) + " (an abort or a failed assertion)");
}

// The low half of the dword: [5:0] the register, [10:6] the first bit, [15:11] the width less one.
struct HardwareRegister {
  u32 id, shift, mask;
  explicit HardwareRegister(u16 simm16)
      : id(simm16 & 0x3f), shift(simm16 >> 6 & 0x1f), mask(static_cast<u32>((u64{1} << ((simm16 >> 11) + 1)) - 1)) {}
};
constexpr u32 kRegisterMode = 1;
constexpr u32 kRegisterTrapStatus = 3;
constexpr u32 kRegisterHardwareId = 4;
constexpr u32 kRegisterXccId = 20;

void run_getreg(Wave& w, const Instruction& in) {
  const HardwareRegister r(in.simm16);
  const bool zero = r.id == kRegisterTrapStatus || r.id == kRegisterHardwareId || r.id == kRegisterXccId;
  if (r.id != kRegisterMode && !zero) return w.raise(FaultKind::kUnknown, "a hardware register that is not modelled");
  set_scalar32(w, in.op[0], zero ? 0 : w.mode.bits >> r.shift & r.mask);
}

void run_setreg(Wave& w, const Instruction& in) {
  const HardwareRegister r(in.simm16);
  if (r.id != kRegisterMode) return w.raise(FaultKind::kUnknown, "a hardware register that is not modelled");
  const u32 value = (scalar32(w, in.op[0]) & r.mask) << r.shift;
  set_mode(w, (w.mode.bits & ~(r.mask << r.shift)) | value);
}

void run_gpr_index_on(Wave& w, const Instruction& in) {
  const u32 operands = in.simm16 >> 8 & 15;  // SOPC's second source, an immediate of four bits
  w.gpr_index = operands << 12 | (scalar32(w, in.op[0]) & 0xff);
  w.sgpr[kM0] = (w.sgpr[kM0] & 0xffff0f00) | w.gpr_index;
}
void run_gpr_index_off(Wave& w, const Instruction& /*in*/) {
  w.gpr_index = 0;
}

// The scalar register that lies M0 registers behind `o`.
bool moved_register(Wave& w, const Operand& o, u32 count, u32& index) {
  constexpr u32 kLast = 101;
  index = o.index + w.sgpr[kM0];
  if (o.kind == Kind::kSgpr && w.sgpr[kM0] <= kLast && index + count - 1 <= kLast) return true;
  w.raise(FaultKind::kUnknown, "M0 reaches past the scalar registers");
  return false;
}
template <u32 Words>
void run_movrels(Wave& w, const Instruction& in) {
  u32 index = 0;
  if (!moved_register(w, in.op[1], Words, index)) return;
  for (u32 i = 0; i < Words; ++i) w.sgpr[in.op[0].index + i] = w.sgpr[index + i];
}
template <u32 Words>
void run_movreld(Wave& w, const Instruction& in) {
  u32 index = 0;
  if (!moved_register(w, in.op[0], Words, index)) return;
  const u64 value = Words == 2 ? scalar64(w, in.op[1]) : scalar32(w, in.op[1]);
  for (u32 i = 0; i < Words; ++i) w.sgpr[index + i] = static_cast<u32>(value >> 32 * i);
}

Semantics entry(Handler handler, Shape shape, std::array<Type, kOperands> types = {}) {
  Semantics s;
  s.handler = handler;
  s.shape = shape;
  s.types = types;
  return s;
}

void add_branches(Table& t) {
  t.add("s_branch", entry(&run_branch, Shape::kBranch));
  t.add("s_cbranch_scc0", entry(&run_branch_if<([](const Wave& w) { return !w.scc; })>, Shape::kBranch));
  t.add("s_cbranch_scc1", entry(&run_branch_if<([](const Wave& w) { return w.scc; })>, Shape::kBranch));
  t.add("s_cbranch_vccz", entry(&run_branch_if<([](const Wave& w) { return w.pair(kVcc) == 0; })>, Shape::kBranch));
  t.add("s_cbranch_vccnz", entry(&run_branch_if<([](const Wave& w) { return w.pair(kVcc) != 0; })>, Shape::kBranch));
  t.add("s_cbranch_execz", entry(&run_branch_if<([](const Wave& w) { return w.exec() == 0; })>, Shape::kBranch));
  t.add("s_cbranch_execnz", entry(&run_branch_if<([](const Wave& w) { return w.exec() != 0; })>, Shape::kBranch));
  t.add("s_call_b64", entry(&run_call, Shape::kCallBranch));
  t.add("s_getpc_b64", entry(&run_getpc, Shape::kPlain, {Type::kU64}));
  t.add("s_setpc_b64", entry(&run_setpc, Shape::kPlain, {Type::kU64}));
  t.add("s_swappc_b64", entry(&run_swappc, Shape::kPlain, {Type::kU64, Type::kU64}));
}

}  // namespace

void add_scalar_control(Table& t) {
  add_branches(t);
  for (const char* name :
       {"s_nop", "s_waitcnt", "s_setprio", "s_icache_inv", "s_ttracedata", "s_incperflevel", "s_decperflevel"}) {
    t.add(name, entry(&run_nothing, Shape::kNoOperands));
  }
  for (const char* name : {"s_sleep", "s_sendmsg", "s_wakeup"}) t.add(name, entry(&run_yield, Shape::kNoOperands));
  t.add("s_barrier", entry(&run_barrier, Shape::kNoOperands));
  t.add("s_endpgm", entry(&run_end, Shape::kNoOperands));
  t.add("s_trap", entry(&run_trap, Shape::kNoOperands));
  t.add("s_getreg_b32", entry(&run_getreg, Shape::kImmediate));
  t.add("s_setreg_b32", entry(&run_setreg, Shape::kImmediate));
  t.add("s_setreg_imm32_b32", entry(&run_setreg, Shape::kImmediate));
  t.add("s_set_gpr_idx_on", entry(&run_gpr_index_on, Shape::kFirstOperand, {Type::kU32}));
  t.add("s_set_gpr_idx_off", entry(&run_gpr_index_off, Shape::kNoOperands));
  t.add("s_movrels_b32", entry(&run_movrels<1>, Shape::kPlain, {Type::kU32, Type::kU32}));
  t.add("s_movrels_b64", entry(&run_movrels<2>, Shape::kPlain, {Type::kU64, Type::kU64}));
  t.add("s_movreld_b32", entry(&run_movreld<1>, Shape::kPlain, {Type::kU32, Type::kU32}));
  t.add("s_movreld_b64", entry(&run_movreld<2>, Shape::kPlain, {Type::kU64, Type::kU64}));
}

}  // namespace gfx942
