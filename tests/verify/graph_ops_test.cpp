// Graphs and executable graphs as wholes on the model: clones, dependencies, removed and disabled nodes, queries.
// Not verified here: preconditions (state_test.cpp) and the text (text_test.cpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "judging.h"

namespace verify {
namespace {

constexpr std::string_view kThree =
    "buffer b0 64\nbuffer b1 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\n"
    "memcpy g0.n1 dst=b1 src=b0 bytes=16 kind=d2d after=n0\nmemset g0.n2 dst=b0 value=7 width=8 after=n1\n";

std::string three(std::string_view rest) {
  return std::string(kThree) + std::string(rest);
}

// Each with one thing that is easily got wrong; all of them agree.
const std::string kPrograms[] = {
    three("clone g1 g0\ninstantiate e0 g0\ninstantiate e1 g1\nset g1.n2 memset dst=b0 value=9 width=8\n"
          "launch e0 s0\nread b0\nlaunch e1 s0\nread b0\nupdate e1 g1\nlaunch e1 s0\nupdate e0 g1\nlaunch e0 s0"),
    three("clone g1 g0\nmove b0\npatch g1\ninstantiate e1 g1\nlaunch e1 s0\npatch g0\ninstantiate e0 g0\nlaunch e0 s0"),
    three("clone g1 g0\nfind g1 g0.n2\nremove g1.n1\nfind g1 g0.n1\nfind g1 g0.n2\nfind g0 g1.n0\ninspect g1"),
    three("graph g2\nchild g2.n0 g0\nclone g1 g2\ninstantiate e0 g1\nmove b0 b1\npatch e0\nlaunch e0 s0\n"
          "patch g0\nset e0.n0 child g0\nlaunch e0 s0"),
    three("clone g1 g0\ngraph g2\nchild g2.n0 g1\ndestroy g1\ninstantiate e0 g2\nlaunch e0 s0"),
    three("unedge g0.n2 after=n1\nedge g0.n2 after=n0,n1\nunedge g0.n1 after=n0\nedge g0.n1 after=n0\ninspect g0\n"
          "instantiate e0 g0\nlaunch e0 s0"),
    // An edge to an earlier node, under moves, in a child and in a clone.
    "buffer b0 64\nbuffer b1 64\ngraph g0\nmemcpy g0.n0 dst=b1 src=b0 bytes=64 kind=d2d\n"
    "kernel g0.n1 inplace_u32 data=b0 n=4 k=1\nedge g0.n0 after=n1\nclone g1 g0\ngraph g2\nchild g2.n0 g1\n"
    "instantiate e0 g0\ninstantiate e1 g2\nmove b0 b1\npatch e0\nlaunch e0 s0\npatch e1\nlaunch e1 s0\npatch g1\n"
    "update e0 g1\nlaunch e0 s0\npatch g2\ninspect g2",
    three("edge g0.n0 after=n2 cycle\ninstantiate e0 g0\ninstantiate e1 g0 form=params\nunedge g0.n0 after=n2\n"
          "instantiate e2 g0 form=params\nlaunch e2 s0"),
    three("instantiate e0 g0\nremove g0.n1\nedge g0.n2 after=n0\nlaunch e0 s0\nread b1\ninstantiate e1 g0\nlaunch e1 "
          "s0\ninspect g0\n"
          "inspect e0\nmove b0 b1\npatch e0\nlaunch e0 s0\npatch e1\nlaunch e1 s0"),
    three("instantiate e0 g0\nclone g1 g0\nremove g0.n1\nmove b1\npatch e0\nlaunch e0 s0\npatch g1\nupdate e0 g1\n"
          "move b0 b1\npatch e0\nlaunch e0 s0"),
    "buffer b0 4096\ngraph g0\nempty g0.n0\nmemset g0.n1 dst=b0 value=3 width=4 fan=64 after=n0\nempty g0.n2 after=n1\n"
    "instantiate e0 g0\ninspect g0\ndisable e0.n1\nlaunch e0 s0\nread b0\nremove g0.n1\nmove b0\npatch e0\n"
    "launch e0 s0\nedge g0.n2 after=n0\ninspect g0\nempty g0.n3",
    three("instantiate e0 g0\ndisable e0.n1\ninspect e0\nlaunch e0 s0\nread b1\nmove b0\npatch e0\nlaunch e0 s0\n"
          "read b1\nset e0.n1 memcpy dst=b1 src=b0 bytes=8 kind=d2d\nlaunch e0 s0\nread b1\npatch g0\nupdate e0 g0\n"
          "enable e0.n1\nlaunch e0 s0"),
    three("instantiate e0 g0 form=flags flags=auto_free\nupload e0 s0\nlaunch e0 s0\nmove b0\npatch e0\nlaunch e0 s0"),
    three("userobject u0\nuserobject u1\nretain u0 g0\nretain u1 g0 move\nclone g1 g0\ninstantiate e0 g0\nrelease u0\n"
          "release u0 g0\nlaunch e0 s0\ndestroy g0\ndot g1\ndestroy g1\ndestroy e0"),
    three("stream s1\ninstantiate e0 g0 form=params flags=upload,priority\nupload e0 s1\nlaunch e0 s1"),
    // The graph goes at once; the executable graph is patched, updated from graphs that are recorded anew, disabled.
    three("instantiate e0 g0\ndisable e0.n1\ndestroy g0\nlaunch e0 s0\nmove b0\npatch e0\nlaunch e0 s0\nmove b1\n"
          "patch e0\nlaunch e0 s0\nread b1"),
    three("clone g1 g0\ninstantiate e0 g0\ndestroy g0\nmove b0 b1\npatch g1\nset g1.n2 memset dst=b0 value=9 width=8\n"
          "update e0 g1\ndestroy g1\nlaunch e0 s0\nmove b1\npatch e0\nlaunch e0 s0"),
    three("instantiate e0 g0\ndestroy g0\ngraph g1\nempty g1.n0\nupdate e0 g1\ndestroy g1\nlaunch e0 s0"),
    "buffer b0 64\nstream s1\ncapture s1\non s1 memset dst=b0 value=1 width=8\nendcapture s1 g0\ninstantiate e0 g0\n"
    "destroy g0\nlaunch e0 s1\nmove b0\ncapture s1\non s1 memset dst=b0+16 value=2 width=8\nendcapture s1 g1\n"
    "update e0 g1\ndestroy g1\nlaunch e0 s1\nread b0\nmove b0\npatch e0\nlaunch e0 s1",
    three("graph g1\nchild g1.n0 g0\ninstantiate e0 g1\ndestroy g1\nmove b0 b1\npatch e0\nlaunch e0 s0\npatch e0"),
};

// Checks when a user object's function is called, and for which object.
TEST(GraphOps, AUserObjectGoesWithTheLastThatHoldsIt) {
  EXPECT_EQ(last_status("userobject u0\nrelease u0").seen, "u0 went");
  EXPECT_EQ(last_status("graph g0\nuserobject u0\nretain u0 g0\nrelease u0").seen, "");
  EXPECT_EQ(last_status("graph g0\nuserobject u0\nretain u0 g0\nrelease u0\ndestroy g0").seen, "u0 went");
  EXPECT_EQ(last_status("graph g0\nuserobject u0\nretain u0 g0 move\nrelease u0 g0").seen, "u0 went");
  EXPECT_EQ(last_status("graph g0\nuserobject u0\nretain u0 g0 move\nclone g1 g0\ndestroy g0").seen, "");
  EXPECT_EQ(last_status("graph g0\nuserobject u0\nretain u0 g0 move\nclone g1 g0\ndestroy g0\ndestroy g1").seen,
            "u0 went");
  EXPECT_EQ(last_status("graph g0\nuserobject u0\nretain u0 g0 move\ninstantiate e0 g0\ndestroy g0").seen, "");
  EXPECT_EQ(last_status("graph g0\nuserobject u0\nretain u0 g0 move\ninstantiate e0 g0\ndestroy g0\nlaunch e0 s0\n"
                        "destroy e0")
                .seen,
            "u0 went");
}

TEST(GraphOps, NodesAndEdgesArePrinted) {
  EXPECT_EQ(last_status(three("dot g0")).seen, "3 nodes, 2 edges");
  EXPECT_EQ(last_status("graph g0\ndot g0").seen, "0 nodes, 0 edges");
  for (const auto& [flag, word] : kDotFlags) {
    EXPECT_EQ(last_status(three(fmt::format("dot g0 flags={}", word))).seen, "3 nodes, 2 edges") << word;
  }
  EXPECT_EQ(last_status(three("dot g0 flags=kernel,memcpy,memset,attributes")).seen, "3 nodes, 2 edges");
}

// A runtime that prints the graph with no flags, whichever are asked for.
TEST(GraphOps, FlagsThatAreIgnoredAreFound) {
  OtherBench bench([](hip::Api& api) {
    api.hipGraphDebugDotPrint = [](hipGraph_t graph, const char* path, unsigned) {
      return model::abi::InProcess::api().hipGraphDebugDotPrint(graph, path, 0);
    };
  });
  EXPECT_TRUE(in_agreement(bench.judge.judge(program_of(three("dot g0 flags=host")), {})));
  const Judgement judgement = bench.judge.judge(program_of(three("dot g0 flags=kernel,memcpy,memset")), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  const std::string events = "event v0\nevent v1\ngraph g0\neventrecord g0.n0 v0\neventwait g0.n1 v1 after=n0\n";
  EXPECT_EQ(last_status(events + "dot g0 flags=event").seen, "2 nodes, 1 edges");
  const Judgement without = bench.judge.judge(program_of(events + "dot g0 flags=event"), {});
  EXPECT_EQ(without.verdict, VerdictKind::kDiverge) << described(without);
}

// Releasing more references than there are changes nothing: each function runs when it would have, and once.
TEST(GraphOps, ReleasingMoreReferencesThanThereAreReleasesNone) {
  const std::string start = "userobject u0\ngraph g0\nretain u0 g0\n";
  const std::string beyond = start + "release u0 beyond\nrelease u0 g0 beyond\ngraph g1\nrelease u0 g1 beyond\n";
  EXPECT_EQ(last_status(beyond).seen, "");
  EXPECT_EQ(last_status(beyond + "release u0\n").seen, "");
  EXPECT_EQ(last_status(beyond + "release u0\nrelease u0 g0\n").seen, "u0 went");
  agrees_under_strategies(program_of(beyond + "release u0\ninstantiate e0 g0\ndestroy g0\nlaunch e0 s0\ndestroy e0"),
                          {.every_call_fails = true});
  // A runtime that releases as many as there are.
  OtherBench bench([](hip::Api& api) {
    api.hipUserObjectRelease = [](hipUserObject_t object, unsigned count) {
      return model::abi::InProcess::api().hipUserObjectRelease(object, count > 1000 ? 1 : count);
    };
  });
  EXPECT_TRUE(in_agreement(bench.judge.judge(program_of("userobject u0\nrelease u0\n"), {})));
  const Judgement judgement = bench.judge.judge(program_of("userobject u0\nrelease u0 beyond\n"), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
}

class GraphProgram : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(GraphOps, GraphProgram, testing::ValuesIn(kPrograms),
                         [](const auto& at) { return "Number" + std::to_string(at.index); });

TEST_P(GraphProgram, IsValidAndAgreesUnderEveryStrategyScheduleAndFailure) {
  const Program program = program_of(GetParam());
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const bool first = seed == 0;
    agrees_under_strategies(program, {.schedule_seed = seed,
                                      .isolation = true,
                                      .every_call_fails = first,
                                      .however_built = first,
                                      .every_order = first});
  }
}

TEST(GraphOps, AGraphSaysAllOfItself) {
  EXPECT_EQ(
      last_status("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=5 element=2 width=3\nempty g0.n1 after=n0\n"
                  "inspect g0")
          .seen,
      "nodes 2: n0 n1; roots 1: n0; edges 1: n0>n1; n0 is a memset; n0 waits for 0:; n0 is waited for by 1: n1; n0 "
      "sets 5 of 2 in 1 rows of 3 at right; n1 is a empty; n1 waits for 1: n0; n1 is waited for by 0:");
}

TEST(GraphOps, AnExecutableGraphSaysWhatIsDisabled) {
  EXPECT_EQ(last_status(three("instantiate e0 g0\ninspect e0")).seen, "");
  EXPECT_EQ(last_status(three("instantiate e0 g0\ndisable e0.n1\ninspect e0")).seen, "n1 is disabled");
  EXPECT_EQ(last_status(three("instantiate e0 g0\ndisable e0.n1\nenable e0.n1\ninspect e0")).seen, "");
}

TEST(GraphOps, ANodeOfACloneIsFoundByTheOriginalsAndOneThatIsNotThereIsNot) {
  EXPECT_EQ(last_status(three("clone g1 g0\nfind g1 g0.n2")).seen, "n2");
  EXPECT_EQ(last_status(three("clone g1 g0\nremove g1.n2\nfind g1 g0.n2")).code, hipErrorInvalidValue);
  EXPECT_EQ(last_status(three("clone g1 g0\nempty g0.n3\nfind g1 g0.n3")).code, hipErrorInvalidValue);
  EXPECT_EQ(last_status(three("graph g1\nfind g1 g0.n2")).code, hipErrorInvalidValue);
  EXPECT_EQ(last_status(three("clone g1 g0\nclone g2 g1\nfind g2 g0.n2")).code, hipErrorInvalidValue);
}

TEST(GraphOps, ACircleIsRefusedAtInstantiationWithTheDocumentedResult) {
  const std::string circle = three("edge g0.n0 after=n2 cycle\n");
  EXPECT_EQ(last_status(circle + "instantiate e0 g0").code, hipErrorInvalidValue);
  EXPECT_EQ(last_status(circle + "instantiate e0 g0 form=flags").code, hipErrorInvalidValue);
  const StepStatus status = last_status(circle + "instantiate e0 g0 form=params");
  EXPECT_EQ(status.code, hipErrorInvalidValue);
  EXPECT_EQ(status.seen, "result invalid structure");
  EXPECT_EQ(last_status(three("instantiate e0 g0 form=params")).seen, "result success");
}

TEST(GraphOps, APatchOfANodeThatWasRemovedIsRefusedHonestly) {
  const Observation observation = trace_of(three("instantiate e0 g0\nremove g0.n1\nmove b1\npatch e0\nlaunch e0 s0"));
  EXPECT_EQ(observation.fallbacks, 1u);
  EXPECT_EQ(observation.statuses.back().code, 0);
}

TEST(GraphOps, APatchOfAnExecutableGraphWithoutItsGraphIsRefusedHonestlyAndLaterOnesAreInPlace) {
  const Observation observation =
      trace_of(three("instantiate e0 g0\ndestroy g0\nmove b1\npatch e0\nmove b0\npatch e0\nlaunch e0 s0"));
  EXPECT_EQ(observation.fallbacks, 1u);
  EXPECT_EQ(observation.patched_in_place.size(), 1u);
}

// P2: an effect of one graph's change on another graph is found, in either direction.
TEST(GraphOps, ACloneThatSharesItsOriginalsNodesBreaksIsolation) {
  const Program program = program_of(three("clone g1 g0\nset g1.n2 memset dst=b0 value=9 width=8"));
  OtherBench bench([](hip::Api& api) {
    api.hipGraphClone = [](hipGraph_t* clone, hipGraph_t original) {
      *clone = original;
      return hipSuccess;
    };
    api.hipGraphNodeFindInClone = [](hipGraphNode_t* node, hipGraphNode_t original, hipGraph_t) {
      *node = original;
      return hipSuccess;
    };
  });
  const Observation observation = bench.subject.run(program, {.isolation = true}).observation;
  bool found = false;
  for (const Violation& violation : observation.violations) {
    found = found || (violation.property == PropertyId::kP2 && violation.where == "g0");
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace verify
