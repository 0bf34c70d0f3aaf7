// Event record and wait nodes: the work that they order and the work that they do not, in every schedule of the seed.
#include <gtest/gtest.h>

#include "model/fixture.h"

namespace model {
namespace {

constexpr std::uint64_t kSeeds = 20;

struct TwoStreamsAndAGraph : TwoStreams {
  using TwoStreams::TwoStreams;
  void launch_graph(Stream& on) { launch(exec(graph), on); }
  // Adds work to the other stream behind the event and waits for the device.
  void add_behind_event(Address out, Address in, std::uint32_t amount) {
    wait(other);
    enqueue(other, add(out, in, amount));
    finish();
  }
  Graph& graph = runtime.create_graph();
};

TEST(EventNodes, AWaiterComesAfterWhatTheRecordNodeDependsOn) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    TwoStreamsAndAGraph m(seed);
    m.node(m.graph, EventRecordParams{m.event.id()}, {m.node(m.graph, Machine::set(m.at, 5))});
    m.launch_graph(m.one);
    m.add_behind_event(m.at + 4, m.at, 10);
    EXPECT_EQ(m.word(m.at + 4), 15u);
    m.expect_races(0);
  }
}

TEST(EventNodes, AWaiterDoesNotComeAfterTheRestOfTheGraph) {
  TwoStreamsAndAGraph m;
  m.node(m.graph, EventRecordParams{m.event.id()});
  m.node(m.graph, Machine::set(m.at, 5));
  m.launch_graph(m.one);
  m.add_behind_event(m.at + 4, m.at, 10);
  m.expect_races(1);
}

TEST(EventNodes, WhatDependsOnAWaitNodeComesAfterTheEvent) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    TwoStreamsAndAGraph m(seed);
    m.node(m.graph, m.add(m.at + 4, m.at, 10), {m.node(m.graph, EventWaitParams{m.event.id()})});
    m.enqueue(m.one, Machine::set(m.at, 5));
    m.record(m.one);
    m.launch_graph(m.other);
    m.finish();
    EXPECT_EQ(m.word(m.at + 4), 15u);
    m.expect_races(0);
  }
}

TEST(EventNodes, WhatDoesNotDependOnAWaitNodeDoesNotComeAfterTheEvent) {
  TwoStreamsAndAGraph m;
  m.node(m.graph, EventWaitParams{m.event.id()});
  m.node(m.graph, m.add(m.at + 4, m.at, 10));
  m.enqueue(m.one, Machine::set(m.at, 5));
  m.record(m.one);
  m.launch_graph(m.other);
  m.finish();
  m.expect_races(1);
}

TEST(EventNodes, AWaitNodeWaitsForWhatTheEventStoodForAtTheLaunch) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    TwoStreamsAndAGraph m(seed);
    Node* wait = m.node(m.graph, EventWaitParams{m.event.id()});
    m.node(m.graph, Machine::set(m.at, 1), {wait});
    GraphExec& exec = m.exec(m.graph);
    m.launch(exec, m.one);  // never recorded: nothing to wait for
    m.enqueue(m.other, Machine::set(m.at + 4, 2));
    m.record(m.other);
    m.synchronize(m.one);
    EXPECT_EQ(m.word(m.at), 1u);
  }
}

TEST(EventNodes, EveryLaunchRecordsAgain) {
  TwoStreamsAndAGraph m;
  m.node(m.graph, EventRecordParams{m.event.id()}, {m.node(m.graph, m.add(m.at, m.at, 1))});
  GraphExec& exec = m.exec(m.graph);
  EXPECT_EQ(m.runtime.query(m.event), Status::kSuccess);
  for (std::uint32_t launch = 1; launch <= 3; ++launch) {
    m.launch(exec, m.one);
    EXPECT_EQ(m.runtime.query(m.event), Status::kNotReady);
    m.synchronize(m.event);
    EXPECT_EQ(m.word(m.at), launch);
  }
}

TEST(EventNodes, RecordsThatFollowEachOtherOrderTheirOwnPartsOfAGraph) {
  TwoStreamsAndAGraph m;
  Event& second = m.runtime.create_event(0);
  Node* a = m.node(m.graph, Machine::set(m.at, 1));
  Node* record_a = m.node(m.graph, EventRecordParams{m.event.id()}, {a});
  Node* b = m.node(m.graph, Machine::set(m.at + 4, 2), {record_a});
  m.node(m.graph, EventRecordParams{second.id()}, {b});
  m.launch_graph(m.one);
  m.add_behind_event(m.at + 8, m.at, 0);
  m.expect_races(0);
  m.launch_graph(m.one);
  m.add_behind_event(m.at + 8, m.at + 4, 0);
  m.expect_races(1);
}

TEST(EventNodes, AnEventNodeInAChildGraphCounts) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    TwoStreamsAndAGraph m(seed);
    Graph& child = m.runtime.create_graph();
    m.node(child, EventRecordParams{m.event.id()}, {m.node(child, Machine::set(m.at, 5))});
    m.child(m.graph, child);
    m.launch_graph(m.one);
    m.add_behind_event(m.at + 4, m.at, 10);
    EXPECT_EQ(m.word(m.at + 4), 15u);
    m.expect_races(0);
  }
}

TEST(EventNodes, ALaunchThatWaitsForItsOwnEarlierRecordEnds) {
  TwoStreamsAndAGraph m;
  m.node(m.graph, EventWaitParams{m.event.id()}, {m.node(m.graph, EventRecordParams{m.event.id()})});
  GraphExec& exec = m.exec(m.graph);
  for (int launch = 0; launch < 3; ++launch) m.launch(exec, m.one);
  m.finish();
  EXPECT_EQ(m.runtime.pending(), 0u);
}

TEST(EventNodes, ALaunchThatNamesADestroyedEventIsRefused) {
  TwoStreamsAndAGraph m;
  m.node(m.graph, Machine::set(m.at, 5));
  m.node(m.graph, EventRecordParams{m.event.id()});
  GraphExec& exec = m.exec(m.graph);
  m.runtime.destroy_event(m.event);
  EXPECT_EQ(m.runtime.launch(exec, m.one), Status::kInvalidHandle);
  m.finish();
  EXPECT_EQ(m.word(m.at), 0u);
}

TEST(EventNodes, ASetterOfAnExecutableGraphNamesAnotherEventThereAlone) {
  TwoStreamsAndAGraph m;
  Event& second = m.runtime.create_event(0);
  Node* record = m.node(m.graph, EventRecordParams{m.event.id()});
  GraphExec& exec = m.exec(m.graph);
  EXPECT_EQ(exec.set_params(record->id(), EventRecordParams{second.id()}), Status::kSuccess);
  EXPECT_EQ(exec.set_params(record->id(), EventWaitParams{second.id()}), Status::kInvalidValue);
  m.launch(exec, m.one);
  EXPECT_TRUE(second.recorded());
  EXPECT_FALSE(m.event.recorded());
  EXPECT_EQ(record->params(), NodeParams(EventRecordParams{m.event.id()}));
  EXPECT_EQ(exec.update(m.graph).status, Status::kSuccess);
  m.launch(exec, m.one);
  EXPECT_TRUE(m.event.recorded());
}

}  // namespace
}  // namespace model
