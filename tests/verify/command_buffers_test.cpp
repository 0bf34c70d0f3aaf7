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

// HIP refuses the launch on the null stream, and makes the capture of a stream that is ordered with it invalid.
TEST(CommandBufferStrategy, ALaunchOnTheNullStreamBesideACaptureEndsItAsHipDoes) {
  const Program program = program_of(
      "stream s1\nevent v0\ngraph g1\nempty g1.n0\ninstantiate e1 g1\nlaunch e1 s0\ncapture s1\nrecord v0 s1\n"
      "launch e1 s0\nrecord v0 s1\n");
  EXPECT_TRUE(in_agreement(Bench(StrategyKind::kCommandBuffer).judge.judge(program, {})));
}

// A command buffer that goes while a stream captures is kept until none captures, and not longer.
TEST(CommandBufferStrategy, NothingGrowsWhereExecutableGraphsGoWhileAStreamCaptures) {
  const Program program = program_of("stream s1\ngraph g1\ninstantiate e1 g1\nlaunch e1 s0\ncapture s1\n");
  EXPECT_TRUE(in_agreement(Bench(StrategyKind::kCommandBuffer).judge.judge(program, {.groups = true})));
}

// `careful` chains g1, so that e3 allocates b3 at another address than the one that e2 frees.
TEST(CommandBufferStrategy, AFreeNodeWhoseMemoryWasRecordedAgainIsUnsupported) {
  const Program program = program_of(
      "graph g1\nalloc g1.n0 b3 64\ninstantiate e1 g1\nlaunch e1 s0\ndestroy e1\ngraph g2\nfree g2.n0 b3\n"
      "instantiate e2 g2\nlaunch e2 s0\nempty g1.n6\ninstantiate e3 g1\nlaunch e3 s0\nlaunch e2 s0\n");
  EXPECT_EQ(Bench(StrategyKind::kCommandBuffer).judge.judge(program, {}).verdict, VerdictKind::kUnsupported);
  EXPECT_TRUE(in_agreement(Bench(StrategyKind::kPatch).judge.judge(program, {})));
}

TEST(CommandBufferStrategy, NoGeneratedProgramCanTellItFromRecordingAgain) {
  no_generated_program_can_tell_from_recording_again(StrategyKind::kCommandBuffer, 79, 600);
}

}  // namespace
}  // namespace verify
