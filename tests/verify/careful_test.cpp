// The strategy `careful` on the model, where nothing goes wrong except a call that is made to fail. Programs cannot
// tell it from recording again, whatever it records in place of their graphs. The model reports version 7.2, so the
// strategy avoids the quirks of 7.2. On AMD's releases: tests/verify/quirks_on_releases_test.cpp.
#include <gtest/gtest.h>

#include "judging.h"

namespace verify {
namespace {

struct Seen {
  Judgement judgement;
  std::vector<StepCost> costs;
};

// Returns the judgement and the costs of the program under careful.
Seen seen(const std::string& commands, std::uint64_t seed = 0) {
  const Program program = program_of(commands);
  EXPECT_EQ(flaw(program), "") << commands;
  Bench bench(StrategyKind::kCareful);
  Seen seen{bench.judge.judge(program, {.schedule_seed = seed, .isolation = true}), {}};
  seen.costs = bench.subject.run(program, {.costs = true}).observation.costs;
  return seen;
}

void agrees(const std::string& commands) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    ASSERT_TRUE(in_agreement(seen(commands, seed).judgement)) << commands;
  }
}

// Calls of HIP that the last command took.
std::uint64_t last_calls(const std::string& commands) {
  const Seen run = seen(commands);
  EXPECT_EQ(run.judgement.verdict, VerdictKind::kAgree) << described(run.judgement) << "\n" << commands;
  return run.costs.empty() ? 0 : run.costs.back().calls;
}

const std::string kOneKernel = "buffer b0 64\nbuffer b1 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\n";
// Two roots, which 7.2 is launched a chain of.
const std::string kTwoRoots = kOneKernel + "kernel g0.n1 inplace_u32 data=b1 n=4 k=1\n";
// A child among 16 nodes. Its launch would end 7.2's process, so the strategy flattens the child.
const std::string kChild = kTwoRoots +
                           "graph g1\nchild g1.n0 g0\nempty g1.n1 fan=14 after=n0\nkernel g1.n2 inplace_u32 data=b0 "
                           "n=4 k=3 after=n1\ninstantiate e1 g1\nlaunch e1 s0\n";

TEST(Careful, IsAStrategyByName) {
  EXPECT_EQ(find_strategy("careful"), StrategyKind::kCareful);
  EXPECT_EQ(strategy_name(StrategyKind::kCareful), "careful");
}

// 7.2 loses a kernel that is set while it is disabled, and gets one that is enabled right.
TEST(Careful, SetsInPlaceWhatTheReleaseDoesRightAndRecordsAgainWhatItDoesNot) {
  const std::string set = "set e0.n0 kernel inplace_u32 data=b0 n=8 k=1\n";
  EXPECT_EQ(last_calls(kOneKernel + "instantiate e0 g0\n" + set), 1u);
  EXPECT_GT(last_calls(kOneKernel + "instantiate e0 g0\ndisable e0.n0\n" + set), 2u);
}

TEST(Careful, PatchesAndSetsAChainInPlace) {
  const std::string begin = kTwoRoots + "instantiate e0 g0\nlaunch e0 s0\nsync device\n";
  EXPECT_EQ(last_calls(begin + "set e0.n1 kernel inplace_u32 data=b1 n=8 k=1\n"), 1u);
  EXPECT_EQ(last_calls(begin + "move b1\npatch e0\n"), 1u);
  agrees(begin + "move b1\npatch e0\nlaunch e0 s0\nset e0.n0 kernel inplace_u32 data=b0 n=8 k=5\nlaunch e0 s0\n");
}

// An update would compare edges, and the chain does not have the edges of the graph.
TEST(Careful, RecordsAChainAgainInsteadOfUpdatingIt) {
  const std::string other =
      "graph g1\nkernel g1.n0 inplace_u32 data=b1 n=4 k=3\nkernel g1.n1 inplace_u32 data=b0 n=4 "
      "k=4\n";
  EXPECT_GT(last_calls(kTwoRoots + other + "instantiate e0 g0\nupdate e0 g1\n"), 2u);
  agrees(kTwoRoots + other + "instantiate e0 g0\nlaunch e0 s0\nupdate e0 g1\nlaunch e0 s0\n");
  agrees(kTwoRoots +
         "graph g1\nkernel g1.n0 inplace_u32 data=b1 n=4 k=3\nkernel g1.n1 inplace_u32 data=b0 n=4 k=4 "
         "after=n0\ninstantiate e0 g0\nupdate e0 g1\nlaunch e0 s0\n");
}

TEST(Careful, AFlattenedGraphIsSetPatchedDisabledAndLookedAtAsItIs) {
  agrees(kChild + "sync device\nmove b0\npatch e1\nlaunch e1 s0\n");
  agrees(kChild + "set e1.n2 kernel inplace_u32 data=b1 n=4 k=7\nlaunch e1 s0\n");
  agrees(kChild +
         "disable e1.n2\ninspect e1\nlaunch e1 s0\nset e1.n2 kernel inplace_u32 data=b1 n=4 k=7\nlaunch e1 "
         "s0\nenable e1.n2\ninspect e1\nlaunch e1 s0\n");
  agrees(kChild + "set g0.n0 kernel inplace_u32 data=b0 n=4 k=7\nset e1.n0 child g0\nlaunch e1 s0\n");
}

// 7.2 runs a memset of several rows as a memset of one row. Memsets of one row each replace it, and are disabled and
// enabled with it. Nothing is recorded again, so the filled buffer may be freed, and the graph's memory may be
// allocated.
TEST(Careful, NodesThatStandForOneAreSwitchedWithIt) {
  const std::string rows = "g0.n1 dst=b1 value=7 element=4 width=1 height=2 pitch=20\n";
  const std::string graph = "buffer b1 64\ngraph g0\nmemset " + rows +
                            "memset g0.n2 dst=b1+32 value=3 element=1 "
                            "width=8\ninstantiate e0 g0\n";
  agrees(graph + "disable e0.n1\nlaunch e0 s0\nsync device\nread b1\nenable e0.n1\nlaunch e0 s0\nread b1\n");
  agrees(graph +
         "disable e0.n1\nmove b1\npatch e0\nlaunch e0 s0\nsync device\nread b1\nenable e0.n1\n"
         "launch e0 s0\nread b1\n");
  agrees("placement native\n" + graph + "free b1\ndisable e0.n1\nenable e0.n1\nenable e0.n1\n");
  agrees("buffer b1 64\ngraph g0\nalloc g0.n0 b2 256\nmemset " + rows +
         "instantiate e0 g0 form=flags flags=auto_free\nlaunch e0 s0\nsync device\ndisable e0.n1\nlaunch e0 s0\n");
  for (const char* call : {"1 hipGraphNodeSetEnabled", "2 hipGraphNodeSetEnabled", "2 hipGraphNodeGetEnabled"}) {
    agrees(graph + "fail " + call + "\ndisable e0.n1\nlaunch e0 s0\nsync device\nread b1\n");
  }
  // Both, and both are asked.
  EXPECT_EQ(last_calls(graph + "disable e0.n1\n"), 4u);
}

// The update is from a graph with fewer nodes than the executable graph.
TEST(Careful, AnUpdateFromASmallerGraphIsRefusedWhateverIsDisabled) {
  agrees(
      "buffer b1 64\ngraph g0\nempty g0.n0\nempty g0.n1\nmemset g0.n2 dst=b1 value=1 element=1 width=8\n"
      "instantiate e0 g0\ngraph g1\nempty g1.n0\nempty g1.n1\ndisable e0.n2\nupdate e0 g1\nlaunch e0 s0\n");
}

// Whatever is launched, a capture holds the program's graph.
TEST(Careful, ACaptureHoldsTheGraphAsTheProgramRecordedIt) {
  agrees(kChild +
         "stream s1\ncapture s1\nlaunch e1 s1\nendcapture s1 g2\ninspect g2\ninstantiate e2 g2\nlaunch e2 "
         "s0\n");
}

// Rows of memory that the tracker does not know are copied by hipMemcpyDefault, and no setter changes a kind.
TEST(Careful, ACopyThatIsSetToAKindOfItsOwnIsRecordedAgain) {
  const std::string rows = "width=2 height=3 depth=1 dpitch=9 spitch=2 drows=3 srows=3 kind=d2d\n";
  agrees("buffer b0 64\nbuffer b1 64\ngraph g0\nmemcpy3d g0.n0 dst=b0+0 src=b1+0 " + rows +
         "instantiate e0 g0\nmalloc_async b2 64 s0\non s0 memset dst=b2+0 value=5 element=1 width=64\n"
         "set e0.n0 memcpy3d dst=b0+0 src=b2+0 " +
         rows + "launch e0 s0\nset e0.n0 memcpy3d dst=b1+0 src=b0+0 " + rows + "launch e0 s0\n");
}

TEST(Careful, WhatIsUpdatedOrHeldByAChildIsRecordedAgainForTheKindOfACopy) {
  const std::string begin =
      "buffer b0 64\nbuffer b1 64\nbuffer b2 64 memory=managed\ngraph g0\nmemcpy3d g0.n0 dst=b0+0 ";
  const std::string rows = "width=2 height=3 depth=1 dpitch=9 spitch=2 drows=3 srows=3 kind=d2d\n";
  agrees(begin + "src=b1+0 " + rows + "graph g1\nmemcpy3d g1.n0 dst=b0+0 src=b2+0 " + rows +
         "instantiate e0 g0\nupdate e0 g1\nlaunch e0 s0\nupdate e0 g0\nlaunch e0 s0\n");
  agrees(begin + "src=b1+0 " + rows +
         "graph g1\nchild g1.n0 g0\ninstantiate e1 g1\nset g0.n0 memcpy3d dst=b0+0 src=b2+0 " + rows +
         "set e1.n0 child g0\nlaunch e1 s0\n");
}

// The first executable graph holds them, and another graph does not.
TEST(Careful, UserObjectsGoWhenTheyWouldHave) {
  agrees(kTwoRoots +
         "userobject u0\nretain u0 g0 move\ninstantiate e0 g0\ndestroy g0\nlaunch e0 s0\nsync device\n"
         "destroy e0\n");
}

TEST(Careful, MemoryOfAGraphThatIsAChainIsItsOwn) {
  agrees(
      "buffer b0 64\ngraph g0\nalloc g0.n0 b1 64\nmemset g0.n1 dst=b1 value=3 element=1 width=64 after=n0\n"
      "memcpy g0.n2 dst=b0 src=b1 bytes=64 kind=d2d after=n1\nempty g0.n3\ninstantiate e0 g0\nlaunch e0 s0\n"
      "sync device\nread b1\nfree b1\n");
}

// P4: whichever call fails, nothing of it is left, and the same command succeeds the next time.
TEST(Careful, NoCallThatFailsOnceLeavesATrace) {
  struct Failing {
    const char* function;
    unsigned most;  // of its calls before the program's end
  };
  constexpr Failing kFailing[] = {{"hipGraphCreate", 2},         {"hipGraphInstantiate", 2},
                                  {"hipGraphAddKernelNode", 3},  {"hipDeviceSynchronize", 2},
                                  {"hipGraphNodeSetEnabled", 2}, {"hipGraphExecKernelNodeSetParams", 1}};
  for (const auto& [function, most] : kFailing) {
    for (unsigned nth = 1; nth <= most; ++nth) {
      const std::string fail = "fail " + std::to_string(nth) + " " + function + "\n";
      for (const std::string& begin : {kTwoRoots, kOneKernel + "memset g0.n1 dst=b1 value=1 element=1 width=4\n"}) {
        agrees(begin + fail +
               "instantiate e0 g0\nlaunch e0 s0\nsync device\ndisable e0.n0\nmove b1\npatch e0\nset e0.n0 kernel "
               "inplace_u32 data=b0 n=8 k=1\nenable e0.n0\nlaunch e0 s0\n");
      }
    }
  }
}

// A launch into a capture is several calls: none that fails once leaves a node behind, or is told though it was done.
TEST(Careful, NoCallOfALaunchIntoACaptureThatFailsOnceLeavesATrace) {
  for (const char* function : {"hipGraphCreate", "hipGraphAddKernelNode", "hipGraphAddChildGraphNode",
                               "hipStreamGetCaptureInfo_v2", "hipStreamUpdateCaptureDependencies", "hipGraphDestroy"}) {
    agrees(kTwoRoots + "stream s1\ninstantiate e0 g0\ncapture s1\nfail 1 " + function +
           "\nlaunch e0 s1\nendcapture s1 g1\ninspect g1\ninstantiate e1 g1\nlaunch e1 s0\nsync device\nread b0\n");
  }
}

TEST(Careful, NoGeneratedProgramCanTellItFromRecordingAgain) {
  no_generated_program_can_tell_from_recording_again(StrategyKind::kCareful, 78, 400);
}

}  // namespace
}  // namespace verify
