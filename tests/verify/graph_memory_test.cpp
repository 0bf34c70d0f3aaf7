// Memory that graphs allocate, in programs: the valid commands, the observations, and that every strategy keeps it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judging.h"
#include "verify/generate/generator.h"
#include "verify/program/picture.h"

namespace verify {
namespace {

constexpr std::string_view kAllocates =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nalloc g0.n0 b5 256\n"
    "memset g0.n1 dst=b5+0 value=7 element=4 width=64 after=n0\n"
    "kernel g0.n2 axpy_u64 out=b0+0 in=b5+0 n=8 a=3 after=n1\n"
    "memcpy g0.n3 dst=b1+0 src=b5+0 bytes=256 kind=d2d after=n1\n";

std::string with(std::string_view more) {
  return std::string(kAllocates) + std::string(more);
}

TEST(GraphMemoryPrograms, EveryStrategyKeepsMemoryThatNodesFreeThroughPatchesSettersAndFailures) {
  const Program program = program_of(
      with("free g0.n4 b5 after=n2,n3\ninspect g0\ndot g0\ninstantiate e0 g0\nlaunch e0 s0\nmove b0\npatch e0\n"
           "launch e0 s0\nset e0.n2 kernel axpy_u64 out=b0+64 in=b5+64 n=8 a=5\nlaunch e0 s0\nmove b0=@b1 b1=@b0\n"
           "patch e0\nlaunch e0 s0\npatch g0\nset g0.n3 memcpy dst=b1+0 src=b5+16 bytes=16 kind=d2d\ndestroy e0\n"
           "instantiate e1 g0\nlaunch e1 s0\nread b1\n"));
  for (const bool fails : {false, true}) agrees_under_strategies(program, {.every_call_fails = fails});
}

// Recorded again in the order of its nodes, such a node would be given where the graph before had its memory.
TEST(GraphMemoryPrograms, ANodeMayBeSetToWhatALaterNodeAllocates) {
  agrees_under_strategies(program_of(
      "buffer b0 64\nbuffer b2 64\ngraph g0\nmemset g0.n4 dst=b0+0 value=1 element=1 width=1\n"
      "memcpy g0.n5 dst=b2+0 src=b0+0 bytes=8 kind=d2d after=n4\nalloc g0.n6 b3 1000\n"
      "memset g0.n7 dst=b3+0 value=9 element=1 width=1000 after=n6\nedge g0.n4 after=n7\n"
      "set g0.n4 memset dst=b3+0 value=2 element=1 width=1\nset g0.n5 memcpy dst=b2+0 src=b3+0 bytes=8 kind=d2d\n"
      "move b2\npatch g0\ninspect g0\ninstantiate e0 g0\nlaunch e0 s0\nread b2\nfree b3\n"
      "move b2\npatch e0\nlaunch e0 s0\nread b2\nfree b3\n"));
}

TEST(GraphMemoryPrograms, WhatTheProgramFreesMayBeLaunchedAgainAndIsReadBefore) {
  agrees_under_strategies(
      program_of(with("instantiate e0 g0\nlaunch e0 s0\nread b5\non s0 memcpy dst=b1+0 src=b5+0 bytes=8 kind=d2d\n"
                      "free_async b5 s0\nlaunch e0 s0\nfree b5\nmove b0\npatch e0\nlaunch e0 s0\n")));
}

TEST(GraphMemoryPrograms, LaunchingAgainWhatNobodyFreedIsRefusedUnlessTheExecutableGraphFreesItself) {
  for (const auto& [flags, refused] : {std::pair{"", true}, std::pair{" form=flags flags=auto_free", false}}) {
    const std::string commands = with("instantiate e0 g0" + std::string(flags) + "\nlaunch e0 s0\nlaunch e0 s0\n");
    const Program program = program_of(commands);
    const Observation observation = trace_of(commands);
    ASSERT_EQ(observation.statuses.size(), program.steps.size());
    EXPECT_EQ(observation.statuses.back().code != 0, refused) << flags;
    EXPECT_TRUE(observation.violations.empty()) << flags;
    EXPECT_TRUE(in_agreement(Bench().judge.judge(program, {})));
  }
}

// A runtime that refuses the first repetition differs from one that refuses the second, by the same error.
TEST(GraphMemoryPrograms, ARepeatedCommandThatFailsSaysWhichRepetitionDid) {
  const auto last = [](const std::string& commands) { return last_status(with("instantiate e0 g0\n" + commands)); };
  EXPECT_EQ(last("repeat 3 launch e0 s0\n").repetition, 2u);
  EXPECT_EQ(last("launch e0 s0\nrepeat 3 launch e0 s0\n").repetition, 1u);
  EXPECT_EQ(last("launch e0 s0\nlaunch e0 s0\n").repetition, 0u) << "not repeated";
  EXPECT_EQ(last("repeat 3 upload e0 s0\n").repetition, 0u) << "did not fail";
}

// The nodes of kAllocates, added by hipGraphAddNode.
TEST(GraphMemoryPrograms, GenericNodesAllocateAndFreeLikeTheOthers) {
  const std::string generic =
      "buffer b0 256\ngraph g0\nalloc g0.n0 b5 256 form=generic\n"
      "memset g0.n1 dst=b5+0 value=7 element=4 width=64 after=n0\nmemcpy g0.n2 dst=b0+0 src=b5+0 bytes=256 kind=d2d "
      "after=n1\n";
  for (const char* freed : {"free g0.n3 b5 form=generic after=n2\n", "free g0.n3 b5 after=n2\n"}) {
    agrees_under_strategies(program_of(generic + freed +
                                       "inspect g0\ninstantiate e0 g0\nlaunch e0 s0\nmove b0\n"
                                       "patch e0\nlaunch e0 s0\n"),
                            {.every_call_fails = true});
  }
  OtherBench bench([](hip::Api& api) {
    api.hipGraphAddNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                             std::size_t count, hipGraphNodeParams* params) {
      if (params->type == hipGraphNodeTypeMemFree) return hipErrorInvalidValue;
      return model::abi::InProcess::api().hipGraphAddNode(node, graph, dependencies, count, params);
    };
  });
  const Program program = program_of(generic + "free g0.n3 b5 form=generic after=n2\n");
  const Judgement judgement = bench.judge.judge(program, {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
}

TEST(GraphMemoryPrograms, AccessDescriptorsAreReadBackAndReachAnotherDevice) {
  const std::string start =
      "buffer b0 256\ngraph g0\nalloc g0.n0 b5 256 access=0,1\nmemset g0.n1 dst=b5+0 value=7 element=4 width=64 "
      "after=n0\n";
  const std::string peer = start + "kernel g0.n2 inplace_u32 data=b5 n=8 k=3 device=1 after=n1\n";
  EXPECT_EQ(flaw(program_of(peer + "instantiate e0 g0\nlaunch e0 s0\n")), "");
  agrees_under_strategies(program_of(peer +
                                     "memcpy g0.n3 dst=b0 src=b5 bytes=256 kind=d2d after=n2\ninspect g0\n"
                                     "instantiate e0 g0\nlaunch e0 s0\nfree b5\nmove b0\npatch e0\nlaunch e0 s0\n"));
  EXPECT_THAT(last_status(start + "inspect g0\n").seen, ::testing::HasSubstr(" with the access that was given"));
  OtherBench bench([](hip::Api& api) {
    api.hipGraphMemAllocNodeGetParams = [](hipGraphNode_t node, hipMemAllocNodeParams* params) {
      const hipError_t status = model::abi::InProcess::api().hipGraphMemAllocNodeGetParams(node, params);
      params->accessDescCount = std::min<std::size_t>(params->accessDescCount, 1);
      return status;
    };
  });
  const Judgement judgement = bench.judge.judge(program_of(start + "inspect g0\n"), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
}

// P8: a runtime that does not free memory when a program frees it is found.
TEST(GraphMemoryPrograms, MemoryThatIsNotGivenBackIsALeak) {
  OtherBench bench([](hip::Api& api) { api.hipFreeAsync = [](void*, hipStream_t) { return hipSuccess; }; });
  const Judgement judgement =
      bench.judge.judge(program_of(with("instantiate e0 g0\nlaunch e0 s0\nfree_async b5 s0\n")), {});
  ASSERT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  EXPECT_EQ(judgement.broken.front(), PropertyId::kP8);
}

TEST(GraphMemoryPrograms, WhatHipForbidsIsRefused) {
  for (const auto& [commands, mentions] : {
           std::pair{"clone g1 g0\n", "clone"},
           {"graph g1\nchild g1.n0 g0\n", "child"},
           {"remove g0.n2\n", "remove nodes"},
           {"unedge g0.n2 after=n1\n", "remove edges"},
           {"instantiate e0 g0\ninstantiate e1 g0\n", "one executable graph"},
           {"instantiate e0 g0\nupdate e0 g0\n", "update"},
           {"instantiate e0 g0\nlaunch e0 s0\nmove b0\npatch e0\n", "free it first"},
           {"instantiate e0 g0\nlaunch e0 s0\nfree b5\nquery s0\n", "a matter of time"},
           {"instantiate e0 g0\nlaunch e0 s0\ndestroy e0\ninstantiate e1 g0\n", "free it first"},
           {"instantiate e0 g0\nfree g0.n4 b5 after=n2,n3\n", "leaves b5"},
           {"instantiate e0 g0\ndisable e0.n1\n", "fills b5"},
           {"set g0.n1 memset dst=b5+0 value=1 width=255\n", "fills b5"},
           {"set g0.n0 empty\n", "type"},
           {"free g0.n4 b5 after=n2\n", "behind every node"},
           {"free g0.n4 b5 after=n2,n3\nfree g0.n5 b5 after=n4\n", "frees b5 already"},
           {"free g0.n4 b5 after=n2,n3\nmemset g0.n5 dst=b5+0 value=1 width=1 after=n4\n", "before the one that frees"},
           {"memset g0.n4 dst=b5+0 value=1 width=1\n", "behind the one that allocates"},
           {"alloc g0.n4 b6 64\nmemset g0.n5 dst=b6+0 value=1 width=1 after=n4\n", "holds anything"},
           {"alloc g0.n4 b5 64\n", "declared already"},
           {"alloc g0.n4 b6 0\n", "bytes"},
           {"graph g1\nmemset g1.n0 dst=b5+0 value=1 width=256\n", "only nodes of g0"},
           {"graph g1\nfree g1.n0 b5\n", "not there"},
           {"graph g1\nfree g1.n0 b0\n", "no graph allocates"},
           {"kernel g0.n4 count_only n=8 a=addr(b5) b=0 after=n3\n", "runtime's business"},
           {"move b5\n", "runtime's business"},
           {"write b5 seed=1\n", "nodes and streams"},
           {"read b5\n", "not there"},
           {"free b5\n", "not there"},
           {"free_async b5 s0\n", "not there"},
           {"free_async b0 s0\n", "no graph"},
           {"on s0 memset dst=b5+0 value=1 width=1\n", "not there"},
           {"stream s1\ncapture s1\ninstantiate e0 g0\nlaunch e0 s0\n", "while a stream captures"},
       }) {
    const std::string why = flaw(program_of(with(commands)));
    EXPECT_NE(why.find(mentions), std::string::npos) << commands << ": " << why;
  }
}

TEST(GraphMemoryPrograms, MemoryOutlivesTheGraphAndTheExecutableGraphThatAllocatedIt) {
  const std::string gone = with(
      "instantiate e0 g0\nlaunch e0 s0\ndestroy e0\ndestroy g0\nread b5\n"
      "on s0 memcpy dst=b0+0 src=b5+64 bytes=8 kind=d2d\n");
  for (const std::string_view freed :
       {"free b5\n", "free_async b5 s0\n", "", "graph g1\nfree g1.n0 b5\ninstantiate e1 g1\nlaunch e1 s0\n",
        "stream s1\ncapture s1\nfree_async b5 s1\nendcapture s1 g1\ninstantiate e1 g1\nlaunch e1 s1\nsync s1\n"}) {
    const Program program = program_of(gone + std::string(freed) + "graph_memory used\ngraph_memory trim\nread b0\n");
    EXPECT_EQ(flaw(program), "");
    agrees_under_strategies(program);
  }
}

constexpr std::string_view kFreedByAnotherGraph =
    "instantiate e0 g0\nlaunch e0 s0\ngraph g1\nfree g1.n0 b5\ninstantiate e1 g1\nlaunch e1 s0\n";

TEST(GraphMemoryPrograms, ANodeOfAnotherGraphFreesItAfterEachLaunch) {
  const Program program = program_of(with(std::string(kFreedByAnotherGraph) +
                                          "inspect g1\nlaunch e0 s0\nread b5\nlaunch e1 s0\nlaunch e0 s0\nfree b5\n"
                                          "launch e0 s0\nlaunch e1 s0\ngraph_memory used\n"));
  EXPECT_EQ(flaw(program), "");
  agrees_under_strategies(program);
}

TEST(GraphMemoryPrograms, AFreeNodeOfOrdinaryMemoryIsRefusedWhereNothingAllocates) {
  EXPECT_EQ(flaw(program_of("buffer b0 64\ngraph g0\nfree g0.n0 b0\n")), "line 4: no graph allocates b0");
}

TEST(GraphMemoryPrograms, AFreeNodeOfMemoryWhoseNodeWasRefusedEndsNothing) {
  OtherBench bench([](hip::Api& api) {
    api.hipGraphAddMemAllocNode = [](hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                                     hipMemAllocNodeParams*) { return hipErrorNotSupported; };
  });
  const Judgement judgement =
      bench.judge.judge(program_of("graph g0\nalloc g0.n0 b5 64\nfree g0.n1 b5 after=n0\n"), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
}

// As a framework does that records the graph that frees anew in each step.
TEST(GraphMemoryPrograms, AnotherNodeMayFreeItOnceTheGraphThatFreesIsGone) {
  std::string commands = "instantiate e0 g0\nstream s1\n";
  for (const int step : {1, 2, 3}) {
    commands += fmt::format(
        "launch e0 s1\ncapture s1\nfree_async b5 s1\nendcapture s1 g{0}\ninstantiate e{0} g{0}\nlaunch e{0} s1\n"
        "sync s1\ndestroy e{0}\ndestroy g{0}\n",
        step);
  }
  const Program program = program_of(with(commands + "move b0\npatch e0\nlaunch e0 s1\nsync s1\nread b5\nfree b5\n"));
  EXPECT_EQ(flaw(program), "");
  agrees_under_strategies(program);
}

TEST(GraphMemoryPrograms, AFreeNodeOfAFailedCaptureIsForgotten) {
  const Program program = program_of(
      with("instantiate e0 g0\nlaunch e0 s0\nsync s0\nstream s1\nstream s2\nevent v0\ncapture s1\nfree_async b5 s1\n"
           "record v0 s1\nwait s2 v0\non s2 kernel count_only n=0 a=0 b=0\nendcapture s1 g1\ngraph g2\nfree g2.n0 "
           "b5\ninstantiate e2 g2\nlaunch e2 s0\n"));
  EXPECT_EQ(flaw(program), "");
  agrees_under_strategies(program);
}

TEST(GraphMemoryPrograms, GraphsThatShareMemoryStayAsTheyWereRecorded) {
  for (const auto& [commands, mentions] : {
           std::pair{"launch e1 s0\n", "b5 is not there"},
           {"move b0\npatch e0\n", "stay as they were recorded"},
           {"patch g1\n", "stay as they were recorded"},
           {"set g0.n3 memcpy dst=b1+0 src=b5+16 bytes=16 kind=d2d\n", "stay as they were recorded"},
           {"graph g2\nfree g2.n0 b5\n", "frees b5 already"},
       }) {
    const std::string why = flaw(program_of(with(std::string(kFreedByAnotherGraph) + commands)));
    EXPECT_NE(why.find(mentions), std::string::npos) << commands << ": " << why;
  }
}

TEST(GraphMemoryPrograms, ARuntimeThatForgetsTheMemoryOfAGraphThatIsGoneIsFound) {
  static bool destroyed;
  static hip::Api correct;
  OtherBench bench([](hip::Api& api) {
    correct = api;
    api.hipGraphLaunch = [](hipGraphExec_t exec, hipStream_t stream) {
      destroyed = false;
      return correct.hipGraphLaunch(exec, stream);
    };
    api.hipGraphExecDestroy = [](hipGraphExec_t exec) {
      destroyed = true;
      return correct.hipGraphExecDestroy(exec);
    };
    api.hipDeviceGetGraphMemAttribute = [](int device, hipGraphMemAttributeType attribute, void* value) {
      return destroyed ? (*static_cast<std::uint64_t*>(value) = 0, hipSuccess)
                       : correct.hipDeviceGetGraphMemAttribute(device, attribute, value);
    };
  });
  for (const bool gone : {false, true}) {
    const std::string commands =
        fmt::format("instantiate e0 g0\nlaunch e0 s0\n{}graph_memory used\n", gone ? "destroy e0\n" : "");
    const Judgement judgement = bench.judge.judge(program_of(with(commands)), {});
    EXPECT_EQ(judgement.verdict, gone ? VerdictKind::kDiverge : VerdictKind::kAgree) << described(judgement);
  }
}

TEST(GraphMemoryPrograms, OnlyHighMarksAreReset) {
  EXPECT_EQ(flaw(program_of("graph_memory used_high reset\ngraph_memory reserved_high reset\n")), "");
  EXPECT_NE(flaw(program_of("graph_memory used reset\n")), "");
  EXPECT_NE(flaw(program_of("graph_memory trim reset\n")), "");
}

// Its meaning does not hang on when the work runs: every order that the model may choose gives the same.
TEST(GraphMemoryPrograms, EveryOrderOfASettledProgramGivesTheSame) {
  const Program program = program_of(
      with("free g0.n4 b5 after=n2,n3\nstream s1 nonblocking\ninstantiate e0 g0 form=params flags=auto_free\n"
           "launch e0 s0\nlaunch e0 s1\nsync device\nread b0\n"));
  Bench bench;
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    EXPECT_TRUE(in_agreement(bench.judge.judge(program, {.schedule_seed = seed}))) << seed;
  }
}

TEST(GraphMemoryPrograms, PicturesNameWhatIsAllocatedAndFreed) {
  const std::vector<GraphPicture> pictures = draw_graphs(program_of(with("free g0.n4 b5 after=n2,n3\n")), {});
  ASSERT_EQ(pictures.size(), 1U);
  EXPECT_EQ(pictures[0].nodes.front().label, "alloc b5");
  EXPECT_EQ(pictures[0].nodes.back().label, "free b5");
}

TEST(GraphMemoryPrograms, TheGeneratorMakesThemAndTheyAgree) {
  std::uint64_t allocations = 0, freed_by_nodes = 0, freed_by_programs = 0, freed_elsewhere = 0;
  for (std::uint64_t index = 0; index < 3000; ++index) {
    const Program program = campaign_program(3, index, {.size = 30});
    bool any = false;
    for (const Step& step : program.steps) {
      if (const auto* node = std::get_if<AddNode>(&step.command)) {
        any = any || std::holds_alternative<MemoryAllocParams>(node->params);
        freed_by_nodes += std::holds_alternative<MemoryFreeParams>(node->params) ? 1 : 0;
      }
      freed_by_programs += std::holds_alternative<FreeAsync>(step.command) ? 1 : 0;
    }
    if (!any) continue;
    ++allocations;
    State state;
    for (const Step& step : program.steps) {
      state.apply(step.command);
      const auto* node = std::get_if<AddNode>(&step.command);
      const auto* freed = node == nullptr ? nullptr : std::get_if<MemoryFreeParams>(&node->params);
      if (freed != nullptr && state.buffer(freed->buffer)->graph != node->graph) ++freed_elsewhere;
    }
    EXPECT_TRUE(in_agreement(Bench().judge.judge(program, {}))) << index << "\n" << print_program(program);
  }
  EXPECT_GE(allocations, 10U);
  EXPECT_GE(freed_by_nodes, 5U);
  EXPECT_GE(freed_by_programs, 1U);
  EXPECT_GE(freed_elsewhere, 1U);
}

}  // namespace
}  // namespace verify
