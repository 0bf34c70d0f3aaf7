// Signatures of runs on AMD's releases: what the runtime did during a program, as the software gfx942 saw it.
#include <gtest/gtest.h>

#include "releases.h"

namespace verify {
namespace {

constexpr const char* kOneStream = R"(hgcheck-program 1
placement arena

buffer b0 4096
buffer b1 4096
graph g0
kernel g0.n0 axpy_u64 out=b0+0 in=b1+256 n=64 a=addr(b0) style=extra
memcpy g0.n1 dst=b1+0 src=b0+0 bytes=512 kind=d2d after=n0
instantiate e0 g0
launch e0 s0
move b0
patch e0
launch e0 s0
read b1
)";

class SignatureOnRelease : public ::testing::TestWithParam<std::string_view> {
 protected:
  using Signature = std::vector<std::uint16_t>;
  static Signature run(Subject& subject, const Program& program, bool wanted = true) {
    RunOptions options;
    options.schedule_seed = 1;
    options.signature = wanted;
    const Observation observation = subject.runner().run(program, options).observation;
    EXPECT_EQ(observation.harness_error, "");
    return observation.signature;
  }
};

TEST_P(SignatureOnRelease, RunsOfOneProgramHaveTheSameSignatureAndAnotherProgramHasAnother) {
  ReleaseJudge judge(GetParam(), StrategyKind::kPatch);
  ASSERT_TRUE(judge.ready());
  const Program program = parsed(kOneStream);
  static_cast<void>(run(judge.subject(), program));  // the first run in a process loads AMD's own kernels
  const Signature signature = run(judge.subject(), program);
  EXPECT_GT(signature.size(), 10U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(run(judge.subject(), program), signature);
  Program without_patch = program;
  without_patch.steps.resize(without_patch.steps.size() - 4);
  EXPECT_NE(run(judge.subject(), without_patch), signature);
  EXPECT_EQ(run(judge.subject(), program, false), Signature());
}

INSTANTIATE_TEST_SUITE_P(Releases, SignatureOnRelease, ::testing::Values(HGCHECK_RELEASES), release_name);

}  // namespace
}  // namespace verify
