// Failures below AMD's runtime, on the releases: a call reports them or does without, and changes nothing.
#include <gtest/gtest.h>

#include "releases.h"

namespace verify {
namespace {

constexpr std::string_view kRefused =
    "hgcheck-program 1\nplacement native\nfail_below 1 allocation\nbuffer b0 4096\nread b0\n";

class FailuresBelow : public ::testing::TestWithParam<std::string_view> {};

TEST_P(FailuresBelow, ARefusedAllocationIsReportedAndTheCommandSucceedsWhenItIsRunAgain) {
  ReleaseJudge judge(GetParam(), StrategyKind::kPatch);
  ASSERT_TRUE(judge.ready());
  const Program program = parsed(kRefused);
  const Judgement judgement = judge->judge(program, {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << described(judgement);
  EXPECT_EQ(judge.subject().runner().run(program, {}).observation.failures_fired, 1U);
}

TEST_P(FailuresBelow, NoFailureIsLeftForTheNextProgram) {
  ReleaseJudge judge(GetParam(), StrategyKind::kPatch);
  ASSERT_TRUE(judge.ready());
  static_cast<void>(judge.subject().runner().run(parsed("hgcheck-program 1\nfail_below 3 allocation\n"), {}));
  const Program next =
      parsed("hgcheck-program 1\nplacement native\nbuffer b0 64\nbuffer b1 64\nbuffer b2 64\nread b0\n");
  EXPECT_EQ(judge.subject().runner().run(next, {}).observation.failures_fired, 0U);
}

INSTANTIATE_TEST_SUITE_P(Releases, FailuresBelow, ::testing::Values(HGCHECK_RELEASES), release_name);

}  // namespace
}  // namespace verify
