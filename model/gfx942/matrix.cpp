// Matrix instructions: the result is A * B + C. EXEC is ignored, denormals are kept.
//
// Arithmetic. Integers wrap. Double and single precision are a chain of fused multiply-adds in the order of k, which is
// exact to the bit (published experiments agree: MMA-Sim, arXiv 2511.10909). For all narrower floats AMD documents no
// order. Chosen here: `group` products, exact in double precision, are added to the sum in double precision in the
// order of k; then the sum is rounded to single precision. A group's error is at most half a unit in the last place of
// its sum, plus (group + 1) * 2^-53 of the sum of all magnitudes. The groups are those that MMA-Sim found on the
// hardware, which instead cuts each product off some 24 bits below the largest one. xf32 sources lose their low 13
// bits. The sign and payload of NaNs are not promised.
//
// Processors with wide vectors (wide.h) compute the same sums with them. A row in which a NaN comes out is computed
// again in the ordinary way, so that NaNs do not depend on the processor either.
#include "model/gfx942/matrix.h"

#include <algorithm>
#include <functional>

#include "model/gfx942/float8.h"
#include "model/gfx942/float_ops.h"
#include "model/gfx942/valu.h"
#include "model/gfx942/wide.h"

namespace gfx942 {
namespace {

using E = Element;

struct NamedForm {
  const char* name;
  MatrixForm form;
};
constexpr NamedForm kForms[] = {
    {"v_mfma_f64_16x16x4_f64", {16, 4, 1, E::kF64, E::kF64, 1}},
    {"v_mfma_f64_4x4x4_4b_f64", {4, 4, 4, E::kF64, E::kF64, 1}},
    {"v_mfma_f32_32x32x1_2b_f32", {32, 1, 2, E::kF32, E::kF32, 1}},
    {"v_mfma_f32_16x16x1_4b_f32", {16, 1, 4, E::kF32, E::kF32, 1}},
    {"v_mfma_f32_4x4x1_16b_f32", {4, 1, 16, E::kF32, E::kF32, 1}},
    {"v_mfma_f32_32x32x2_f32", {32, 2, 1, E::kF32, E::kF32, 1}},
    {"v_mfma_f32_16x16x4_f32", {16, 4, 1, E::kF32, E::kF32, 1}},
    {"v_mfma_f32_16x16x8_xf32", {16, 8, 1, E::kXf32, E::kXf32, 4}},
    {"v_mfma_f32_32x32x4_xf32", {32, 4, 1, E::kXf32, E::kXf32, 4}},
    {"v_mfma_f32_32x32x4_2b_f16", {32, 4, 2, E::kF16, E::kF16, 4}},
    {"v_mfma_f32_16x16x4_4b_f16", {16, 4, 4, E::kF16, E::kF16, 4}},
    {"v_mfma_f32_4x4x4_16b_f16", {4, 4, 16, E::kF16, E::kF16, 4}},
    {"v_mfma_f32_32x32x8_f16", {32, 8, 1, E::kF16, E::kF16, 8}},
    {"v_mfma_f32_16x16x16_f16", {16, 16, 1, E::kF16, E::kF16, 8}},
    {"v_mfma_f32_32x32x4_2b_bf16", {32, 4, 2, E::kBf16, E::kBf16, 4}},
    {"v_mfma_f32_16x16x4_4b_bf16", {16, 4, 4, E::kBf16, E::kBf16, 4}},
    {"v_mfma_f32_4x4x4_16b_bf16", {4, 4, 16, E::kBf16, E::kBf16, 4}},
    {"v_mfma_f32_32x32x8_bf16", {32, 8, 1, E::kBf16, E::kBf16, 8}},
    {"v_mfma_f32_16x16x16_bf16", {16, 16, 1, E::kBf16, E::kBf16, 8}},
    {"v_mfma_i32_32x32x4_2b_i8", {32, 4, 2, E::kI8, E::kI8, 4}},
    {"v_mfma_i32_16x16x4_4b_i8", {16, 4, 4, E::kI8, E::kI8, 4}},
    {"v_mfma_i32_4x4x4_16b_i8", {4, 4, 16, E::kI8, E::kI8, 4}},
    {"v_mfma_i32_32x32x16_i8", {32, 16, 1, E::kI8, E::kI8, 16}},
    {"v_mfma_i32_16x16x32_i8", {16, 32, 1, E::kI8, E::kI8, 16}},
    {"v_mfma_f32_16x16x32_fp8_fp8", {16, 32, 1, E::kFp8, E::kFp8, 16}},
    {"v_mfma_f32_16x16x32_fp8_bf8", {16, 32, 1, E::kFp8, E::kBf8, 16}},
    {"v_mfma_f32_16x16x32_bf8_fp8", {16, 32, 1, E::kBf8, E::kFp8, 16}},
    {"v_mfma_f32_16x16x32_bf8_bf8", {16, 32, 1, E::kBf8, E::kBf8, 16}},
    {"v_mfma_f32_32x32x16_fp8_fp8", {32, 16, 1, E::kFp8, E::kFp8, 16}},
    {"v_mfma_f32_32x32x16_fp8_bf8", {32, 16, 1, E::kFp8, E::kBf8, 16}},
    {"v_mfma_f32_32x32x16_bf8_fp8", {32, 16, 1, E::kBf8, E::kFp8, 16}},
    {"v_mfma_f32_32x32x16_bf8_bf8", {32, 16, 1, E::kBf8, E::kBf8, 16}},
    {"v_smfmac_f32_16x16x32_f16", {16, 32, 1, E::kF16, E::kF16, 8, true}},
    {"v_smfmac_f32_32x32x16_f16", {32, 16, 1, E::kF16, E::kF16, 8, true}},
    {"v_smfmac_f32_16x16x32_bf16", {16, 32, 1, E::kBf16, E::kBf16, 8, true}},
    {"v_smfmac_f32_32x32x16_bf16", {32, 16, 1, E::kBf16, E::kBf16, 8, true}},
    {"v_smfmac_i32_16x16x64_i8", {16, 64, 1, E::kI8, E::kI8, 16, true}},
    {"v_smfmac_i32_32x32x32_i8", {32, 32, 1, E::kI8, E::kI8, 16, true}},
    {"v_smfmac_f32_16x16x64_fp8_fp8", {16, 64, 1, E::kFp8, E::kFp8, 16, true}},
    {"v_smfmac_f32_16x16x64_fp8_bf8", {16, 64, 1, E::kFp8, E::kBf8, 16, true}},
    {"v_smfmac_f32_16x16x64_bf8_fp8", {16, 64, 1, E::kBf8, E::kFp8, 16, true}},
    {"v_smfmac_f32_16x16x64_bf8_bf8", {16, 64, 1, E::kBf8, E::kBf8, 16, true}},
    {"v_smfmac_f32_32x32x32_fp8_fp8", {32, 32, 1, E::kFp8, E::kFp8, 16, true}},
    {"v_smfmac_f32_32x32x32_fp8_bf8", {32, 32, 1, E::kFp8, E::kBf8, 16, true}},
    {"v_smfmac_f32_32x32x32_bf8_fp8", {32, 32, 1, E::kBf8, E::kFp8, 16, true}},
    {"v_smfmac_f32_32x32x32_bf8_bf8", {32, 32, 1, E::kBf8, E::kBf8, 16, true}},
};

constexpr u32 kMaxInput = 1024;   // elements of one block of A or B
constexpr u32 kMaxResult = 2048;  // elements of the result, all blocks

// How products are formed and summed. In, Out and Sum are the types of sources, results and unrounded sums; add_wide()
// is add() where a fused multiply-add is an instruction.
struct Narrow {
  using In = double;
  using Out = float;
  using Sum = double;
  static Sum add(In a, In b, Sum sum) { return sum + a * b; }
  static Sum add_wide(In a, In b, Sum sum) { return add(a, b, sum); }
};
struct Single {
  using In = float;
  using Out = float;
  using Sum = float;
  static Sum add(In a, In b, Sum sum) { return fused(a, b, sum); }
  static Sum add_wide(In a, In b, Sum sum) { return std::fma(a, b, sum); }  // one instruction
};
struct Double {
  using In = double;
  using Out = double;
  using Sum = double;
  static Sum add(In a, In b, Sum sum) { return std::fma(a, b, sum); }
  static Sum add_wide(In a, In b, Sum sum) { return add(a, b, sum); }
};
struct Integer {
  using In = u32;  // wraps
  using Out = u32;
  using Sum = u32;
  static Sum add(In a, In b, Sum sum) { return sum + a * b; }
  static Sum add_wide(In a, In b, Sum sum) { return add(a, b, sum); }
};

// One element from the low bits of `bits`.
template <Element X>
auto element(u32 bits) {
  if constexpr (X == E::kF32) return std::bit_cast<float>(bits);
  if constexpr (X == E::kXf32) return static_cast<double>(std::bit_cast<float>(bits & ~0x1fffu));
  if constexpr (X == E::kF16) return static_cast<double>(to_float(Half{static_cast<u16>(bits)}));
  if constexpr (X == E::kBf16) return static_cast<double>(std::bit_cast<float>(bits << 16));
  if constexpr (X == E::kI8) return static_cast<u32>(static_cast<i32>(static_cast<i8>(bits)));
  if constexpr (X == E::kFp8) return static_cast<double>(kFp8Values[bits & 0xff]);
  if constexpr (X == E::kBf8) return static_cast<double>(kBf8Values[bits & 0xff]);
}

// One source of one block, by rows of k.
struct Input {
  const Operand& operand;
  u32 size;
  u32 k;
  u32 in_lane;  // elements
  u32 block;
  u32 blocks;
  u32 blgp;
};

template <Element X, class T>
void unpack_as(Wave& w, const Input& from, T* to) {
  for (u32 k = 0; k < from.k; ++k) {
    const u32 bit = k % from.in_lane * bits_of(X);
    const Row& row = w.row(from.operand, bit / 32);
    const u32 first = from.size * (from.block + from.blocks * (k / from.in_lane));
    for (u32 i = 0; i < from.size; ++i) {
      to[k * from.size + i] = element<X>(row.lane[moved_lane(first + i, from.blgp)] >> bit % 32);
    }
  }
}

void unpack_doubles(Wave& w, const Input& from, double* to) {
  const Row& low = w.row(from.operand, 0);
  const Row& high = w.row(from.operand, 1);
  for (u32 k = 0; k < from.k; ++k) {
    const u32 first = from.size * (from.block + from.blocks * k);
    for (u32 i = 0; i < from.size; ++i) {
      to[k * from.size + i] = from_bits<double>(low.lane[first + i], high.lane[first + i]);
    }
  }
}

template <class P>
void unpack(Wave& w, Element x, const Input& from, typename P::In* to) {
  if constexpr (std::is_same_v<P, Single>) {
    unpack_as<E::kF32>(w, from, to);
  } else if constexpr (std::is_same_v<P, Integer>) {
    unpack_as<E::kI8>(w, from, to);
  } else if constexpr (std::is_same_v<P, Double>) {
    unpack_doubles(w, from, to);
  } else {
    if (x == E::kXf32) unpack_as<E::kXf32>(w, from, to);
    if (x == E::kF16) unpack_as<E::kF16>(w, from, to);
    if (x == E::kBf16) unpack_as<E::kBf16>(w, from, to);
    if (x == E::kFp8) unpack_as<E::kFp8>(w, from, to);
    if (x == E::kBf8) unpack_as<E::kBf8>(w, from, to);
  }
}

// The column of each stored element of A, by rows of the stored k: its group of four, and two bits of the index.
void read_columns(Wave& w, const Instruction& in, u8* columns) {
  const MatrixForm& f = matrix_form(in.matrix);
  const Row& indices = w.row(in.op[3]);
  const u32 set = in.cbsz() == 0 ? in.abid() : 0;
  for (u32 k = 0; k < f.stored_k(); ++k) {
    const u32 bit = 2 * (set * f.lane_a() + k % f.lane_a());
    for (u32 i = 0; i < f.size; ++i) {
      const u32 index = indices.lane[f.size * (k / f.lane_a()) + i] >> bit & 3;
      columns[k * f.size + i] = static_cast<u8>(k / 2 * 4 + index);
    }
  }
}

template <class P>
struct Block {
  typename P::In a[kMaxInput];
  typename P::In b[kMaxInput];
  u8 columns[kMaxInput];
};

// Row i of the result, columns [j, j + Count), whose sums stay in registers. It is compiled for its caller's processor.
template <class P, u32 Size, u32 Count, bool Sparse, bool Wide>
[[gnu::always_inline]] inline void multiply_columns(const MatrixForm& f, const Block<P>& block, u32 i, u32 j,
                                                    typename P::Out* c) {
  for (u32 from = 0; from < f.stored_k(); from += f.group) {
    typename P::Sum sum[Count];
    for (u32 n = 0; n < Count; ++n) sum[n] = static_cast<typename P::Sum>(c[n]);
    for (u32 k = from; k < std::min(from + f.group, f.stored_k()); ++k) {
      const u32 row = Sparse ? block.columns[k * Size + i] : k;
      const typename P::In a = block.a[k * Size + i];
      const typename P::In* b = block.b + row * Size + j;
      for (u32 n = 0; n < Count; ++n) sum[n] = Wide ? P::add_wide(a, b[n], sum[n]) : P::add(a, b[n], sum[n]);
    }
    for (u32 n = 0; n < Count; ++n) c[n] = static_cast<typename P::Out>(sum[n]);
  }
}

// The columns that ordinary vectors compute together.
template <u32 Size>
inline constexpr u32 kTogether = Size < 8 ? Size : 8;

template <class P, u32 Size, bool Sparse>
[[gnu::noinline]] void multiply_piece(const MatrixForm& f, const Block<P>& block, u32 i, u32 j, typename P::Out* c) {
  multiply_columns<P, Size, kTogether<Size>, Sparse, false>(f, block, i, j, c);
}

// A whole row at once: its sums are four vectors, or eight in double precision, which hide the time that one addition
// takes.
template <class P, u32 Size, bool Sparse>
GFX942_WIDE void multiply_row_wide(const MatrixForm& f, const Block<P>& block, u32 i, typename P::Out* c) {
  typename P::Out before[Size];
  std::copy_n(c, Size, before);
  multiply_columns<P, Size, Size, Sparse, true>(f, block, i, 0, c);
  bool numbers = true;
  for (u32 j = 0; j < Size; ++j) numbers = numbers && c[j] == c[j];
  if (numbers) return;
  std::copy_n(before, Size, c);
  for (u32 j = 0; j < Size; j += kTogether<Size>) multiply_piece<P, Size, Sparse>(f, block, i, j, c + j);
}

template <class P, u32 Size, bool Sparse>
void multiply_row(const MatrixForm& f, const Block<P>& block, u32 i, typename P::Out* c) {
  if (has_wide_vectors()) return multiply_row_wide<P, Size, Sparse>(f, block, i, c);
  for (u32 j = 0; j < Size; j += kTogether<Size>) multiply_piece<P, Size, Sparse>(f, block, i, j, c + j);
}

template <class P, u32 Size>
void multiply(const MatrixForm& f, const Block<P>& block, typename P::Out* c) {
  for (u32 i = 0; i < Size; ++i, c += Size) {
    if (f.sparse) {
      multiply_row<P, Size, true>(f, block, i, c);
    } else {
      multiply_row<P, Size, false>(f, block, i, c);
    }
  }
}

// The third source, or the destination of a sparse instruction, by rows of all blocks.
template <class Out>
void read_addend(Wave& w, const Instruction& in, Out* c) {
  const MatrixForm& f = matrix_form(in.matrix);
  const Operand& o = in.op[f.sparse ? 0 : 3];
  if (o.kind == Kind::kConstant) {
    std::fill_n(c, f.size * f.size * f.blocks, from_bits<Out>(scalar32(w, o), static_cast<u32>(scalar64(w, o) >> 32)));
    return;
  }
  for (u32 block = 0; block < f.blocks; ++block) {
    for (u32 i = 0; i < f.size; ++i, c += f.size) {
      const ResultPlace place = result_place(f, block, i);
      const u32* low = &w.row(o, place.part).lane[place.lane];
      const u32* high = kWide<Out> ? &w.row(o, place.part + 1).lane[place.lane] : low;
      for (u32 j = 0; j < f.size; ++j) c[j] = from_bits<Out>(low[j], high[j]);
    }
  }
}

template <class Out>
void write_result(Wave& w, const Instruction& in, const Out* c) {
  const MatrixForm& f = matrix_form(in.matrix);
  for (u32 block = 0; block < f.blocks; ++block) {
    for (u32 i = 0; i < f.size; ++i, c += f.size) {
      const ResultPlace place = result_place(f, block, i);
      u32* low = &w.row(in.op[0], place.part).lane[place.lane];
      for (u32 j = 0; j < f.size; ++j) low[j] = low_bits(c[j]);
      if constexpr (kWide<Out>) {
        u32* high = &w.row(in.op[0], place.part + 1).lane[place.lane];
        for (u32 j = 0; j < f.size; ++j) high[j] = high_bits(c[j]);
      }
    }
  }
}

void negate_if(bool negated, double* values, u32 count) {
  if (negated) std::transform(values, values + count, values, std::negate<>{});
}
// `neg` of double precision: one bit for each source.
void negate(u32 bits, const MatrixForm& f, Block<Double>& block, double* c) {
  negate_if((bits & 1) != 0, block.a, f.k * f.size);
  negate_if((bits & 2) != 0, block.b, f.k * f.size);
  negate_if((bits & 4) != 0, c, f.size * f.size);
}

template <class P, u32 Size>
void run_blocks(Wave& w, const Instruction& in) {
  const MatrixForm& f = matrix_form(in.matrix);
  constexpr u32 kOfBlock = Size * Size;
  Block<P> block;
  typename P::Out c[kMaxResult];
  read_addend(w, in, c);
  if (f.sparse) read_columns(w, in, block.columns);
  for (u32 n = 0; n < f.blocks; ++n) {
    const u32 block_of_a = f.sparse ? n : (n >> in.cbsz() << in.cbsz()) + in.abid();
    unpack<P>(w, f.a, {in.op[1], Size, f.stored_k(), f.lane_a(), block_of_a, f.blocks, 0}, block.a);
    unpack<P>(w, f.b, {in.op[2], Size, f.k, f.lane_b(), n, f.blocks, in.blgp()}, block.b);
    if constexpr (std::is_same_v<P, Double>) negate(in.neg_lo, f, block, c + n * kOfBlock);
    multiply<P, Size>(f, block, c + n * kOfBlock);
  }
  write_result(w, in, c);
}

template <class P>
void run_matrix(Wave& w, const Instruction& in) {
  if (matrix_form(in.matrix).size == 32) return run_blocks<P, 32>(w, in);
  if (matrix_form(in.matrix).size == 16) return run_blocks<P, 16>(w, in);
  run_blocks<P, 4>(w, in);
}

Handler handler_of(Element e) {
  if (e == E::kF64) return &run_matrix<Double>;
  if (e == E::kF32) return &run_matrix<Single>;
  return e == E::kI8 ? &run_matrix<Integer> : &run_matrix<Narrow>;
}

bool is_vector(const Operand& o, u32 registers) {
  return (o.kind == Kind::kVgpr || o.kind == Kind::kAgpr) && o.count == registers;
}

// CBSZ and ABID choose a block of A, or a set of indices (ABID alone, and only where CBSZ is 0); BLGP moves lanes of B.
bool modifiers_fit(const MatrixForm& f, const Instruction& in) {
  if (f.sparse) return in.blgp() == 0 && (in.cbsz() != 0 || in.abid() < f.index_sets());
  if (f.a == E::kF64) return in.cbsz() == 0 && in.abid() == 0 && in.blgp() == 0;
  const bool lanes_move = f.blocks > 1 || f.a == E::kF32;
  return (in.blgp() == 0 || lanes_move) && 1u << in.cbsz() <= f.blocks && in.abid() < 1u << in.cbsz();
}

}  // namespace

const MatrixForm& matrix_form(u8 number) {
  return kForms[number].form;
}

bool fits_form(const Instruction& in) {
  const MatrixForm& f = matrix_form(in.matrix);
  const Operand& addend = in.op[3];
  for (const Operand& o : in.op) {
    if (o.negate || o.absolute || o.sign_extend) return false;
  }
  const bool third =
      f.sparse ? is_vector(addend, 1) : addend.kind == Kind::kConstant || is_vector(addend, f.registers_of_result());
  const bool sources = is_vector(in.op[1], f.registers_a()) && is_vector(in.op[2], f.registers_b());
  const bool negated = in.neg_lo == 0 || f.a == E::kF64;
  return is_vector(in.op[0], f.registers_of_result()) && sources && third && negated && modifiers_fit(f, in);
}

void add_matrix_operations(Table& t) {
  static_assert(std::size(kForms) <= kNoMatrix);
  for (const NamedForm& n : kForms) {
    Semantics s;
    s.handler = handler_of(n.form.a);
    s.shape = Shape::kMatrix;
    s.matrix = static_cast<u8>(&n - kForms);
    s.types = {n.form.result_type()};
    t.add(n.name, s);
  }
}

}  // namespace gfx942
