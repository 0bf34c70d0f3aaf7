// The interpreter against the host's own compiler and floating-point unit: functions.inc, compiled for both.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>

#include "gfx942/machine.h"

namespace {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using namespace gfx942_test;

// The source is compiled by two compilers and has casts in C's style, so these warnings do not apply.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wunused-function"
#define DEVICE inline
#define OUT_OF_LINE inline
#include "gfx942/functions.inc"
#pragma GCC diagnostic pop

struct Function {
  const char* name;
  u64 (*host)(u64, u64, u64);
};
#define DESCRIBED(name) {#name, &name},
constexpr Function kFunctions[] = {FUNCTIONS(DESCRIBED)};

Machine& machine(int level) {
  static const std::array<std::string, 4> paths{FUNCTIONS_O0, FUNCTIONS_O1, FUNCTIONS_O2, FUNCTIONS_O3};
  return machine_of(paths[static_cast<std::size_t>(level)]);
}

// Bits of integers, floats and doubles alike: uniform ones, small ones, and the numbers at which formats change.
u64 interesting(u64 random) {
  static constexpr double kSpecial[] = {0.0,      -0.0,         1.0,      -1.0,      0.5,        2.5,
                                        -3.5,     1e-310,       1e-40,    -1e-45,    3.4e38,     -3.4e38,
                                        1e308,    0x1p-126,     0x1p-127, 0x1p-1022, 0x1p127,    0x1p1023,
                                        0x1p-149, 4294967295.0, 1e300,    -1e-300,   123456.789, 1e9};
  const u64 rest = random >> 8;
  const double special = kSpecial[rest % std::size(kSpecial)];
  switch (random & 7) {
    case 0:
      return std::bit_cast<u64>(special);
    case 1:
      return std::bit_cast<std::uint32_t>(static_cast<float>(special)) | rest << 40;
    case 2:
      return rest % 300;
    case 3:
      return std::bit_cast<u64>(static_cast<double>(static_cast<i64>(rest)) * 0x1p-20);
    case 4:
      return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<i32>(rest)) * 0x1p-8f) | rest << 40;
    case 5:
      return (rest & 1) != 0 ? 0x7ff0000000000000 : 0x7f800000;
    case 6:
      return (rest & 1) != 0 ? 0xfff8000000000001 : 0xffc00001;
    default:
      return random * 0x9e3779b97f4a7c15;
  }
}

std::vector<u64> inputs(u64 seed, std::size_t count) {
  std::vector<u64> values(count);
  for (u64& v : values) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    v = interesting(seed >> 11);
  }
  return values;
}

class Functions : public testing::TestWithParam<std::tuple<int, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(AtEveryLevel, Functions,
                         testing::Combine(testing::Range(0, 4), testing::Range<std::size_t>(0, std::size(kFunctions))),
                         [](const auto& at) {
                           return std::string(kFunctions[std::get<1>(at.param)].name) + "_O" +
                                  std::to_string(std::get<0>(at.param));
                         });

TEST_P(Functions, TheInterpreterComputesWhatTheHostComputes) {
  Machine& at = machine(std::get<0>(GetParam()));
  const Function& function = kFunctions[std::get<1>(GetParam())];
  const bool passed = rc::check([&] {
    const u32 n = *rc::gen::inRange<u32>(1, 400);
    Shape shape;
    shape.workgroup[0] = *rc::gen::inRange<u32>(1, 257);
    shape.grid[0] = (n + shape.workgroup[0] - 1) / shape.workgroup[0] * shape.workgroup[0];
    const std::vector<u64> a = inputs(*rc::gen::arbitrary<u64>(), n);
    const std::vector<u64> b = inputs(*rc::gen::arbitrary<u64>(), n);
    const std::vector<u64> c = inputs(*rc::gen::arbitrary<u64>(), n);
    TestMemory& memory = at.memory();
    const u64 out = memory.allocate("out", n * sizeof(u64));
    const std::array<u64, 3> in{memory.upload("a", a), memory.upload("b", b), memory.upload("c", c)};
    const auto outcome =
        at.launch(std::string("apply_") + function.name, Arguments(out, in[0], in[1], in[2], n).bytes(), shape);
    RC_ASSERT(fault_text(outcome) == "");
    const std::vector<u64> result = memory.download<u64>(out);
    for (u32 i = 0; i < n; ++i) {
      RC_LOG() << "a " << std::hex << a[i] << " b " << b[i] << " c " << c[i] << "\n";
      RC_ASSERT(result[i] == function.host(a[i], b[i], c[i]));
    }
    for (const u64 address : {out, in[0], in[1], in[2]}) memory.free(address);
  });
  EXPECT_TRUE(passed);
}

TEST(FunctionsDecode, EveryInstructionOfEveryLevelIsKnown) {
  for (int level = 0; level < 4; ++level) {
    EXPECT_EQ(machine(level).program().unknown_instructions(), std::vector<std::string>{}) << level;
  }
}

}  // namespace
