// The strategy `stabilise`: programs cannot tell it from recording again, and only the first launch records.
#include <gtest/gtest.h>

#include <utility>

#include "judging.h"

namespace verify {
namespace {

constexpr std::string_view kMoves =
    "buffer b0 64\nbuffer b1 64\nwrite b0 seed=3\ngraph g0\nmemcpy g0.n0 dst=b1+0 src=b0+0 bytes=64 kind=d2d\n"
    "instantiate e0 g0\nmove b0 b1\npatch e0\nlaunch e0 s0\nsync device\nmove b0 b1\npatch e0\nlaunch e0 s0\n"
    "sync device\nread b1";

RunResult run_with_costs(StrategyKind strategy, const Program& program) {
  return Bench(strategy).subject.run(program, {.costs = true});
}

std::vector<StepCost> costs_of(const RunResult& run, const Program& program, std::string_view word) {
  std::vector<StepCost> costs;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (command_word(program.steps[i].command) == word) costs.push_back(run.observation.costs[i]);
  }
  return costs;
}

TEST(Stabilise, IsAStrategyByName) {
  EXPECT_EQ(find_strategy("stabilise"), StrategyKind::kStabilise);
  EXPECT_EQ(strategy_name(StrategyKind::kStabilise), "stabilise");
}

TEST(Stabilise, APatchCallsNothingAndOnlyTheFirstLaunchBehindOneRecords) {
  const Program program = program_of(kMoves);
  ASSERT_EQ(flaw(program), "");
  const RunResult run = run_with_costs(StrategyKind::kStabilise, program);
  const std::vector<StepCost> patches = costs_of(run, program, "patch"), launches = costs_of(run, program, "launch");
  ASSERT_EQ(patches.size(), 2u);
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(patches[0].calls, 0u);
  EXPECT_EQ(patches[1].calls, 0u);
  EXPECT_GT(launches[0].calls, launches[1].calls);
  // Two buffers copied there and back, the launch, and the calls that order them.
  EXPECT_GE(launches[1].calls, 5u);
}

TEST(Stabilise, BytesAreThoseOfRecordingAgainWithEveryCallFailingInTurn) {
  Bench bench(StrategyKind::kStabilise);
  const JudgeOptions options{.every_call_fails = true, .however_built = true, .cycles = true};
  for (const std::string_view text : {kMoves, kExample}) {
    EXPECT_TRUE(in_agreement(bench.judge.judge(text == kMoves ? program_of(text) : parsed(text), options)));
  }
}

// A capture gets the graph at the program's addresses: the captured graph has no persistent buffer in it.
TEST(Stabilise, ALaunchIntoACaptureIsCapturedAtTheProgramsAddresses) {
  const Program program = program_of(
      "buffer b0 64\nbuffer b1 64\nwrite b0 seed=3\nstream s1\ngraph g0\nmemcpy g0.n0 dst=b1+0 src=b0+0 bytes=64 "
      "kind=d2d\ninstantiate e0 g0\nmove b0 b1\npatch e0\ncapture s1\nlaunch e0 s1\nendcapture s1 g1\n"
      "instantiate e1 g1\nlaunch e1 s1\nsync device\nread b1");
  ASSERT_EQ(flaw(program), "");
  EXPECT_TRUE(in_agreement(Bench(StrategyKind::kStabilise).judge.judge(program, {})));
}

// The first question after the query fails: whether the launch is elsewhere.
bool asks_fail = false;

TEST(Stabilise, ALaunchWhoseDeviceCannotBeAskedAnswersSo) {
  const Program program = program_of(
      "buffer b0 64\nbuffer b1 64 device=1\nwrite b0 seed=3\ngraph g0\nmemset g0.n0 dst=b0+0 value=3 element=1 "
      "width=16\ninstantiate e0 g0\nmove b0\npatch e0\nlaunch e0 s0\nsync device\nquery s0\nlaunch e0 s0\n"
      "sync device\nread b0");
  ASSERT_EQ(flaw(program), "");
  OtherBench bench(
      [](hip::Api& api) {
        asks_fail = false;
        api.hipStreamQuery = [](hipStream_t stream) {
          asks_fail = true;
          return model::abi::InProcess::api().hipStreamQuery(stream);
        };
        api.hipGetDevice = [](int* device) {
          if (std::exchange(asks_fail, false)) return hipErrorUnknown;
          return model::abi::InProcess::api().hipGetDevice(device);
        };
      },
      StrategyKind::kStabilise);
  const RunResult run = bench.subject.run(program, {});
  std::vector<int> codes;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (command_word(program.steps[i].command) == "launch") codes.push_back(run.observation.statuses.at(i).code);
  }
  EXPECT_EQ(codes, (std::vector<int>{hipSuccess, hipErrorUnknown}));
}

int waits_for_events = 0;

TEST(Stabilise, ALaunchOnAnotherStreamComesBehindTheLastByAnEvent) {
  const Program program = program_of(
      "buffer b0 64\nwrite b0 seed=3\nstream s1\ngraph g0\nmemset g0.n0 dst=b0+0 value=3 element=1 width=16\n"
      "instantiate e0 g0\nmove b0\npatch e0\nlaunch e0 s0\nlaunch e0 s1\nlaunch e0 s0\nsync device\nread b0");
  ASSERT_EQ(flaw(program), "");
  waits_for_events = 0;
  OtherBench bench(
      [](hip::Api& api) {
        api.hipStreamWaitEvent = [](hipStream_t stream, hipEvent_t event, unsigned flags) {
          ++waits_for_events;
          return model::abi::InProcess::api().hipStreamWaitEvent(stream, event, flags);
        };
      },
      StrategyKind::kStabilise);
  EXPECT_TRUE(bench.subject.run(program, {}).observation.violations.empty());
  // One wait of the first launch (for an event that was never recorded) and one of each of the two others.
  EXPECT_EQ(waits_for_events, 3);
}

TEST(Stabilise, NoGeneratedProgramCanTellItFromRecordingAgain) {
  no_generated_program_can_tell_from_recording_again(StrategyKind::kStabilise, 77, 800);
}

}  // namespace
}  // namespace verify
