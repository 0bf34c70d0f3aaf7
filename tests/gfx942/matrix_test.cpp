// Matrix instructions against the definition of the product, over the layouts that AMD's Matrix Instruction Calculator
// prints for CDNA3 and the definitions of the formats, both written here once more.
//
// Results of integers, of single and of double precision are compared bit by bit (a chain of fused multiply-adds in the
// order of k), results of narrower floats with the bound that model/gfx942/matrix.cpp states, and bit by bit when all
// sums are small whole numbers.
#include "gfx942/matrix.inc"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "gfx942/machine.h"
#include "model/gfx942/decode.h"
#include "model/gfx942/table.h"

namespace {

using i8 = std::int8_t;
using i32 = std::int32_t;
using namespace gfx942_test;

enum Element { kF64, kF32, kXf32, kF16, kBf16, kI8, kFp8, kBf8 };

struct Form {
  const char* id;
  u32 registers_a, registers_b, registers_d;
  u32 size, k, blocks;
  Element a, b;
  bool sparse;
  u32 cbsz, abid, blgp, neg;
};
#define FORM(id, instruction, modifiers, ra, rb, rd, size, k, blocks, a, b, sparse, cbsz, abid, blgp, neg) \
  {#id, ra, rb, rd, size, k, blocks, a, b, sparse, cbsz, abid, blgp, neg},
constexpr Form kForms[] = {MATRICES(FORM)};

constexpr u32 kWave = 64;

u32 bits_of(Element e) {
  constexpr u32 kBits[] = {64, 32, 32, 16, 16, 8, 8, 8};
  return kBits[e];
}

// --- formats, by their definitions ---

long double small_float(u64 code, int exponent_bits, int mantissa_bits, int bias) {
  const int exponent = static_cast<int>(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const long double mantissa = static_cast<long double>(code & ((1u << mantissa_bits) - 1));
  const long double one = std::ldexp(1.0L, mantissa_bits);
  const long double magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                              : std::ldexp(mantissa + one, exponent - bias - mantissa_bits);
  return (code >> (exponent_bits + mantissa_bits) & 1) != 0 ? -magnitude : magnitude;
}

long double value_of(Element e, u64 code) {
  switch (e) {
    case kF64:
      return static_cast<long double>(std::bit_cast<double>(code));
    case kF32:
      return static_cast<long double>(std::bit_cast<float>(static_cast<u32>(code)));
    case kXf32:
      return static_cast<long double>(std::bit_cast<float>(static_cast<u32>(code) & 0xffffe000));
    case kF16:
      return small_float(code, 5, 10, 15);
    case kBf16:
      return small_float(code, 8, 7, 127);
    case kI8:
      return static_cast<i8>(code);
    case kFp8:
      return code == 0x80 ? NAN : small_float(code, 4, 3, 8);
    case kBf8:
      return code == 0x80 ? NAN : small_float(code, 5, 2, 16);
  }
  return 0;
}

// The bits of a whole number from -8 to 8: 8-bit floats and halves are searched, once.
constexpr int kMostWhole = 8;
u64 search_code(Element e, int whole) {
  u64 code = 0;
  while (value_of(e, code) != whole) ++code;
  return code;
}
u64 searched_code(Element e, int whole) {
  static const auto codes = [] {
    std::array<std::array<u64, 2 * kMostWhole + 1>, 8> table{};
    for (const Element each : {kF16, kFp8, kBf8}) {
      for (int n = -kMostWhole; n <= kMostWhole; ++n)
        table[each][static_cast<u32>(n + kMostWhole)] = search_code(each, n);
    }
    return table;
  }();
  return codes[e][static_cast<u32>(whole + kMostWhole)];
}
u64 code_of(Element e, int whole) {
  if (e == kF64) return std::bit_cast<u64>(static_cast<double>(whole));
  const u64 single = std::bit_cast<u32>(static_cast<float>(whole));
  if (e == kF32 || e == kXf32) return single;
  if (e == kBf16) return single >> 16;
  return e == kI8 ? static_cast<u8>(whole) : searched_code(e, whole);
}

// --- registers ---

// The registers of all work items: `count` for each.
struct Registers {
  u32 count;
  std::vector<u32> words;
  explicit Registers(u32 registers) : count(registers), words(std::size_t{registers} * kWave) {}

  [[nodiscard]] u64 get(u32 lane, u32 bit, u32 width) const {
    const u32* at = &words[std::size_t{lane} * count + bit / 32];
    if (width == 64) return at[0] | static_cast<u64>(at[1]) << 32;
    return at[0] >> bit % 32 & (width == 32 ? ~0u : (1u << width) - 1);
  }
};

u64 next(u64& state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return state ^ state >> 29;
}

// Finite numbers of moderate size with random mantissas; of 8-bit floats any code, the NaN now and then.
u64 random_code(Element e, u64& state, bool whole) {
  const u64 r = next(state);
  if (whole) return code_of(e, static_cast<int>(r % (2 * kMostWhole + 1)) - kMostWhole);
  const u64 sign = r >> 63;
  const u64 step = r >> 32 & 15;
  switch (e) {
    case kF64:
      return sign << 63 | (1016 + step) << 52 | (r & 0xfffffffffffff);
    case kF32:
    case kXf32:
      return sign << 31 | (120 + step) << 23 | (r & 0x7fffff);
    case kF16:
      return sign << 15 | (r >> 36 & 1 ? 7 + step : r >> 32 & 7) << 10 | (r & 0x3ff);
    case kBf16:
      return sign << 15 | (120 + step) << 7 | (r & 0x7f);
    default:
      return (r & 0xff) == 0x80 && e != kI8 && next(state) % 32 != 0 ? 0x81 : r & 0xff;
  }
}

void fill(Registers& registers, Element e, u64& state, bool whole) {
  const u32 width = bits_of(e);
  for (u32 bit = 0; bit < registers.words.size() * 32; bit += width) {
    const u64 code = random_code(e, state, whole);
    u32* at = &registers.words[bit / 32];
    if (width == 64) at[1] = static_cast<u32>(code >> 32);
    *at |= static_cast<u32>(code) << bit % 32;
  }
}

// --- layouts, by the calculator's output ---

u32 source_lane(const Form& f, u32 i, u32 k, u32 block, u32 in_lane) {
  if (f.a == kF64 && f.size == 4) return 4 * block + 16 * k + i;
  return f.blocks == 1 ? f.size * (k / in_lane) + i : f.size * block + i;
}
u32 moved(u32 lane, u32 blgp) {
  constexpr u32 kQuarters[8][4] = {{0, 1, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}, {1, 2, 3, 0},
                                   {0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}};
  return kQuarters[blgp][lane / 16] * 16 + lane % 16;
}
u64 code_a(const Form& f, const Registers& a, u32 i, u32 k, u32 block) {
  const u32 width = bits_of(f.a);
  const u32 in_lane = f.registers_a * 32 / width;
  const u32 chosen = f.sparse ? block : block / (1u << f.cbsz) * (1u << f.cbsz) + f.abid;
  return a.get(source_lane(f, i, k, chosen, in_lane), k % in_lane * width, width);
}
u64 code_b(const Form& f, const Registers& b, u32 k, u32 j, u32 block) {
  const u32 width = bits_of(f.b);
  const u32 in_lane = f.registers_b * 32 / width;
  return b.get(moved(source_lane(f, j, k, block, in_lane), f.blgp), k % in_lane * width, width);
}
u64 code_d(const Form& f, const Registers& d, u32 i, u32 j, u32 block) {
  if (f.a == kF64) {
    const u32 lane = f.size == 16 ? 16 * (i % 4) + j : 16 * (i % 4) + 4 * block + j;
    return d.get(lane, f.size == 16 ? 64 * (i / 4) : 0, 64);
  }
  if (f.size == 4) return d.get(4 * block + j, 32 * i, 32);
  if (f.size == 16) return d.get(16 * (i / 4) + j, 32 * (4 * block + i % 4), 32);
  return d.get(32 * (i / 4) % 64 + j, 32 * (16 * block + 4 * (i / 8) + i % 4), 32);
}
// The column of stored element `k` of row i of a sparse A.
u32 column(const Form& f, const Registers& index, u32 i, u32 k) {
  const u32 in_lane = f.registers_a * 32 / bits_of(f.a);
  const u32 set_bits = bits_of(f.a) == 16 ? 8 : 16;
  const u32 first = f.cbsz == 0 ? f.abid * set_bits : 0;
  // Four bits for each four columns, two for each of the two that are stored.
  const u32 bit = first + 4 * (k % in_lane / 2) + 2 * (k % 2);
  return 4 * (k / 2) + static_cast<u32>(index.get(f.size * (k / in_lane) + i, bit, 2));
}

// --- the product ---

struct Wave {
  Registers a, b, index, before, after;
};

template <class T>
u64 fused_chain(const Form& f, const Wave& w, u32 i, u32 j, u32 block) {
  const auto value = [](u64 code, u32 negated) {
    const T x = static_cast<T>(sizeof(T) == 8 ? std::bit_cast<double>(code)
                                              : static_cast<double>(std::bit_cast<float>(static_cast<u32>(code))));
    return negated != 0 ? -x : x;
  };
  T sum = value(code_d(f, w.before, i, j, block), f.neg & 4);
  for (u32 k = 0; k < f.k; ++k) {
    sum = std::fma(value(code_a(f, w.a, i, k, block), f.neg & 1), value(code_b(f, w.b, k, j, block), f.neg & 2), sum);
  }
  return sizeof(T) == 8 ? std::bit_cast<u64>(static_cast<double>(sum)) : std::bit_cast<u32>(static_cast<float>(sum));
}

// The sum of c and all products, and of their magnitudes.
struct Sums {
  long double sum = 0;
  long double magnitude = 0;
  u32 wrapped = 0;
};
Sums sums_of(const Form& f, const Wave& w, u32 i, u32 j, u32 block) {
  Sums s;
  const auto add = [&](long double x) {
    s.sum += x;
    s.magnitude += std::fabs(x);
  };
  s.wrapped = static_cast<u32>(code_d(f, w.before, i, j, block));
  if (f.a != kI8) add(value_of(kF32, s.wrapped));
  for (u32 k = 0; k < (f.sparse ? f.k / 2 : f.k); ++k) {
    const long double a = value_of(f.a, code_a(f, w.a, i, k, block));
    const long double b = value_of(f.b, code_b(f, w.b, f.sparse ? column(f, w.index, i, k) : k, j, block));
    add(a * b);
    if (f.a == kI8) s.wrapped += static_cast<u32>(static_cast<i32>(a) * static_cast<i32>(b));
  }
  return s;
}

u32 groups_of(const Form& f) {
  const u32 stored = f.sparse ? f.k / 2 : f.k;
  const u32 group = f.a == kXf32 ? 4 : bits_of(f.a) == 16 ? 8 : 16;
  return (stored + group - 1) / group;
}

bool is_right(const Form& f, const Wave& w, u32 i, u32 j, u32 block, bool whole) {
  const u64 got = code_d(f, w.after, i, j, block);
  if (f.a == kF64) return got == fused_chain<double>(f, w, i, j, block);
  if (f.a == kF32) return got == fused_chain<float>(f, w, i, j, block);
  const Sums s = sums_of(f, w, i, j, block);
  if (f.a == kI8) return got == s.wrapped;
  const long double result = value_of(kF32, got);
  if (std::isnan(s.sum)) return std::isnan(result);
  if (whole) return result == s.sum;
  return std::fabs(result - s.sum) <= static_cast<long double>(groups_of(f)) * (0x1p-24L + 0x1p-40L) * s.magnitude;
}

Machine& machine() {
  return machine_of(MATRIX_O2);
}

void run(const char* kernel, Wave& w) {
  TestMemory& memory = machine().memory();
  const std::array<u64, 4> in{memory.upload("d", w.before.words), memory.upload("a", w.a.words),
                              memory.upload("b", w.b.words), memory.upload("index", w.index.words)};
  const auto outcome =
      machine().launch(kernel, Arguments(in[0], in[1], in[2], in[3]).bytes(), {{kWave, 1, 1}, {kWave, 1, 1}, 0});
  RC_ASSERT(fault_text(outcome) == "");
  w.after.words = memory.download<u32>(in[0]);
  for (const u64 address : in) memory.free(address);
}

class Matrices : public testing::TestWithParam<Form> {};
INSTANTIATE_TEST_SUITE_P(Forms, Matrices, testing::ValuesIn(kForms),
                         [](const auto& at) { return std::string(at.param.id); });

TEST_P(Matrices, AreTheProductPlusTheAddend) {
  const Form& f = GetParam();
  EXPECT_TRUE(rc::check([&] {
    u64 state = *rc::gen::arbitrary<u64>();
    const bool whole = *rc::gen::arbitrary<bool>();
    Wave w{Registers(f.registers_a), Registers(f.registers_b), Registers(1), Registers(f.registers_d),
           Registers(f.registers_d)};
    fill(w.a, f.a, state, whole);
    fill(w.b, f.b, state, whole);
    fill(w.before, f.a == kF64 ? kF64 : f.a == kI8 ? kI8 : kF32, state, whole);
    for (u32& word : w.index.words) word = static_cast<u32>(next(state));
    run((std::string(*rc::gen::arbitrary<bool>() ? "matrix_" : "accumulate_") + f.id).c_str(), w);
    for (u32 block = 0; block < f.blocks; ++block) {
      for (u32 i = 0; i < f.size; ++i) {
        for (u32 j = 0; j < f.size; ++j) RC_ASSERT(is_right(f, w, i, j, block, whole));
      }
    }
  }));
}

TEST(MatrixAddend, AConstantStandsForEveryElementAndExecDoesNotCount) {
  Form f = *std::ranges::find(kForms, std::string_view("f32_16x16x4_f32"), &Form::id);
  EXPECT_TRUE(rc::check([&] {
    u64 state = *rc::gen::arbitrary<u64>();
    Wave w{Registers(1), Registers(1), Registers(1), Registers(4), Registers(4)};
    fill(w.a, kF32, state, false);
    fill(w.b, kF32, state, false);
    run("constant_addend", w);
    std::ranges::fill(w.before.words, std::bit_cast<u32>(2.0f));
    for (u32 i = 0; i < 16; ++i) {
      // The kernel stores zeroes for the lanes that did not ask, so only the others can be seen there.
      for (u32 j = 0; j < 16; j += 2) RC_ASSERT(is_right(f, w, i, j, 0, false));
    }
  }));
}

TEST(MatrixDecode, AbidIsLimitedOnlyWhereItChoosesASetOfIndices) {
  const auto is_known = [](const std::string& modifiers) {
    const std::string text = "v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10" + modifiers;
    return gfx942::decode(text, {}).handler != &gfx942::run_unknown;
  };
  EXPECT_TRUE(is_known(" abid:3"));
  EXPECT_FALSE(is_known(" abid:4"));  // one register has four sets
  EXPECT_TRUE(is_known(" cbsz:1 abid:4"));
  EXPECT_FALSE(is_known(" cbsz:8"));
}

TEST(MatrixDecode, EveryInstructionIsKnown) {
  EXPECT_EQ(machine().program().unknown_instructions(), std::vector<std::string>{});
}

}  // namespace
