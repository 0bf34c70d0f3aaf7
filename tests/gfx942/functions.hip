// functions.inc as kernels: apply_<name>(out, a, b, c, n) computes one element a work item.
#include "device.h"

#pragma clang fp contract(off)
#include "functions.inc"

#define APPLY(name)                                                                  \
  KERNEL(apply_##name)(u64 * out, const u64* a, const u64* b, const u64* c, u32 n) { \
    const u32 i = item();                                                            \
    if (i < n) out[i] = name(a[i], b[i], c[i]);                                      \
  }
FUNCTIONS(APPLY)
