// A kernel whose name has a thousand characters, on AMD's releases.
#include <gtest/gtest.h>

#include <iterator>
#include <span>

#include "releases.h"
#include "verify/execute/code_objects.h"

namespace verify {
namespace {

constexpr std::size_t kLength = 1000;

// The program of these commands, in which $ stands for the kernel.
Program with_long_name(std::string_view commands) {
  constexpr const char* kId = "00000000000000ac";
  std::ifstream file(LONG_NAME_CODE, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(read_code_object(kId, std::as_bytes(std::span(bytes)))) << LONG_NAME_CODE;
  const CodeObject* object = find_code_object(kId);
  if (object == nullptr || object->kernels.size() != 1) {
    ADD_FAILURE() << LONG_NAME_CODE << " has one kernel";
    return {};
  }
  const std::string& name = object->kernels.front().name;
  EXPECT_EQ(name.find('@'), kLength) << name;
  std::string text = "hgcheck-program 1\nplacement arena\nbuffer b0 64\nbuffer b1 64\ngraph g0\n";
  for (const char c : commands) text += c == '$' ? name : std::string(1, c);
  return parsed(text);
}

class LongName : public ::testing::TestWithParam<std::string_view> {
 protected:
  void agrees(std::string_view commands) {
    ReleaseJudge judge(GetParam(), StrategyKind::kPatch);
    ASSERT_TRUE(judge.ready());
    const Judgement judgement = judge->judge(with_long_name(commands), {});
    EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << described(judgement);
  }
};

TEST_P(LongName, IsOfAKernelLikeAnyOther) {
  agrees(
      "kernel g0.n0 $ a0=b0+0 a1=7\ninstantiate e0 g0\nlaunch e0 s0\nread b0\nset e0.n0 kernel $ a0=b1+0 a1=9\n"
      "launch e0 s0\nread b1\nmove b0 b1\npatch e0\nlaunch e0 s0\npatch g0\nset g0.n0 kernel $ a0=b0+0 a1=5\n"
      "update e0 g0\nlaunch e0 s0\nread b0\nclone g1 g0\ninspect g1\nstream s1\ncapture s1\n"
      "on s1 kernel $ a0=b1+0 a1=3\nendcapture s1 g2\ninspect g2\ninstantiate e1 g2\nlaunch e1 s1\nread b1\n");
}

// The other flags: verify/findings/dot-long-name-overflow.
TEST_P(LongName, IsWrittenToDotFiles) {
  agrees(
      "kernel g0.n0 $ a0=b0+0 a1=7\nkernel g0.n1 $ a0=b0+0 a1=8 after=n0\ndot g0\ndot g0 flags=verbose\n"
      "instantiate e0 g0\nlaunch e0 s0\nread b0\n");
}

INSTANTIATE_TEST_SUITE_P(Releases, LongName, ::testing::Values(HGCHECK_RELEASES), release_name);

}  // namespace
}  // namespace verify
