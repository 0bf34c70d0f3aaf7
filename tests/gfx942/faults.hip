// Kernels that end in a fault, when their arguments say so.
#include "device.h"

// Lane 3 of the first wave is the one that strays.
KERNEL(store_astray)(u32* out, u64 stray) {
  out[item() + (item() == 3 ? stray : 0)] = item();
}
KERNEL(load_astray)(u32* out, const u32* in) {
  out[item()] = in[item()];
}
KERNEL(load_argument)(u32* out, const u32* in) {
  out[0] = *in;
}
KERNEL(lds_astray)(u32* out, u32 index) {
  SHARED u32 table[64];
  table[local_id()] = local_id();
  barrier();
  out[item()] = table[index];
}
KERNEL(scratch_astray)(u32* out, u32 index) {
  volatile u32 table[64];
  for (u32 i = 0; i < 64; ++i) table[i] = i;
  out[item()] = table[index];
}
KERNEL(atomic_astray)(u8* words, u32 offset) {
  __hip_atomic_fetch_add((u32*)(words + offset), 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL(typed_buffer_when)(u32* out, u32 wanted) {
  if (wanted != 0) asm volatile("tbuffer_load_format_x v0, off, s[4:7], s8" ::: "v0");
  out[item()] = wanted;
}
KERNEL(garbage_when)(u32* out, u32 wanted) {
  if (wanted != 0) asm volatile(".long 0xffffffff");
  out[item()] = wanted;
}
KERNEL(rounding_up)(u32* out) {
  asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 1");
  out[item()] = 1;
}
KERNEL(loop_while)(volatile u32* flag, u32* out) {
  while (*flag != 0) {}
  out[item()] = 1;
}
KERNEL(trap_when)(u32* out, u32 wanted) {
  if (wanted != 0) __builtin_trap();
  out[item()] = 1;
}
KERNEL(jump_to)(u32* out, u64 target) {
  if (target != 0) asm volatile("s_setpc_b64 %0" ::"s"(target));
  out[item()] = 1;
}
KERNEL(index_pair)(u32* out, u32 index) {
  asm volatile("s_set_gpr_idx_on %0, gpr_idx(SRC0)\nv_mov_b64 v[40:41], v[40:41]\ns_set_gpr_idx_off" ::"s"(index)
               : "v40", "v41");
  out[item()] = 1;
}
