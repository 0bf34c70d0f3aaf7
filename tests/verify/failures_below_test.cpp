// Failures below AMD's runtime, on the releases: a call reports them or does without, and changes nothing.
#include <gtest/gtest.h>

#include "releases.h"

namespace verify {
namespace {

class FailuresBelow : public ::testing::TestWithParam<std::string_view> {};

// A program for each kind of call but signals, of which a runtime keeps a stock.
constexpr std::string_view kRefused[] = {
    "fail_below 1 allocation\nbuffer b0 4096\nread b0\n",
    "buffer b0 256\nfail_below 1 queue\nstream s1\non s1 memset dst=b0+0 value=7 element=4 width=8\nsync s1\nread b0\n",
    "buffer b0 256\nfail_below 1 code_object\nmodule m0\ngraph g0\n"
    "kernel g0.n0 inplace_u32 data=b0+0 n=8 k=1 module=m0\ninstantiate e0 g0\nlaunch e0 s0\nread b0\n"};

TEST_P(FailuresBelow, ARefusedCallIsReportedAndTheCommandSucceedsWhenItIsRunAgain) {
  ReleaseJudge judge(GetParam(), StrategyKind::kPatch);
  ASSERT_TRUE(judge.ready());
  for (const std::string_view commands : kRefused) {
    const Program program = parsed("hgcheck-program 1\nplacement native\n" + std::string(commands));
    judge.subject().runner().start_afresh();  // a runtime keeps queues and signals
    const Judgement judgement = judge->judge(program, {});
    EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << commands << described(judgement);
    judge.subject().runner().start_afresh();
    EXPECT_EQ(judge.subject().runner().run(program, {}).observation.failures_fired, 1U) << commands;
  }
}

TEST_P(FailuresBelow, MemoryThatTheDeviceHasNotIsRefused) {
  ReleaseJudge judge(GetParam(), StrategyKind::kPatch);
  ASSERT_TRUE(judge.ready());
  for (const std::string_view commands :
       {"malloc_async b1 20971520 s0\nmalloc_async b2 50331648 s0\n", "malloc b1 20971520\nmalloc b2 50331648\n"}) {
    const Program program = parsed("hgcheck-program 1\nplacement native\nbuffer b0 256\ndevice_memory 67108864\n" +
                                   std::string(commands) + "read b0\n");
    judge.subject().runner().start_afresh();  // a refused hipMallocAsync harms the process
    const Observation seen = judge.subject().runner().run(program, {}).observation;
    EXPECT_TRUE(seen.unsupported.empty());
    ASSERT_EQ(seen.statuses.size(), 5U) << commands;
    EXPECT_EQ(seen.statuses[2].code, hipSuccess) << commands;
    EXPECT_EQ(seen.statuses[3].code, hipErrorOutOfMemory) << commands;
  }
}

TEST_P(FailuresBelow, ARefusedMallocTakesNothingAndTheMemoryBesideItStays) {
  ReleaseJudge judge(GetParam(), StrategyKind::kPatch);
  ASSERT_TRUE(judge.ready());
  const Judgement judgement = judge->judge(
      parsed("hgcheck-program 1\nplacement native\nbuffer b0 256\ndevice_memory 67108864\nmalloc b1 256\n"
             "write b1 seed=5\nmalloc b2 20971520\nmalloc b3 50331648\nread b1\nmalloc b3 8388608\n"
             "on s0 memset dst=b3+0 value=7 width=8388608\non s0 memcpy dst=b0+0 src=b3+8388352 bytes=256 kind=d2d\n"
             "free_async b2 s0\nsync s0\nread b0\nfree b3\nread b1\n"),
      {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << described(judgement);
}

TEST_P(FailuresBelow, NoFailureIsLeftForTheNextProgram) {
  ReleaseJudge judge(GetParam(), StrategyKind::kPatch);
  ASSERT_TRUE(judge.ready());
  static_cast<void>(judge.subject().runner().run(parsed("hgcheck-program 1\nfail_below 3 allocation\n"), {}));
  const Program next =
      parsed("hgcheck-program 1\nplacement native\nbuffer b0 64\nbuffer b1 64\nbuffer b2 64\nread b0\n");
  EXPECT_EQ(judge.subject().runner().run(next, {}).observation.failures_fired, 0U);
}

// U35 takes an edge of the graph away when its instantiation is refused.
TEST_P(FailuresBelow, ACommandThatIsRefusedBelowChangesNoObject) {
  const Program program = parsed(
      "hgcheck-program 1\nplacement native\nbuffer b0 256\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=8 k=1\n"
      "empty g0.n1 after=n0\nfail_below 1 allocation\ninstantiate e0 g0\nlaunch e0 s0\nread b0\n");
  const auto judged = [&program](std::string_view fault) {
    ReleaseJudge judge(GetParam(), StrategyKind::kPatch, fault);
    return judge.ready() ? judge->judge(program, {}) : Judgement();
  };
  const Judgement right = judged(""), wrong = judged("U35");
  EXPECT_EQ(right.verdict, VerdictKind::kAgree) << described(right);
  EXPECT_EQ(wrong.verdict, VerdictKind::kDiverge) << described(wrong);
  ASSERT_FALSE(wrong.broken.empty());
  EXPECT_EQ(wrong.broken.front(), PropertyId::kP4);
  EXPECT_NE(described(wrong).find("changed the edges of g0"), std::string::npos) << described(wrong);
}

INSTANTIATE_TEST_SUITE_P(Releases, FailuresBelow, ::testing::Values(HGCHECK_RELEASES), release_name);

}  // namespace
}  // namespace verify
