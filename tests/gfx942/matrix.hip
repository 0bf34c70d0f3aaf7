// Matrix instructions (matrix.inc): matrix_<id> has its operands in vector registers, accumulate_<id> has A and the
// result in accumulation registers. A work item's registers lie one behind the other in memory.
#include "device.h"
#include "matrix.inc"

template <u32 Count>
struct Registers {
  typedef u32 Type __attribute__((ext_vector_type(Count)));
};
template <>
struct Registers<1> {
  typedef u32 Type;
};

// The third source of a dense instruction is the destination; of a sparse one it holds the indices.
#define KERNEL_OF(prefix, id, instruction, modifiers, count_a, count_b, count_d, sparse, class_d, class_a)           \
  KERNEL(prefix##_##id)(u32 * out, const u32* in_a, const u32* in_b, const u32* in_index) {                          \
    const u32 i = item();                                                                                            \
    const auto a = ((const Registers<count_a>::Type*)in_a)[i];                                                       \
    const auto b = ((const Registers<count_b>::Type*)in_b)[i];                                                       \
    auto d = ((const Registers<count_d>::Type*)out)[i];                                                              \
    if constexpr (sparse)                                                                                            \
      asm volatile(instruction " %0, %1, %2, %3" modifiers : "+" class_d(d) : class_a(a), "v"(b), "v"(in_index[i])); \
    else                                                                                                             \
      asm volatile(instruction " %0, %1, %2, %0" modifiers : "+" class_d(d) : class_a(a), "v"(b));                   \
    ((Registers<count_d>::Type*)out)[i] = d;                                                                         \
  }
#define MATRIX(id, instruction, modifiers, count_a, count_b, count_d, size, k, blocks, a, b, sparse, ...) \
  KERNEL_OF(matrix, id, instruction, modifiers, count_a, count_b, count_d, sparse, "v", "v")              \
  KERNEL_OF(accumulate, id, instruction, modifiers, count_a, count_b, count_d, sparse, "a", "a")
MATRICES(MATRIX)

// A constant instead of C, and half of the work items inactive: EXEC does not count.
KERNEL(constant_addend)(u32* out, const u32* in_a, const u32* in_b) {
  const u32 i = item();
  const u32 a = in_a[i], b = in_b[i];
  asm volatile("" ::"v"(a), "v"(b));  // all work items load
  Registers<4>::Type d = {};
  if (i % 2 == 0) asm volatile("v_mfma_f32_16x16x4_f32 %0, %1, %2, 2.0" : "+v"(d) : "v"(a), "v"(b));
  ((Registers<4>::Type*)out)[i] = d;
}
