// The program that a log of the recorder becomes. The logs are written here by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "fuzz/recorded_program.h"
#include "fuzz/recorded_threads.h"
#include "fuzz/recorded_work.h"
#include "verify/language/foreign_kernels.h"

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using Lines = std::vector<std::string>;

TEST(LinesOfLog, AnEndThatHipRefusedIsLeftOut) {
  for (const std::string end :
       {"free c0", "freeasync c0 a0", "gone graph c0", "unload c0", "pool destroy c0", "object release c0 0 1"}) {
    const std::string log = "@ 1 " + end + "\n" + end + "\nsync device 0\n" + end + "\n@ 1 sync device 0\n";
    const auto left = [&log](const std::string& failed) {
      const std::string whole = log + failed + "\n";
      const std::vector<std::string_view> lines = fuzz::lines_of_log(whole);
      return Lines(lines.begin(), lines.end());
    };
    EXPECT_THAT(left("failed hipF 384 kept c0"),
                ElementsAre("@ 1 " + end, end, "sync device 0", "@ 1 sync device 0", "failed hipF 384 kept c0"));
    EXPECT_THAT(left("failed hipF 384 kept c1"), Contains(end).Times(2)) << "another object";
    EXPECT_THAT(left("failed hipStreamEndCapture 385 c0"), Contains(end).Times(2));
  }
}

fuzz::RecordedProgram program_of(const Lines& log) {
  std::string text;
  for (const std::string& line : log) text += line + "\n";
  return fuzz::program_of_log(text, {"a comment"});
}

TEST(ProgramOfLog, TheSettingsOfTheRuntimeStandInTheHeader) {
  EXPECT_EQ(fuzz::program_of_log("sync device 0\n", {}, {{"HIP_LAUNCH_BLOCKING", "1"}}).text,
            "hgcheck-program 1\nplacement native\nenvironment HIP_LAUNCH_BLOCKING=1\nsync device\n");
}

TEST(ProgramOfLog, LinesBecomeCommands) {
  const fuzz::RecordedProgram program =
      program_of({"alloc device b000 100", "stream a0 1 0", "copied b010 5000 2 1 0 =0102",
                  "work a0 fill b000 0 1 10 1 0", "copied 5000 b000 10 2 0 ab", "free b000"});
  EXPECT_EQ(program.text,
            "hgcheck-program 1\n# a comment\nplacement native\nbuffer b0 256\nstream s1 nonblocking\n"
            "write b0 at=16 hex=0102\non s1 memset dst=b0+0 value=0 element=1 width=16\nread b0\nfree b0\n");
  EXPECT_TRUE(program.not_recorded.empty());
  ASSERT_THAT(program.reads, ElementsAre(Key(8)));
  EXPECT_EQ(program.reads.begin()->second.hash, 0xab);
}

TEST(ProgramOfLog, UnfinishedLinesAndWhatHasNoCommandAreNoCommands) {
  const fuzz::RecordedProgram program = program_of({"alloc dev" + std::string(4, '\0') + "alloc device b000 100",
                                                    "other hipMemcpy2D", "failed hipMalloc 2", "lost a-thing"});
  EXPECT_THAT(program.text, HasSubstr("native\nbuffer b0 256\n# not recorded: hipMemcpy2D has no command\n"
                                      "# not recorded: hipMalloc answered 2\n# not recorded: a-thing\n"));
  EXPECT_EQ(program.not_recorded.size(), 3);
}

TEST(ProgramOfLog, AnotherThreadsAllocationComesBehindTheCapture) {
  const fuzz::RecordedProgram program =
      program_of({"stream a0 1 0", "capture a0 0", "@ 1 alloc device b000 100", "work a0 empty", "endcapture a0 d0"});
  EXPECT_THAT(program.text, HasSubstr("endcapture s1 g0\nbuffer b0 256\n"));
}

TEST(ProgramOfLog, APatternStandsForContentsThatAreAWholeBuffer) {
  const std::string allocation = "alloc device b000 600000";
  EXPECT_THAT(program_of({allocation, "copied b000 5000 600000 1 0 #ff"}).text, HasSubstr("write b0 seed=255\n"));
  for (const std::string part : {"copied b000 5000 5fffff 1 0 #ff", "copied b010 5000 5ffff0 1 0 #ff"}) {
    const fuzz::RecordedProgram program = program_of({allocation, part});
    EXPECT_THAT(program.text, Not(HasSubstr("\nwrite")));
    EXPECT_THAT(program.text, HasSubstr("nothing stands for them, for they are a part of a buffer"));
  }
}

Lines commands_of(Lines log) {
  log.insert(log.begin(), {"stream a0 1 0", "stream a1 1 0", "alloc device b000 100"});
  const std::string text = program_of(log).text, begin = "hgcheck-program 1\n# a comment\nplacement native\n";
  Lines lines;
  std::istringstream in(text.substr(begin.size()));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  for (const std::string line : {"stream s1 nonblocking", "stream s2 nonblocking", "buffer b0 256"})
    lines.erase(std::ranges::find(lines, line));
  return lines;
}
const std::string kFill = " fill b000 0 1 10 1 0", kFilled = " memset dst=b0+0 value=0 element=1 width=16";

TEST(ProgramOfLog, CopiesOfTheHostInACaptureUsePageableMemory) {
  EXPECT_THAT(
      commands_of({"capture a0 2", "copied b010 5000 2 1 0 =0102", "copied 5000 b000 2 2 a1 ab", "endcapture a0 d0"}),
      ElementsAre("buffer b1 2 memory=pageable", "write b1 at=0 hex=0102", "buffer b2 2 memory=pageable",
                  "capture s1 mode=relaxed", "on s0 memcpy dst=b0+16 src=b1+0 bytes=2 kind=h2d wait",
                  "on s2 memcpy dst=b2+0 src=b0+0 bytes=2 kind=d2h wait", "endcapture s1 g0", "read b2"));
}

TEST(ProgramOfLog, MemoryBeginsBeforeACaptureAndEndsBehindIt) {
  EXPECT_THAT(
      commands_of({"capture a0 2", "alloc device c000 10", "alloc async d000 10 a1", "free c000", "freeasync d000 a1",
                   "endcapture a0 d0"}),
      ElementsAre("buffer b1 16", "buffer b2 16", "capture s1 mode=relaxed", "endcapture s1 g0", "free b1", "free b2"));
}

TEST(ProgramOfLog, MemoryOfACaptureIsFilledBeforeAnythingElseNamesIt) {
  const auto log = [](const std::string& first) {
    return commands_of({"capture a0 2", "alloc async c000 10 a0", first, "freeasync c000 a0", "endcapture a0 d0"});
  };
  EXPECT_THAT(log("work a0 fill c000 7 4 4 1 0"),
              ElementsAre("capture s1 mode=relaxed", "malloc_async b1 16 s1",
                          "on s1 memset dst=b1+0 value=7 element=4 width=4", "free_async b1 s1", "endcapture s1 g0"));
  EXPECT_THAT(log("work a0 copy b000 c000 10 3"),
              ElementsAre("capture s1 mode=relaxed", "malloc_async b1 16 s1",
                          "# not recorded: the contents of new memory of a graph: a memset of all of it is added",
                          "on s1 memset dst=b1+0 value=0 element=1 width=16",
                          "on s1 memcpy dst=b0+0 src=b1+0 bytes=16 kind=d2d", "free_async b1 s1", "endcapture s1 g0"));
}

TEST(ProgramOfLog, CopiesOfRowsThatTheHostWaitsForHaveAnEndInPageableMemory) {
  const std::string to = " b000 4 4 0 0 0", host = " 5000 9 4 0 0 0", extent = " 2 4 1 ";
  const std::string fields = "width=2 height=4 depth=1 ", rest = " dpos=0,0,0 spos=0,0,0 kind=";
  EXPECT_THAT(
      commands_of({"copied3d copy3d" + to + host + extent + "1 =0102030405060708",
                   "copied3d copy3d" + host + to + extent + "2 ab"}),
      ElementsAre(
          "buffer b1 8 memory=pageable", "write b1 at=0 hex=0102030405060708",
          "on s0 memcpy3d dst=b0+0 src=b1+0 " + fields + "dpitch=4 spitch=2 drows=4 srows=4" + rest + "h2d wait",
          "on s0 memcpy3d dst=b1+0 src=b0+0 " + fields + "dpitch=2 spitch=4 drows=4 srows=4" + rest + "d2h wait",
          "read b1"));
  EXPECT_THAT(commands_of({"copied3d copy3d" + host + " 6000 4 4 0 0 0" + extent + "2 ab", "copied3d array 0"}),
              ElementsAre("# not recorded: a copy between memory that no call of HIP told of",
                          "# not recorded: a copy of an array"));
}

TEST(ProgramOfLog, ACopyThatBeginsWithinARowIsToldFromTheBeginningOfTheBuffer) {
  EXPECT_THAT(commands_of({"alloc device c000 100", "work 0 copy3d b046 40 3 0 0 0 c000 40 3 0 0 0 2 3 1 3"}),
              ElementsAre("buffer b1 256",
                          "on s0 memcpy3d dst=b0+0 src=b1+0 width=2 height=3 depth=1 dpitch=64 spitch=64 "
                          "drows=4 srows=3 dpos=6,1,0 spos=0,0,0 kind=d2d"))
      << "its rows, to the last one's end, would not lie within the buffer";
}

TEST(ProgramOfLog, ANodeByHandInACapturedGraphIsAddedBehindTheSameNodes) {
  const std::string begin = "capture s1 mode=relaxed", first = "on s1" + kFilled, by_hand = first + " by_hand";
  const auto log = [](const Lines& rest) {
    Lines lines = {"capture a0 2", "work a0" + kFill, "info a0 d0 1 e0"};
    lines.insert(lines.end(), rest.begin(), rest.end());
    lines.emplace_back("endcapture a0 d0");
    return commands_of(lines);
  };
  EXPECT_THAT(log({"node e1 d0 1 e0" + kFill, "depend a0 1 1 e1"}),
              ElementsAre(begin, first, by_hand, "endcapture s1 g0"));
  EXPECT_THAT(log({"node e1 d0 1 e0" + kFill, "work a0" + kFill}),
              ElementsAre(begin, first, by_hand, "capture_after s1 n0", first, "endcapture s1 g0"));
  EXPECT_THAT(
      log({"node e1 d0 0" + kFill, "depend a0 0 1 e1"}),
      ElementsAre(begin, first, "capture_after s1 none", by_hand, "capture_after s1 n0 add", "endcapture s1 g0"));
  EXPECT_THAT(log({"depend a0 1 0"}), ElementsAre(begin, first, "capture_after s1 none", "endcapture s1 g0"));
  EXPECT_THAT(log({"node e1 d0 1 e0 empty", "depend a0 1 1 e1"}),
              ElementsAre(begin, first, "on s1 empty by_hand", "endcapture s1 g0"));
  EXPECT_THAT(log({"graph d1", "node e1 d0 1 e0 child d1", "depend a0 1 1 e1"}),
              ElementsAre(begin, first, "graph g1", "on s1 child g1 by_hand", "endcapture s1 g0"));
}

TEST(ProgramOfLog, EventNodesOfACaptureAndNodesThatHipListsAreKept) {
  EXPECT_THAT(
      commands_of({"event f0 2", "event f1 2", "capture a0 2", "wait a0 f0 1", "work a0" + kFill, "record f1 a0 1",
                   "endcapture a0 d0", "nodes d0 3 e0 e1 e2", "instantiate c0 d0 plain 0", "set c0 e1" + kFill}),
      ElementsAre("event v0", "event v1", "capture s1 mode=relaxed", "on s1 eventwait v0", "on s1" + kFilled,
                  "on s1 eventrecord v1", "endcapture s1 g0", "instantiate e0 g0", "set e0.n1" + kFilled));
}

TEST(ProgramOfLog, AListOfNodesInAnotherOrderNamesNone) {
  const Lines list = {"capture a0 2",        "work a0" + kFill,           "info a0 d0 1 e0",
                      "work a0" + kFill,     "node e2 d0 0" + kFill,      "endcapture a0 d0",
                      "nodes d0 3 e0 e2 e1", "instantiate c0 d0 plain 0", "set c0 e1" + kFill};
  EXPECT_THAT(commands_of(list), Contains("# not recorded: a setter of a node that was not recorded"));
}

TEST(ProgramOfLog, FormsAndAttributesOfNodesAreKept) {
  EXPECT_THAT(commands_of({"event f0 2", "event f1 2", "graph d0", "node e0 d0 0 form generic" + kFill,
                           "node e1 d0 1 e0 eventrecord f0", "set 0 e1 eventrecord f1", "set 0 e0 form generic other",
                           "alloc graph c000 10", "node e2 d0 1 e1 form generic alloc c000",
                           "attribute e0 priority ffffffffffffffff", "copyattributes e0 e3"}),
              ElementsAre("event v0", "event v1", "graph g0", "memset g0.n0" + kFilled.substr(7) + " form=generic",
                          "eventrecord g0.n1 v0 after=n0", "set g0.n1 eventrecord v1",
                          "# not recorded: a node of a type that has no command", "alloc g0.n2 b1 16 after=n1",
                          "# not recorded: attribute g0.n0 priority=-1 (g0.n0 is no kernel)",
                          "# not recorded: attributes of a node that was not recorded"));
}

TEST(ProgramOfLog, PoolsAreKeptAndNameTheMemoryOfCaptures) {
  EXPECT_THAT(
      commands_of({"pool new c0", "pool default c1", "pool default c1", "pool attribute c0 4 10", "pool trim c0 20",
                   "pool access c0", "pool use c0", "capture a0 2", "alloc async d000 10 a0 c0",
                   "work a0 fill d000 0 4 4 1 0", "endcapture a0 d0", "pool destroy c0", "pool trim c0 0"}),
      ElementsAre("pool p0", "pool p1 default", "pool_attribute p0 release_threshold=16", "pool_trim p0 32",
                  "pool_access p0", "pool_use p0", "capture s1 mode=relaxed", "malloc_async b1 16 s1 pool=p0",
                  "on s1 memset dst=b1+0 value=0 element=4 width=4", "endcapture s1 g0", "destroy p0",
                  "# not recorded: a call for a memory pool that was not recorded"));
}

TEST(ProgramOfLog, UserObjectsAreKeptUnlessTheirGraphIsUpdated) {
  const auto log = [](const Lines& rest) {
    Lines lines = {"object new c0 1", "graph d0", "object retain c0 d0 2 0"};
    lines.insert(lines.end(), rest.begin(), rest.end());
    return commands_of(lines);
  };
  EXPECT_THAT(log({"object retain c0 d0 1 1", "object release c0 d0 1", "object release c1 0 1"}),
              ElementsAre("userobject u0", "graph g0", "retain u0 g0", "retain u0 g0", "retain u0 g0 move",
                          "release u0 g0", "# not recorded: a reference to a user object that was not recorded"));
  EXPECT_THAT(log({"instantiate e0 d0 plain 0", "graph d1", "update e0 d1"}),
              ElementsAre("userobject u0", "graph g0",
                          "# not recorded: user objects of a graph that is set, updated or a child",
                          "instantiate e0 g0", "graph g1", "update e0 g1"));
}

TEST(ProgramOfLog, ACaptureThatHipInvalidatedEndsInTheProgram) {
  EXPECT_THAT(commands_of({"capture a0 0", "failed hipMalloc 384", "failed hipStreamEndCapture 385 a0", "free b000"}),
              ElementsAre("capture s1 mode=global", "# not recorded: hipMalloc answered 900",
                          "# not recorded: hipStreamEndCapture answered 901", "endcapture s1 g0", "free b0"));
}

TEST(ProgramOfLog, WhatHipRefusedToEndGoesOn) {
  EXPECT_THAT(commands_of({"free b000", "failed hipFree 384 kept b000", "copied 5000 b000 10 2 0 ab"}),
              ElementsAre("# not recorded: hipFree answered 900", "read b0"));
}

TEST(ProgramOfLog, NoBytesAreNoBuffer) {
  EXPECT_THAT(commands_of({"alloc async 0 0 a0", "copied 0 b000 10 3 0"}),
              ElementsAre("# not recorded: a copy between memory that no call of HIP told of"));
}

TEST(ProgramOfLog, NodesOfACloneGoOnBehindTheOriginals) {
  EXPECT_THAT(commands_of({"graph d0", "node e0 d0 0 empty", "clone d1 d0", "found e1 e0 d1", "node e2 d1 1 e1 empty",
                           "capture a0 2 d1 0", "endcapture a0 d1", "node e3 d1 0 empty"}),
              ElementsAre("graph g0", "empty g0.n0", "clone g1 g0", "empty g1.n1 after=n0",
                          "capture s1 mode=relaxed into=g1", "endcapture s1 g1", "empty g1.n2"));
}

TEST(ProgramOfLog, WorkOfACaptureThatIsNotKeptIsLeftOut) {
  const std::string lost = "# not recorded: work of a capture that was not recorded";
  EXPECT_THAT(
      commands_of({"event f0 2", "capture a0 2 d0 0", "work a0" + kFill, "alloc async c000 10 a0", "record f0 a0",
                   "wait a1 f0", "work a1" + kFill, "freeasync c000 a0", "work 0" + kFill, "endcapture a0 d0",
                   "work a1" + kFill, "wait a1 f0"}),
      ElementsAre("event v0", "# not recorded: a capture into a graph that was not recorded", lost, lost, lost, lost,
                  lost, lost, "on s0" + kFilled, "# not recorded: the end of a capture that was not recorded",
                  "on s2" + kFilled, "wait s2 v0"));
}

TEST(ProgramOfLog, AVariableOfAModuleBeginsBeforeTheCaptureInWhichItIsFirstNamed) {
  const std::string load = "module c0 " + fuzz::own_code_object(), variable = "variable c000 10 hg_symbol1 - c0";
  const std::string begin = "capture a0 2", end = "endcapture a0 d0", fill = "work a0 fill c000 0 1 10 1 0";
  const auto has_it_first =
      ElementsAre("module m0", "buffer b1 16 symbol=1 module=m0", "write b1 at=0 hex=" + std::string(32, '0'),
                  "capture s1 mode=relaxed", "on s1 memset dst=b1+0 value=0 element=1 width=16", "endcapture s1 g0");
  EXPECT_THAT(commands_of({load, begin, variable, fill, end}), has_it_first);
  EXPECT_THAT(commands_of({begin, load, variable, fill, end}), has_it_first);
}

TEST(ProgramOfLog, AVariableAtANewAddressTakesThePlaceOfMemoryThere) {
  verify::know_code_object({"00000000000000ab", {}, {}, true});
  const auto at = [](const std::string& address) { return "variable " + address + " 20 w 00000000000000ab 0"; };
  EXPECT_THAT(commands_of({at("8000"), "alloc device c010 10", at("c000"), "work a0 fill c010 0 1 10 1 0"}),
              ElementsAre("buffer b1 32 variable=w@00000000000000ab", "buffer b2 16",
                          "on s1 memset dst=b1+16 value=0 element=1 width=16"));
}

TEST(ProgramOfLog, OnlyTheProjectsModulesHaveNamesAndAKernelOfNoneIsNamedByItsHostFunction) {
  const std::string code = fuzz::own_code_object(), launch = "work a0 kernel 1 1 1 40 1 1 0 inplace_u32 " + code;
  const std::string values = " params 0 pointer =00b0000000000000 8 value =01000000 c value =02000000";
  EXPECT_THAT(
      commands_of({"module c0 " + code, launch + " 0" + values, launch + " c0" + values}),
      ElementsAre("module m0", "on s1 kernel inplace_u32 data=b0+0 n=1 k=2 grid=1 block=64 style=params by_symbol",
                  "on s1 kernel inplace_u32 data=b0+0 n=1 k=2 grid=1 block=64 style=params module=m0"));
  const std::string cooperative = "work a0 cooperative 1 1 1 40 1 1 0 inplace_u32 ";
  EXPECT_THAT(commands_of({cooperative + code + " 0" + values}),
              ElementsAre("on s1 kernel inplace_u32 data=b0+0 n=1 k=2 grid=1 block=64 style=params by_symbol "
                          "cooperative"));
  verify::KernelSpec kernel;
  kernel.name = "f@00000000000000ac";
  kernel.extent = verify::Extent::kUnknown;
  verify::know_code_object({"00000000000000ac", {}, {kernel}, true});
  EXPECT_THAT(commands_of({"work a0 kernel 1 1 1 40 1 1 0 f 00000000000000ac 0 params"}),
              ElementsAre("on s1 kernel f@00000000000000ac grid=1,1,1 block=64,1,1 style=params"))
      << "kernels of a code object with variables are the module's";
  EXPECT_THAT(commands_of({"module c0 1234", "module c1 1234", "unload c0"}),
              ElementsAre("# not recorded: a second module with a code object of the command: one stands for all",
                          "# not recorded: the end of a module with a code object of the command"));
}

}  // namespace
