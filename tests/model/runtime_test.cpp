// model::Runtime: accounts, resets, and that cycles of use hold nothing.
#include "model/runtime.h"

#include <gtest/gtest.h>

#include "model/fixture.h"

namespace model {
namespace {

void one_cycle(Machine& m) {
  const Address a = m.allocate(256), b = m.allocate(256);
  Graph& inner = m.runtime.create_graph();
  m.node(inner, Machine::set(a, 1, 4));
  Graph& graph = m.runtime.create_graph();
  m.node(graph, Machine::copy(b, a, 16), {m.child(graph, inner)});
  Graph& clone = m.runtime.clone_graph(graph);
  GraphExec& exec = m.exec(clone);
  Stream& stream = m.runtime.create_stream(kStreamNonBlocking, 0, 0);
  Event& event = m.runtime.create_event(0);
  EXPECT_EQ(m.runtime.launch(exec, stream), Status::kSuccess);
  EXPECT_EQ(m.runtime.record(event, stream), Status::kSuccess);
  EXPECT_EQ(m.runtime.destroy_stream(stream), Status::kSuccess);
  m.runtime.destroy_event(event);
  m.runtime.destroy_exec(exec);
  for (Graph* each : {&inner, &graph, &clone}) EXPECT_EQ(m.runtime.destroy_graph(*each), Status::kSuccess);
  EXPECT_EQ(m.runtime.free(a), Status::kSuccess);
  EXPECT_EQ(m.runtime.free(b), Status::kSuccess);
}

TEST(Runtime, AThousandCyclesHoldWhatTwoDo) {
  Machine m;
  one_cycle(m);
  one_cycle(m);
  const LiveHandles after_two = m.runtime.live_handles();
  EXPECT_EQ(after_two, LiveHandles{});
  for (int i = 0; i < 1000; ++i) one_cycle(m);
  EXPECT_EQ(m.runtime.live_handles(), after_two);
}

TEST(Runtime, LiveHandlesCountWhatLives) {
  Machine m;
  m.allocate(100);
  m.allocate(28, MemoryKind::kPinned);
  Graph& graph = m.runtime.create_graph();
  m.node(graph, EmptyParams{});
  m.exec(graph);
  m.runtime.create_stream(0, 0, 0);
  m.runtime.create_event(0);
  m.runtime.load_module({add_kernel()});
  const LiveHandles expected{.graphs = 1,
                             .nodes = 1,
                             .graph_execs = 1,
                             .streams = 1,
                             .events = 1,
                             .modules = 1,
                             .allocations = 2,
                             .bytes = 128};
  EXPECT_EQ(m.runtime.live_handles(), expected);
}

TEST(Runtime, IdsAreNeverUsedAgain) {
  Machine m;
  Graph& first = m.runtime.create_graph();
  const ObjectId id = first.id();
  ASSERT_EQ(m.runtime.destroy_graph(first), Status::kSuccess);
  EXPECT_NE(m.runtime.create_graph().id(), id);
  EXPECT_EQ(m.runtime.find_graph(id), nullptr);
  EXPECT_EQ(m.runtime.find_graph(0), nullptr);
  EXPECT_EQ(m.runtime.find_graph(~std::uint64_t{0}), nullptr);
}

TEST(Runtime, AnObjectIsFoundAsWhatItIsOnly) {
  Machine m;
  const ObjectId id = m.runtime.create_graph().id();
  EXPECT_NE(m.runtime.find_graph(id), nullptr);
  EXPECT_EQ(m.runtime.find_node(id), nullptr);
  EXPECT_EQ(m.runtime.find_exec(id), nullptr);
  EXPECT_EQ(m.runtime.find_stream(id), nullptr);
}

int host_calls = 0;
void count_host_call(void*) {
  ++host_calls;
}

TEST(Runtime, AResetFinishesPendingWorkAndStartsOver) {
  Machine m;
  host_calls = 0;
  const Address at = m.allocate();
  const ObjectId graph = m.runtime.create_graph().id();
  ASSERT_EQ(m.runtime.enqueue(m.runtime.null_stream(), HostParams{count_host_call, nullptr}), Status::kSuccess);
  EXPECT_EQ(host_calls, 0);
  Options options;
  options.devices = 3;
  m.runtime.reset(options);
  EXPECT_EQ(host_calls, 1);
  EXPECT_EQ(m.runtime.live_handles(), LiveHandles{});
  EXPECT_EQ(m.allocate(), at);
  EXPECT_EQ(m.runtime.create_graph().id(), graph);
  EXPECT_EQ(m.runtime.null_stream(2).device(), 2);
}

TEST(Runtime, TheSameSeedGivesTheSameSchedule) {
  const auto words = [](std::uint64_t seed) {
    Machine m(seeded(seed));
    const Address at = m.allocate();
    Graph& graph = m.runtime.create_graph();
    for (std::uint32_t i = 0; i < 8; ++i) m.node(graph, Machine::set(at, i));
    GraphExec& exec = m.exec(graph);
    std::vector<std::uint32_t> seen;
    for (int i = 0; i < 10; ++i) {
      m.run(exec);
      seen.push_back(m.word(at));
    }
    return seen;
  };
  EXPECT_EQ(words(7), words(7));
  EXPECT_NE(words(7), words(8));
  EXPECT_EQ(words(0), std::vector<std::uint32_t>(10, 7));
}

}  // namespace
}  // namespace model
