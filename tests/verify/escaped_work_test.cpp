// Work that escapes a capture: which commands are named, and which are not.
#include "verify/program/escaped_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs.h"

namespace verify {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kBesideObjects =  // lines 2 to 7
    "buffer b0 64\nbuffer b1 64\nstream s1 nonblocking\nstream s2 nonblocking\nevent v0\nevent v1\n";
const std::string kBesideBegin = "capture s1 mode=relaxed\n";  // line 8
const std::string kCapturedWork = "on s1 memset dst=b0+0 value=1 element=1 width=32\n";
const std::string kEscapedWork = "on s2 memset dst=b1+0 value=2 element=1 width=32\n";
const std::string kBesideEnd = "endcapture s1 g1\n";
const std::string kBesideWords =
    "line 10 'on s2 memset dst=b1+0 value=2 element=1 width=32' ran beside the capture of s1";

std::vector<std::string> said_of(const std::string& commands) {
  const Program program = program_of(kBesideObjects + commands);
  EXPECT_EQ(flaw(program), "") << commands;
  return escaped_work(program);
}

TEST(EscapedWork, WorkOfAStreamThatDidNotJoinIsNotInTheGraphAndLaunchesDoNotDoIt) {
  const std::string step = kBesideBegin + kCapturedWork + kEscapedWork + kBesideEnd;
  EXPECT_THAT(said_of(step), ElementsAre(kBesideWords + " (lines 8 to 11) and is not in g1"));
  EXPECT_THAT(said_of(step + "instantiate e0 g1\ninstantiate e1 g1\nlaunch e0 s1\nsync device\nlaunch e0 s1"),
              ElementsAre(kBesideWords + " (lines 8 to 11) and is not in g1: launches of e0 do not do it"));
}

TEST(EscapedWork, AnExecutableGraphThatIsUpdatedFromTheGraphIsNamed) {
  const std::string other = "graph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=32\ninstantiate e0 g0\n";
  const std::vector<std::string> said =
      said_of(kBesideBegin + kCapturedWork + kEscapedWork + kBesideEnd + other + "update e0 g1\nlaunch e0 s1");
  EXPECT_THAT(said, ElementsAre(kBesideWords + " (lines 8 to 11) and is not in g1: launches of e0 do not do it"));
}

TEST(EscapedWork, WorkOfAJoinedStreamIsNotNamed) {
  const std::string fork = "record v0 s1\nwait s2 v0\n", join = "record v1 s2\nwait s1 v1\n";
  EXPECT_THAT(said_of(kBesideBegin + kCapturedWork + fork + kEscapedWork + join + kBesideEnd), IsEmpty());
  EXPECT_THAT(said_of(kBesideBegin + kCapturedWork + kEscapedWork + fork + join + kBesideEnd), testing::SizeIs(1))
      << "it came before the fork";
}

TEST(EscapedWork, WorkThatReadsMemoryThatTheCapturedWorkWritesIsNamedWithIt) {
  const std::string reads = "on s2 memcpy dst=b1+0 src=b0+0 bytes=32 kind=d2d\n";
  EXPECT_THAT(
      said_of(kBesideBegin + kCapturedWork + reads + kBesideEnd),
      ElementsAre("line 10 'on s2 memcpy dst=b1+0 src=b0+0 bytes=32 kind=d2d' ran beside the capture of s1 (lines "
                  "8 to 11) and is not in g1, though both use b0"));
}

TEST(EscapedWork, ALaunchEscapesToo) {
  const std::string other = "graph g0\nmemset g0.n0 dst=b1+0 value=1 element=1 width=32\ninstantiate e0 g0\n";
  EXPECT_THAT(said_of(other + kBesideBegin + "launch e0 s2\n" + kBesideEnd),
              ElementsAre("line 12 'launch e0 s2' ran beside the capture of s1 (lines 11 to 13) and is not in g1"));
}

TEST(EscapedWork, WorkBeforeAndBehindACaptureAndBesideAFailedOneIsNotNamed) {
  EXPECT_THAT(said_of(kEscapedWork + kBesideBegin + kCapturedWork + kBesideEnd + kEscapedWork), IsEmpty());
  EXPECT_THAT(said_of(kBesideBegin + kEscapedWork + "query s1\n" + kBesideEnd), IsEmpty());
  EXPECT_THAT(said_of("capture s2 mode=relaxed\n" + kBesideBegin + kCapturedWork + kEscapedWork + kBesideEnd +
                      "endcapture s2 g2"),
              IsEmpty());
}

TEST(EscapedWork, ACommandOfABlockIsNamedOnce) {
  const std::string round =
      kBesideBegin + kCapturedWork + kEscapedWork + kBesideEnd + "instantiate e1 g1\nlaunch e1 s1\nsync device\n";
  EXPECT_THAT(said_of("repeat 3\n" + round + "destroy e1\ndestroy g1\nend"), testing::SizeIs(1));
}

TEST(EscapedWork, ACaptureMayBeginInALaterRoundOfABlock) {
  EXPECT_THAT(said_of(kBesideBegin + "repeat 2\n" + kBesideEnd + "destroy g1\n" + kBesideBegin + "end\n" +
                      kEscapedWork + "endcapture s1 g9\n"),
              testing::SizeIs(1));
}

TEST(EscapedWork, TheSentencesHaveABound) {
  std::string work;
  for (std::size_t i = 0; i < kMostEscapes + 2; ++i) work += kEscapedWork;
  const std::vector<std::string> said = said_of(kBesideBegin + work + kBesideEnd);
  ASSERT_EQ(said.size(), kMostEscapes + 1);
  EXPECT_EQ(said.back(), "2 more commands escaped a capture");
}

}  // namespace
}  // namespace verify
