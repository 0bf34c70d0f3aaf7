// Streams, eager work and capture in programs: the text of every command, the valid commands, and the answers that the
// rules of capture give.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "programs.h"
#include "verify/program/features.h"
#include "verify/program/picture.h"
#include "verify/program/state.h"

namespace verify {
namespace {

constexpr const char* kObjects =
    "buffer b0 256\nbuffer b1 64 memory=pageable\nstream s1\nstream s2 nonblocking\nevent v0\nevent v1 timing\n";
constexpr const char* kWork = "memset dst=b0+0 value=1 width=4";

// The state behind `commands`, all of which stand.
State state_behind(const std::string& commands) {
  const Program program = program_of(kObjects + commands);
  EXPECT_EQ(flaw(program), "") << commands;
  return state_after(program);
}

// Returns the status that HIP gives to the last command of `commands`.
int answer_to_last(const std::string& commands) {
  const Program program = program_of(kObjects + commands);
  EXPECT_EQ(flaw(program), "") << commands;
  State state;
  for (std::size_t i = 0; i + 1 < program.steps.size(); ++i) state.apply(program.steps[i].command);
  return state.answer(program.steps.back().command).status;
}

bool stands(const std::string& commands) {
  return flaw(program_of(kObjects + commands)).empty();
}

std::string captured(const std::string& commands) {
  return "capture s1\n" + commands;
}
const std::string kOn1 = std::string("on s1 ") + kWork + "\n";
const std::string kOn2 = "on s2 memset dst=b0+64 value=2 width=4\n";
const std::string kFork = "record v0 s1\nwait s2 v0\n";
const std::string kJoin = "record v1 s2\nwait s1 v1\n";

TEST(Streams, WhatAHelperThreadCannotBeIsSaid) {
  EXPECT_FALSE(stands("stream s3 per_thread\nstream s4 per_thread"));
  EXPECT_FALSE(stands("stream s3 per_thread\nsync s3 thread=1"));
  EXPECT_FALSE(stands("stream s3 per_thread\ndestroy s3"));
  EXPECT_TRUE(stands("stream s3 per_thread\ncapture s3\nendcapture s3 g0"));
}

TEST(Streams, AQueryStandsOnlyWhereItsAnswerIsNoMatterOfTime) {
  EXPECT_TRUE(stands("query s1"));
  EXPECT_FALSE(stands(kOn1 + "query s1"));
  EXPECT_TRUE(stands(kOn1 + "query s2"));
  EXPECT_FALSE(stands(kOn1 + "query s0"));
  EXPECT_TRUE(stands(kOn1 + "sync s1\nquery s1"));
  EXPECT_FALSE(stands("record v0 s1\nquery v0"));
  EXPECT_TRUE(stands("record v0 s1\nsync v0\nquery v0"));
  EXPECT_FALSE(stands("record v1 s1\nelapsed v1 v1"));
  // A wait for one thing settles what came before it elsewhere.
  EXPECT_TRUE(stands("record v0 s2\nsync s2\nquery v0"));
  EXPECT_TRUE(stands("record v0 s2\nsync v0\nquery s2"));
  EXPECT_TRUE(stands("record v1 s1\nsync s0\nelapsed v1 v1"));
  EXPECT_TRUE(stands(kOn2 + "record v0 s2\nwait s1 v0\nsync s1\nquery s2"));
  EXPECT_TRUE(stands("record v0 s2\nwait s1 v0\nrecord v1 s1\nsync v1\nquery v0"));
  EXPECT_FALSE(stands(kOn2 + "record v0 s2\n" + kOn2 + "sync v0\nquery s2"));
  EXPECT_FALSE(stands("record v0 s2\nrecord v1 s2\nsync v0\nquery v1"));
  EXPECT_FALSE(stands("record v0 s2\nsync s0\nquery v0"));
  EXPECT_FALSE(stands("record v0 s2\nsync s2\nwait s2 v0\nquery s2"));
  // The second record of a launch may come before the other, or behind it.
  const std::string launched =
      "graph g0\neventrecord g0.n0 v0\neventrecord g0.n1 v1\ninstantiate e0 g0\nlaunch e0 s2\n";
  EXPECT_FALSE(stands(launched + "sync v1\nquery v0"));
  EXPECT_TRUE(stands(launched + "sync s2\nquery v0"));
  EXPECT_TRUE(stands("record v1 s1\nsync device\nelapsed v1 v1"));
}

TEST(CaptureRules, AnotherThreadAsksForWhatIsSettledWhereItsModeAllowsIt) {
  for (const std::string wait : {"sync s2", "sync v0"}) {
    const std::string begin = "record v0 s2\n" + wait + "\ncapture s1 mode=global\n" + kOn1;
    for (const std::string ask : {"query v0 thread=1", "sync v0 thread=1", "query s2 thread=1"}) {
      EXPECT_EQ(answer_to_last(begin + "capture_mode relaxed thread=1\n" + ask), kAnswerSuccess) << ask;
      EXPECT_EQ(answer_to_last(begin + "capture_mode relaxed\n" + ask), kAnswerUnsupported) << ask;
    }
  }
}

TEST(Streams, MemoryStaysAsItIsWhileAStreamCaptures) {
  for (const char* command : {"read b0", "write b0 seed=1", "move b0", "free b0", "buffer b9 64"}) {
    EXPECT_FALSE(stands("capture s1\n" + std::string(command))) << command;
    EXPECT_TRUE(stands("capture s1\nendcapture s1 g0\n" + std::string(command))) << command;
  }
}

TEST(Streams, ACaptureBecomesAGraphWhoseNodesAreNamedInTheirOrder) {
  const State state = state_behind(captured(kOn1 + kFork + kOn2 + kOn1 + kJoin + kOn1 + "endcapture s1 g7"));
  const GraphState* graph = state.graph(7);
  ASSERT_NE(graph, nullptr);
  ASSERT_EQ(graph->nodes.size(), 4u);
  EXPECT_EQ(graph->nodes[1].after, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(graph->nodes[2].after, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(graph->nodes[3].after, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_TRUE(state.captures().empty());
  EXPECT_TRUE(state.idle());
}

TEST(Streams, ALaunchIntoACaptureIsAChild) {
  const State state =
      state_behind("graph g0\nempty g0.n0\ninstantiate e0 g0\ncapture s1\nlaunch e0 s1\nendcapture s1 g1");
  EXPECT_TRUE(std::holds_alternative<ChildParams>(state.graph(1)->nodes.at(0).params));
  EXPECT_EQ(state.graph(1)->depth, 2u);
}

TEST(Streams, NodesGoOnBehindThoseOfTheGraphThatIsCapturedInto) {
  const std::string graph = "graph g0\nempty g0.n0\nempty g0.n4\n";
  const State state = state_behind(graph + "capture s1 into=g0 after=n4\n" + kOn1 + "endcapture s1 g0");
  ASSERT_EQ(state.graph(0)->nodes.size(), 3u);
  EXPECT_EQ(state.graph(0)->nodes[2].id, 5u);
  EXPECT_EQ(state.graph(0)->nodes[2].after, (std::vector<std::uint32_t>{1}));
  EXPECT_FALSE(stands(graph + "capture s1 into=g0\nempty g0.n1"));
  EXPECT_FALSE(stands(graph + "capture s1 into=g0\nendcapture s1 g1"));
  EXPECT_FALSE(stands(graph + "capture s1 into=g0\nquery s1\nendcapture s1 g0\ninstantiate e0 g0"));
}

TEST(CaptureRules, BeginningAndEndingHaveTheirConditions) {
  EXPECT_EQ(answer_to_last("capture s0"), kAnswerUnsupported);
  EXPECT_EQ(answer_to_last("capture s1\ncapture s1"), kAnswerIllegalState);
  EXPECT_EQ(answer_to_last("endcapture s1 g0"), kAnswerIllegalState);
  EXPECT_EQ(answer_to_last(captured(kFork + "endcapture s2 g0")), kAnswerUnmatched);
  EXPECT_EQ(answer_to_last("capture s1\nendcapture s1 g0 thread=1"), kAnswerWrongThread);
  EXPECT_EQ(answer_to_last("capture s1 mode=relaxed\nendcapture s1 g0 thread=1"), kAnswerSuccess);
  EXPECT_EQ(answer_to_last(captured(kFork + kOn2 + "endcapture s1 g0")), kAnswerUnjoined);
  EXPECT_EQ(answer_to_last(captured(kFork + kOn2 + kJoin + "endcapture s1 g0")), kAnswerSuccess);
}

TEST(CaptureRules, WaitingAndAskingIsRefusedAndInvalidates) {
  for (const char* command : {"query s1", "sync s1", "sync device", "unsafe", "sync s2"}) {
    EXPECT_EQ(answer_to_last("capture s1\n" + std::string(command)), kAnswerUnsupported) << command;
    EXPECT_EQ(answer_to_last("capture s1\n" + std::string(command) + "\n" + kOn1), kAnswerInvalidated) << command;
    EXPECT_EQ(answer_to_last("capture s1\n" + std::string(command) + "\nendcapture s1 g0"), kAnswerInvalidated);
  }
  EXPECT_EQ(answer_to_last(captured("record v0 s1\nquery v0")), kAnswerCapturedEvent);
  EXPECT_EQ(answer_to_last(captured("record v0 s1\nendcapture s1 g0\nsync v0")), kAnswerCapturedEvent);
}

TEST(CaptureRules, TheNullStreamIsForbiddenWhileABlockingStreamCaptures) {
  const std::string null_work = "on s0 memset dst=b0+128 value=3 width=4";
  EXPECT_EQ(answer_to_last("capture s1\n" + null_work), kAnswerImplicit);
  EXPECT_EQ(answer_to_last("capture s2\n" + null_work), kAnswerSuccess);
  EXPECT_EQ(answer_to_last("capture s1\ncapture_info s0"), kAnswerImplicit);
  EXPECT_EQ(answer_to_last("capture s1\ncapture_info s0\n" + kOn1), kAnswerSuccess);
}

TEST(CaptureRules, EventsJoinStreamsAndKeepCapturesApart) {
  EXPECT_EQ(answer_to_last("record v0 s2\ncapture s1\nwait s1 v0"), kAnswerIsolation);
  EXPECT_EQ(answer_to_last("capture s1\ncapture s2\nrecord v0 s1\nwait s2 v0"), kAnswerMerge);
  EXPECT_EQ(answer_to_last(captured(kFork + kOn2 + "capture_info s2")), kAnswerSuccess);
}

TEST(CaptureRules, TheModesSayWhoseUnsafeCallsAreForbidden) {
  EXPECT_EQ(answer_to_last("capture s1\nunsafe thread=1"), kAnswerUnsupported);
  EXPECT_EQ(answer_to_last("capture s1 mode=thread\nunsafe thread=1"), kAnswerSuccess);
  EXPECT_EQ(answer_to_last("capture s1 mode=relaxed\nunsafe"), kAnswerSuccess);
  EXPECT_EQ(answer_to_last("capture_mode relaxed\ncapture s1\nunsafe"), kAnswerSuccess);
  EXPECT_EQ(answer_to_last("capture_mode thread thread=1\ncapture s1\nunsafe thread=1"), kAnswerSuccess);
  for (const char* call : {"host_malloc", "host_register"}) {
    EXPECT_EQ(answer_to_last(fmt::format("capture s1\nunsafe call={}", call)), kAnswerUnsupported);
    EXPECT_EQ(answer_to_last(fmt::format("capture s1 mode=relaxed\nunsafe call={}", call)), kAnswerSuccess);
  }
  for (const char* call : {"memory_info", "device_limit"}) {
    EXPECT_EQ(answer_to_last(fmt::format("capture s1\nunsafe call={}", call)), kAnswerSuccess);
  }
}

TEST(CaptureRules, TheModeDoesNotMatterToWorkOfTheNullStreamThatTheHostWaitsFor) {
  const std::string waits = "on s0 memset dst=b0+128 value=3 width=4 wait thread=1";
  const std::string other = "on s2 memcpy dst=b0+0 src=b0+8 bytes=8 wait";
  for (const char* mode : {"global", "thread", "relaxed"}) {
    const std::string begin = std::string(" mode=") + mode + "\n";
    EXPECT_EQ(answer_to_last("capture s1" + begin + waits), kAnswerImplicit) << mode;
    EXPECT_EQ(answer_to_last("capture s1" + begin + waits + "\nendcapture s1 g0"), kAnswerInvalidated) << mode;
    EXPECT_EQ(answer_to_last("capture s2" + begin + waits), kAnswerSuccess) << mode;
    EXPECT_EQ(answer_to_last("capture s2" + begin + other), kAnswerUnsupported) << mode;
  }
  EXPECT_EQ(answer_to_last("capture s1\n" + other), kAnswerUnsupported);
  EXPECT_EQ(answer_to_last("capture s1 mode=relaxed\n" + other), kAnswerSuccess);
  EXPECT_EQ(answer_to_last("capture s1 mode=thread\n" + other + " thread=1"), kAnswerSuccess);
}

TEST(Streams, TheHostWaitsForCopiesAndMemsets) {
  EXPECT_FALSE(stands("on s0 kernel inplace_u32 data=b0+0 n=1 k=1 wait"));
  EXPECT_FALSE(stands("on s0 host tag=1 wait"));
  EXPECT_FALSE(stands("on s1 memset dst=b0+0 value=1 width=4 wait"));
  EXPECT_FALSE(stands("on s0 memcpy dst=b0+0 src=b0+8 bytes=8 kind=d2d peer=wait wait"));
  // A copy to or from the host is over, a copy on the device may go on.
  EXPECT_TRUE(stands("buffer b2 64 memory=pinned\non s1 memcpy dst=b2+0 src=b0+0 bytes=8 wait\nquery s1"));
  EXPECT_FALSE(stands("on s1 memcpy dst=b0+0 src=b0+8 bytes=8 wait\nquery s1"));
}

TEST(CaptureRules, ObjectsOfOthersAreDestroyedBesideACapture) {
  const std::string exec = "graph g0\nempty g0.n0\ninstantiate e0 g0\n";
  EXPECT_TRUE(stands(exec + "capture s1\ndestroy e0\ndestroy g0\ndestroy v0\ndestroy s2\nendcapture s1 g1"));
  EXPECT_FALSE(stands(exec + "launch e0 s2\ncapture s1\ndestroy e0"));
  EXPECT_TRUE(stands(exec + "launch e0 s2\nsync s2\ncapture s1\ndestroy e0"));
  EXPECT_FALSE(stands(exec + "capture s1 into=g0\ndestroy g0"));
}

TEST(CaptureRules, OtherStreamsAllocateAndFreeBesideACapture) {
  EXPECT_TRUE(stands("malloc_async b5 64 s2\ncapture s1\nmalloc_async b6 64 s2\nfree_async b5 s2\nfree_async b6 s2"));
  EXPECT_FALSE(stands("capture s1\nmalloc_async b5 64 s1\nfree_async b5 s2"));
  EXPECT_FALSE(stands("malloc_async b5 64 s2\ncapture s1\nfree_async b5 s1"));
}

TEST(CaptureRules, NodesAreAddedByHandToTheGraphOfAValidCapture) {
  const std::string work = kOn1.substr(0, kOn1.size() - 1) + " by_hand";
  EXPECT_FALSE(stands(work));
  EXPECT_TRUE(stands("capture s1\n" + work));
  EXPECT_FALSE(stands("capture s1\nquery s1\n" + work)) << "no call names the graph of an invalid capture";
  EXPECT_FALSE(stands("capture s1\n" + work + " thread=1"));
  EXPECT_FALSE(stands("capture s1\n" + work + " wait"));
  EXPECT_FALSE(stands("capture s1\non s1 empty"));
  EXPECT_TRUE(stands("capture s1\non s1 empty by_hand"));
  EXPECT_FALSE(stands("graph g5\ncapture s1\non s1 child g5"));
  EXPECT_TRUE(stands("graph g5\ncapture s1\non s1 child g5 by_hand"));
  EXPECT_FALSE(stands("graph g5\ncapture s1 into=g5\non s1 child g5 by_hand")) << "a graph within itself";
  EXPECT_FALSE(stands("malloc_async b5 64 s1 by_hand"));
  EXPECT_FALSE(stands("capture s1\nmalloc_async b5 64 s1\nendcapture s1 g1\nfree_async b5 s1 by_hand"));
  EXPECT_TRUE(stands("capture s1\nmalloc_async b5 64 s1 by_hand\nfree_async b5 s1 by_hand\nendcapture s1 g1"));
  EXPECT_FALSE(stands("pool p0\ncapture s1\nmalloc_async b5 64 s1 pool=p0 by_hand"));
}

TEST(CaptureRules, ModulesAreLoadedAndMayNotBeUnloaded) {
  EXPECT_EQ(answer_to_last("capture s1\nmodule m0"), kAnswerSuccess);
  EXPECT_EQ(answer_to_last("module m0\ncapture s1\nunload m0 thread=1"), kAnswerUnsupported);
  EXPECT_EQ(answer_to_last("module m0\ncapture s1\nunload m0\nendcapture s1 g0"), kAnswerInvalidated);
  EXPECT_EQ(answer_to_last("module m0\ncapture s1 mode=thread\nunload m0 thread=1"), kAnswerSuccess);
  EXPECT_EQ(answer_to_last("module m0\ncapture s1 mode=relaxed\nunload m0"), kAnswerSuccess);
}

TEST(Modules, AModuleStaysWhileAGraphHasAKernelOfIt) {
  const std::string kernel = "kernel inplace_u32 data=b0+0 n=1 k=1 module=m0";
  const std::string graph = "module m0\ngraph g0\nkernel g0.n0 " + kernel.substr(7) + "\n";
  EXPECT_FALSE(stands(graph + "unload m0"));
  EXPECT_TRUE(stands(graph + "destroy g0\nunload m0"));
  EXPECT_FALSE(stands(graph + "instantiate e0 g0\ndestroy g0\nunload m0"));
  EXPECT_FALSE(stands(graph + "graph g1\nchild g1.n0 g0\ndestroy g0\nunload m0"));
  EXPECT_TRUE(stands(graph + "remove g0.n0\nunload m0"));
  EXPECT_FALSE(stands("module m0\ncapture s1\non s1 " + kernel + "\nunload m0"));
  EXPECT_FALSE(stands("module m0\non s2 " + kernel + "\ncapture s1 mode=relaxed\nunload m0"));
  EXPECT_TRUE(stands("module m0\non s2 " + kernel + "\nunload m0"));
  EXPECT_FALSE(stands("module m0\nunload m0\non s2 " + kernel));
  EXPECT_FALSE(stands("on s2 " + kernel));
  EXPECT_FALSE(stands("module m0\nmodule m0"));
}

TEST(Modules, AVariableOfAModuleGoesWithIt) {
  const std::string variable = "module m0\nbuffer b5 64 symbol=1 module=m0\n";
  EXPECT_TRUE(stands(variable + "module m1\nbuffer b6 64 symbol=1 module=m1\nbuffer b7 64 symbol=1\nread b5"));
  EXPECT_FALSE(stands(variable + "buffer b6 64 symbol=1 module=m0"));
  EXPECT_FALSE(stands("buffer b5 64 symbol=1 module=m0"));
  EXPECT_FALSE(stands("module m0\nbuffer b5 64 module=m0"));
  EXPECT_FALSE(stands(variable + "move b5"));
  EXPECT_FALSE(stands(variable + "free b5"));
  EXPECT_FALSE(stands(variable + "unload m0\nread b5"));
  EXPECT_FALSE(stands(variable + "capture s1 mode=relaxed\nunload m0"));
  EXPECT_TRUE(stands(variable + "on s1 memcpy dst=b5 src=b0 bytes=8 kind=d2d"));
  EXPECT_FALSE(stands(variable + "on s1 memcpy dst=b5 src=b0 bytes=8 kind=d2d symbol=dst"));
}

TEST(CaptureRules, AFailedCaptureLeavesNoTraceInTheNextOne) {
  const State state =
      state_behind("capture s1\n" + kOn1 + "query s1\nendcapture s1 g0\ncapture s1\n" + kOn1 + "endcapture s1 g0");
  ASSERT_NE(state.graph(0), nullptr);
  EXPECT_EQ(state.graph(0)->nodes.size(), 1u);
  EXPECT_EQ(state.captures_failed(), 1u);
}

TEST(CaptureRules, WhatItShowsIsNamed) {
  const State state = state_behind(captured(kOn1 + kFork + kOn2));
  EXPECT_EQ(state.seen(CaptureInfo{1}), "active after n0");
  EXPECT_EQ(state.seen(CaptureInfo{2}), "active after n1");
  EXPECT_EQ(state.seen(ExchangeCaptureMode{CaptureMode::kRelaxed, 0}), "global");
}

TEST(Streams, ACapturedGraphIsDrawn) {
  const auto pictures = draw_graphs(program_of(kObjects + captured(kOn1 + kOn1 + "endcapture s1 g1")), {"g1.n1"});
  ASSERT_EQ(pictures.size(), 1u);
  ASSERT_EQ(pictures[0].nodes.size(), 2u);
  EXPECT_TRUE(pictures[0].nodes[1].at_fault);
  EXPECT_EQ(pictures[0].edges.size(), 1u);
}

TEST(Streams, FeaturesTellEagerFromCapturedWork) {
  std::vector<std::uint64_t> counts(feature_names().size(), 0);
  count_features(
      program_of(kObjects + kOn1 + "sync device\n" + captured(kOn2 + kOn1 + kFork + "query s1\nendcapture s1 g0")),
      counts);
  const auto count = [&](std::string_view name) {
    const auto names = feature_names();
    return counts[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin())];
  };
  EXPECT_EQ(count("eager work"), 2u);
  EXPECT_EQ(count("work that escapes a capture"), 1u);
  EXPECT_EQ(count("captured work"), 1u);
  EXPECT_EQ(count("capture fork"), 1u);
  EXPECT_EQ(count("capture refused"), 2u);
  EXPECT_EQ(count("capture invalidated"), 1u);
}

}  // namespace
}  // namespace verify
