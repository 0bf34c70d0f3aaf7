// The strategy `careful` where nothing goes wrong: programs cannot tell it from recording again. On AMD's releases:
// tests/verify/quirks_test.cpp.
#include <gtest/gtest.h>

#include "judging.h"
#include "verify/generate/generator.h"

namespace verify {
namespace {

TEST(Careful, IsAStrategyByName) {
  EXPECT_EQ(find_strategy("careful"), StrategyKind::kCareful);
  EXPECT_EQ(strategy_name(StrategyKind::kCareful), "careful");
}

// 7.2, which the model says it is, loses a kernel that is set while it is disabled, and gets one that is enabled right.
TEST(Careful, PatchesWhatTheReleaseDoesRightAndRecordsAgainWhatItDoesNot) {
  const auto instantiations = [](const std::string& state) {
    const Program program = program_of(
        "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\ninstantiate e0 g0\n" + state +
        "set e0.n0 kernel inplace_u32 data=b0 n=8 k=1\nlaunch e0 s0\n");
    EXPECT_EQ(flaw(program), "");
    Bench bench(StrategyKind::kCareful);
    RunOptions options;
    options.costs = true;
    const RunResult run = bench.subject.run(program, options);
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      if (command_word(program.steps[i].command) == "set") return run.trace.costs[i].calls;
    }
    return std::uint64_t{0};
  };
  EXPECT_EQ(instantiations(""), 1U);
  EXPECT_GT(instantiations("disable e0.n0\n"), 2U);
}

TEST(Careful, NoGeneratedProgramCanTellItFromRecordingAgain) {
  Bench bench(StrategyKind::kCareful);
  for (std::uint64_t index = 0; index < 400; ++index) {
    const Program program = campaign_program(78, index, {});
    JudgeOptions options;
    options.schedule_seed = index % 3;
    options.isolation = index % 8 == 0;
    const Judgement judgement = bench.judge.judge(program, options);
    ASSERT_EQ(judgement.verdict, VerdictKind::kAgree) << described(judgement) << "\n" << print_program(program);
  }
}

}  // namespace
}  // namespace verify
