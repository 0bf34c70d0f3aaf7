// The strategy `command-buffer` on the model: programs cannot tell it from recording again, and it launches a command
// buffer that patches moved buffers. On AMD's releases: tests/verify/quirks_on_releases_test.cpp.
#include <gtest/gtest.h>

#include "judging.h"

namespace verify {
namespace {

constexpr std::string_view kSteps =
    "buffer b0 64\nbuffer b1 64\nwrite b0 seed=3\ngraph g0\nmemcpy g0.n0 dst=b1+0 src=b0+0 bytes=64 kind=d2d\n"
    "kernel g0.n1 inplace_u32 data=b1+0 n=4 k=3 after=n0\ninstantiate e0 g0\nlaunch e0 s0\nlaunch e0 s0\nsync device\n"
    "move b0 b1\npatch e0\nlaunch e0 s0\nread b1";

std::vector<std::uint64_t> calls_of_launches(std::string_view commands) {
  const Program program = program_of(std::string(commands));
  const RunResult run = Bench(StrategyKind::kCommandBuffer).subject.run(program, {.costs = true});
  std::vector<std::uint64_t> calls;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (command_word(program.steps[i].command) == "launch") calls.push_back(run.observation.costs[i].calls);
  }
  return calls;
}

TEST(CommandBufferStrategy, IsAStrategyByName) {
  EXPECT_EQ(find_strategy("command-buffer"), StrategyKind::kCommandBuffer);
  EXPECT_EQ(strategy_name(StrategyKind::kCommandBuffer), "command-buffer");
}

TEST(CommandBufferStrategy, RecordsFirstThenLaunchesAndPatchesWhatMoved) {
  const std::vector<std::uint64_t> calls = calls_of_launches(kSteps);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_GT(calls[0], 4u);  // two nodes, a graph, an executable graph, an event
  // The launch, a mark behind it, and whether the stream captures (the model counts as its header's release), each of
  // the null stream asking which device is current, as the step itself does.
  EXPECT_EQ(calls[1], 7u);
  EXPECT_EQ(calls[2], 9u);  // and sets both nodes
}

TEST(CommandBufferStrategy, ADisabledNodeIsAnEmptyOneUntilItIsEnabledAgain) {
  const Program program = program_of(std::string(kSteps) +
                                     "\ndisable e0.n1\nlaunch e0 s0\nread b1\nmove b1\npatch e0\nlaunch e0 s0\n"
                                     "read b1\nenable e0.n1\nlaunch e0 s0\nread b1");
  EXPECT_TRUE(in_agreement(Bench(StrategyKind::kCommandBuffer).judge.judge(program, {})));
}

TEST(CommandBufferStrategy, AFailureThatIsRecoveredFromWasToldOrIsTheAnswer) {
  EXPECT_TRUE(in_agreement(
      Bench(StrategyKind::kCommandBuffer).judge.judge(program_of(std::string(kSteps)), {.every_call_fails = true})));
}

TEST(CommandBufferStrategy, NoGeneratedProgramCanTellItFromRecordingAgain) {
  no_generated_program_can_tell_from_recording_again(StrategyKind::kCommandBuffer, 79, 600);
}

}  // namespace
}  // namespace verify
