// Event record and wait nodes: what they order, in every schedule that the seed can choose, and what they do not.
#include <gtest/gtest.h>

#include "model/fixture.h"

namespace model {
namespace {

constexpr std::uint64_t kSeeds = 20;

Options seeded(std::uint64_t seed) {
  Options options;
  options.schedule_seed = seed;
  return options;
}

// Two words, two streams that nothing orders, an event.
struct TwoStreams : Machine {
  explicit TwoStreams(std::uint64_t seed) : Machine(seeded(seed)) {}
  Address at = allocate();
  Stream& one = runtime.create_stream(kStreamNonBlocking, 0, 0);
  Stream& other = runtime.create_stream(kStreamNonBlocking, 0, 0);
  Event& event = runtime.create_event(0);
  Graph& graph = runtime.create_graph();

  void finish() { ASSERT_EQ(runtime.synchronize_device(), Status::kSuccess); }
};

TEST(EventNodes, AWaiterComesAfterWhatTheRecordNodeDependsOn) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    TwoStreams m(seed);
    Node* first = m.node(m.graph, Machine::set(m.at, 5));
    m.node(m.graph, EventRecordParams{m.event.id()}, {first});
    ASSERT_EQ(m.runtime.launch(m.exec(m.graph), m.one), Status::kSuccess);
    ASSERT_EQ(m.runtime.wait(m.other, m.event), Status::kSuccess);
    ASSERT_EQ(m.runtime.enqueue(m.other, m.add(m.at + 4, m.at, 10)), Status::kSuccess);
    m.finish();
    EXPECT_EQ(m.word(m.at + 4), 15u);
    EXPECT_EQ(m.runtime.races_seen(), 0u);
  }
}

TEST(EventNodes, AWaiterDoesNotComeAfterTheRestOfTheGraph) {
  TwoStreams m(0);
  m.node(m.graph, EventRecordParams{m.event.id()});
  m.node(m.graph, Machine::set(m.at, 5));
  ASSERT_EQ(m.runtime.launch(m.exec(m.graph), m.one), Status::kSuccess);
  ASSERT_EQ(m.runtime.wait(m.other, m.event), Status::kSuccess);
  ASSERT_EQ(m.runtime.enqueue(m.other, m.add(m.at + 4, m.at, 10)), Status::kSuccess);
  m.finish();
  EXPECT_EQ(m.runtime.races_seen(), 1u);
}

TEST(EventNodes, WhatDependsOnAWaitNodeComesAfterTheEvent) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    TwoStreams m(seed);
    Node* wait = m.node(m.graph, EventWaitParams{m.event.id()});
    m.node(m.graph, m.add(m.at + 4, m.at, 10), {wait});
    ASSERT_EQ(m.runtime.enqueue(m.one, Machine::set(m.at, 5)), Status::kSuccess);
    ASSERT_EQ(m.runtime.record(m.event, m.one), Status::kSuccess);
    ASSERT_EQ(m.runtime.launch(m.exec(m.graph), m.other), Status::kSuccess);
    m.finish();
    EXPECT_EQ(m.word(m.at + 4), 15u);
    EXPECT_EQ(m.runtime.races_seen(), 0u);
  }
}

TEST(EventNodes, WhatDoesNotDependOnAWaitNodeDoesNotComeAfterTheEvent) {
  TwoStreams m(0);
  m.node(m.graph, EventWaitParams{m.event.id()});
  m.node(m.graph, m.add(m.at + 4, m.at, 10));
  ASSERT_EQ(m.runtime.enqueue(m.one, Machine::set(m.at, 5)), Status::kSuccess);
  ASSERT_EQ(m.runtime.record(m.event, m.one), Status::kSuccess);
  ASSERT_EQ(m.runtime.launch(m.exec(m.graph), m.other), Status::kSuccess);
  m.finish();
  EXPECT_EQ(m.runtime.races_seen(), 1u);
}

TEST(EventNodes, AWaitNodeWaitsForWhatTheEventStoodForAtTheLaunch) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    TwoStreams m(seed);
    Node* wait = m.node(m.graph, EventWaitParams{m.event.id()});
    m.node(m.graph, Machine::set(m.at, 1), {wait});
    GraphExec& exec = m.exec(m.graph);
    ASSERT_EQ(m.runtime.launch(exec, m.one), Status::kSuccess);  // never recorded: nothing to wait for
    ASSERT_EQ(m.runtime.enqueue(m.other, Machine::set(m.at + 4, 2)), Status::kSuccess);
    ASSERT_EQ(m.runtime.record(m.event, m.other), Status::kSuccess);
    ASSERT_EQ(m.runtime.synchronize(m.one), Status::kSuccess);
    EXPECT_EQ(m.word(m.at), 1u);
  }
}

TEST(EventNodes, EveryLaunchRecordsAgain) {
  TwoStreams m(0);
  Node* first = m.node(m.graph, m.add(m.at, m.at, 1));
  m.node(m.graph, EventRecordParams{m.event.id()}, {first});
  GraphExec& exec = m.exec(m.graph);
  EXPECT_EQ(m.runtime.query(m.event), Status::kSuccess);
  for (std::uint32_t launch = 1; launch <= 3; ++launch) {
    ASSERT_EQ(m.runtime.launch(exec, m.one), Status::kSuccess);
    EXPECT_EQ(m.runtime.query(m.event), Status::kNotReady);
    ASSERT_EQ(m.runtime.synchronize(m.event), Status::kSuccess);
    EXPECT_EQ(m.word(m.at), launch);
  }
}

TEST(EventNodes, RecordsThatFollowEachOtherOrderTheirOwnPartsOfAGraph) {
  TwoStreams m(0);
  Event& second = m.runtime.create_event(0);
  Node* a = m.node(m.graph, Machine::set(m.at, 1));
  Node* record_a = m.node(m.graph, EventRecordParams{m.event.id()}, {a});
  Node* b = m.node(m.graph, Machine::set(m.at + 4, 2), {record_a});
  m.node(m.graph, EventRecordParams{second.id()}, {b});
  ASSERT_EQ(m.runtime.launch(m.exec(m.graph), m.one), Status::kSuccess);
  ASSERT_EQ(m.runtime.wait(m.other, m.event), Status::kSuccess);
  ASSERT_EQ(m.runtime.enqueue(m.other, m.add(m.at + 8, m.at, 0)), Status::kSuccess);
  m.finish();
  EXPECT_EQ(m.runtime.races_seen(), 0u);
  ASSERT_EQ(m.runtime.launch(m.exec(m.graph), m.one), Status::kSuccess);
  ASSERT_EQ(m.runtime.wait(m.other, m.event), Status::kSuccess);
  ASSERT_EQ(m.runtime.enqueue(m.other, m.add(m.at + 8, m.at + 4, 0)), Status::kSuccess);
  m.finish();
  EXPECT_EQ(m.runtime.races_seen(), 1u);
}

TEST(EventNodes, AnEventNodeInAChildGraphCounts) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    TwoStreams m(seed);
    Graph& child = m.runtime.create_graph();
    Node* set = m.node(child, Machine::set(m.at, 5));
    m.node(child, EventRecordParams{m.event.id()}, {set});
    m.child(m.graph, child);
    ASSERT_EQ(m.runtime.launch(m.exec(m.graph), m.one), Status::kSuccess);
    ASSERT_EQ(m.runtime.wait(m.other, m.event), Status::kSuccess);
    ASSERT_EQ(m.runtime.enqueue(m.other, m.add(m.at + 4, m.at, 10)), Status::kSuccess);
    m.finish();
    EXPECT_EQ(m.word(m.at + 4), 15u);
    EXPECT_EQ(m.runtime.races_seen(), 0u);
  }
}

TEST(EventNodes, ALaunchThatWaitsForItsOwnEarlierRecordEnds) {
  TwoStreams m(0);
  Node* record = m.node(m.graph, EventRecordParams{m.event.id()});
  m.node(m.graph, EventWaitParams{m.event.id()}, {record});
  GraphExec& exec = m.exec(m.graph);
  for (int launch = 0; launch < 3; ++launch) ASSERT_EQ(m.runtime.launch(exec, m.one), Status::kSuccess);
  m.finish();
  EXPECT_EQ(m.runtime.pending(), 0u);
}

TEST(EventNodes, ALaunchThatNamesADestroyedEventIsRefused) {
  TwoStreams m(0);
  m.node(m.graph, Machine::set(m.at, 5));
  m.node(m.graph, EventRecordParams{m.event.id()});
  GraphExec& exec = m.exec(m.graph);
  m.runtime.destroy_event(m.event);
  EXPECT_EQ(m.runtime.launch(exec, m.one), Status::kInvalidHandle);
  m.finish();
  EXPECT_EQ(m.word(m.at), 0u);
}

TEST(EventNodes, ASetterOfAnExecutableGraphNamesAnotherEventThereAlone) {
  TwoStreams m(0);
  Event& second = m.runtime.create_event(0);
  Node* record = m.node(m.graph, EventRecordParams{m.event.id()});
  GraphExec& exec = m.exec(m.graph);
  EXPECT_EQ(exec.set_params(record->id(), EventRecordParams{second.id()}), Status::kSuccess);
  EXPECT_EQ(exec.set_params(record->id(), EventWaitParams{second.id()}), Status::kInvalidValue);
  ASSERT_EQ(m.runtime.launch(exec, m.one), Status::kSuccess);
  EXPECT_TRUE(second.recorded());
  EXPECT_FALSE(m.event.recorded());
  EXPECT_EQ(record->params(), NodeParams(EventRecordParams{m.event.id()}));
  EXPECT_EQ(exec.update(m.graph).status, Status::kSuccess);
  ASSERT_EQ(m.runtime.launch(exec, m.one), Status::kSuccess);
  EXPECT_TRUE(m.event.recorded());
}

}  // namespace
}  // namespace model
