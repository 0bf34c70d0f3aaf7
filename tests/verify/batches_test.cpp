// Batches of memory operations in programs: their text, the rules, and runs on the model under every strategy. AMD's
// runtimes: campaigns and verify/findings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judging.h"
#include "programs.h"
#include "verify/commands/nodes/node_types.h"

namespace verify {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kBatches =
    "buffer b0 64\nbuffer b1 64\nbuffer b2 64 memory=pinned\ngraph g0\n"
    "batch g0.n0 do=write32:b0+0:7,write64:b0+8:4294967297,wait32:b0+0:geq:5\n";

std::string batches_and(std::string_view rest) {
  return std::string(kBatches) + std::string(rest);
}

TEST(Batches, AreReadAndPrinted) {
  for (const char* line :
       {"batch g0.n0 do=write32:b0+0:7", "batch g0.n0 do=write64:b0+8:18446744073709551615,wait64:b0+8:and:1",
        "batch g0.n0 do=write32:b0+4:0,wait32:b0+4:nor:4294967295,wait32:b0+4:eq:0"}) {
    const Program program = program_of(line);
    EXPECT_THAT(print_program(program), HasSubstr(std::string("\n") + line + "\n"));
    EXPECT_TRUE(parsed(print_program(program)) == program) << line;
  }
  EXPECT_THAT(parse_error_of("batch g0.n0"), HasSubstr("do"));
  EXPECT_THAT(parse_error_of("batch g0.n0 do=write16:b0+0:7"), HasSubstr("an operation is write32:b0+0:7"));
  EXPECT_THAT(parse_error_of("batch g0.n0 do=write32:b0+0:4294967296"), HasSubstr("4294967295"));
  EXPECT_THAT(parse_error_of("batch g0.n0 do=wait32:b0+0:lt:1"), HasSubstr("a wait compares by geq, eq, and or nor"));
}

TEST(Batches, EndForCertain) {
  EXPECT_EQ(flaw(program_of(batches_and(""))), "");
  const auto flaw_of_batch = [](const std::string& operations) {
    return flaw(program_of(batches_and("batch g0.n1 do=" + operations + " after=n0\n")));
  };
  const auto own = HasSubstr("a batch waits for a value that it has written itself");
  EXPECT_EQ(flaw_of_batch("write32:b0+0:7,wait32:b0+0:eq:7"), "");
  EXPECT_THAT(flaw_of_batch("wait32:b0+0:geq:0"), own);
  EXPECT_EQ(flaw_of_batch("write32:b0+0:2147483647,wait32:b0+0:geq:0"), "");
  EXPECT_THAT(flaw_of_batch("write32:b0+0:4294967295,wait32:b0+0:geq:0"), own);
  EXPECT_THAT(flaw_of_batch("write32:b0+0:7,wait32:b0+0:eq:8"), own);
  EXPECT_THAT(flaw_of_batch("wait32:b0+0:eq:7,write32:b0+0:7"), own);
  EXPECT_THAT(flaw_of_batch("write32:b0+0:6,wait32:b0+0:and:1"), own);
  EXPECT_THAT(flaw_of_batch("write32:b0+0:4294967295,wait32:b0+0:nor:0"), own);
  EXPECT_THAT(flaw_of_batch("write32:b0+0:7,wait64:b0+0:geq:1"), own);
  EXPECT_THAT(flaw_of_batch("write32:b0+2:7"), HasSubstr("b0+2 is not aligned to 4 bytes"));
  EXPECT_THAT(flaw_of_batch("write64:b0+60:7"), HasSubstr("aligned"));
  EXPECT_THAT(flaw_of_batch("write64:b0+64:7"), HasSubstr("b0"));
  EXPECT_THAT(flaw_of_batch("write64:b0+0:7,write32:b0+4:1"), HasSubstr("also touches"));
  EXPECT_THAT(flaw_of_batch("write32:b2+0:7"), HasSubstr("b2 is not memory of device 0"));
}

// Setters and updates keep the number and the kinds of operations.
TEST(Batches, KeepTheirKindsWhenTheyAreSet) {
  const auto flaw_of_set = [](const std::string& rest) {
    return flaw(program_of(batches_and("instantiate e0 g0\n" + rest)));
  };
  EXPECT_EQ(flaw_of_set("set e0.n0 batch do=write32:b1+0:9,write64:b1+8:9,wait32:b1+0:eq:9\n"), "");
  EXPECT_THAT(flaw_of_set("set e0.n0 batch do=write32:b1+0:9\n"), HasSubstr("an exec setter keeps"));
  EXPECT_THAT(flaw_of_set("set e0.n0 batch do=write64:b1+0:9,write64:b1+8:9,wait64:b1+0:eq:9\n"),
              HasSubstr("an exec setter keeps"));
  EXPECT_EQ(flaw_of_set("set g0.n0 batch do=write32:b1+0:9\n"), "");
  EXPECT_THAT(flaw_of_set("disable e0.n0\n"), HasSubstr("only kernel, copy and memset nodes"));
  EXPECT_NE(flaw_of_set("on s0 batch do=write32:b1+0:9\n"), "");
}

const std::string kBatchPrograms[] = {
    batches_and("instantiate e0 g0\nlaunch e0 s0\nread b0\nmove b0\npatch e0\nlaunch e0 s0\nread b0\ninspect g0"),
    batches_and("instantiate e0 g0\nmove b0 b1\npatch e0\nlaunch e0 s0\npatch g0\ninspect g0\ninstantiate e1 g0\n"
                "launch e1 s0\nread b0"),
    batches_and("instantiate e0 g0\nset e0.n0 batch do=write32:b1+16:9,write64:b0+0:1,wait32:b1+16:eq:9\nlaunch e0 s0\n"
                "read b0\nread b1\nmove b0 b1\npatch e0\nlaunch e0 s0\nread b1"),
    batches_and("instantiate e0 g0\nset g0.n0 batch do=write32:b1+0:1,write64:b1+8:2,wait32:b1+0:eq:1\nupdate e0 g0\n"
                "launch e0 s0\nread b0\nread b1\ninspect g0"),
    batches_and("kernel g0.n1 inplace_u32 data=b0 n=8 k=3 after=n0\nclone g1 g0\ngraph g2\nchild g2.n0 g1\n"
                "instantiate e0 g2\nmove b0\npatch e0\nlaunch e0 s0\nread b0\ninspect g1"),
};

class BatchProgram : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Batches, BatchProgram, testing::ValuesIn(kBatchPrograms),
                         [](const auto& at) { return "Number" + std::to_string(at.index); });

TEST_P(BatchProgram, IsValidAndAgreesUnderEveryStrategyAndFailure) {
  agrees_under_every_strategy_and_failure(GetParam());
}

TEST(Batches, ArePatchedInPlace) {
  OtherBench bench([](hip::Api&) {});
  const Program program = program_of(batches_and("instantiate e0 g0\nmove b0\npatch e0\nlaunch e0 s0\nread b0"));
  const Observation observation = bench.subject.run(program, {}).observation;
  EXPECT_EQ(observation.fallbacks, 0u);
  EXPECT_EQ(observation.patched_in_place.size(), 1u);
  EXPECT_TRUE(observation.violations.empty());
}

// Each runtime is wrong in one thing.
TEST(Batches, AWrongRuntimeIsFoundOut) {
  const auto judged = [](std::string_view rest, void (*change)(hip::Api&)) {
    return OtherBench(change).judge.judge(program_of(batches_and(rest)), {}).verdict;
  };
  constexpr std::string_view kSet =
      "instantiate e0 g0\nset e0.n0 batch do=write32:b1+0:9,write64:b1+8:1,wait32:b1+0:eq:9\nlaunch e0 s0\nread b1";
  const auto forgets = [](hip::Api& api) {
    api.hipGraphExecBatchMemOpNodeSetParams = [](hipGraphExec_t, hipGraphNode_t, const hipBatchMemOpNodeParams*) {
      return hipSuccess;
    };
  };
  EXPECT_EQ(judged(kSet, [](hip::Api&) {}), VerdictKind::kAgree);
  EXPECT_EQ(judged(kSet, forgets), VerdictKind::kDiverge);
  EXPECT_EQ(judged("instantiate e0 g0\nmove b0\npatch e0\nlaunch e0 s0\nread b0", forgets), VerdictKind::kDiverge);
  EXPECT_EQ(judged("inspect g0",
                   [](hip::Api& api) {
                     api.hipGraphBatchMemOpNodeGetParams = [](hipGraphNode_t node, hipBatchMemOpNodeParams* params) {
                       const auto& model = model::abi::InProcess::api();
                       const hipError_t status = model.hipGraphBatchMemOpNodeGetParams(node, params);
                       params->count = 1;
                       return status;
                     };
                   }),
            VerdictKind::kDiverge);
  EXPECT_EQ(judged("", [](hip::Api& api) { api.hipGraphAddBatchMemOpNode = nullptr; }), VerdictKind::kUnsupported);
}

TEST(Batches, BecomeSimplerOneOperationAtATime) {
  std::vector<std::string> simpler;
  const Program program = program_of(batches_and(""));
  const auto& batch = std::get<AddNode>(program.steps.back().command);
  simplify_node_params(batch.params, [&](const NodeParams& params) {
    std::string text;
    print_node_params(text, params);
    simpler.push_back(text);
  });
  // The wait goes with the write that it waits for.
  EXPECT_THAT(simpler, ::testing::Contains(" do=write64:b0+8:4294967297"));
  EXPECT_THAT(simpler, ::testing::Contains(" do=write32:b0+0:7,write64:b0+8:4294967297"));
  EXPECT_THAT(simpler, ::testing::Contains(" do=write32:b0+0:7,wait32:b0+0:geq:5"));
}

}  // namespace
}  // namespace verify
