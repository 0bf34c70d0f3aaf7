// The strategy `remap`: programs cannot tell it from recording again, and a move of a buffer records nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "judging.h"

namespace verify {
namespace {

const std::string kNative = "placement native\n", kArena = "placement arena\n";

constexpr std::string_view kMovesOfTwo =
    "buffer b0 64\nbuffer b1 64\nbuffer b2 5000\nwrite b0 seed=3\ngraph g0\n"
    "memcpy g0.n0 dst=b1+0 src=b0+0 bytes=64 kind=d2d\ninstantiate e0 g0\nlaunch e0 s0\nlaunch e0 s0\nsync device\n"
    "move b0 b1\npatch e0\nlaunch e0 s0\nsync device\nmove b0\npatch e0\nlaunch e0 s0\nsync device\nread b1";

std::vector<StepCost> remap_costs(const Program& program, std::string_view word) {
  const RunResult run = Bench(StrategyKind::kRemap).subject.run(program, {.costs = true});
  std::vector<StepCost> costs;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (command_word(program.steps[i].command) == word) costs.push_back(run.observation.costs[i]);
  }
  return costs;
}

std::vector<std::uint64_t> instantiations(const std::vector<StepCost>& costs) {
  std::vector<std::uint64_t> counts;
  for (const StepCost& cost : costs) counts.push_back(cost.instantiations);
  return counts;
}

TEST(Remap, IsAStrategyByName) {
  EXPECT_EQ(find_strategy("remap"), StrategyKind::kRemap);
  EXPECT_EQ(strategy_name(StrategyKind::kRemap), "remap");
}

TEST(Remap, EachOfTwoSetsIsRecordedOnceAndAPatchCallsNothing) {
  const Program program = program_of(kNative + std::string(kMovesOfTwo));
  ASSERT_EQ(flaw(program), "");
  for (const StepCost& patch : remap_costs(program, "patch")) EXPECT_EQ(patch.calls, 0U);
  EXPECT_EQ(instantiations(remap_costs(program, "launch")), (std::vector<std::uint64_t>{1, 1, 0, 0}));
}

TEST(Remap, InAnArenaAPatchRecordsAgain) {
  const Program program = program_of(kArena + std::string(kMovesOfTwo));
  ASSERT_EQ(flaw(program), "");
  EXPECT_EQ(instantiations(remap_costs(program, "patch")), (std::vector<std::uint64_t>{1, 1}));
  EXPECT_EQ(instantiations(remap_costs(program, "launch")), (std::vector<std::uint64_t>{0, 0, 0, 0}));
}

// Set, switched off, updated, or another buffer than device memory has moved: each set is recorded again.
TEST(Remap, WhatNoMappingCanChangeRecordsBothSetsAgain) {
  const std::string begin =
      kNative +
      "buffer b0 64\nbuffer b1 64 memory=pinned\nwrite b0 seed=3\ngraph g0\n"
      "memcpy g0.n0 dst=b1+0 src=b0+0 bytes=64 kind=d2h\nmemset g0.n1 after=n0 dst=b0+0 value=1 element=1 width=8\n"
      "instantiate e0 g0\nlaunch e0 s0\nlaunch e0 s0\nsync device\n";
  const std::string end = "launch e0 s0\nlaunch e0 s0\nlaunch e0 s0\nsync device\nread b0\nread b1";
  for (const std::string change : {"set e0.n1 memset dst=b0+0 value=2 element=1 width=8\n", "disable e0.n1\n",
                                   "update e0 g0\n", "move b1\npatch e0\n"}) {
    const Program program = program_of(begin + change + end);
    ASSERT_EQ(flaw(program), "") << change;
    EXPECT_EQ(instantiations(remap_costs(program, "launch")), (std::vector<std::uint64_t>{1, 1, 1, 1, 0})) << change;
    EXPECT_TRUE(in_agreement(Bench(StrategyKind::kRemap).judge.judge(program, {}))) << change;
  }
}

TEST(Remap, BytesAreThoseOfRecordingAgainWithEveryCallFailingInTurn) {
  Bench bench(StrategyKind::kRemap);
  const JudgeOptions options{.every_call_fails = true, .however_built = true, .cycles = true};
  EXPECT_TRUE(in_agreement(bench.judge.judge(program_of(kNative + std::string(kMovesOfTwo)), options)));
  EXPECT_TRUE(in_agreement(bench.judge.judge(parsed(kExample), options)));
}

// The next launch changes the mappings of the remapped graph, so a capture must not keep that graph's addresses.
TEST(Remap, ALaunchIntoACaptureIsCapturedAtTheProgramsAddresses) {
  const Program program =
      program_of(kNative +
                 "buffer b0 64\nbuffer b1 64\nwrite b0 seed=3\nstream s1\ngraph g0\n"
                 "memcpy g0.n0 dst=b1+0 src=b0+0 bytes=64 kind=d2d\ninstantiate e0 g0\ncapture s1\nlaunch e0 "
                 "s1\nendcapture s1 g1\n"
                 "move b0 b1\npatch e0\npatch g1\ninstantiate e1 g1\nlaunch e1 s1\nlaunch e0 s1\nsync device\nread b1");
  ASSERT_EQ(flaw(program), "");
  EXPECT_TRUE(in_agreement(Bench(StrategyKind::kRemap).judge.judge(program, {})));
}

// A kernel by its symbol belongs to the device that is current when it is recorded.
TEST(Remap, ALaunchOnAStreamOfAnotherDeviceRecordsOnTheGraphsOwn) {
  const Program program =
      program_of(kNative +
                 "stream s1 device=1\nreserve r0 1\nphysical h0 1\nmap r0 0 h0\nview b5 r0 0 64\ngraph g0\n"
                 "kernel g0.n2 inplace_u32 data=b5+0 n=1 k=0 by_symbol\ninstantiate e0 g0\naccess r0 0 readwrite\n"
                 "launch e0 s1");
  ASSERT_EQ(flaw(program), "");
  EXPECT_TRUE(in_agreement(Bench(StrategyKind::kRemap).judge.judge(program, {})));
}

// Memory that a graph has mapped is given up before it is released: a mapping would keep it.
TEST(Remap, ABufferThatIsFreedLeavesNothingMapped) {
  const Program program = program_of(
      kNative +
      "buffer b0 64\nbuffer b1 64\nwrite b0 seed=3\ngraph g0\nmemcpy g0.n0 dst=b1+0 src=b0+0 bytes=64 kind=d2d\n"
      "instantiate e0 g0\nlaunch e0 s0\nlaunch e0 s0\nsync device\nfree b0\nread b1");
  ASSERT_EQ(flaw(program), "");
  const RunResult run = Bench(StrategyKind::kRemap).subject.run(program, {.held = true});
  const auto memories = std::ranges::find(run.observation.held, "physical memories", &Held::what);
  ASSERT_NE(memories, run.observation.held.end());
  EXPECT_EQ(memories->count, 1U) << "that of b1";
}

// Each of these calls fails once: before a launch, before a move, and before a buffer is freed.
TEST(Remap, AFailedCallOfVirtualMemoryIsReportedAndTriedAgain) {
  for (const std::string function :
       {"hipMemAddressReserve", "hipMemMap", "hipMemSetAccess", "hipMemUnmap", "hipMemAddressFree", "hipEventRecord"}) {
    for (int place = 0; place < 3; ++place) {
      const auto fails = [&](int here) { return place == here ? "fail 1 " + function + "\n" : std::string(); };
      const Program program =
          program_of(kNative +
                     "buffer b0 64\nbuffer b1 64\nwrite b0 seed=3\ngraph g0\n"
                     "memcpy g0.n0 dst=b1+0 src=b0+0 bytes=64 kind=d2d\ninstantiate e0 g0\n" +
                     fails(0) + "launch e0 s0\nlaunch e0 s0\nsync device\n" + fails(1) +
                     "move b0 b1\npatch e0\nlaunch e0 s0\nsync device\n" + fails(2) + "free b0\nread b1");
      ASSERT_EQ(flaw(program), "") << function;
      EXPECT_TRUE(in_agreement(Bench(StrategyKind::kRemap).judge.judge(program, {}))) << function << ' ' << place;
    }
  }
}

TEST(Remap, NoGeneratedProgramCanTellItFromRecordingAgain) {
  GeneratorOptions options;
  options.placement = Placement::kNative;
  no_generated_program_can_tell_from_recording_again(StrategyKind::kRemap, 78, 800, options);
}

}  // namespace
}  // namespace verify
