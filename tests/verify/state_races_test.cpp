// Nodes and launches that may race because nothing orders them, as far as generators ask, and the bytes that a node
// touches.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include "programs.h"
#include "verify/generate/generator.h"
#include "verify/program/state.h"

namespace verify {
namespace {

TEST(State, UnorderedNodesThatWriteTheSameBytesMayRace) {
  State state = state_after(
      program_of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 width=8\nempty g0.n1 after=n0\nempty g0.n2"));
  const std::vector<ByteRange> same = {{0, 0, 8, true}}, other = {{0, 8, 16, true}}, read = {{0, 7, 9, false}};
  const GraphState& graph = *state.graph(0);
  EXPECT_TRUE(state.node_races(graph, same, {}));
  EXPECT_TRUE(state.node_races(graph, same, {2}));
  EXPECT_TRUE(state.node_races(graph, read, {}));
  EXPECT_FALSE(state.node_races(graph, other, {}));
  EXPECT_FALSE(state.node_races(graph, same, {0}));
  EXPECT_FALSE(state.node_races(graph, same, {1}));    // through an ancestor
  EXPECT_FALSE(state.node_races(graph, same, {}, 0));  // instead of the node itself
}

TEST(State, NodesAreOrderedThroughEdgesToEarlierNodes) {
  State state = state_after(
      program_of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 width=4\nmemset g0.n1 dst=b0 value=2 width=4\n"
                 "edge g0.n0 after=n1"));
  const GraphState& graph = *state.graph(0);
  for (int i = 0; i < 2; ++i) {
    const NodeState& node = graph.nodes[static_cast<std::size_t>(i)];
    EXPECT_FALSE(state.node_races(graph, node.ranges, node.after, i)) << i;
  }
  state.apply(ChangeEdges{0, 0, {1}, false, false});
  EXPECT_TRUE(state.node_races(graph, graph.nodes[0].ranges, graph.nodes[0].after, 0));
}

// Launches e0 on s1 and then asks whether e1, which writes the same bytes, may race on `stream`.
bool races_after(std::string_view between, Id stream) {
  const Program program = program_of(
      "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 width=8\ninstantiate e0 g0\ninstantiate e1 g0\n"
      "stream s1\nstream s2\nstream s3 nonblocking\nevent v0\nlaunch e0 s1\n" +
      std::string(between));
  EXPECT_EQ(flaw(program), "");
  return state_after(program).launch_races(1, stream);
}

TEST(State, LaunchesOnStreamsThatNothingOrdersMayRace) {
  EXPECT_TRUE(races_after("", 2));
  EXPECT_TRUE(races_after("", 3));
  EXPECT_TRUE(races_after("record v0 s2\nwait s2 v0\n", 2));
  EXPECT_TRUE(races_after("sync s2\n", 2));
}

TEST(State, WhatIsOrderedByStreamEventOrSynchronisationDoesNotRace) {
  EXPECT_FALSE(races_after("", 1));
  EXPECT_FALSE(races_after("", 0));  // the null stream waits for blocking streams
  EXPECT_FALSE(races_after("record v0 s1\nwait s2 v0\n", 2));
  EXPECT_FALSE(races_after("record v0 s1\nwait s3 v0\n", 3));
  EXPECT_FALSE(races_after("record v0 s1\nsync v0\n", 2));
  EXPECT_FALSE(races_after("sync s1\n", 2));
  EXPECT_FALSE(races_after("sync device\n", 3));
}

// ---- the bytes that a node touches

TEST(State, AWaitNodeWaitsForNothingWhereACaptureTookItsEvent) {
  const auto races = [](std::string_view in_the_capture) {
    const Program program = program_of(
        "buffer b0 64\nstream s1\nstream s2 nonblocking\nevent v0\non s1 memset dst=b0 value=1 width=8\n"
        "record v0 s1\ncapture s1\non s1 eventwait v0\n" +
        std::string(in_the_capture) + "on s1 memset dst=b0 value=2 width=8\nendcapture s1 g0\ninstantiate e0 g0");
    EXPECT_EQ(flaw(program), "");
    return state_after(program).launch_races(0, 2);
  };
  EXPECT_FALSE(races(""));
  EXPECT_TRUE(races("record v0 s1\n"));
}

RC_GTEST_PROP(Ranges, TheInstancesOfAFanTouchWhatTheFanTouches, ()) {
  const Program program = *arbitrary_program({});
  for (const Step& step : program.steps) {
    const auto* add = std::get_if<AddNode>(&step.command);
    if (add == nullptr || add->fan == 1) continue;
    std::vector<ByteRange> whole, parts;
    append_ranges(add->params, add->fan, whole);
    for (std::uint32_t k = 0; k < add->fan; ++k) append_ranges(fan_instance(add->params, k), 1, parts);
    for (const ByteRange& part : parts) {
      RC_ASSERT(std::any_of(whole.begin(), whole.end(), [&](const ByteRange& range) {
        return range.buffer == part.buffer && range.write == part.write && range.lo <= part.lo && part.hi <= range.hi;
      }));
    }
  }
}

TEST(Ranges, AStridedCopyTouchesTheHullOfItsRows) {
  const Program program = program_of(
      "memcpy3d g0.n0 dst=b0+16 src=b1+0 width=4 height=2 depth=2 dpitch=10 spitch=8 drows=3 srows=2 dpos=1,1,1");
  std::vector<ByteRange> ranges;
  append_ranges(std::get<AddNode>(program.steps.at(0).command).params, 1, ranges);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0].lo, 16 + 30 + 10 + 1);
  EXPECT_EQ(ranges[0].hi, ranges[0].lo + 30 + 10 + 4);
  EXPECT_TRUE(ranges[0].write);
  EXPECT_EQ(ranges[1].lo, 0);
  EXPECT_EQ(ranges[1].hi, 16 + 8 + 4);
  EXPECT_FALSE(ranges[1].write);
}

TEST(Ranges, ARangeThatEndsOnePastItsBufferTouchesNothingThere) {
  const Program program = program_of("kernel g0.n0 reduce_range out=b0+0 begin=b1+60 end=b1+64 seed=1");
  std::vector<ByteRange> ranges;
  append_ranges(std::get<AddNode>(program.steps.at(0).command).params, 1, ranges);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(std::tuple(ranges[1].buffer, ranges[1].lo, ranges[1].hi), std::tuple(1u, 60, 64));
}

}  // namespace
}  // namespace verify
