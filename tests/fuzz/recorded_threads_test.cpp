// The order that the lines of several threads get in a log of the recorder. Thread 0 has no number in a log.
#include "fuzz/recorded_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::ElementsAre;
using Lines = std::vector<std::string>;

Lines ordered(const Lines& log) {
  Lines order;
  fuzz::ThreadsOfLog threads([&order](std::string_view line) { order.emplace_back(line); });
  for (const std::string& line : log) threads.line(line);
  threads.finish();
  return order;
}

TEST(ThreadsOfLog, WithoutACaptureTheOrderIsTheLogs) {
  EXPECT_THAT(ordered({"alloc device a000 100", "@ 1 stream b0 0 0", "sync device 0", "@ a sync device 0"}),
              ElementsAre("alloc device a000 100", "stream b0 0 0", "sync device 0", "sync device 0"));
}

TEST(ThreadsOfLog, LinesOfOtherThreadsComeBehindTheCapture) {
  EXPECT_THAT(ordered({"capture a0 1", "@ 1 graph c0", "work a0 fill a000 0 1 10 1 0", "@ 1 alloc device b000 100",
                       "endcapture a0 d0", "launch e0 a0"}),
              ElementsAre("capture a0 1", "work a0 fill a000 0 1 10 1 0", "endcapture a0 d0", "graph c0",
                          "alloc device b000 100", "launch e0 a0"));
}

TEST(ThreadsOfLog, CapturesOfTwoThreadsComeOneBehindTheOther) {
  EXPECT_THAT(ordered({"capture a0 1", "@ 1 capture b0 1", "work a0 empty", "@ 1 work b0 empty", "endcapture a0 d0",
                       "sync device 0", "@ 1 endcapture b0 d1"}),
              ElementsAre("capture a0 1", "work a0 empty", "endcapture a0 d0", "capture b0 1", "work b0 empty",
                          "endcapture b0 d1", "sync device 0"));
}

TEST(ThreadsOfLog, ContentsOfHostMemoryComeBehindTheCaptureWhicheverThreadFoundThem) {
  for (const std::string thread : {"", "@ 1 "}) {
    EXPECT_THAT(ordered({"capture a0 1", thread + "host a000 2 =0102", "endcapture a0 d0"}),
                ElementsAre("capture a0 1", "endcapture a0 d0", "host a000 2 =0102"));
  }
}

TEST(ThreadsOfLog, ACapturingThreadThatNamesWhatAHeldLineMadeComesBehindThatLine) {
  const Lines inside = {"capture a0 1", "alloc device b000 100", "work a0 fill b010 0 1 10 1 0", "endcapture a0 d0"};
  EXPECT_EQ(ordered({inside[0], "@ 1 " + inside[1], inside[2], inside[3]}), inside);
  EXPECT_THAT(ordered({inside[0], "@ 1 " + inside[1], "work a0 fill b100 0 1 10 1 0", inside[3]}),
              ElementsAre(inside[0], "work a0 fill b100 0 1 10 1 0", inside[3], inside[1]))
      << "one past the end is not in the memory";
}

TEST(ThreadsOfLog, APointerInTheArgumentsOfAKernelNamesMemory) {
  const auto kernel = [](const std::string& bytes) {
    return "work a0 kernel 1 1 1 1 1 1 0 k - 0 params 0 value =" + bytes;
  };
  for (const std::string bytes : {"20b0000000000000", "ffffffffffffffff20b0000000000000"}) {
    EXPECT_THAT(ordered({"capture a0 1", "@ 1 alloc device b000 100", kernel(bytes), "endcapture a0 d0"}),
                ElementsAre("capture a0 1", "alloc device b000 100", kernel(bytes), "endcapture a0 d0"));
  }
  for (const std::string bytes : {"20b1000000000000", "00000020b0000000"}) {
    EXPECT_THAT(ordered({"capture a0 1", "@ 1 alloc device b000 100", kernel(bytes), "endcapture a0 d0"}),
                ElementsAre("capture a0 1", kernel(bytes), "endcapture a0 d0", "alloc device b000 100"));
  }
}

TEST(ThreadsOfLog, AnAddressIsFreedBeforeTheCapturingThreadGetsItAgain) {
  EXPECT_THAT(ordered({"capture a0 1", "@ 1 free b000", "alloc device b000 100", "endcapture a0 d0"}),
              ElementsAre("capture a0 1", "free b000", "alloc device b000 100", "endcapture a0 d0"));
  EXPECT_THAT(ordered({"capture a0 1", "@ 1 gone graph c0", "graph c0", "endcapture a0 d0"}),
              ElementsAre("capture a0 1", "gone graph c0", "graph c0", "endcapture a0 d0"));
}

// A log in which thread 1 does `other` while thread 0 captures, before thread 0 does `own`.
Lines beside(const std::string& other, const std::string& own) {
  return ordered({"stream b0 0 0", "alloc device b000 100", "instantiate e0 c0 plain 0", "capture a0 1", "@ 1 " + other,
                  own, "endcapture a0 d0"});
}
auto is_in_the_logs_order(const std::string& other, const std::string& own) {
  return ElementsAre("stream b0 0 0", "alloc device b000 100", "instantiate e0 c0 plain 0", "capture a0 1", other, own,
                     "endcapture a0 d0");
}
auto is_in_the_captures_order(const std::string& other, const std::string& own) {
  return ElementsAre("stream b0 0 0", "alloc device b000 100", "instantiate e0 c0 plain 0", "capture a0 1", own,
                     "endcapture a0 d0", other);
}

TEST(ThreadsOfLog, WhatAHeldLineUsesIsUsedBeforeTheCapturingThreadEndsIt) {
  const std::string launch = "launch e0 0",
                    pointer = "work b0 kernel 1 1 1 1 1 1 0 k - 0 params 0 pointer =20b0000000000000";
  for (const auto& [other, own] : {std::pair<std::string, std::string>{launch, "gone exec e0"},
                                   {"work b0 fill b010 0 1 10 1 0", "free b000"},
                                   {pointer, "free b000"},
                                   {"launch e0 b0", "gone stream b0"}}) {
    EXPECT_THAT(beside(other, own), is_in_the_logs_order(other, own));
  }
  EXPECT_THAT(beside(launch, "gone exec e1"), is_in_the_captures_order(launch, "gone exec e1"));
  EXPECT_THAT(beside(pointer, "free c000"), is_in_the_captures_order(pointer, "free c000"));
}

TEST(ThreadsOfLog, OnlyCapturedWorkOvertakesAHeldLineThatNamesTheSameObject) {
  const std::string fill = "work b0 fill b010 0 1 10 1 0";
  for (const std::string own :
       {"copied 5000 b000 10 2 0 0", "work f0 copy 5000 b0ff 1 2", "sync stream b0", "free b000", "capture b0 1"}) {
    EXPECT_THAT(beside(fill, own), is_in_the_logs_order(fill, own)) << own;
  }
  for (const std::string own : {"work a0 fill b010 0 1 10 1 0", "copied 5000 b100 10 2 0 0", "sync stream f0"}) {
    EXPECT_THAT(beside(fill, own), is_in_the_captures_order(fill, own)) << own;
  }
  EXPECT_THAT(beside("host b000 2 =0102", "free b000"), is_in_the_logs_order("host b000 2 =0102", "free b000"));
}

TEST(ThreadsOfLog, AnObjectThatIsGoneIsNotTheOneWithItsHandle) {
  const Lines log = {"event e0 0",        "gone event e0", "capture a0 1",
                     "@ 1 sync event e0", "gone event e0", "endcapture a0 d0"};
  EXPECT_THAT(ordered(log), ElementsAre(log[0], log[1], log[2], log[4], log[5], "sync event e0"));
}

TEST(ThreadsOfLog, AnotherThreadThatNamesTheStreamKeepsTheLogsOrder) {
  EXPECT_THAT(ordered({"capture a0 2", "@ 1 graph c0", "@ 1 work a0 empty", "@ 1 graph c1", "endcapture a0 d0"}),
              ElementsAre("capture a0 2", "graph c0", "work a0 empty", "graph c1", "endcapture a0 d0"));
}

TEST(ThreadsOfLog, AnotherThreadThatNamesAStreamThatJoinedKeepsTheLogsOrder) {
  const Lines log = {"capture a0 2", "record e0 a0",      "wait b0 e0",
                     "@ 1 graph c0", "@ 1 work b0 empty", "endcapture a0 d0"};
  EXPECT_THAT(ordered(log), ElementsAre(log[0], log[1], log[2], "graph c0", "work b0 empty", log[5]));
  EXPECT_THAT(ordered({log[0], log[1], "wait b0 e1", log[3], log[4], log[5]}),
              ElementsAre(log[0], log[1], "wait b0 e1", log[5], "graph c0", "work b0 empty"))
      << "the stream waits for an event of something else";
  EXPECT_THAT(ordered({log[0], log[1], "record e0 f0", log[2], log[3], log[4], log[5]}),
              ElementsAre(log[0], log[1], "record e0 f0", log[2], log[5], "graph c0", "work b0 empty"))
      << "the event is recorded again, outside of the capture";
}

TEST(ThreadsOfLog, AnotherThreadsStreamThatWaitsForAnEventOfTheCaptureKeepsTheLogsOrder) {
  EXPECT_THAT(ordered({"capture a0 2", "record e0 a0", "@ 1 wait b0 e0", "@ 1 work b0 empty", "endcapture a0 d0"}),
              ElementsAre("capture a0 2", "record e0 a0", "wait b0 e0", "work b0 empty", "endcapture a0 d0"));
}

TEST(ThreadsOfLog, AStreamThatWasDestroyedIsNoLongerInTheCapture) {
  EXPECT_THAT(
      ordered(
          {"capture a0 2", "record e0 a0", "wait b0 e0", "gone stream b0", "@ 1 stream b0 0 0", "endcapture a0 d0"}),
      ElementsAre("capture a0 2", "record e0 a0", "wait b0 e0", "gone stream b0", "endcapture a0 d0", "stream b0 0 0"));
}

TEST(ThreadsOfLog, LinesAreHeldUntilAllCapturesOfTheThreadHaveEnded) {
  EXPECT_THAT(ordered({"capture a0 1", "capture b0 1", "@ 1 graph c0", "endcapture a0 d0", "@ 1 graph c1",
                       "work b0 empty", "endcapture b0 d1", "sync device 0"}),
              ElementsAre("capture a0 1", "capture b0 1", "endcapture a0 d0", "work b0 empty", "endcapture b0 d1",
                          "graph c0", "graph c1", "sync device 0"));
}

TEST(ThreadsOfLog, TheCaptureGoesOnBehindLinesThatItNeeded) {
  EXPECT_THAT(ordered({"capture a0 1", "@ 1 alloc device b000 100", "work a0 fill b000 0 1 10 1 0", "@ 1 graph c0",
                       "work a0 empty", "endcapture a0 d0"}),
              ElementsAre("capture a0 1", "alloc device b000 100", "work a0 fill b000 0 1 10 1 0", "work a0 empty",
                          "endcapture a0 d0", "graph c0"));
}

TEST(ThreadsOfLog, OnlyTheLinesThatTheCaptureNeedsComeBeforeIt) {
  EXPECT_THAT(ordered({"graph 900", "capture a0 1", "@ 1 capture b0 1", "@ 2 graph c0", "@ 2 gone graph 900",
                       "@ 1 work b0 empty", "@ 2 graph c1", "graph 900", "endcapture a0 d0", "@ 1 endcapture b0 d1"}),
              ElementsAre("graph 900", "capture a0 1", "graph c0", "gone graph 900", "graph 900", "endcapture a0 d0",
                          "capture b0 1", "work b0 empty", "endcapture b0 d1", "graph c1"));
}

TEST(ThreadsOfLog, AVariableThatAHeldLineNamesFirstComesWithoutTheWorkBehindIt) {
  const Lines log = {"capture a0 1", "variable 5000 10 w - 0", "copied 5000 7000 10 1 0 =01",
                     "work a0 copy 5000 b000 10 3", "endcapture a0 d0"};
  EXPECT_THAT(ordered({log[0], "@ 1 " + log[1], "@ 1 " + log[2], log[3], log[4]}),
              ElementsAre(log[0], log[1], log[3], log[4], log[2]));
}

TEST(ThreadsOfLog, AHeldLineBringsWhatItNeedsOfOtherThreads) {
  EXPECT_THAT(
      ordered({"capture a0 1", "@ 1 alloc device b000 100", "@ 2 graph c0", "@ 2 work e0 fill b000 0 1 10 1 0",
               "@ 3 graph c1", "@ 2 alloc device d000 100", "work a0 fill d000 0 1 10 1 0", "endcapture a0 d0"}),
      ElementsAre("capture a0 1", "alloc device b000 100", "graph c0", "work e0 fill b000 0 1 10 1 0",
                  "alloc device d000 100", "work a0 fill d000 0 1 10 1 0", "endcapture a0 d0", "graph c1"));
}

TEST(ThreadsOfLog, ACaptureThatCannotBeEndedIsOver) {
  EXPECT_THAT(ordered({"capture a0 1", "@ 1 graph c0", "failed hipStreamEndCapture 385 a0", "sync device 0"}),
              ElementsAre("capture a0 1", "failed hipStreamEndCapture 385 a0", "graph c0", "sync device 0"));
  EXPECT_THAT(ordered({"capture a0 1", "@ 1 graph c0", "failed hipMalloc 2", "endcapture a0 d0"}),
              ElementsAre("capture a0 1", "failed hipMalloc 2", "endcapture a0 d0", "graph c0"));
}

TEST(ThreadsOfLog, ACaptureEndsWithItsStream) {
  EXPECT_THAT(ordered({"capture a0 1", "@ 1 graph c0", "gone stream a0", "sync device 0"}),
              ElementsAre("capture a0 1", "gone stream a0", "graph c0", "sync device 0"));
  EXPECT_THAT(ordered({"capture a0 1", "@ 1 graph c0", "gone stream b0", "endcapture a0 d0"}),
              ElementsAre("capture a0 1", "gone stream b0", "endcapture a0 d0", "graph c0"));
}

TEST(ThreadsOfLog, ACaptureThatNobodyEndsHoldsABoundedNumberOfLines) {
  Lines log = {"capture a0 1"};
  for (std::size_t i = 0; i < fuzz::ThreadsOfLog::kMaxHeld; ++i) log.emplace_back("@ 1 sync device 0");
  log.emplace_back("work a0 empty");
  EXPECT_EQ(ordered(log)[1], "work a0 empty");
  log.insert(log.end() - 1, "@ 1 sync device 0");
  EXPECT_EQ(ordered(log).back(), "work a0 empty");
  EXPECT_EQ(ordered(log).size(), log.size());
}

TEST(ThreadsOfLog, PoolsAndUserObjectsAreMadeAndEndedToo) {
  for (const auto& [made, own] : {std::pair<std::string, std::string>{"pool new c0", "alloc async d000 10 a0 c0"},
                                  {"pool default c0", "pool use c0"},
                                  {"object new c0 1", "object retain c0 e0 1 0"},
                                  {"pool destroy c0", "pool new c0"},
                                  {"object release c0 0 1", "object new c0 1"}}) {
    EXPECT_THAT(beside(made, own), is_in_the_logs_order(made, own));
  }
  EXPECT_THAT(beside("object release c0 e0 1", "object new c0 1"),
              is_in_the_captures_order("object release c0 e0 1", "object new c0 1"))
      << "a graph's reference ends, and the object may go on";
}

}  // namespace
