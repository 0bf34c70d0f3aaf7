// The forms of matrix instructions (MFMA, and SMFMAC for a sparse A), and where registers hold their elements.
//
// All layouts of AMD's Matrix Instruction Calculator for CDNA3 follow from a few numbers. Row i of A, or column j of B,
// is in lane size * (block + blocks * q) + i, where the lane holds the elements k of [q * n, (q + 1) * n), n of them,
// one behind the other. The columns of a row of the result are in consecutive lanes; result_place() says which.
#pragma once

#include "model/gfx942/types.h"

namespace gfx942 {

struct Instruction;

enum class Element : u8 { kF64, kF32, kXf32, kF16, kBf16, kI8, kFp8, kBf8 };

[[nodiscard]] constexpr u32 bits_of(Element e) {
  if (e == Element::kF64) return 64;
  if (e == Element::kF32 || e == Element::kXf32) return 32;
  return e == Element::kF16 || e == Element::kBf16 ? 16 : 8;
}

struct MatrixForm {
  u32 size;    // rows of A and of the result, columns of B
  u32 k;       // columns of A, rows of B
  u32 blocks;  // independent products
  Element a;
  Element b;
  u32 group;            // products that are added before the sum is rounded
  bool sparse = false;  // of each four columns of A, two are stored

  [[nodiscard]] constexpr u32 stored_k() const { return sparse ? k / 2 : k; }
  // Elements in one lane.
  [[nodiscard]] constexpr u32 lane_a() const { return stored_k() * size * blocks / kLanes; }
  [[nodiscard]] constexpr u32 lane_b() const { return k * size * blocks / kLanes; }
  [[nodiscard]] constexpr u32 registers_a() const { return lane_a() * bits_of(a) / 32; }
  [[nodiscard]] constexpr u32 registers_b() const { return lane_b() * bits_of(b) / 32; }
  [[nodiscard]] constexpr u32 registers_of_result() const { return result_words() * size * size * blocks / kLanes; }
  [[nodiscard]] constexpr u32 result_words() const { return a == Element::kF64 ? 2 : 1; }
  [[nodiscard]] constexpr Type result_type() const {
    if (a == Element::kF64) return Type::kF64;
    return a == Element::kI8 ? Type::kI32 : Type::kF32;
  }
  // The sets of indices that one register has for a sparse A.
  [[nodiscard]] constexpr u32 index_sets() const { return 32 / (2 * lane_a()); }
};

// Where row i of the result begins: its first register, and the lane of its first column.
struct ResultPlace {
  u32 part;
  u32 lane;
};
[[nodiscard]] constexpr ResultPlace result_place(const MatrixForm& f, u32 block, u32 i) {
  const u32 rows = kLanes / f.size;  // of the result that one register holds
  if (f.a == Element::kF64) {
    const u32 row = i * f.blocks + block;
    return {row / rows * 2, row % rows * f.size};
  }
  // Four rows are in four registers, one behind the other.
  const u32 four = block * (f.size / 4) + i / 4;
  return {four / rows * 4 + i % 4, four % rows * f.size};
}

// The lane from which lane `lane` of B comes under the pattern BLGP.
[[nodiscard]] constexpr u32 moved_lane(u32 lane, u32 blgp) {
  if (blgp == 0) return lane;
  if (blgp <= 2) return (blgp - 1) * 32 + lane % 32;
  if (blgp == 3) return (lane + 16) % kLanes;
  return (blgp - 4) * 16 + lane % 16;
}

// The form with a number that the table of semantics has (Semantics::matrix).
[[nodiscard]] const MatrixForm& matrix_form(u8 number);
// Whether the registers and modifiers of the instruction are those of its form.
[[nodiscard]] bool fits_form(const Instruction& in);

}  // namespace gfx942
