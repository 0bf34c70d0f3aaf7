// Instructions that compilers seldom emit, one by one, against the same computation in C (instructions.inc).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "gfx942/machine.h"
#include "model/gfx942/decode.h"

namespace {

using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using namespace gfx942_test;

// The words of the expressions; written for being plainly right.
constexpr u32 ones(u32 count) {
  return (1u << count) - 1;
}
// `x` as a signed number of `width` bits.
constexpr i64 extended(u64 x, u32 width) {
  if (width == 0) return 0;
  const i64 value = static_cast<i64>(x);
  return (x >> (width - 1) & 1) != 0 ? value - (i64{1} << width) : value;
}
template <class T>
T middle(T a, T b, T c) {
  std::array<T, 3> all{a, b, c};
  std::sort(all.begin(), all.end());
  return all[1];
}
constexpr u32 distance(u32 a, u32 b) {
  return a < b ? b - a : a - b;
}
u32 distances(u32 a, u32 b) {
  u32 sum = 0;
  for (u32 i = 0; i < 32; i += 8) sum += distance(a >> i & 255, b >> i & 255);
  return sum;
}
u32 perm(u32 a, u32 b, u32 selector) {
  const std::array<u32, 8> bytes{b & 255, b >> 8 & 255, b >> 16 & 255, b >> 24,
                                 a & 255, a >> 8 & 255, a >> 16 & 255, a >> 24};
  if (selector < 8) return bytes[selector];
  if (selector < 12) return bytes[2 * (selector - 8) + 1] >= 128 ? 255 : 0;
  return selector == 12 ? 0 : 255;
}
u32 leading(u32 x) {
  u32 count = 0;
  for (u32 bit = 32; bit-- > 0 && (x >> bit & 1) == 0;) ++count;
  return count;
}
u32 reversed(u32 x) {
  u32 result = 0;
  for (u32 bit = 0; bit < 32; ++bit) result = result << 1 | (x >> bit & 1);
  return result;
}
u32 ones_in(u32 x) {
  u32 count = 0;
  for (u32 bit = 0; bit < 32; ++bit) count += x >> bit & 1;
  return count;
}
u32 clamped32(i64 x) {
  return static_cast<u32>(std::clamp<i64>(x, INT32_MIN, INT32_MAX));
}
u32 clamped16(i64 x) {
  return static_cast<u16>(std::clamp<i64>(x, INT16_MIN, INT16_MAX));
}
i64 whole_fields(u32 a, u32 b, u32 width, bool is_signed) {
  i64 sum = 0;
  for (u32 i = 0; i < 32; i += width) {
    const u32 x = a >> i & ones(width);
    const u32 y = b >> i & ones(width);
    sum += is_signed ? extended(x, width) * extended(y, width) : i64{x} * y;
  }
  return sum;
}
u32 fields(u32 a, u32 b, u32 width, bool is_signed) {
  return static_cast<u32>(whole_fields(a, b, width, is_signed));
}
u32 bits(float x) {
  return std::bit_cast<u32>(x);
}
// Without the highest bit of the exponent: no number is too large for a sum, and none is a NaN.
float below_two(u32 x) {
  return std::bit_cast<float>(x & 0xbfffffff);
}

// The 8-bit floats of gfx942 by their definition; 0x80 is the NaN.
struct Float8 {
  int mantissa;
  int bias;
};
constexpr Float8 kFp8{3, 8};
constexpr Float8 kBf8{2, 16};
double float8_value(u32 code, Float8 f) {
  const int exponent = static_cast<int>((code & 127) >> f.mantissa);
  const double fraction = static_cast<double>(code & ones(static_cast<u32>(f.mantissa))) / (1 << f.mantissa);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - f.bias) : std::ldexp(1 + fraction, exponent - f.bias);
  return code >= 128 ? -magnitude : magnitude;
}
u32 float8_bits(u32 code, Float8 f) {
  return code == 128 ? 0x7fc00000 : bits(static_cast<float>(float8_value(code, f)));
}
// The nearest number, the even one of two that are as near; where the next one behind the largest is nearest: the NaN.
u32 to_float8(u32 x, Float8 f) {
  const double value = static_cast<double>(std::bit_cast<float>(x));
  if (!std::isfinite(value)) return 128;
  const double magnitude = std::fabs(value);
  const double step = float8_value(127, f) - float8_value(126, f);
  if (magnitude >= float8_value(127, f) + step / 2) return 128;
  u32 best = 0;
  for (u32 code = 1; code < 128; ++code) {
    const double better = std::fabs(float8_value(best, f) - magnitude) - std::fabs(float8_value(code, f) - magnitude);
    if (better > 0 || (better == 0 && code % 2 == 0)) best = code;
  }
  return best == 0 || value > 0 ? best : best + 128;
}
// Random bits below the mantissa, then the largest number that is not larger.
u32 stochastic8(u32 x, u32 random, Float8 f) {
  if (!std::isfinite(std::bit_cast<float>(x))) return 128;
  const double value = static_cast<double>(std::bit_cast<float>(x + (random >> (9 + f.mantissa))));
  const double magnitude = std::fabs(value);
  if (!(magnitude < float8_value(127, f) * 2 - float8_value(126, f))) return 128;
  u32 best = 0;
  for (u32 code = 1; code < 128 && float8_value(code, f) <= magnitude; ++code) best = code;
  return best == 0 || value > 0 ? best : best + 128;
}
// With MODE.FP16_OVFL a finite number that is too large, whose result would be the NaN, gives the largest one.
u32 saturated8(u32 x, u32 code) {
  return code == 128 && std::isfinite(std::bit_cast<float>(x)) ? 127 | x >> 31 << 7 : code;
}
u32 quad_bits(u32 x) {
  u32 result = 0;
  for (u32 quad = 0; quad < 8; ++quad) result |= (x >> 4 * quad & 15) != 0 ? 1u << quad : 0;
  return result;
}
u32 quads(u32 x) {
  u32 result = 0;
  for (u32 bit = 0; bit < 32; ++bit) result |= (quad_bits(x) >> bit / 4 & 1) << bit;
  return result;
}
// As in instructions.hip.
float number(u64 x) {
  return static_cast<float>(static_cast<i32>(x)) * 0x1p-24f;
}
float below_one(float x) {
  return std::min(x, std::nextafter(1.0f, 0.0f));
}

struct Case {
  const char* kernel;
  bool wide;
  u64 (*expected)(u32 a, u32 b, u32 c, u64 wa, u64 wb);
  bool (*scc)(u32 a, u32 b, u64 wa, u64 wb);
};

// The expressions are in C's style of casts.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include "gfx942/instructions.inc"
#define EXPECTED(expression)                                                                          \
  []([[maybe_unused]] u32 a, [[maybe_unused]] u32 b, [[maybe_unused]] u32 c, [[maybe_unused]] u64 wa, \
     [[maybe_unused]] u64 wb) -> u64 { return static_cast<u64>(expression); }
#define CONDITION(expression)                                                                                    \
  []([[maybe_unused]] u32 a, [[maybe_unused]] u32 b, [[maybe_unused]] u64 wa, [[maybe_unused]] u64 wb) -> bool { \
    return expression;                                                                                           \
  }
#define VECTOR_CASE(id, text, expression) {"vector_" #id, false, EXPECTED(expression), nullptr},
#define VECTOR_WIDE_CASE(id, text, expression) {"vector_" #id, true, EXPECTED(expression), nullptr},
#define FLOAT_CASE(id, text, expression)                        \
  {"float_" #id, false,                                         \
   [](u32 a, u32 b, u32 c, u64, u64) -> u64 {                   \
     [[maybe_unused]] const float fa = number(a);               \
     [[maybe_unused]] const float fb = number(b);               \
     [[maybe_unused]] const float fc = number(c);               \
     return std::bit_cast<u32>(static_cast<float>(expression)); \
   },                                                           \
   nullptr},
#define SCALAR_CASE(id, text, expression, condition) {"scalar_" #id, false, EXPECTED(expression), CONDITION(condition)},
#define SCALAR_WIDE_CASE(id, text, expression, condition) \
  {"scalar_" #id, true, EXPECTED(expression), CONDITION(condition)},
const Case kCases[] = {VECTORS(VECTOR_CASE, VECTOR_WIDE_CASE) FLOATS(FLOAT_CASE)
                           SCALARS(SCALAR_CASE, SCALAR_WIDE_CASE)};
#pragma GCC diagnostic pop

u64 random_word(u64& state) {
  static constexpr u64 kSpecial[] = {0, ~u64{0}, 1, 0x80000000, 0x7fffffff, 0x8000000080000000, 0xffff, 0x8000};
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  const u64 mixed = state ^ state >> 29;
  return (state >> 60) == 0 ? kSpecial[mixed % std::size(kSpecial)] : mixed;
}

std::vector<u64> random_words(std::size_t count) {
  u64 state = *rc::gen::arbitrary<u64>();
  std::vector<u64> values(count);
  for (u64& v : values) v = random_word(state);
  return values;
}

Machine& machine() {
  static Machine one{INSTRUCTIONS_O2};
  return one;
}

class Instructions : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(OneByOne, Instructions, testing::Range<std::size_t>(0, std::size(kCases)),
                         [](const auto& at) { return std::string(kCases[at.param].kernel); });

TEST_P(Instructions, ComputeWhatTheExpressionComputes) {
  const Case& one = kCases[GetParam()];
  const bool scalar = one.scc != nullptr;
  EXPECT_TRUE(rc::check([&] {
    TestMemory& memory = machine().memory();
    constexpr u32 kItems = 64;
    const std::vector<u64> a = random_words(kItems);
    const std::vector<u64> b = random_words(kItems);
    const std::vector<u64> c = random_words(kItems);
    const u64 out = memory.upload("out", std::vector<u64>(2 * kItems));
    const std::array<u64, 3> in{memory.upload("a", a), memory.upload("b", b), memory.upload("c", c)};
    const auto outcome = machine().launch(one.kernel, Arguments(out, in[0], in[1], in[2]).bytes(),
                                          {{kItems, 1, 1}, {scalar ? 1 : kItems, 1, 1}, 0});
    RC_ASSERT(fault_text(outcome) == "");
    const std::vector<u64> result = memory.download<u64>(out);
    for (u32 i = 0; i < kItems; ++i) {
      RC_LOG() << std::hex << "a " << a[i] << " b " << b[i] << " c " << c[i] << "\n";
      const u32 x = static_cast<u32>(a[i]);
      const u32 y = static_cast<u32>(b[i]);
      const u64 expected = one.expected(x, y, static_cast<u32>(c[i]), a[i], b[i]);
      RC_ASSERT(result[scalar ? 2 * i : i] == (one.wide ? expected : static_cast<u32>(expected)));
      if (scalar) RC_ASSERT((result[2 * i + 1] != 0) == one.scc(x, y, a[i], b[i]));
    }
    for (const u64 address : {out, in[0], in[1], in[2]}) memory.free(address);
  }));
}

TEST(InstructionsDecode, GprIndexModeMovesTheRegistersOfVectorArithmeticAlone) {
  EXPECT_TRUE(gfx942::takes_gpr_index("v_mov_b32_e32 v43, v40"));
  EXPECT_FALSE(gfx942::takes_gpr_index("s_mov_b32 s0, s1"));
  EXPECT_FALSE(gfx942::takes_gpr_index("buffer_load_dword v0, off, s[4:7], 0"));
  EXPECT_FALSE(gfx942::takes_gpr_index("global_store_dword v[0:1], v2, off"));
  EXPECT_FALSE(gfx942::takes_gpr_index("ds_read_b32 v0, v1"));
  EXPECT_FALSE(gfx942::takes_gpr_index("v_mfma_f32_4x4x1_16b_f32 v[0:3], v4, v5, v[0:3]"));
  EXPECT_FALSE(gfx942::takes_gpr_index("v_smfmac_f32_16x16x32_f16 v[0:3], v[4:5], v[6:9], v10"));
}

TEST(InstructionsDecode, EveryInstructionIsKnown) {
  EXPECT_EQ(machine().program().unknown_instructions(), std::vector<std::string>{});
}

}  // namespace
