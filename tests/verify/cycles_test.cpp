// P8 by cycles: after many rounds of a program's commands the runtime holds as much as after two rounds, and a runtime
// that keeps a little in each round is found.
#include "verify/properties/cycles.h"

#include <gtest/gtest.h>

#include "judging.h"

namespace verify {
namespace {

constexpr std::string_view kCycle =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b1+0 n=8 a=3\n"
    "graph g1\nalloc g1.n0 b5 256\nmemset g1.n1 dst=b5+0 value=7 width=256 after=n0\n"
    "memcpy g1.n2 dst=b1+0 src=b5+0 bytes=64 kind=d2d after=n1\nfree g1.n3 b5 after=n2\n"
    "instantiate e0 g0\ninstantiate e1 g1\nlaunch e0 s0\nlaunch e1 s0\nmove b0 b1\npatch e0\npatch e1\npatch g0\n"
    "launch e0 s0\nset e0.n0 kernel axpy_u64 out=b0+64 in=b1+0 n=8 a=3\nupdate e0 g0\ndisable e0.n0\ninspect e0\n";

std::uint64_t repeats(const Program& program) {
  std::uint64_t repeats = 0;
  for (const Step& step : program.steps) repeats += step.repeat - 1;
  return repeats;
}

TEST(Cycles, ACommandStandsAgainWhereItMayAndTheProgramStaysValid) {
  const Program program = program_of(kCycle);
  const std::optional<Program> few = cycled(program, kFewCycles), many = cycled(program, kManyCycles);
  ASSERT_TRUE(few && many);
  EXPECT_EQ(flaw(*few), "");
  EXPECT_EQ(flaw(*many), "");
  EXPECT_EQ(few->steps.size(), program.steps.size());
  EXPECT_GE(repeats(*few), 8U);
  EXPECT_EQ(repeats(*many), repeats(*few) * (kManyCycles - 1));
}

TEST(Cycles, AProgramWithoutACommandThatMayStandAgainHasNone) {
  EXPECT_FALSE(cycled(program_of("graph g0\nempty g0.n0\n"), kManyCycles));
  // Memory that nobody freed: the second launch is refused, so the first one stands alone.
  EXPECT_FALSE(cycled(program_of("graph g0\nalloc g0.n0 b0 64\ninstantiate e0 g0\nlaunch e0 s0\n"), kManyCycles));
}

// 64 cycles of a graph of 4,000 nodes would run for a minute.
TEST(Cycles, AProgramWhoseLaunchesRunTooManyNodesHasNone) {
  const auto of = [](int fan) {
    return program_of("graph g0\nempty g0.n0 fan=" + std::to_string(fan) +
                      "\ninstantiate e0 g0\nlaunch e0 s0\nlaunch e0 s0\n");
  };
  EXPECT_TRUE(cycled(of(1000), kManyCycles));
  EXPECT_FALSE(cycled(of(4000), kManyCycles));
}

// b0's larger place goes to b2, then to b4, then to b1: from the third time on all four places are large.
TEST(Cycles, AMoveThatHandsALargerPlaceOnStandsOnce) {
  const std::string buffers = "placement native\nbuffer b0 256\nbuffer b1 64\nbuffer b2 64\nbuffer b4 64\n";
  EXPECT_FALSE(cycled(program_of(buffers + "move b1=@b4 b4=@b2 b2=@b0 b0\n"), kManyCycles));
  EXPECT_TRUE(cycled(program_of(buffers + "move b2=@b1 b1\n"), kManyCycles)) << "places of one size";
  EXPECT_TRUE(cycled(program_of(buffers + "move b1=@b0 b0\n"), kManyCycles)) << "both are large after the first time";
}

TEST(Cycles, AMoveThatNeedsThePlaceFromBeforeARepeatedMoveLeavesNoCycle) {
  const std::string moves =
      "placement arena\nbuffer b0 256\nbuffer b1 64\nbuffer b2 64\nmove b1=@b0 b0\nmove b2=@b1 b1\n";
  EXPECT_TRUE(cycled(program_of(moves), kManyCycles));
  // b2 has a large place after one move, and a small one after two.
  EXPECT_FALSE(cycled(program_of(moves + "move b2 b0=@b2\n"), kManyCycles));
}

TEST(Cycles, EveryStrategyHoldsAfterManyWhatItHeldAfterTwo) {
  for (const StrategyKind strategy : kStrategies) {
    Bench bench(strategy);
    const Judgement once = bench.judge.judge(program_of(kCycle), {});
    const Judgement judgement = bench.judge.judge(program_of(kCycle), {.cycles = true});
    EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << described(judgement);
    const auto p8 = static_cast<std::size_t>(PropertyId::kP8);
    EXPECT_EQ(judgement.exercised[p8], once.exercised[p8] + 1);
  }
}

TEST(Cycles, LaunchesOnAnotherDevicesStreamKeepNothing) {
  agrees_under_strategies(
      program_of("buffer b0 64\nstream s1 device=1\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\n"
                 "instantiate e0 g0\nmove b0\npatch e0\nlaunch e0 s1\nsync device\n"),
      {.cycles = true}, kStrategies);
}

// Cleaned up in the end, so that nothing is left after tear-down: the growth alone shows it.
TEST(Cycles, ARuntimeThatKeepsALittleWithEveryLaunchIsFound) {
  static std::vector<hipEvent_t> kept;
  OtherBench bench([](hip::Api& api) {
    api.hipGraphLaunch = [](hipGraphExec_t exec, hipStream_t stream) {
      hipEvent_t event = nullptr;
      if (model::abi::InProcess::api().hipEventCreateWithFlags(&event, 0) == hipSuccess) kept.push_back(event);
      return model::abi::InProcess::api().hipGraphLaunch(exec, stream);
    };
    api.hipGraphExecDestroy = [](hipGraphExec_t exec) {
      for (const hipEvent_t event : kept) {
        if (const hipError_t code = model::abi::InProcess::api().hipEventDestroy(event); code != hipSuccess)
          return code;
      }
      kept.clear();
      return model::abi::InProcess::api().hipGraphExecDestroy(exec);
    };
  });
  const Program program = program_of("graph g0\nempty g0.n0\ninstantiate e0 g0\nlaunch e0 s0\n");
  EXPECT_EQ(bench.judge.judge(program, {}).verdict, VerdictKind::kAgree);
  const Judgement judgement = bench.judge.judge(program, {.cycles = true});
  ASSERT_EQ(judgement.verdict, VerdictKind::kDiverge);
  EXPECT_EQ(judgement.broken, std::vector<PropertyId>{PropertyId::kP8});
  EXPECT_NE(judgement.violations.front().observed.find("64 events and not 2"), std::string::npos)
      << judgement.violations.front().observed;
}

TEST(Cycles, WhatGrewIsNamedAndWhatShrankIsNot) {
  const std::vector<Held> few = {{"graphs", 2}, {"streams", 5}}, many = {{"graphs", 64}, {"streams", 4}, {"events", 1}};
  EXPECT_EQ(grown(few, many, few), "64 graphs and not 2, 1 events and not 0");
  EXPECT_EQ(grown(few, few, few), "");
}

TEST(Cycles, WhatIsKeptForGoodGrewAndAPoolThatGrowsAsMuchBehindFewCyclesDidNot) {
  const std::vector<Held> few = {{"events", 2}, {"allocations", 7}}, many = {{"events", 66}, {"allocations", 8}};
  EXPECT_EQ(grown(few, many, std::vector<Held>{{"events", 68}, {"allocations", 9}}), "66 events and not 2");
}

}  // namespace
}  // namespace verify
