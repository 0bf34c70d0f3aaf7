// Kernels whose work items meet (workgroups.hip), each against a few lines of host code that compute the same result.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "gfx942/machine.h"

namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using namespace gfx942_test;

std::vector<u64> random_words(std::size_t count) {
  std::vector<u64> values(count);
  u64 state = *rc::gen::arbitrary<u64>();
  for (u64& v : values) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    v = state ^ state >> 31;
  }
  return values;
}

struct Workgroups : testing::TestWithParam<int> {
  static Machine& machine() {
    static const std::array<std::string, 4> paths{WORKGROUPS_O0, WORKGROUPS_O1, WORKGROUPS_O2, WORKGROUPS_O3};
    return machine_of(paths[static_cast<std::size_t>(GetParam())]);
  }
  static TestMemory& memory() { return machine().memory(); }
  static Shape groups_of(u32 groups, u32 size, u32 group_bytes = 0) {
    return {{groups * size, 1, 1}, {size, 1, 1}, group_bytes};
  }
  template <class... T>
  static std::string launch(const char* kernel, const Shape& shape, T... arguments) {
    return fault_text(machine().launch(kernel, Arguments(arguments...).bytes(), shape));
  }
};
INSTANTIATE_TEST_SUITE_P(AtEveryLevel, Workgroups, testing::Range(0, 4),
                         [](const auto& at) { return "O" + std::to_string(at.param); });

TEST_P(Workgroups, ASumThroughLdsIsTheSum) {
  EXPECT_TRUE(rc::check([&] {
    const u32 groups = *rc::gen::inRange<u32>(1, 5);
    const u32 size = *rc::gen::inRange<u32>(1, 1025);
    const std::vector<u64> in = random_words(std::size_t{groups} * size);
    const u64 out = memory().upload("out", std::vector<u64>(groups));
    RC_ASSERT(launch("group_sum", groups_of(groups, size), out, memory().upload("in", in)) == "");
    const std::vector<u64> sums = memory().download<u64>(out);
    for (u32 g = 0; g < groups; ++g) {
      const auto begin = in.begin() + g * size;
      RC_ASSERT(sums[g] == std::accumulate(begin, begin + size, u64{0}));
    }
  }));
}

TEST_P(Workgroups, LdsOfTheLaunchsSizeHoldsTheWholeGroup) {
  EXPECT_TRUE(rc::check([&] {
    const u32 groups = *rc::gen::inRange<u32>(1, 4);
    const u32 size = *rc::gen::inRange<u32>(1, 1025);
    std::vector<u8> in(std::size_t{groups} * size);
    std::iota(in.begin(), in.end(), static_cast<u8>(*rc::gen::arbitrary<u8>()));
    const u64 out = memory().upload("out", std::vector<u8>(in.size()));
    RC_ASSERT(launch("group_reverse", groups_of(groups, size, size), out, memory().upload("in", in)) == "");
    for (u32 g = 0; g < groups; ++g) std::reverse(in.begin() + g * size, in.begin() + (g + 1) * size);
    RC_ASSERT(memory().download<u8>(out) == in);
  }));
}

TEST_P(Workgroups, WidthsOfLdsDoNotMixAndWorkItemsMayLeaveBeforeABarrier) {
  EXPECT_TRUE(rc::check([&] {
    const u32 size = *rc::gen::inRange<u32>(1, 257);
    const std::vector<u64> in = random_words(size);
    const u64 out = memory().upload("out", std::vector<u64>(size));
    RC_ASSERT(launch("group_mixed", groups_of(1, size), out, memory().upload("in", in)) == "");
    const std::vector<u64> result = memory().download<u64>(out);
    for (u32 me = 0; me < size; ++me) {
      const u32 other = me ^ 1;
      const u64 x = other < size ? in[other] : 0;
      const u64 extended = static_cast<u64>(i64{static_cast<std::int16_t>(x >> 16)});
      const u64 expected = x + other + (u64{~other} ^ extended) + static_cast<u64>(static_cast<double>(x >> 12) * 0.5);
      RC_ASSERT(result[me] == (other < size ? expected : 0));
    }
  }));
}

TEST_P(Workgroups, AtomicOperationsOnMemoryLoseNothing) {
  EXPECT_TRUE(rc::check([&] {
    const u32 groups = *rc::gen::inRange<u32>(1, 4);
    const u32 size = *rc::gen::inRange<u32>(1, 300);
    const std::vector<u64> in = random_words(std::size_t{groups} * size);
    std::vector<u32> words{7, ~0u, 0, 0x7fffffff, 0x80000000, ~0u, 0, 99, 5};
    std::vector<u64> wides{3, ~u64{0}, u64{1} << 63, 17};
    const u64 at_words = memory().upload("words", words);
    const u64 at_wides = memory().upload("wides", wides);
    const u64 at_float = memory().upload("float", std::vector<float>{1});
    const u64 at_double = memory().upload("double", std::vector<double>{2});
    RC_ASSERT(launch("atomics_global", groups_of(groups, size), at_words, at_wides, at_float, at_double,
                     memory().upload("in", in)) == "");
    float f = 1;
    double d = 2;
    for (const u64 x : in) {
      const u32 y = static_cast<u32>(x);
      const i32 s = static_cast<i32>(y);
      words[0] += y;
      words[1] = std::min(words[1], y);
      words[2] = std::max(words[2], y);
      words[3] = static_cast<u32>(std::min(static_cast<i32>(words[3]), s));
      words[4] = static_cast<u32>(std::max(static_cast<i32>(words[4]), s));
      words[5] &= y | 0xff00ff00;
      words[6] |= y & 0x0ff00ff0;
      words[7] ^= y;
      words[8] -= y;
      wides[0] += x;
      wides[1] = std::min(wides[1], x);
      wides[2] = static_cast<u64>(std::max(static_cast<i64>(wides[2]), static_cast<i64>(x)));
      wides[3] ^= x;
      f += static_cast<float>(x & 15);
      d += static_cast<double>(x & 0xffff);
    }
    RC_ASSERT(memory().download<u32>(at_words) == words);
    RC_ASSERT(memory().download<u64>(at_wides) == wides);
    RC_ASSERT(memory().download<float>(at_float)[0] == f);
    RC_ASSERT(memory().download<double>(at_double)[0] == d);
  }));
}

TEST_P(Workgroups, EveryWorkItemGetsATicketOfItsOwn) {
  const u32 groups = 5;
  const u32 size = 130;
  const u64 counter = memory().upload("counter", std::vector<u32>{0});
  const u64 out = memory().upload("out", std::vector<u32>(groups * size));
  ASSERT_EQ(launch("atomics_tickets", groups_of(groups, size), counter, out), "");
  std::vector<u32> tickets = memory().download<u32>(out);
  std::sort(tickets.begin(), tickets.end());
  for (u32 i = 0; i < tickets.size(); ++i) ASSERT_EQ(tickets[i], i);
}

TEST_P(Workgroups, CompareAndSwapLoopsEndAndMultiplyEveryFactor) {
  EXPECT_TRUE(rc::check([&] {
    const u32 size = *rc::gen::inRange<u32>(1, 200);
    const std::vector<u64> in = random_words(2 * size);
    const u64 product = memory().upload("product", std::vector<u64>{1});
    const u64 small = memory().upload("small", std::vector<u32>{1});
    const u64 last = memory().upload("last", std::vector<u32>{0});
    RC_ASSERT(launch("atomics_swap", groups_of(2, size), product, small, last, memory().upload("in", in)) == "");
    u64 expected = 1;
    for (const u64 x : in) expected *= x | 1;
    RC_ASSERT(memory().download<u64>(product)[0] == expected);
    RC_ASSERT(memory().download<u32>(small)[0] == static_cast<u32>(expected));
    const u32 winner = memory().download<u32>(last)[0];
    RC_ASSERT(winner >= 1 && winner <= 2 * size);
  }));
}

TEST_P(Workgroups, AHistogramThroughLdsCountsEveryElement) {
  EXPECT_TRUE(rc::check([&] {
    const u32 groups = *rc::gen::inRange<u32>(1, 4);
    const u32 size = *rc::gen::inRange<u32>(1, 300);
    const std::vector<u64> in = random_words(std::size_t{groups} * size);
    const u64 out = memory().upload("out", std::vector<u32>(66));
    RC_ASSERT(launch("atomics_histogram", groups_of(groups, size), out, memory().upload("in", in)) == "");
    std::vector<u32> expected(66);
    for (u32 g = 0; g < groups; ++g) {
      u64 total = 0;
      for (u32 i = 0; i < size; ++i) {
        const u64 x = in[g * size + i];
        ++expected[x % 64];
        total += x;
        expected[65] = std::max(expected[65], static_cast<u32>(x % 1000));
      }
      expected[64] += static_cast<u32>(total ^ total >> 32);
    }
    RC_ASSERT(memory().download<u32>(out) == expected);
  }));
}

// Returns the 16 words of lane `me`, by the definitions of the exchanges.
std::array<u32, 16> exchanged(const std::vector<u32>& x, u32 me) {
  const u32 row = me & ~15u;
  const u32 in_row = me & 15;
  u32 odd = 0;
  bool all_positive = true;
  for (const u32 v : x) {
    odd += v & 1;
    all_positive = all_positive && static_cast<i32>(v) > 0;
  }
  const bool even_row = me / 16 % 2 == 0;
  return {x[(me * 7 + 3) & 63],
          x[(me - 5) & 63],
          x[37],
          x[0],
          in_row >= 1 ? x[me - 1] : ~0u,
          in_row <= 13 ? x[me + 2] : 0,
          x[row | ((in_row - 1) & 15)],
          x[me ^ 3],
          even_row ? x[row | (15 - in_row)] : ~0u,
          in_row < 8 ? x[me ^ 7] : ~0u,
          even_row ? ~0u : x[row - 1],
          x[me ^ 1],
          x[me ^ 2],
          me,
          odd,
          (x[me] & 1) + (all_positive ? 2 : 0)};
}

TEST_P(Workgroups, LanesExchangeAsTheInstructionsAreDefined) {
  EXPECT_TRUE(rc::check([&] {
    std::vector<u32> in;
    const bool positive = *rc::gen::arbitrary<bool>();
    for (const u64 x : random_words(64)) in.push_back(positive ? static_cast<u32>(x) >> 1 | 1 : static_cast<u32>(x));
    const u64 out = memory().upload("out", std::vector<u32>(64 * 16));
    RC_ASSERT(launch("lanes", groups_of(1, 64), out, memory().upload("in", in)) == "");
    const std::vector<u32> result = memory().download<u32>(out);
    for (u32 me = 0; me < 64; ++me) {
      const std::array<u32, 16> expected = exchanged(in, me);
      for (u32 i = 0; i < 16; ++i) {
        RC_LOG() << "lane " << me << " word " << i << "\n";
        RC_ASSERT(result[16 * me + i] == expected[i]);
      }
    }
  }));
}

TEST_P(Workgroups, ADivergedWaveSeesItsActiveLanesOnly) {
  EXPECT_TRUE(rc::check([&] {
    std::vector<u32> in;
    for (const u64 x : random_words(64)) in.push_back(static_cast<u32>(x >> 40));
    const u64 out = memory().upload("out", std::vector<u32>(64));
    RC_ASSERT(launch("lanes_diverged", groups_of(1, 64), out, memory().upload("in", in)) == "");
    u32 sum = 0;
    for (const u32 x : in) sum += x % 3 != 0 ? x : 0;
    std::vector<u32> expected;
    for (const u32 x : in) expected.push_back(x % 3 != 0 ? sum : x / 3);
    RC_ASSERT(memory().download<u32>(out) == expected);
  }));
}

TEST_P(Workgroups, FlatPointersReachMemoryLdsAndScratch) {
  EXPECT_TRUE(rc::check([&] {
    const u32 size = *rc::gen::inRange<u32>(1, 257);
    const std::vector<u64> in = random_words(size);
    const u64 out = memory().upload("out", std::vector<u64>(size));
    RC_ASSERT(launch("flat_pointers", groups_of(1, size), out, memory().upload("in", in)) == "");
    const std::vector<u64> result = memory().download<u64>(out);
    for (u32 me = 0; me < size; ++me) {
      std::array<u64, 4> mine{in[me], me, u64{3} * me, ~u64{0}};
      mine[(me + 1) % 4] = mine[me % 4];
      const u64 in_scratch = mine[0] + mine[1] + mine[2] + mine[3];
      const u64 expected[] = {in[me], u64{1000} + size - 1 - me, in_scratch};
      RC_ASSERT(result[me] == expected[in[me] % 3]);
    }
  }));
}

TEST_P(Workgroups, EveryPointOfAGridOfThreeDimensionsIsVisitedOnce) {
  EXPECT_TRUE(rc::check([&] {
    Shape shape;
    for (u32 i = 0; i < 3; ++i) {
      shape.workgroup[i] = *rc::gen::inRange<u32>(1, 9);
      shape.grid[i] = shape.workgroup[i] * *rc::gen::inRange<u32>(1, 4);
    }
    const auto [w, h, d] = shape.grid;
    const u64 out = memory().upload("out", std::vector<u32>(std::size_t{w} * h * d));
    RC_ASSERT(launch("dimensions", shape, out, w, h) == "");
    const std::vector<u32> result = memory().download<u32>(out);
    for (u32 i = 0; i < result.size(); ++i) {
      const u32 x = i % w;
      const u32 y = i / w % h;
      const u32 z = i / w / h;
      RC_ASSERT(result[i] == x + 1000 * y + 1000000 * z + h);
    }
  }));
}

TEST_P(Workgroups, WorkgroupsThatWaitForEachOtherMakeProgressTogether) {
  const u32 groups = 20;
  const u32 rounds = 3;
  const u64 arrived = memory().upload("arrived", std::vector<u32>{0});
  const u64 slots = memory().upload("slots", std::vector<u32>(groups));
  const u64 out = memory().upload("out", std::vector<u32>(groups));
  ASSERT_EQ(launch("grid_barrier", groups_of(groups, 100), arrived, slots, out, groups, rounds), "");
  const std::vector<u32> result = memory().download<u32>(out);
  for (u32 g = 0; g < groups; ++g) EXPECT_EQ(result[g], (rounds - 1) * 100 + (g + 1) % groups);
}

TEST_P(Workgroups, EveryInstructionIsKnown) {
  EXPECT_EQ(machine().program().unknown_instructions(), std::vector<std::string>{});
}

}  // namespace
