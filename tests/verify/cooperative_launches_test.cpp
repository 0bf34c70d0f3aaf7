// Cooperative launches, on the model. Not verified here: the text (text_test.cpp), features (features_test.cpp), export
// (export/families_test.cpp), other runtimes (campaigns, fuzz/corpus/programs/cooperative.program).
#include <gtest/gtest.h>

#include <algorithm>

#include "judging.h"
#include "verify/quirks/event.h"
#include "verify/shrink/shrinker.h"

namespace verify {
namespace {

constexpr std::string_view kStart = "buffer b0 256\nbuffer b1 256\nstream s1\nmodule m0\n";
constexpr std::string_view kCapture =
    "capture s1\non s1 kernel inplace_u32 data=b0 n=8 k=5 cooperative\non s1 kernel inplace_u32 data=b1 n=8 k=6\n"
    "on s1 kernel inplace_u32 data=b0+64 n=8 k=7 grid=2 by_symbol cooperative\nendcapture s1 g0\n";

std::string started(std::string_view rest) {
  return std::string(kStart) + std::string(rest);
}
std::string captured(std::string_view rest) {
  return started(kCapture) + std::string(rest);
}

const std::string kCooperativePrograms[] = {
    started("on s1 kernel inplace_u32 data=b0 n=8 k=5 cooperative\non s1 kernel inplace_u32 data=b0 n=8 k=6 module=m0 "
            "cooperative\non s1 kernel axpy_u64 out=b0 in=b1 n=8 a=3 grid=8 by_symbol cooperative\nsync s1\nread b0"),
    captured("inspect g0\ninstantiate e0 g0\nlaunch e0 s1\nmove b0\npatch e0\nlaunch e0 s1\npatch g0\ninspect g0\n"
             "update e0 g0\nlaunch e0 s1\nread b0"),
    // Setters keep the attribute, a clone and a child have it, the program takes it from a node and copies it.
    captured("set g0.n0 kernel inplace_u32 data=b0 n=4 k=1\nclone g1 g0\ninspect g1\ncopy_attributes g0.n1 g0.n0\n"
             "attribute g0.n2 cooperative=0 priority=1\ninspect g0\ngraph g2\nchild g2.n0 g0\ninstantiate e0 g2\n"
             "set e0.n0 child g1\nlaunch e0 s1\nread b0"),
};

class CooperativeLaunch : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Launches, CooperativeLaunch, testing::ValuesIn(kCooperativePrograms),
                         [](const auto& at) { return "Number" + std::to_string(at.index); });
TEST_P(CooperativeLaunch, IsValidAndAgreesUnderEveryStrategyAndFailure) {
  agrees_under_every_strategy_and_failure(GetParam());
}

TEST(CooperativeLaunches, ANodeThatIsCapturedFromOneHasTheAttribute) {
  const std::string seen = last_status(captured("inspect g0")).seen;
  EXPECT_NE(seen.find("n0 runs inplace_u32 grid 1 block 64 shared 0, cooperative 1"), std::string::npos) << seen;
  EXPECT_NE(seen.find("n1 runs inplace_u32 grid 1 block 64 shared 0;"), std::string::npos) << seen;
  EXPECT_NE(seen.find("n2 runs inplace_u32 by symbol grid 2 block 64 shared 0, cooperative 1"), std::string::npos)
      << seen;
  OtherBench bench([](hip::Api& api) {
    api.hipGraphKernelNodeGetAttribute = [](hipGraphNode_t, hipLaunchAttributeID, hipLaunchAttributeValue* value) {
      *value = {};
      return hipSuccess;
    };
  });
  EXPECT_EQ(bench.judge.judge(program_of(captured("inspect g0")), {}).verdict, VerdictKind::kDiverge);
}

constexpr std::string_view kModules = "on s1 kernel inplace_u32 data=b0 n=8 k=5 cooperative\nsync s1";
constexpr std::string_view kBySymbol = "on s1 kernel inplace_u32 data=b0 n=8 k=5 by_symbol cooperative\nsync s1";

TEST(CooperativeLaunches, GoThroughFunctionsOfTheirOwn) {
  OtherBench bench([](hip::Api& api) {
    api.hipModuleLaunchKernel = nullptr;
    api.hipLaunchKernel = [](const void*, dim3, dim3, void**, size_t, hipStream_t) { return hipErrorUnknown; };
  });
  OtherBench idle([](hip::Api& api) {
    api.hipLaunchCooperativeKernel = [](const void*, dim3, dim3, void**, unsigned, hipStream_t) { return hipSuccess; };
    api.hipModuleLaunchCooperativeKernel = [](hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                              unsigned, hipStream_t, void**) { return hipSuccess; };
  });
  OtherBench without([](hip::Api& api) {
    api.hipLaunchCooperativeKernel = nullptr;
    api.hipModuleLaunchCooperativeKernel = nullptr;
  });
  for (const std::string_view launch : {kModules, kBySymbol}) {
    EXPECT_TRUE(in_agreement(bench.judge.judge(program_of(started(launch)), {}))) << launch;
    EXPECT_EQ(idle.judge.judge(program_of(started(launch)), {}).verdict, VerdictKind::kDiverge) << launch;
    EXPECT_EQ(without.judge.judge(program_of(started(launch)), {}).verdict, VerdictKind::kUnsupported) << launch;
  }
}

TEST(CooperativeLaunches, ACapturedOneNeedsTheFunctionThatSetsAttributes) {
  OtherBench bench([](hip::Api& api) { api.hipGraphKernelNodeSetAttribute = nullptr; });
  EXPECT_EQ(bench.judge.judge(program_of(captured("")), {}).verdict, VerdictKind::kUnsupported);
  EXPECT_TRUE(in_agreement(bench.judge.judge(program_of(started(kModules)), {})));
}

TEST(CooperativeLaunches, AreOfKernelsWithParametersThatFitOnEveryDevice) {
  const auto refusal_of = [](std::string_view rest) { return flaw(program_of(started(rest))); };
  const std::string kernel = "on s1 kernel inplace_u32 data=b0 n=8 k=1";
  EXPECT_EQ(refusal_of(kernel + " grid=8 cooperative"), "");
  EXPECT_NE(refusal_of(kernel + " grid=9 cooperative").find("at most 8 workgroups"), std::string::npos);
  EXPECT_NE(refusal_of(kernel + " style=extra cooperative").find("takes no packed arguments"), std::string::npos);
  EXPECT_NE(refusal_of(kernel + " opaque cooperative").find("is not opaque"), std::string::npos);
  EXPECT_NE(refusal_of("on s1 memset dst=b0 value=1 width=4 cooperative").find("only kernels"), std::string::npos);
  EXPECT_NE(refusal_of("capture s1\n" + kernel + " by_hand cooperative").find("set its attribute"), std::string::npos);
}

TEST(CooperativeLaunches, AreShrunkToPlainOnes) {
  const Program program = program_of(started(kModules));
  const std::vector<Step> simpler = simpler_steps(program.steps[4]);
  EXPECT_TRUE(std::ranges::any_of(simpler, [](const Step& step) {
    const auto* work = std::get_if<Enqueue>(&step.command);
    return work != nullptr && !work->cooperative;
  }));
}

TEST(CooperativeLaunches, TheirEventsAndThoseOfTheirNodesSayIt) {
  const Program program = program_of(captured("inspect g0"));
  std::size_t launches = 0, nodes = 0;
  State state;
  for (const Step& step : program.steps) {
    any_event(state, step.command, StrategyKind::kPatch, 0, [&](const Event& event) {
      const bool cooperative = event[Attribute::k_cooperative] == 1;
      if (std::holds_alternative<Enqueue>(step.command)) launches += cooperative ? 1 : 0;
      if (std::holds_alternative<Inspect>(step.command)) nodes += cooperative ? 1 : 0;
      return false;
    });
    state.apply(step.command);
  }
  EXPECT_EQ(launches, 2u);
  EXPECT_EQ(nodes, 2u);
}

}  // namespace
}  // namespace verify
