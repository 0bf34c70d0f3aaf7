// Half precision against the definition of the format: the table of all its numbers, and the nearest of them to a
// result that a wider format holds exactly.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "gfx942/machine.h"

namespace {

using namespace gfx942_test;
using i16 = std::int16_t;

constexpr u16 kSign = 0x8000;
constexpr u16 kInfinity = 0x7c00;
constexpr u16 kNan = 0x7e00;
constexpr long double kBeyond = 65536.0L;  // where the number after the largest would be

bool is_nan(u16 h) {
  return (h & 0x7fff) > kInfinity;
}

// By the definition: sign, exponent with a bias of 15, ten bits behind an implied one.
long double value_of(u16 h) {
  const int exponent = h >> 10 & 31;
  const long double mantissa = h & 0x3ff;
  long double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
  if (exponent == 31) magnitude = (h & 0x3ff) != 0 ? NAN : INFINITY;
  return (h & kSign) != 0 ? -magnitude : magnitude;
}

const std::vector<long double>& magnitudes() {
  static const std::vector<long double> all = [] {
    std::vector<long double> values;
    for (u32 h = 0; h < kInfinity; ++h) values.push_back(value_of(static_cast<u16>(h)));
    values.push_back(kBeyond);
    return values;
  }();
  return all;
}

// The nearest half, the even one of two that are as near; any NaN is one NaN.
u16 nearest(long double x) {
  if (std::isnan(x)) return kNan;
  const u16 sign = std::signbit(x) ? kSign : 0;
  const long double magnitude = std::fabs(x);
  if (magnitude >= kBeyond) return sign | kInfinity;
  const auto above = std::upper_bound(magnitudes().begin(), magnitudes().end(), magnitude);
  const u16 low = static_cast<u16>(above - magnitudes().begin() - 1);
  const long double to_low = magnitude - magnitudes()[low];
  const long double to_high = magnitudes()[low + 1u] - magnitude;
  const bool up = to_high < to_low || (to_high == to_low && low % 2 == 1);
  return static_cast<u16>(sign | (low + (up ? 1 : 0)));
}

u16 canonical(u16 h) {
  return is_nan(h) ? kNan : h;
}

std::array<u16, 16> expected(u16 x, u16 y, u16 z) {
  const long double a = value_of(x);
  const long double b = value_of(y);
  const long double c = value_of(z);
  return {nearest(a + b),
          nearest(a - b),
          nearest(a * b),
          nearest(-a * c),
          nearest(a * b + c),
          nearest(-a * std::fabs(b) - c),
          nearest(a / b),
          nearest(std::floor(a)),
          nearest(std::ceil(b)),
          nearest(std::trunc(c)),
          nearest(std::nearbyint(a)),
          canonical(y),
          nearest(a * b),
          nearest(static_cast<i16>(x)),
          nearest(y),
          canonical(a < b ? z : (b >= c ? x : y))};
}

std::vector<u16> random_halves(std::size_t count) {
  std::vector<u16> values(count);
  u64 state = *rc::gen::arbitrary<u64>();
  for (u16& v : values) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    v = static_cast<u16>(state >> 48);
    // Magnitudes near one half of the time, so that sums round and do not only absorb.
    if ((state >> 20 & 1) != 0) v = static_cast<u16>((v & 0x83ff) | (12 + (v >> 10 & 7)) << 10);
  }
  return values;
}

// The compiler's own division of halves may be off by one step: it rounds a product with a reciprocal.
constexpr u32 kDivision = 6;
bool within_a_step(u16 got, u16 want) {
  const bool exact = is_nan(want) || (want & 0x7fff) == kInfinity || (want & 0x7fff) == 0;
  return exact ? got == want : std::abs(static_cast<int>(got) - static_cast<int>(want)) <= 1;
}

// The compiler makes the rounded product of two floats a fused multiply-add of +0, which loses the sign of a zero.
constexpr u32 kRoundedProduct = 12;
bool equal_but_for_zero(u16 got, u16 want) {
  return got == want || ((got | want) & 0x7fff) == 0;
}

struct Halves : testing::TestWithParam<int> {
  static Machine& machine() {
    static const std::array<std::string, 4> paths{HALVES_O0, HALVES_O1, HALVES_O2, HALVES_O3};
    return machine_of(paths[static_cast<std::size_t>(GetParam())]);
  }
  static TestMemory& memory() { return machine().memory(); }
  template <class... T>
  static std::string launch(const char* kernel, u32 items, T... arguments) {
    return fault_text(machine().launch(kernel, Arguments(arguments...).bytes(), {{items, 1, 1}, {64, 1, 1}, 0}));
  }
};
INSTANTIATE_TEST_SUITE_P(AtEveryLevel, Halves, testing::Range(0, 4),
                         [](const auto& at) { return "O" + std::to_string(at.param); });

TEST_P(Halves, OperationsRoundOnceToTheNearestHalfAndDivisionIsWithinAStep) {
  EXPECT_TRUE(rc::check([&] {
    const std::vector<u16> x = random_halves(128);
    const std::vector<u16> y = random_halves(128);
    const std::vector<u16> z = random_halves(128);
    const u64 out = memory().upload("out", std::vector<u16>(128 * 16));
    RC_ASSERT(launch("half_operations", 128, out, memory().upload("x", x), memory().upload("y", y),
                     memory().upload("z", z)) == "");
    const std::vector<u16> result = memory().download<u16>(out);
    for (u32 i = 0; i < 128; ++i) {
      const std::array<u16, 16> want = expected(x[i], y[i], z[i]);
      for (u32 k = 0; k < 16; ++k) {
        RC_LOG() << std::hex << x[i] << " " << y[i] << " " << z[i] << " operation " << k << "\n";
        const u16 got = canonical(result[16 * i + k]);
        bool right = got == want[k];
        if (k == kDivision) right = within_a_step(got, want[k]);
        if (k == kRoundedProduct) right = equal_but_for_zero(got, want[k]);
        RC_ASSERT(right);
      }
    }
  }));
}

TEST_P(Halves, PairsAreTwoHalves) {
  EXPECT_TRUE(rc::check([&] {
    const std::vector<u16> x = random_halves(128);
    const std::vector<u16> y = random_halves(128);
    const std::vector<u16> z = random_halves(128);
    const u64 out = memory().upload("out", std::vector<u16>(128 * 4));
    RC_ASSERT(
        launch("half_pairs", 64, out, memory().upload("x", x), memory().upload("y", y), memory().upload("z", z)) == "");
    const std::vector<u16> result = memory().download<u16>(out);
    for (u32 i = 0; i < 128; ++i) {
      const long double a = value_of(x[i]);
      const long double b = value_of(y[i]);
      const u16* at = &result[i / 2 * 8 + i % 2];
      RC_ASSERT(canonical(at[0]) == nearest(a + b));
      RC_ASSERT(canonical(at[2]) == nearest(a * value_of(y[i ^ 1])));
      RC_ASSERT(canonical(at[4]) == nearest(-a * b));
      RC_ASSERT(canonical(at[6]) == nearest(value_of(nearest(a * 2)) - value_of(z[i])));
    }
  }));
}

TEST_P(Halves, EveryHalfIsTheFloatThatTheFormatDefines) {
  std::vector<u16> all(65536);
  for (u32 h = 0; h < all.size(); ++h) all[h] = static_cast<u16>(h);
  const u64 out = memory().upload("out", std::vector<u32>(all.size()));
  ASSERT_EQ(launch("half_to_float", 65536, out, memory().upload("in", all)), "");
  const std::vector<float> result = memory().download<float>(out);
  for (u32 h = 0; h < all.size(); ++h) {
    const float want = static_cast<float>(value_of(all[h]));
    ASSERT_EQ(std::isnan(result[h]), std::isnan(want)) << h;
    if (std::isnan(want)) continue;
    ASSERT_EQ(std::bit_cast<u32>(result[h]), std::bit_cast<u32>(want)) << h;
  }
}

TEST_P(Halves, AFloatBecomesTheNearestHalf) {
  EXPECT_TRUE(rc::check([&] {
    std::vector<float> in;
    for (const u16 h : random_halves(128)) {
      // Half a step from a half, and one bit to either side of that: where rounding is decided.
      const double step = std::ldexp(1.0, std::max(static_cast<int>(h >> 10 & 31), 1) - 26);
      const float middle = static_cast<float>(static_cast<double>(value_of(h)) + step);
      const float choices[] = {middle, std::nextafter(middle, 1e9f), std::nextafter(middle, -1e9f)};
      in.push_back(choices[*rc::gen::inRange(0, 3)]);
    }
    const u64 out = memory().upload("out", std::vector<u16>(128));
    RC_ASSERT(launch("float_to_half", 128, out, memory().upload("in", in)) == "");
    const std::vector<u16> result = memory().download<u16>(out);
    for (u32 i = 0; i < 128; ++i) RC_ASSERT(canonical(result[i]) == nearest(static_cast<long double>(in[i])));
  }));
}

TEST_P(Halves, EveryInstructionIsKnown) {
  EXPECT_EQ(machine().program().unknown_instructions(), std::vector<std::string>{});
}

}  // namespace
