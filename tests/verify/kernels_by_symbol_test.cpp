// Kernels that a program names by their host functions, on the model. Not verified here: the text (text_test.cpp),
// export (export/families_test.cpp), other runtimes (campaigns, fuzz/corpus/programs/by_symbol.program).
#include <gtest/gtest.h>

#include "judging.h"
#include "verify/commands/nodes/node_types.h"

namespace verify {
namespace {

constexpr std::string_view kMemoryThere =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=8 k=1 by_symbol\n"
    "kernel g0.n1 inplace_u32 data=b1 n=8 k=2 after=n0\n";

std::string with_memory(std::string_view rest) {
  return std::string(kMemoryThere) + std::string(rest);
}

const std::string kSymbolPrograms[] = {
    with_memory("instantiate e0 g0\nlaunch e0 s0\nread b0\nmove b0 b1\npatch e0\nlaunch e0 s0\npatch g0\ninspect g0"),
    // Setters and updates put one form in the place of the other.
    with_memory(
        "instantiate e0 g0\nset e0.n0 kernel inplace_u32 data=b0+32 n=8 k=3\nset e0.n1 kernel inplace_u32 data=b1 n=4 "
        "k=3 by_symbol\nlaunch e0 s0\nset g0.n0 kernel axpy_u64 out=b0+64 in=b1+64 n=4 a=2 by_symbol\ninspect g0\n"
        "update e0 g0\nlaunch e0 s0\nmove b0\npatch e0\nlaunch e0 s0"),
    with_memory(
        "stream s1\non s1 kernel inplace_u32 data=b1 n=8 k=5 by_symbol\nsync s1\ncapture s1\n"
        "on s1 kernel inplace_u32 data=b0 n=8 k=5 shared=64 by_symbol\non s1 kernel inplace_u32 data=b0 n=8 k=6\n"
        "on s1 kernel inplace_u32 data=b1 n=8 k=7 by_symbol by_hand\nendcapture s1 g1\ninspect g1\n"
        "instantiate e1 g1\nlaunch e1 s1\nmove b0\npatch e1\nlaunch e1 s1"),
    with_memory(
        "kernel g0.n2 inplace_u32 data=b0+64 n=8 k=4 style=extra by_symbol\n"
        "kernel g0.n3 inplace_u32 data=b0+128 n=8 k=4 opaque by_symbol\nkernel g0.n4 inplace_u32 data=b1+64 n=4 k=1 "
        "fan=4 by_symbol\nclone g1 g0\nchild g0.n5 g1 after=n0,n1,n2,n3,n4\ninstantiate e0 g0\nmove b0 b1\npatch e0\n"
        "launch e0 s0\nread b0"),
    "buffer b0 64\nbuffer b1 64 device=1\nmodule m0\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=8 k=1 by_symbol\n"
    "kernel g0.n1 inplace_u32 data=b1 n=8 k=1 device=1 by_symbol\nkernel g0.n2 inplace_u32 data=b0 n=8 k=1 module=m0 "
    "after=n0\ninstantiate e0 g0\nlaunch e0 s0\nsync device\nstream s1 device=1\non s1 kernel inplace_u32 data=b1 n=4 "
    "k=2 device=1 "
    "by_symbol\nsync device\nset e0.n1 kernel inplace_u32 data=b1 n=4 k=2 device=1 by_symbol\nlaunch e0 s0\nread b1",
};

class KernelBySymbol : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Kernels, KernelBySymbol, testing::ValuesIn(kSymbolPrograms),
                         [](const auto& at) { return "Number" + std::to_string(at.index); });
TEST_P(KernelBySymbol, IsValidAndAgreesUnderEveryStrategyAndFailure) {
  agrees_under_every_strategy_and_failure(GetParam());
}

constexpr const char* kOnStream = "\nstream s1\non s1 kernel inplace_u32 data=b1 n=8 k=5 by_symbol";

TEST(KernelsBySymbol, StreamsGetThemThroughHipLaunchKernelAlone) {
  OtherBench bench([](hip::Api& api) { api.hipModuleLaunchKernel = nullptr; });
  const Observation seen = bench.subject.run(program_of(with_memory("empty g0.n2") + kOnStream), {}).observation;
  for (const StepStatus& status : seen.statuses) EXPECT_EQ(status.code, 0);
  OtherBench wrong([](hip::Api& api) {
    api.hipLaunchKernel = [](const void*, dim3, dim3, void**, size_t, hipStream_t) { return hipSuccess; };
  });
  EXPECT_EQ(wrong.judge.judge(program_of(with_memory("empty g0.n2") + kOnStream), {}).verdict, VerdictKind::kDiverge);
}

TEST(KernelsBySymbol, ARuntimeWithoutHipLaunchKernelIsUnsupportedAndNotRefuted) {
  OtherBench bench([](hip::Api& api) { api.hipLaunchKernel = nullptr; });
  EXPECT_EQ(bench.judge.judge(program_of(with_memory("empty g0.n2") + kOnStream), {}).verdict,
            VerdictKind::kUnsupported);
}

TEST(KernelsBySymbol, AGetterSaysWhichFormANodeHas) {
  const std::string seen = last_status(with_memory("inspect g0")).seen;
  EXPECT_NE(seen.find("n0 runs inplace_u32 by symbol grid 1"), std::string::npos) << seen;
  EXPECT_NE(seen.find("n1 runs inplace_u32 grid 1"), std::string::npos) << seen;
  OtherBench bench([](hip::Api& api) {
    api.hipGraphKernelNodeGetParams = [](hipGraphNode_t node, hipKernelNodeParams* params) {
      static void* last = nullptr;  // a getter that answers the function of the node before
      const hipError_t status = model::abi::InProcess::api().hipGraphKernelNodeGetParams(node, params);
      if (last == nullptr) last = params->func;
      params->func = last;
      return status;
    };
  });
  EXPECT_EQ(bench.judge.judge(program_of(with_memory("inspect g0")), {}).verdict, VerdictKind::kDiverge);
}

TEST(KernelsBySymbol, HaveNoModuleAndNoPackedArgumentsOnAStream) {
  const auto refusal_of = [](std::string_view rest) {
    return flaw(program_of(with_memory("module m0\nstream s1\n") + std::string(rest)));
  };
  EXPECT_NE(refusal_of("kernel g0.n2 inplace_u32 data=b0 n=8 k=1 module=m0 by_symbol after=n0").find("names no module"),
            std::string::npos);
  EXPECT_NE(
      refusal_of("on s1 kernel inplace_u32 data=b0 n=8 k=1 style=extra by_symbol").find("takes no packed arguments"),
      std::string::npos);
  EXPECT_EQ(refusal_of("on s1 kernel inplace_u32 data=b0 n=8 k=1 style=extra"), "");
}

TEST(KernelsBySymbol, AreShrunkToHandlesFirst) {
  std::vector<std::string> simpler;
  simplify_node_params(std::get<AddNode>(program_of(with_memory("")).steps[3].command).params,
                       [&](const NodeParams& params) {
                         simpler.emplace_back();
                         print_node_params(simpler.back(), params);
                       });
  ASSERT_FALSE(simpler.empty());
  EXPECT_EQ(simpler.front(), " inplace_u32 data=b0+0 n=8 k=1");
}

}  // namespace
}  // namespace verify
