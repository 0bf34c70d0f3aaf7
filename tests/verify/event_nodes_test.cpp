// Event nodes in programs: State and the model agree on their order, and every strategy keeps them.
#include <gtest/gtest.h>

#include "judging.h"

namespace verify {
namespace {

constexpr std::string_view kSetup =
    "buffer b0 256\nbuffer b1 256\nstream s1 nonblocking\nstream s2 nonblocking\nevent v0\nevent v1\n"
    "graph g0\nmemset g0.n0 dst=b0+0 value=7 element=4 width=16\neventrecord g0.n1 v0 after=n0\n"
    "graph g1\neventwait g1.n0 v0\nmemcpy g1.n1 dst=b1+0 src=b0+0 bytes=64 kind=d2d after=n0\n"
    "instantiate e0 g0\ninstantiate e1 g1\n";

std::string with(std::string_view more) {
  return std::string(kSetup) + std::string(more);
}

TEST(EventNodePrograms, ALaunchThatWaitsDoesNotRaceAndTheModelAgrees) {
  EXPECT_FALSE(state_after(program_of(with("launch e0 s1\n"))).launch_races(1, 2));
  EXPECT_TRUE(in_agreement(Bench().judge.judge(program_of(with("launch e0 s1\nlaunch e1 s2\n")), {})));
}

TEST(EventNodePrograms, ALaunchThatWaitsForAnotherEventRacesAndTheModelAgrees) {
  EXPECT_TRUE(state_after(program_of(with("set e1.n0 eventwait v1\nlaunch e0 s1\n"))).launch_races(1, 2));
  const Judgement judgement =
      Bench().judge.judge(program_of(with("set e1.n0 eventwait v1\nlaunch e0 s1\nlaunch e1 s2\n")), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kPoisoned) << described(judgement);
}

TEST(EventNodePrograms, ALaunchInTheNullStreamOrdersOtherStreamsUnlessItsGraphHasNoNodes) {
  const auto races = [](const std::string& node) {
    const Program program = program_of(
        "buffer b0 64\nstream s1\nstream s2\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=64\n"
        "instantiate e0 g0\ngraph g1\n" +
        node + "instantiate e1 g1\nlaunch e0 s1\nlaunch e1 s0\n");
    return state_after(program).launch_races(0, 2);
  };
  EXPECT_TRUE(races(""));
  EXPECT_FALSE(races("empty g1.n0\n"));
}

// CUDA's programming guide, "Graph Memory Nodes": cudaGraphInstantiateFlagAutoFreeOnLaunch frees memory that is still
// allocated when the graph is launched, not when its nodes run.
TEST(EventNodePrograms, WhatALaunchFreesIsFreedBeforeItWaits) {
  const std::string launched =
      "buffer b0 64\nevent v0\nstream s1 nonblocking\ngraph g0\neventwait g0.n0 v0\n"
      "alloc g0.n1 b1 64 after=n0\nmemset g0.n2 dst=b1+0 value=1 element=1 width=64 after=n1\n"
      "instantiate e0 g0 form=flags flags=auto_free\nlaunch e0 s0\nsync device\n"
      "on s1 memcpy dst=b0+0 src=b1+0 bytes=64 kind=d2d\n";
  EXPECT_TRUE(state_after(program_of(launched + "record v0 s1\n")).launch_races(0, 0));
  EXPECT_FALSE(state_after(program_of(launched + "record v0 s1\nwait s0 v0\n")).launch_races(0, 0));
  Bench bench;
  const Judgement raced = bench.judge.judge(program_of(launched + "record v0 s1\nlaunch e0 s0\n"), {});
  EXPECT_EQ(raced.verdict, VerdictKind::kPoisoned) << described(raced);
  EXPECT_TRUE(in_agreement(bench.judge.judge(program_of(launched + "record v0 s1\nwait s0 v0\nlaunch e0 s0\n"), {})));
}

TEST(EventNodePrograms, EveryStrategyKeepsEventNodesThroughPatchesAndSetters) {
  const Program program = program_of(
      with("move b0 b1\npatch e0\npatch e1\nlaunch e0 s1\nlaunch e1 s2\nsync device\nset e0.n1 eventrecord v1\n"
           "set e1.n0 eventwait v1\nlaunch e0 s1\nlaunch e1 s2\npatch g0\nset g0.n1 eventrecord v1\nupdate e0 g0\n"
           "launch e0 s1\nlaunch e1 s2\n"));
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    agrees_under_strategies(program, {.schedule_seed = seed, .every_call_fails = true});
  }
}

TEST(EventNodePrograms, ProgramsThatNameEventsTwiceOrTooLateAreRefused) {
  for (const auto& [commands, mentions] : {std::pair{"eventrecord g0.n2 v0\n", "records v0"},
                                           {"eventwait g0.n2 v0\n", "records v0"},
                                           {"eventrecord g1.n2 v0\n", "waits for v0"},
                                           {"child g0.n2 g1\n", "records v0"},
                                           {"destroy v0\n", "node of v0"},
                                           {"eventwait g0.n2 v9\n", "v9"},
                                           {"eventwait g0.n2 v1 fan=2\n", "fanned"},
                                           {"set e0.n1 eventwait v1\n", "keeps the node's type"}}) {
    EXPECT_NE(flaw(program_of(with(commands))).find(mentions), std::string::npos)
        << commands << flaw(program_of(with(commands)));
  }
  for (const char* commands : {"eventrecord g0.n2 v1\n", "eventwait g1.n2 v0\n", "eventwait g0.n2 v1\n", "destroy v1\n",
                               "destroy e0\ndestroy e1\ndestroy g0\ndestroy g1\ndestroy v0\n"}) {
    EXPECT_EQ(flaw(program_of(with(commands))), "") << commands;
  }
}

TEST(EventNodePrograms, TheTextOfEventNodesIsReadBackAsItWas) {
  const Program program = program_of(with("set e0.n1 eventrecord v1\n"));
  EXPECT_EQ(parsed(print_program(program)), program);
  EXPECT_NE(print_program(program).find("eventrecord g0.n1 v0 after=n0"), std::string::npos);
}

TEST(EventNodePrograms, ARuntimeWithoutEventNodesIsUnsupportedAndNotCalled) {
  OtherBench bench([](hip::Api& api) { api.hipGraphAddEventRecordNode = nullptr; });
  const Judgement judgement = bench.judge.judge(program_of(kSetup), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kUnsupported);
  EXPECT_EQ(judgement.reason, "hipGraphAddEventRecordNode");
}

// An edge that goes missing shows: a runtime that forgets to record loses the order, and with it bytes or its race.
TEST(EventNodePrograms, ARuntimeThatIgnoresWaitNodesIsFound) {
  OtherBench bench([](hip::Api& api) {
    api.hipGraphAddEventWaitNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                      size_t count, hipEvent_t) {
      return model::abi::InProcess::api().hipGraphAddEmptyNode(node, graph, dependencies, count);
    };
  });
  bool found = false;
  for (std::uint64_t seed = 0; seed < 20 && !found; ++seed) {
    found = bench.judge.judge(program_of(with("launch e0 s1\nlaunch e1 s2\n")), {.schedule_seed = seed}).verdict ==
            VerdictKind::kDiverge;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace verify
