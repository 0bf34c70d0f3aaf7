// Nodes of external semaphores in programs: their text, the rules, and runs on the model under every strategy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judging.h"
#include "programs.h"
#include "verify/commands/nodes/node_types.h"

namespace verify {
namespace {

using ::testing::HasSubstr;

std::string semaphores_and(const std::string& rest) {
  return "buffer b0 64\ngraph g0\nsemsignal g0.n0 sem=0:150,1:100\nkernel g0.n1 inplace_u32 data=b0 n=8 k=3 after=n0\n"
         "semwait g0.n2 sem=0:100 after=n1\n" +
         rest;
}

TEST(Semaphores, AreReadAndPrinted) {
  for (const char* line : {"semsignal g0.n0 sem=0:100", "semwait g0.n0 sem=7:0,0:100"}) {
    const Program program = program_of(line);
    EXPECT_THAT(print_program(program), HasSubstr(std::string("\n") + line + "\n"));
    EXPECT_TRUE(parsed(print_program(program)) == program) << line;
  }
  EXPECT_THAT(parse_error_of("semsignal g0.n0"), HasSubstr("sem"));
  EXPECT_THAT(parse_error_of("semsignal g0.n0 sem=3"), HasSubstr("a semaphore has a value: sem=0:150"));
  EXPECT_THAT(parse_error_of("semsignal g0.n0 sem=8:100"), HasSubstr("a semaphore"));
  EXPECT_THAT(parse_error_of("semsignal g0.n0 sem=1:100,"), HasSubstr("a semaphore has a value"));
}

TEST(Semaphores, NoWaitCanHang) {
  const auto flaw_of = [](const std::string& rest) { return flaw(program_of(semaphores_and(rest))); };
  EXPECT_EQ(flaw_of(""), "");
  EXPECT_THAT(flaw_of("semsignal g0.n3 sem=0:99\n"), HasSubstr("a signal of a lower one could let a wait hang"));
  EXPECT_THAT(flaw_of("semwait g0.n3 sem=0:101\n"), HasSubstr("a wait for a higher one could hang"));
  EXPECT_THAT(flaw_of("semwait g0.n3 sem=0:1,0:2\n"), HasSubstr("semaphore 0 is named twice"));
  EXPECT_THAT(flaw_of("semwait g0.n3 sem=0:1 fan=2\n"), HasSubstr("cannot be fanned out"));
  EXPECT_NE(flaw_of("on s0 semwait sem=0:1\n"), "");
}

TEST(Semaphores, KeepTheirNumberWhenTheyAreSet) {
  const auto flaw_of = [](const std::string& rest) {
    return flaw(program_of(semaphores_and("instantiate e0 g0\n" + rest)));
  };
  EXPECT_EQ(flaw_of("set e0.n0 semsignal sem=4:200,2:100\n"), "");
  EXPECT_THAT(flaw_of("set e0.n0 semsignal sem=4:200\n"), HasSubstr("an exec setter keeps"));
  EXPECT_NE(flaw_of("set e0.n0 semwait sem=4:1,2:1\n"), "");
  EXPECT_EQ(flaw_of("set g0.n0 semsignal sem=4:200\n"), "");
  EXPECT_THAT(flaw_of("disable e0.n0\n"), HasSubstr("only kernel, copy and memset nodes"));
}

const std::string kSemaphorePrograms[] = {
    semaphores_and("inspect g0\ninstantiate e0 g0\nlaunch e0 s0\nmove b0\npatch e0\nlaunch e0 s0\nread b0"),
    semaphores_and("instantiate e0 g0\nset e0.n0 semsignal sem=3:120,4:130\nset e0.n2 semwait sem=3:7\nlaunch e0 s0\n"
                   "read b0"),
    semaphores_and("instantiate e0 g0\nset g0.n0 semsignal sem=3:120,4:130\nupdate e0 g0\nlaunch e0 s0\ninspect g0"),
    semaphores_and("clone g1 g0\ngraph g2\nchild g2.n0 g1\ninstantiate e0 g2\nmove b0\npatch e0\nlaunch e0 s0\n"
                   "inspect g1"),
    semaphores_and("stream s1\ncapture s1\nsemsignal g0.n3 sem=6:100\non s1 memset dst=b0+0 value=1 width=4\n"
                   "endcapture s1 g1\ninstantiate e0 g1\nlaunch e0 s1\nread b0"),
    semaphores_and("semsignal g0.n3 sem=5:101 after=n2 form=generic\nset g0.n3 semsignal sem=6:102 form=generic\n"
                   "inspect g0\ninstantiate e0 g0\nset e0.n3 semsignal sem=7:103 form=generic\nlaunch e0 s0"),
    semaphores_and("semwait g0.n3 sem=5:1 after=n2 form=generic\nset g0.n3 semwait sem=6:2 form=generic\ninspect g0\n"
                   "instantiate e0 g0\nset e0.n3 semwait sem=7:3 form=generic\nlaunch e0 s0"),
};

class SemaphoreProgram : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Semaphores, SemaphoreProgram, testing::ValuesIn(kSemaphorePrograms),
                         [](const auto& at) { return "Number" + std::to_string(at.index); });

TEST_P(SemaphoreProgram, IsValidAndAgreesUnderEveryStrategyAndFailure) {
  agrees_under_every_strategy_and_failure(GetParam());
}

// Each runtime is wrong in one thing.
TEST(Semaphores, AWrongRuntimeIsFoundOut) {
  const auto judged = [](const std::string& rest, void (*change)(hip::Api&)) {
    return OtherBench(change).judge.judge(program_of(semaphores_and(rest)), {}).verdict;
  };
  EXPECT_EQ(judged("inspect g0", [](hip::Api&) {}), VerdictKind::kAgree);
  EXPECT_EQ(judged("set g0.n2 semwait sem=1:1\ninspect g0",
                   [](hip::Api& api) {
                     api.hipGraphExternalSemaphoresWaitNodeSetParams =
                         [](hipGraphNode_t, const hipExternalSemaphoreWaitNodeParams*) { return hipSuccess; };
                   }),
            VerdictKind::kDiverge);
  EXPECT_EQ(judged("inspect g0",
                   [](hip::Api& api) {
                     api.hipGraphAddExternalSemaphoresSignalNode =
                         [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, std::size_t count,
                            const hipExternalSemaphoreSignalNodeParams* params) {
                           hipExternalSemaphoreSignalNodeParams fewer = *params;
                           fewer.numExtSems = 1;
                           const auto& model = model::abi::InProcess::api();
                           return model.hipGraphAddExternalSemaphoresSignalNode(node, graph, after, count, &fewer);
                         };
                   }),
            VerdictKind::kDiverge);
}

// P1: the arrays are the caller's again when the call returns.
hipExternalSemaphoreSignalNodeParams kept_semaphores{};
TEST(Semaphores, ARuntimeThatKeepsTheCallersArraysIsFoundOut) {
  OtherBench bench([](hip::Api& api) {
    api.hipGraphAddExternalSemaphoresSignalNode = [](hipGraphNode_t* node, hipGraph_t graph,
                                                     const hipGraphNode_t* after, std::size_t count,
                                                     const hipExternalSemaphoreSignalNodeParams* params) {
      kept_semaphores = *params;
      const auto& model = model::abi::InProcess::api();
      return model.hipGraphAddExternalSemaphoresSignalNode(node, graph, after, count, params);
    };
    api.hipGraphExternalSemaphoresSignalNodeGetParams = [](hipGraphNode_t,
                                                           hipExternalSemaphoreSignalNodeParams* params) {
      *params = kept_semaphores;
      return hipSuccess;
    };
  });
  EXPECT_EQ(bench.judge.judge(program_of(semaphores_and("inspect g0")), {}).verdict, VerdictKind::kDiverge);
}

TEST(Semaphores, AreDestroyedWithTheProgram) {
  OtherBench bench(
      [](hip::Api& api) { api.hipDestroyExternalSemaphore = [](hipExternalSemaphore_t) { return hipSuccess; }; });
  EXPECT_EQ(bench.judge.judge(program_of(semaphores_and("")), {}).verdict, VerdictKind::kDiverge);
}

TEST(Semaphores, ARuntimeThatImportsNoneIsUnsupported) {
  const auto judged = [](void (*change)(hip::Api&)) {
    return OtherBench(change).judge.judge(program_of(semaphores_and("")), {}).verdict;
  };
  EXPECT_EQ(judged([](hip::Api& api) { api.hipImportExternalSemaphore = nullptr; }), VerdictKind::kUnsupported);
  EXPECT_EQ(judged([](hip::Api& api) {
              api.hipImportExternalSemaphore = [](hipExternalSemaphore_t*, const hipExternalSemaphoreHandleDesc*) {
                return hipErrorNotSupported;
              };
            }),
            VerdictKind::kUnsupported);
  EXPECT_EQ(judged([](hip::Api& api) { api.hipGraphAddExternalSemaphoresWaitNode = nullptr; }),
            VerdictKind::kUnsupported);
}

TEST(Semaphores, BecomeSimplerOneByOne) {
  std::vector<std::string> simpler;
  const Program program = program_of("graph g0\nsemsignal g0.n0 sem=0:150,1:100");
  simplify_node_params(std::get<AddNode>(program.steps.back().command).params, [&](const NodeParams& params) {
    std::string text;
    print_node_params(text, params);
    simpler.push_back(text);
  });
  EXPECT_THAT(simpler, ::testing::Contains(" sem=1:100"));
  EXPECT_THAT(simpler, ::testing::Contains(" sem=0:150"));
  EXPECT_THAT(simpler, ::testing::Contains(" sem=0:100,1:100"));
}

}  // namespace
}  // namespace verify
