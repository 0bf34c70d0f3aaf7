// instructions.inc as kernels: vector_<id>, float_<id> and scalar_<id> write one result of 64 bits a work item. The
// scalar ones are for waves of one work item, and write SCC after the result.
#include "device.h"
#include "instructions.inc"

#define CLOBBERED "v40", "v41", "v42", "v43", "a3", "s20", "s21", "s22", "s23", "s40", "s41", "scc"

#define VECTOR(id, text, expression)                                                                 \
  KERNEL(vector_##id)(u64 * out, const u64* a, const u64* b, const u64* c) {                         \
    const u32 i = item();                                                                            \
    u32 result;                                                                                      \
    asm volatile(text : "=&v"(result) : "v"((u32)a[i]), "v"((u32)b[i]), "v"((u32)c[i]) : CLOBBERED); \
    out[i] = result;                                                                                 \
  }
#define VECTOR_WIDE(id, text, expression)                                             \
  KERNEL(vector_##id)(u64 * out, const u64* a, const u64* b, const u64* c) {          \
    const u32 i = item();                                                             \
    u64 result;                                                                       \
    asm volatile(text : "=&v"(result) : "v"(a[i]), "v"(b[i]), "v"(c[i]) : CLOBBERED); \
    out[i] = result;                                                                  \
  }
VECTORS(VECTOR, VECTOR_WIDE)

DEVICE float number(u64 x) {
  return (float)(i32)x * 0x1p-24f;
}
#define FLOAT(id, text, expression)                                                                                  \
  KERNEL(float_##id)(u64 * out, const u64* a, const u64* b, const u64* c) {                                          \
    const u32 i = item();                                                                                            \
    u32 result;                                                                                                      \
    asm volatile(text : "=&v"(result) : "v"(number(a[i])), "v"(number(b[i])), "v"(number(c[i])) : CLOBBERED, "vcc"); \
    out[i] = result;                                                                                                 \
  }
FLOATS(FLOAT)

DEVICE u32 uniform(u64 x) {
  return (u32)__builtin_amdgcn_readfirstlane((i32)x);
}
DEVICE u64 uniform64(u64 x) {
  return (u64)uniform(x >> 32) << 32 | uniform(x);
}

// The sources have names, because SCC takes a number.
#define SCALAR_OF(T, convert, id, text)                                    \
  KERNEL(scalar_##id)(u64 * out, const u64* a, const u64* b, const u64*) { \
    const u32 i = item();                                                  \
    T result;                                                              \
    u32 scc;                                                               \
    asm volatile(text "\ns_cselect_b32 %[scc], 1, 0"                       \
                 : "=&s"(result), [scc] "=&s"(scc)                         \
                 : [a] "s"(convert(a[i])), [b] "s"(convert(b[i]))          \
                 : CLOBBERED);                                             \
    out[2 * i] = result;                                                   \
    out[2 * i + 1] = scc;                                                  \
  }
#define SCALAR(id, text, expression, condition) SCALAR_OF(u32, uniform, id, text)
#define SCALAR_WIDE(id, text, expression, condition) SCALAR_OF(u64, uniform64, id, text)
SCALARS(SCALAR, SCALAR_WIDE)
