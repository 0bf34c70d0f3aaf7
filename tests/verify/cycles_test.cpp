// P8 by cycles: after many rounds of a program's commands the runtime holds as much as after two rounds, and a runtime
// that keeps a little in each round is found.
#include "verify/properties/cycles.h"

#include <gtest/gtest.h>

#include "judging.h"
#include "verify/program/blocks.h"
#include "verify/subject/subject.h"

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
  const std::optional<Program> few = cycled(program, kRoundsOfCommands.few),
                               many = cycled(program, kRoundsOfCommands.many);
  ASSERT_TRUE(few && many);
  EXPECT_EQ(flaw(*few), "");
  EXPECT_EQ(flaw(*many), "");
  EXPECT_EQ(few->steps.size(), program.steps.size());
  EXPECT_GE(repeats(*few), 8U);
  EXPECT_EQ(repeats(*many), repeats(*few) * (kRoundsOfCommands.many - 1));
}

TEST(Cycles, AProgramWithoutACommandThatMayStandAgainHasNone) {
  EXPECT_FALSE(cycled(program_of("graph g0\nempty g0.n0\n"), kRoundsOfCommands.many));
  // Memory that nobody freed: the second launch is refused, so the first one stands alone.
  EXPECT_FALSE(
      cycled(program_of("graph g0\nalloc g0.n0 b0 64\ninstantiate e0 g0\nlaunch e0 s0\n"), kRoundsOfCommands.many));
}

// 64 cycles of a graph of 4,000 nodes would run for a minute.
TEST(Cycles, AProgramWhoseLaunchesRunTooManyNodesHasNone) {
  const auto of = [](int fan) {
    return program_of("graph g0\nempty g0.n0 fan=" + std::to_string(fan) +
                      "\ninstantiate e0 g0\nlaunch e0 s0\nlaunch e0 s0\n");
  };
  EXPECT_TRUE(cycled(of(1000), kRoundsOfCommands.many));
  EXPECT_FALSE(cycled(of(4000), kRoundsOfCommands.many));
}

// b0's larger place goes to b2, then to b4, then to b1: from the third time on all four places are large.
TEST(Cycles, AMoveThatHandsALargerPlaceOnStandsOnce) {
  const std::string buffers = "placement native\nbuffer b0 256\nbuffer b1 64\nbuffer b2 64\nbuffer b4 64\n";
  EXPECT_FALSE(cycled(program_of(buffers + "move b1=@b4 b4=@b2 b2=@b0 b0\n"), kRoundsOfCommands.many));
  EXPECT_TRUE(cycled(program_of(buffers + "move b2=@b1 b1\n"), kRoundsOfCommands.many)) << "places of one size";
  EXPECT_TRUE(cycled(program_of(buffers + "move b1=@b0 b0\n"), kRoundsOfCommands.many))
      << "both are large after the first time";
}

TEST(Cycles, AMoveThatNeedsThePlaceFromBeforeARepeatedMoveLeavesNoCycle) {
  const std::string moves =
      "placement arena\nbuffer b0 256\nbuffer b1 64\nbuffer b2 64\nmove b1=@b0 b0\nmove b2=@b1 b1\n";
  EXPECT_TRUE(cycled(program_of(moves), kRoundsOfCommands.many));
  // b2 has a large place after one move, and a small one after two.
  EXPECT_FALSE(cycled(program_of(moves + "move b2 b0=@b2\n"), kRoundsOfCommands.many));
}

TEST(Cycles, EveryStrategyHoldsAfterManyWhatItHeldAfterTwo) {
  for (const StrategyKind strategy : kStrategies) {
    Bench bench(strategy);
    const Judgement once = bench.judge.judge(program_of(kCycle), {});
    const Judgement judgement = bench.judge.judge(program_of(kCycle), {.cycles = true, .groups = true});
    EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << described(judgement);
    const auto p8 = static_cast<std::size_t>(PropertyId::kP8);
    EXPECT_EQ(judgement.exercised[p8], once.exercised[p8] + 2) << "commands without work and with it";
    const Program in_groups = program_of(
        "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\ninstantiate e0 g0\nmove b0\npatch e0\n"
        "launch e0 s0\nsync device\n");
    const Judgement groups = bench.judge.judge(in_groups, {.groups = true});
    EXPECT_EQ(groups.verdict, VerdictKind::kAgree) << described(groups);
    EXPECT_EQ(groups.exercised[p8], bench.judge.judge(in_groups, {}).exercised[p8] + 2) << "two groups";
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

// The first launch succeeds, so that the first pair of runs is clean; the repeated launch is refused.
TEST(Cycles, AnErrorInAThreadLeavesNothingToCompare) {
  static int launches = 0;
  OtherBench bench([](hip::Api& api) {
    api.hipGraphInstantiate = [](auto... arguments) {
      launches = 0;
      return model::abi::InProcess::api().hipGraphInstantiate(arguments...);
    };
    api.hipGraphLaunch = [](hipGraphExec_t exec, hipStream_t stream) {
      if (++launches > 1) return hipErrorUnknown;
      return model::abi::InProcess::api().hipGraphLaunch(exec, stream);
    };
  });
  const Program program = program_of(
      "buffer b0 64\nstream s1 nonblocking\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 width=64\ninstantiate e0 g0\n"
      "threads\nthread 1\nlaunch e0 s1\nend\n");
  const Judgement once = bench.judge.judge(program, {});
  const Judgement judgement = bench.judge.judge(program, {.cycles = true});
  EXPECT_TRUE(in_agreement(judgement)) << described(judgement);
  const auto p8 = static_cast<std::size_t>(PropertyId::kP8);
  EXPECT_EQ(judgement.exercised[p8], once.exercised[p8]);
}

// ---- groups

TEST(Groups, ACommandThatRepeatsCountsAsOften) {
  const auto of = [](int times) {
    return program_of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 width=64\ninstantiate e0 g0\nrepeat " +
                      std::to_string(times) + " launch e0 s0\n");
  };
  EXPECT_TRUE(grouped(of(64), 4, kRoundsOfGroups.many));
  EXPECT_FALSE(grouped(of(65), 4, kRoundsOfGroups.many)) << "1,040 launches in all rounds";
}

TEST(Groups, AGroupGivesBackWhatItMadeAndLeavesOutWhatALaterRoundCannotDo) {
  const Program program = program_of(
      "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 width=64\ninstantiate e0 g0\nlaunch e0 s0\n"
      "empty g0.n1\nstream s1\ncapture s1\non s1 memset dst=b0+0 value=2 width=64\nendcapture s1 g1\ninstantiate e1 "
      "g1\n"
      "launch e1 s0\nbuffer b1 64\ndestroy e0\n");
  ASSERT_EQ(groups_of(program), (std::vector<std::size_t>{1, 4}));
  const std::string last =
      "repeat 2\nlaunch e0 s0\nstream s1\ncapture s1\non s1 memset dst=b0+0 value=2 width=64\nendcapture s1 g1\n"
      "instantiate e1 g1\nlaunch e1 s0\nsync device\ndestroy e1\ndestroy g1\ndestroy s1\nsync device\nend\n";
  EXPECT_EQ(print_program(*grouped(program, 4, 2)),
            print_program(program_of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 width=64\n"
                                     "instantiate e0 g0\nbuffer b1 64\n" +
                                     last)));
  const std::optional<Program> all = grouped(program, 1, 16);
  ASSERT_TRUE(all);
  EXPECT_EQ(flaw(*all), "");
  EXPECT_EQ(all->steps.size(), 2U + 16 * (program.steps.size() - 2 + 6)) << "the buffers are there before the group";
}

// The strategy `stabilise` records a graph for each launch beside a capture or into one.
TEST(Groups, ALaunchWhileAStreamCapturesKeepsNothingBehindTheGroup) {
  const std::string graph =
      "placement arena\nbuffer b1 64\nstream s1\nstream s2 nonblocking\ngraph g0\n"
      "memset g0.n0 dst=b1+0 value=1 width=64\ninstantiate e0 g0\nmove b1\npatch e0\ncapture s1 mode=relaxed\n"
      "launch e0 ";
  for (const std::string stream : {"s1", "s2"}) {
    agrees_under_strategies(program_of(graph + stream + "\nendcapture s1 g1\nmove b1\n"), {.groups = true},
                            kStrategies);
  }
}

// A generated program's group gives back all that it makes, so a clean runtime agrees.
TEST(Groups, GeneratedProgramsHaveGroupsAndKeepNothing) {
  Bench bench;
  int groups = 0;
  for (std::uint64_t index = 0; index < 20; ++index) {
    const Program program = campaign_program(41, index, {});
    for (const std::size_t begin : groups_of(program)) groups += grouped(program, begin, 2) ? 1 : 0;
    ASSERT_TRUE(in_agreement(bench.judge.judge(program, {.groups = true}))) << print_program(program);
  }
  EXPECT_GE(groups, 25);
}

// ---- runtimes that keep a little, and show it in the process alone

std::string growth_of(const Judgement& judgement) {
  return broken_names(judgement) == "P8" ? judgement.violations.front().observed : described(judgement);
}

const std::string kSetter =
    "buffer b0 256\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 width=64\ninstantiate e0 g0\n"
    "set e0.n0 memset dst=b0+0 value=2 width=64\n";

TEST(Cycles, ASetterThatKeepsFourKilobytesIsFoundOnTheModelBesideALaunch) {
  static std::vector<std::vector<char>> kept;
  OtherBench bench([](hip::Api& api) {
    api.hipGraphExecMemsetNodeSetParams = [](hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params) {
      kept.emplace_back(4096);
      return model::abi::InProcess::api().hipGraphExecMemsetNodeSetParams(exec, node, params);
    };
  });
  for (const std::string& program : {kSetter, kSetter + "launch e0 s0\n"}) {
    const Judgement judgement = bench.judge.judge(program_of(program), {.cycles = true});
    EXPECT_NE(growth_of(judgement).find("bytes of the heap and not"), std::string::npos) << growth_of(judgement);
  }
}

#ifdef LEAKY_LIBRARY
constexpr std::string_view kLaunch = "graph g0\nempty g0.n0\ninstantiate e0 g0\nlaunch e0 s0\n";

struct LeakyCase {
  const char* name;
  std::string_view program;
  JudgeOptions options;
  const char* grows;
};

class LeakyLibrary : public testing::TestWithParam<LeakyCase> {};

TEST_P(LeakyLibrary, IsFoundByTheProcessAndTheLibraryAsItIsAgrees) {
  const Program program = program_of(GetParam().program);
  for (const bool leaky : {false, true}) {
    const auto name = parse_subject(leaky ? "lib=" LEAKY_LIBRARY : "lib=" HGMODEL_LIBRARY);
    auto subject = Subject::make(name.value());
    ASSERT_TRUE(subject.ok()) << subject.error().message;
    Bench bench;
    const Judgement judgement =
        Judge(subject.value()->runner(), bench.baseline)
            .judge(program, leaky ? GetParam().options : JudgeOptions{.cycles = true, .groups = true});
    if (!leaky) {
      EXPECT_TRUE(in_agreement(judgement));
    } else {
      EXPECT_NE(growth_of(judgement).find(GetParam().grows), std::string::npos) << growth_of(judgement);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, LeakyLibrary,
    testing::Values(LeakyCase{"FourKilobytesASetter", kSetter, {.cycles = true}, "bytes of the heap and not"},
                    LeakyCase{"AFileDescriptorALaunch", kLaunch, {.groups = true}, "file descriptors and not"},
                    LeakyCase{"AThreadAnInstantiation", kLaunch, {.groups = true}, "threads and not"},
                    LeakyCase{"AMegabyteAFailedInstantiation",
                              "bad hipGraphInstantiate cycle\n",
                              {.cycles = true},
                              "bytes of the heap and not"}),
    [](const auto& info) { return info.param.name; });
#endif

TEST(Cycles, WhatGrewIsNamedAndWhatShrankIsNot) {
  const std::vector<Held> few = {{"graphs", 2}, {"streams", 5}, {"events", 0}},
                          many = {{"graphs", 64}, {"streams", 4}, {"events", 1}};
  EXPECT_EQ(described(grown(few, many, few)), "64 graphs and not 2, 1 events and not 0");
  EXPECT_EQ(described(grown(few, few, few)), "");
}

TEST(Cycles, WhatOneRunDidNotCountDidNotGrow) {
  const std::vector<Held> handles = {{"graphs", 2}}, all = {{"graphs", 2}, {"bytes of the heap", 1 << 20}};
  EXPECT_EQ(described(grown(handles, all, handles)), "");
  EXPECT_EQ(described(grown(handles, all, all)), "");
  EXPECT_EQ(described(grown(all, handles, handles)), "");
}

// The places are handed round: an even number of moves brings b0 to its old address, and the patch records nothing.
TEST(Cycles, APatchThatRecordsAgainAfterTwoMovesAndNotAfterManyKeepsNothing) {
  agrees_under_strategies(program_of("placement arena\nbuffer b0 64\nbuffer b2 64\nbuffer b4 64\ngraph g1\n"
                                     "move b0=@b2 b2=@b4 b4\npatch g1\n"),
                          {.cycles = true}, kStrategies);
}

TEST(Cycles, WhatIsKeptForGoodGrewAndAPoolThatGrowsAsMuchBehindFewCyclesDidNot) {
  const std::vector<Held> few = {{"events", 2}, {"allocations", 7}}, many = {{"events", 66}, {"allocations", 8}};
  EXPECT_EQ(described(grown(few, many, std::vector<Held>{{"events", 68}, {"allocations", 9}})), "66 events and not 2");
}

TEST(Cycles, AQuirkThatGrowsExplainsMemoryInFewPiecesAlone) {
  const auto more = [](const char* what, std::uint64_t count) { return std::vector<Growth>{{what, 2, 2 + count}}; };
  EXPECT_TRUE(in_pieces(more("allocations", 61), kRoundsOfCommands));
  EXPECT_FALSE(in_pieces(more("allocations", 62), kRoundsOfCommands)) << "one a round";
  EXPECT_TRUE(in_pieces(more("bytes of memory", 131848), kRoundsOfCommands));
  EXPECT_FALSE(in_pieces(more("memory handles", 1), kRoundsOfCommands));
  EXPECT_FALSE(in_pieces(more("bytes of the heap", 4096), kRoundsOfCommands));
}

TEST(Cycles, AProcessThatGrowsByNoiseDidNotGrow) {
  const std::vector<Held> few = {{"bytes of the heap", 1000}, {"threads", 8}};
  const auto after = [](std::uint64_t bytes, std::uint64_t threads) {
    return std::vector<Held>{{"bytes of the heap", 1000 + bytes}, {"threads", 8 + threads}};
  };
  EXPECT_EQ(described(grown(few, after(62 * kRoundsOfCommands.heap, 31), few)), "");
  EXPECT_EQ(described(grown(few, after(62 * kRoundsOfCommands.heap + 1, 32), few)),
            "191465 bytes of the heap and not 1000, 40 threads and not 8");
}

}  // namespace
}  // namespace verify
