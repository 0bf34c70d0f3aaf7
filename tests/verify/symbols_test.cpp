// Variables of device code and copies to and from symbols; attributes of kernel nodes. On the model. Not verified here:
// the text (text_test.cpp); such programs on AMD's runtimes (campaigns, verify/findings).
#include <gtest/gtest.h>

#include "judging.h"

namespace verify {
namespace {

constexpr std::string_view kThere =
    "buffer b0 256\nbuffer b1 128 symbol=2\nbuffer b2 64 memory=pinned\nbuffer b3 64 symbol=0\ngraph g0\n"
    "memcpy g0.n0 dst=b1+8 src=b0+16 bytes=32 kind=d2d symbol=dst\n"
    "memcpy g0.n1 dst=b2 src=b1+8 bytes=24 kind=d2h symbol=src after=n0\n";

std::string there(std::string_view rest) {
  return std::string(kThere) + std::string(rest);
}

const std::string kPrograms[] = {
    there("instantiate e0 g0\nlaunch e0 s0\nread b1\nmove b0\npatch e0\nlaunch e0 s0\nread b2"),
    there(
        "instantiate e0 g0\nmove b0 b2\npatch e0\nlaunch e0 s0\npatch g0\ninspect g0\ninstantiate e1 g0\nlaunch e1 s0"),
    there("instantiate e0 g0\nset e0.n0 memcpy dst=b1+64 src=b0 bytes=16 kind=d2d symbol=dst\nlaunch e0 s0\nread b1"),
    there("set g0.n1 memcpy dst=b2+32 src=b1 bytes=16 kind=d2h symbol=src\ninstantiate e0 g0\nlaunch e0 s0\nread b2"),
    // Setters that give a node another symbol.
    there("instantiate e0 g0\nset e0.n0 memcpy dst=b3+32 src=b0 bytes=16 kind=d2d symbol=dst\nlaunch e0 s0\nread b3\n"
          "set g0.n1 memcpy dst=b2 src=b3 bytes=8 kind=d2h symbol=src\nupdate e0 g0\nlaunch e0 s0\nread b2\nmove b0\n"
          "patch e0\nlaunch e0 s0"),
    // Between two variables, and one that a kernel is handed by its address.
    there("memcpy g0.n2 dst=b3 src=b1 bytes=64 kind=d2d symbol=dst after=n1\n"
          "kernel g0.n3 inplace_u32 data=b3 n=8 k=3 after=n2\n"
          "memcpy g0.n4 dst=b0 src=b3 bytes=64 kind=default symbol=src after=n3\ninstantiate e0 g0\nlaunch e0 s0\n"
          "read b0\nmove b0\npatch e0\nlaunch e0 s0"),
    there("clone g1 g0\ngraph g2\nchild g2.n0 g1\ninstantiate e0 g2\nmove b0 b2\npatch e0\nlaunch e0 s0"),
    there("instantiate e0 g0\nset g0.n0 memcpy dst=b1 src=b0+64 bytes=32 kind=d2d symbol=dst\nupdate e0 g0\n"
          "launch e0 s0\ndisable e0.n0\nlaunch e0 s0\nread b1"),
    "buffer b0 256\nbuffer b1 128 symbol=1\nstream s1\ncapture s1\n"
    "on s1 memcpy dst=b1+16 src=b0 bytes=64 kind=d2d symbol=dst\non s1 memcpy dst=b0+64 src=b1 bytes=64 kind=d2d "
    "symbol=src\nendcapture s1 g0\ninstantiate e0 g0\nlaunch e0 s0\nmove b0\npatch e0\nlaunch e0 s0\n"
    "on s0 memcpy dst=b1 src=b0 bytes=8 kind=d2d symbol=dst\nread b1",
    "buffer b0 256\nbuffer b1 256 symbol=3\ngraph g0\nmemcpy g0.n0 dst=b1 src=b0+32 bytes=8 kind=d2d symbol=dst "
    "fan=4\ninstantiate e0 g0\nlaunch e0 s0\nread b1\nmove b0\npatch e0\nlaunch e0 s0",
};

const std::string kAttributed[] = {
    "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\nattribute g0.n0 priority=-1\ninspect g0\n"
    "move b0\npatch g0\ninspect g0\ninstantiate e0 g0 form=flags flags=priority\nlaunch e0 s0",
    "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\nkernel g0.n1 inplace_u32 data=b0 n=4 k=2 "
    "after=n0\nattribute g0.n0 priority=1 cooperative=1\ncopy_attributes g0.n1 g0.n0\nclone g1 g0\ninspect g1\n"
    "set g1.n0 kernel inplace_u32 data=b0 n=2 k=2\ninspect g1\ninstantiate e0 g1\nlaunch e0 s0\nupdate e0 g0\n"
    "launch e0 s0",
    "buffer b0 256\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1 fan=4\nattribute g0.n0 cooperative=1\n"
    "graph g1\nkernel g1.n0 inplace_u32 data=b0 n=4 k=1\ncopy_attributes g1.n0 g0.n0\ninspect g1\n"
    "attribute g1.n0 cooperative=0 window=20\ngraph g2\nchild g2.n0 g1\ninstantiate e0 g2\nmove b0\npatch e0\nlaunch "
    "e0 s0",
};

class SymbolProgram : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Symbols, SymbolProgram, testing::ValuesIn(kPrograms),
                         [](const auto& at) { return "Number" + std::to_string(at.index); });
TEST_P(SymbolProgram, IsValidAndAgreesUnderEveryStrategyAndFailure) {
  agrees_under_every_strategy_and_failure(GetParam());
}

class AttributeProgram : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Attributes, AttributeProgram, testing::ValuesIn(kAttributed),
                         [](const auto& at) { return "Number" + std::to_string(at.index); });
TEST_P(AttributeProgram, IsValidAndAgreesUnderEveryStrategyAndFailure) {
  agrees_under_every_strategy_and_failure(GetParam());
}

// The table lacks the functions of ordinary copies, so a call of one would show.
TEST(Symbols, NodesAreMadeAndPatchedThroughTheFunctionsOfSymbolsAlone) {
  OtherBench bench([](hip::Api& api) {
    api.hipGraphAddMemcpyNode1D = nullptr;
    api.hipGraphExecMemcpyNodeSetParams1D = nullptr;
    api.hipGraphMemcpyNodeSetParams1D = nullptr;
  });
  const Program program =
      program_of(there("instantiate e0 g0\nmove b0 b2\npatch e0\npatch g0\nlaunch e0 s0\n"
                       "set e0.n0 memcpy dst=b1 src=b0 bytes=16 kind=d2d symbol=dst\nlaunch e0 s0"));
  ASSERT_EQ(flaw(program), "");
  const Observation observation = bench.subject.run(program, {}).observation;
  for (const StepStatus& status : observation.statuses) EXPECT_EQ(status.code, 0);
  EXPECT_EQ(observation.fallbacks, 0u);
  EXPECT_EQ(observation.patched_in_place.size(), 2u);
  EXPECT_TRUE(observation.violations.empty());
}

TEST(Symbols, ASetterThatForgetsTheOffsetIsFoundOut) {
  const Program program = program_of(
      there("instantiate e0 g0\nset e0.n0 memcpy dst=b1+64 src=b0 bytes=16 kind=d2d symbol=dst\nlaunch e0 s0"));
  const auto judged = [&](void (*change)(hip::Api&)) { return OtherBench(change).judge.judge(program, {}).verdict; };
  EXPECT_EQ(judged([](hip::Api&) {}), VerdictKind::kAgree);
  EXPECT_EQ(judged([](hip::Api& api) {
              api.hipGraphExecMemcpyNodeSetParamsToSymbol = [](hipGraphExec_t exec, hipGraphNode_t node,
                                                               const void* symbol, const void* src, size_t bytes,
                                                               size_t, hipMemcpyKind kind) {
                return model::abi::InProcess::api().hipGraphExecMemcpyNodeSetParamsToSymbol(exec, node, symbol, src,
                                                                                            bytes, 0, kind);
              };
            }),
            VerdictKind::kDiverge);
}

TEST(Symbols, AGetterSaysWhereASymbolIs) {
  const std::string seen =
      last_status(there("set g0.n1 memcpy dst=b2 src=b3+8 bytes=8 kind=d2h symbol=src\ninspect g0")).seen;
  EXPECT_NE(seen.find("n0 copies 32x1x1 kind 3 to the symbol from right"), std::string::npos) << seen;
  EXPECT_NE(seen.find("n1 copies 8x1x1 kind 2 to right from the symbol"), std::string::npos) << seen;
  const Program program = program_of(there("inspect g0"));
  OtherBench bench([](hip::Api& api) {
    api.hipGraphMemcpyNodeGetParams = [](hipGraphNode_t node, hipMemcpy3DParms* params) {
      const hipError_t status = model::abi::InProcess::api().hipGraphMemcpyNodeGetParams(node, params);
      params->dstPtr.ptr = nullptr;
      return status;
    };
  });
  EXPECT_EQ(bench.judge.judge(program, {}).verdict, VerdictKind::kDiverge);
}

TEST(Symbols, ARuntimeWithoutTheFunctionsOfSymbolsIsUnsupported) {
  const Program declared = program_of("buffer b0 64 symbol=0");
  const Program copied = program_of(
      "buffer b0 64 symbol=0\nbuffer b1 64\ngraph g0\nmemcpy g0.n0 dst=b1 src=b0 bytes=8 kind=d2d symbol=src");
  const auto judged = [](const Program& program, void (*change)(hip::Api&)) {
    return OtherBench(change).judge.judge(program, {}).verdict;
  };
  EXPECT_EQ(judged(declared, [](hip::Api& api) { api.hipGetSymbolAddress = nullptr; }), VerdictKind::kUnsupported);
  EXPECT_EQ(judged(copied, [](hip::Api& api) { api.hipGraphAddMemcpyNodeFromSymbol = nullptr; }),
            VerdictKind::kUnsupported);
  EXPECT_EQ(judged(copied, [](hip::Api&) {}), VerdictKind::kAgree);
}

TEST(Symbols, AVariableIsOneBufferOfTheDeviceAndStaysWhereItIs) {
  for (const char* commands : {
           "buffer b0 64 symbol=0\nbuffer b1 64 symbol=0",                                        // twice
           "buffer b0 1025 symbol=0",                                                             // larger than it is
           "buffer b0 64 memory=pinned symbol=0",                                                 // the host's
           "buffer b0 64 symbol=0\nmove b0",                                                      //
           "buffer b0 64 symbol=0\nbuffer b1 64\nmove b0=@b1 b1",                                 //
           "buffer b0 64 symbol=0\nfree b0",                                                      //
           "buffer b0 64\nbuffer b1 64\ngraph g0\nmemcpy g0.n0 dst=b0 src=b1 bytes=8 symbol=dst"  // no variable
       }) {
    EXPECT_NE(flaw(program_of(commands)), "") << commands;
  }
}

TEST(Symbols, ACopyOfASymbolStaysOneAndKeepsItsDirection) {
  const std::string with = there("instantiate e0 g0\n");
  for (const char* commands : {
           "set e0.n0 memcpy dst=b1 src=b0 bytes=8 kind=d2d",
           "set g0.n0 memcpy dst=b1 src=b0 bytes=8 kind=d2d",
           "set e0.n0 memcpy dst=b3 src=b1 bytes=8 kind=d2d symbol=src",
           "set e0.n0 memcpy dst=b1 src=b0 bytes=8 symbol=dst",  // of another kind
           "set g0.n0 memcpy dst=b0 src=b1 bytes=8 kind=d2d symbol=src",
           "memcpy g0.n9 dst=b1 src=b0 bytes=8 kind=d2h symbol=dst",
           "memcpy3d g0.n9 dst=b1 src=b0 width=8 height=1 depth=1 dpitch=8 spitch=8 kind=d2d symbol=dst",
       }) {
    EXPECT_NE(flaw(program_of(with + commands)), "") << commands;
  }
}

TEST(Attributes, ANodeHasWhatItWasGivenOrWhatItWasCopied) {
  const std::string two =
      "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\n"
      "kernel g0.n1 inplace_u32 data=b0 n=4 k=1 after=n0\n";
  EXPECT_EQ(last_status(two + "attribute g0.n0 priority=-1").seen, "priority -1");
  EXPECT_EQ(last_status(two + "attribute g0.n0 cooperative=1").seen, "cooperative 1");
  EXPECT_EQ(last_status(two + "attribute g0.n0 cooperative=1 priority=1\ncopy_attributes g0.n1 g0.n0").seen,
            "cooperative 1 priority 1");
  EXPECT_EQ(last_status(two + "attribute g0.n0 priority=1\nattribute g0.n0 cooperative=1\n"
                              "copy_attributes g0.n1 g0.n0\nclone g1 g0\ncopy_attributes g1.n0 g1.n1")
                .seen,
            "cooperative 1 priority 1");
  EXPECT_EQ(last_status(two + "copy_attributes g0.n0 g0.n1").seen, "");
  EXPECT_EQ(last_status(two + "attribute g0.n0 window=50").seen, "window 50");
  EXPECT_EQ(last_status(two + "attribute g0.n0 window=7 cooperative=1\nattribute g0.n0 window=29\n"
                              "copy_attributes g0.n1 g0.n0\nclone g1 g0\ncopy_attributes g1.n0 g1.n1")
                .seen,
            "cooperative 1 window 29");
}

TEST(Attributes, ARuntimeThatKeepsOnlyTheRatioOfAWindowIsFound) {
  OtherBench bench([](hip::Api& api) {
    api.hipGraphKernelNodeGetAttribute = [](hipGraphNode_t node, hipLaunchAttributeID which,
                                            hipLaunchAttributeValue* value) {
      const hipError_t status = model::abi::InProcess::api().hipGraphKernelNodeGetAttribute(node, which, value);
      if (which == hipLaunchAttributeAccessPolicyWindow) value->accessPolicyWindow.hitProp = hipAccessPropertyNormal;
      return status;
    };
  });
  const std::string commands = "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\n";
  EXPECT_TRUE(in_agreement(bench.judge.judge(program_of(commands + "attribute g0.n0 cooperative=1\n"), {})));
  const Judgement judgement = bench.judge.judge(program_of(commands + "attribute g0.n0 window=50\n"), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
}

TEST(Attributes, OnlyKernelsHaveThem) {
  const std::string one =
      "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\nempty g0.n1\n"
      "kernel g0.n2 inplace_u32 data=b0 n=4 k=1 opaque after=n0\n";
  EXPECT_EQ(flaw(program_of(one + "attribute g0.n0 priority=1")), "");
  for (const char* command :
       {"attribute g0.n1 priority=1", "attribute g0.n2 priority=1", "attribute g0.n0 priority=2",
        "attribute g0.n7 priority=1", "copy_attributes g0.n0 g0.n1", "copy_attributes g0.n0 g0.n0"}) {
    EXPECT_NE(flaw(program_of(one + command)), "") << command;
  }
}

// Attributes that a rebuilt graph is given again show when a node is inspected.
TEST(Attributes, AttributesThatAreLostAreSeen) {
  const Program program = program_of(
      "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\nattribute g0.n0 priority=1\ninspect g0");
  OtherBench bench([](hip::Api& api) {
    api.hipGraphKernelNodeSetAttribute = [](hipGraphNode_t, hipLaunchAttributeID, const hipLaunchAttributeValue*) {
      return hipSuccess;
    };
  });
  EXPECT_EQ(bench.judge.judge(program, {}).verdict, VerdictKind::kDiverge);
}

}  // namespace
}  // namespace verify
