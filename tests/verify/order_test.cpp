// P5 and hipGraphExecUpdate's documented answers: the orders that are counted, and pairs of graphs on the model.
// Not verified here: that generated programs hold in every order (campaigns do).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "judging.h"
#include "model/plan.h"
#include "verify/properties/orders.h"

namespace verify {
namespace {

std::optional<std::uint64_t> orders_of(const std::string& commands) {
  return orders_to_count(program_of(commands));
}

TEST(Orders, AChainHasOneOrderAndUnorderedNodesHaveEveryOne) {
  const std::string end = "instantiate e0 g0\nlaunch e0 s0";
  EXPECT_EQ(orders_of("graph g0\n" + end), 1u);
  EXPECT_EQ(orders_of("graph g0\nempty g0.n0\nempty g0.n1 after=n0\nempty g0.n2 after=n1\n" + end), 1u);
  EXPECT_EQ(orders_of("graph g0\nempty g0.n0\nempty g0.n1\nempty g0.n2\n" + end), 6u);
  EXPECT_EQ(orders_of("graph g0\nempty g0.n0 fan=3\nempty g0.n1 after=n0\n" + end), 6u);
  EXPECT_EQ(orders_of("graph g0\nempty g0.n0 fan=2\n" + end + "\nlaunch e0 s0"), 4u);
  EXPECT_EQ(orders_of("graph g0\nempty g0.n0\ngraph g1\nchild g1.n0 g0 nest=2\nempty g1.n1\ninstantiate e0 g1\n"
                      "launch e0 s0"),
            2u * 2 * 2 * 2 * 2);  // five steps of the child, each beside the other node
}

TEST(Orders, MoreOrdersThanTheBoundAndSeveralStreamsAreNotCounted) {
  EXPECT_EQ(orders_of("graph g0\nempty g0.n0 fan=5\ninstantiate e0 g0\nlaunch e0 s0"), std::nullopt);
  EXPECT_EQ(orders_of("graph g0\nempty g0.n0 fan=11\ninstantiate e0 g0\nlaunch e0 s0"), std::nullopt);
  EXPECT_EQ(orders_of("graph g0\nstream s1\ninstantiate e0 g0\nlaunch e0 s1"), std::nullopt);
}

// The scheduler's side: counting draws every order of a diamond with two more nodes beside it, and no illegal one.
TEST(Orders, CountingDrawsEveryLegalOrder) {
  using Lists = std::vector<std::vector<model::StepIndex>>;
  const Lists dependencies = {{}, {0}, {0}, {1, 2}, {}}, dependents = {{1, 2}, {3}, {3}, {}, {}};
  std::set<std::vector<model::StepIndex>> drawn;
  for (std::uint64_t number = 0; number < 120; ++number) {
    model::Random random(kCountedOrder | number);
    drawn.insert(model::topological_order(dependencies, dependents, &random));
  }
  // The other node has five places in each of the diamond's two orders.
  EXPECT_EQ(drawn.size(), 10u);
}

// A runtime that forgets an edge is found by its edges, and by an order.
TEST(Orders, AnEdgeThatIsLostIsFound) {
  const Program program = program_of(
      "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 width=64\nkernel g0.n1 inplace_u32 data=b0 n=4 k=1 "
      "after=n0\n"
      "instantiate e0 g0\nlaunch e0 s0");
  OtherBench bench([](hip::Api& api) {
    api.hipGraphAddKernelNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t*, std::size_t,
                                   const hipKernelNodeParams* params) {
      return model::abi::InProcess::api().hipGraphAddKernelNode(node, graph, nullptr, 0, params);
    };
  });
  const Judgement judgement = bench.judge.judge(program, {});
  ASSERT_EQ(judgement.verdict, VerdictKind::kDiverge);
  EXPECT_NE(std::find(judgement.broken.begin(), judgement.broken.end(), PropertyId::kP5), judgement.broken.end());
}

// A runtime that runs a node's last dependent before the node itself, in each launch, where the node has three
// dependents or more and the last one waits for nothing else.
hipError_t instantiate_with_the_last_dependent_first(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* error_node,
                                                     char* log, std::size_t log_bytes) {
  const hip::Api& hip = model::abi::InProcess::api();
  hipGraph_t clone = nullptr;
  EXPECT_EQ(hip.hipGraphClone(&clone, graph), hipSuccess);
  std::size_t count = 0;
  EXPECT_EQ(hip.hipGraphGetEdges(clone, nullptr, nullptr, &count), hipSuccess);
  std::vector<hipGraphNode_t> from(count), to(count);
  if (count != 0) EXPECT_EQ(hip.hipGraphGetEdges(clone, from.data(), to.data(), &count), hipSuccess);
  for (std::size_t i = count; i-- > 0;) {
    if (std::ranges::count(from, from[i]) < 3 || std::ranges::count(to, to[i]) != 1) continue;
    EXPECT_EQ(hip.hipGraphRemoveDependencies(clone, &from[i], &to[i], 1), hipSuccess);
    EXPECT_EQ(hip.hipGraphAddDependencies(clone, &to[i], &from[i], 1), hipSuccess);
    break;
  }
  const hipError_t status = hip.hipGraphInstantiate(exec, clone, error_node, log, log_bytes);
  EXPECT_EQ(hip.hipGraphDestroy(clone), hipSuccess);
  return status;
}

TEST(Orders, AnEdgeThatIsLostInEveryOrderIsFoundByAChain) {
  const Program program = program_of(
      "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 width=64\nempty g0.n1 after=n0\nempty g0.n2 after=n0\n"
      "kernel g0.n3 inplace_u32 data=b0 n=4 k=1 after=n0\ninstantiate e0 g0\nlaunch e0 s0");
  OtherBench bench([](hip::Api& api) { api.hipGraphInstantiate = instantiate_with_the_last_dependent_first; });
  EXPECT_EQ(broken_names(bench.judge.judge(program, {})), "P5 P3");
}

// ---- updates

struct Pair {
  std::string_view first, second;  // nodes of g0, from which e0 is, and of g1
  int result;
  std::string_view seen;
};

constexpr Pair kPairs[] = {
    {"empty g0.n0\nempty g0.n1 after=n0", "empty g1.n0\nempty g1.n1 after=n0", hipGraphExecUpdateSuccess, ""},
    {"empty g0.n0\nempty g0.n1", "empty g1.n0\nempty g1.n1 after=n0", hipGraphExecUpdateErrorTopologyChanged,
     "error node n1"},
    {"empty g0.n0\nempty g0.n1\nempty g0.n2 after=n0", "empty g1.n0\nempty g1.n1\nempty g1.n2 after=n1",
     hipGraphExecUpdateErrorTopologyChanged, "error node n2"},
    {"empty g0.n0", "empty g1.n0\nempty g1.n1", hipGraphExecUpdateErrorTopologyChanged, "no error node"},
    {"empty g0.n0\nempty g0.n1", "empty g1.n0\nhost g1.n1 tag=1", hipGraphExecUpdateErrorNodeTypeChanged,
     "error node n1"},
    {"empty g0.n0\nempty g0.n1", "host g1.n0 tag=1\nhost g1.n1 tag=1", hipGraphExecUpdateErrorNodeTypeChanged, ""},
    {"memcpy g0.n0 dst=b0 src=b1 bytes=8 kind=d2d", "memcpy g1.n0 dst=b0 src=b1 bytes=8 kind=default",
     hipGraphExecUpdateErrorParametersChanged, "error node n0"},
    {"memset g0.n0 dst=b0 value=1 width=4 height=2 pitch=8", "memset g1.n0 dst=b0 value=1 width=3 height=2 pitch=8",
     hipGraphExecUpdateErrorParametersChanged, "error node n0"},
    {"memset g0.n0 dst=b0 value=1 width=4", "memset g1.n0 dst=b0 value=1 width=4 height=2 pitch=8",
     hipGraphExecUpdateErrorParametersChanged, "error node n0"},
    {"kernel g0.n0 inplace_u32 data=b0 n=1 k=1", "kernel g1.n0 sgd_u32 param=b0 grad=b1 n=1 rate=2",
     hipGraphExecUpdateSuccess, ""},
    {"empty g0.n0\nclone g2 g0\nchild g0.n1 g2", "empty g1.n0\ngraph g3\nhost g3.n0 tag=1\nchild g1.n1 g3",
     hipGraphExecUpdateErrorNodeTypeChanged, ""},
    {"empty g0.n0\nempty g0.n1\nedge g0.n0 after=n1", "empty g1.n0\nempty g1.n1\nedge g1.n0 after=n1",
     hipGraphExecUpdateSuccess, ""},
};

TEST(Updates, EveryDocumentedResultIsGivenByTheModelAndUnderEveryStrategy) {
  for (const Pair& pair : kPairs) {
    const Program program =
        program_of("buffer b0 64\nbuffer b1 64\ngraph g0\ngraph g1\n" + std::string(pair.first) + "\n" +
                   std::string(pair.second) + "\ninstantiate e0 g0\nupdate e0 g1\nlaunch e0 s0");
    ASSERT_EQ(flaw(program), "") << pair.first << "\n" << pair.second;
    for (const StrategyKind strategy : kUsersStrategies) {
      Bench bench(strategy);
      const Observation observation = bench.subject.run(program, {}).observation;
      const StepStatus& status = observation.statuses.at(observation.statuses.size() - 2);
      EXPECT_EQ(status.update_result, pair.result) << pair.second;
      EXPECT_EQ(status.code, pair.result == hipGraphExecUpdateSuccess ? 0 : hipErrorGraphExecUpdateFailure);
      EXPECT_EQ(status.seen, pair.seen) << pair.second;
      EXPECT_EQ(bench.judge.judge(program, {}).verdict, VerdictKind::kAgree) << pair.second;
    }
  }
}

// ---- forms

TEST(Forms, TheDriversFormsDoTheSame) {
  const std::string forms[] = {"", " form=driver"};
  for (const std::string& add : forms) {
    for (const std::string& set : forms) {
      agrees_whatever_fails(program_of(
          "buffer b0 256\nbuffer b1 256 memory=pinned\nbuffer b2 256\ngraph g0\nmemset g0.n0 dst=b0 value=1 element=2 "
          "width=4 height=2 pitch=16" +
          add +
          "\nmemcpy3d g0.n1 dst=b2+16 src=b0 width=4 height=2 depth=2 dpitch=8 spitch=16 drows=3 dpos=1,1,0 kind=d2d" +
          add + " after=n0\nmemcpy3d g0.n2 dst=b1 src=b2 width=8 height=2 depth=1 dpitch=8 spitch=16 kind=d2h" + add +
          " after=n1\nmemcpy3d g0.n3 dst=b0+128 src=b1 width=8 height=1 depth=1 dpitch=8 spitch=8 kind=default" + add +
          " after=n2\ninstantiate e0 g0\nlaunch e0 s0\n" +
          "set e0.n0 memset dst=b0 value=7 element=2 width=4 height=2 pitch=16" + set +
          "\nset e0.n1 memcpy3d dst=b2 src=b0 width=4 height=2 depth=2 dpitch=8 spitch=16 kind=d2d" + set +
          "\nset g0.n2 memcpy3d dst=b1+64 src=b2 width=8 height=2 depth=1 dpitch=8 spitch=16 kind=d2h" + set +
          "\nmove b0 b2\npatch e0\npatch g0\nlaunch e0 s0\ninstantiate e1 g0\nlaunch e1 s0"));
    }
  }
}

TEST(Forms, TheDriverFreesWhatAGraphAllocates) {
  const Program program = program_of(
      "graph g0\nalloc g0.n0 b5 256\nmemset g0.n1 dst=b5 value=3 width=256 after=n0\nfree g0.n2 b5 form=driver "
      "after=n1\n"
      "instantiate e0 g0\nrepeat 3 launch e0 s0");
  ASSERT_EQ(flaw(program), "");
  EXPECT_TRUE(in_agreement(Bench(StrategyKind::kPatch).judge.judge(program, {})));
}

TEST(Forms, WhatHasNoDriversFormIsRefused) {
  const std::string start = "buffer b0 64\ngraph g0\n";
  EXPECT_THAT(flaw(program_of(start + "empty g0.n0 form=driver")), ::testing::HasSubstr("no such form"));
  EXPECT_THAT(flaw(program_of(start + "memcpy g0.n0 dst=b0 src=b0+8 bytes=4 kind=d2d form=driver")),
              ::testing::HasSubstr("no such form"));
  const std::string memset = "memset g0.n0 dst=b0 value=1 width=4\n",
                    set = "n0 memset dst=b0 value=2 width=4 form=driver";
  EXPECT_THAT(flaw(program_of(start + memset + "set g0." + set)), ::testing::HasSubstr("no such form"));
  EXPECT_EQ(flaw(program_of(start + memset + "instantiate e0 g0\nset e0." + set)), "");
}

TEST(Forms, GenericAndPlainFormsDoTheSame) {
  const std::string forms[] = {"", " form=generic"};
  for (const std::string& add : forms) {
    for (const std::string& set : forms) {
      agrees_whatever_fails(program_of(
          "buffer b0 256\nbuffer b1 256\nbuffer b2 64 memory=pinned\ngraph g1\nempty g1.n0" + add + "\ngraph g0\n" +
          "kernel g0.n0 inplace_u32 data=b0 n=4 k=1 shared=64" + add + "\n" +
          "memcpy3d g0.n1 dst=b1 src=b0 width=4 height=2 depth=1 dpitch=8 spitch=8 kind=d2d" + add + " after=n0\n" +
          "memset g0.n2 dst=b0 value=1 width=4" + add + " after=n1\nhost g0.n3 tag=3 mem=b2 bytes=4" + add + "\n" +
          "child g0.n4 g1" + add + "\ninstantiate e0 g0\ninspect g0\n" +
          "set e0.n0 kernel inplace_u32 data=b1 n=4 k=2" + set + "\nset e0.n2 memset dst=b0 value=2 width=4" + set +
          "\nset g0.n3 host tag=4" + set + "\nset e0.n4 child g1" + set + "\nset g0.n2 memset dst=b0 value=9 width=8" +
          set + "\nmove b0 b1\npatch e0\npatch g0\nlaunch e0 s0\ninstantiate e1 g0\nlaunch e1 s0"));
    }
  }
}

}  // namespace
}  // namespace verify
