// Memory allocation and free nodes: the lifetime of the memory at their address, the work that may free it, and the
// launches that are refused.
#include <gtest/gtest.h>

#include "model/fixture.h"

namespace model {
namespace {

constexpr std::uint64_t kSeeds = 12;

struct GraphMemory : Machine {
  explicit GraphMemory(std::uint64_t seed = 0) : Machine(seeded(seed)) {}
  std::shared_ptr<Reservation> reserve(std::size_t bytes = 64) {
    std::shared_ptr<Reservation> range;
    EXPECT_EQ(runtime.memory().reserve(bytes, 0, &range), Status::kSuccess);
    return range;
  }
  [[nodiscard]] bool there(Address address) const { return runtime.memory().find(address) != nullptr; }
  Status launch(GraphExec& what) { return runtime.launch(what, runtime.null_stream()); }
  void finish() { EXPECT_EQ(runtime.synchronize_device(), Status::kSuccess); }

  Graph& graph = runtime.create_graph();
};

// The graph's first node allocates the range.
struct AllocatedMemory : testing::Test {
  GraphMemory m;
  const std::shared_ptr<Reservation> range = m.reserve();
  Node* allocate = m.node(m.graph, AllocateParams{range, {}});
};

TEST(GraphMemoryNodes, MemoryIsThereBetweenTheAllocationAndTheFree) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    GraphMemory m(seed);
    const Address out = m.allocate();
    const std::shared_ptr<Reservation> range = m.reserve();
    Node* allocate = m.node(m.graph, AllocateParams{range, {}});
    Node* set = m.node(m.graph, Machine::set(range->base(), 7), {allocate});
    m.node(m.graph, FreeParams{range}, {m.node(m.graph, Machine::copy(out, range->base()), {set})});
    GraphExec& exec = m.exec(m.graph);
    EXPECT_FALSE(m.there(range->base()));
    for (int launch = 0; launch < 3; ++launch) m.run(exec);
    EXPECT_EQ(m.word(out), 7u);
    EXPECT_FALSE(m.there(range->base()));
    EXPECT_EQ(m.runtime.races_seen(), 0u);
    EXPECT_EQ(m.runtime.memory().mapped_bytes(0), 0u);
    EXPECT_EQ(m.runtime.memory().mapped_high(0), 64u);
  }
}

TEST(GraphMemoryNodes, NobodyElseGetsTheAddressMeanwhile) {
  GraphMemory m;
  std::shared_ptr<Reservation> range = m.reserve();
  const Address base = range->base();
  EXPECT_NE(m.allocate(), base);
  EXPECT_NE(m.reserve()->base(), base);
  m.runtime.memory().place_next(base);
  Address refused = 0;
  EXPECT_EQ(m.runtime.memory().allocate(64, MemoryKind::kDevice, 0, &refused), Status::kOutOfMemory);
  range.reset();
  EXPECT_EQ(m.reserve()->base(), base);
}

TEST_F(AllocatedMemory, LaunchingAgainWithoutAFreeIsRefused) {
  GraphExec& exec = m.exec(m.graph);
  EXPECT_EQ(m.launch(exec), Status::kSuccess);
  EXPECT_EQ(m.launch(exec), Status::kInvalidValue);
  m.finish();
  EXPECT_EQ(m.launch(exec), Status::kInvalidValue);
  EXPECT_TRUE(m.there(range->base()));
  EXPECT_EQ(m.runtime.free(range->base()), Status::kSuccess);
  EXPECT_FALSE(m.there(range->base()));
  EXPECT_EQ(m.runtime.free(range->base()), Status::kInvalidValue);
  EXPECT_EQ(m.launch(exec), Status::kSuccess);
}

TEST(GraphMemoryNodes, WhatAPendingLaunchAllocatesCanBeFreedInStreamOrder) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    GraphMemory m(seed);
    const Address out = m.allocate();
    const std::shared_ptr<Reservation> range = m.reserve();
    m.node(m.graph, Machine::set(range->base(), 9), {m.node(m.graph, AllocateParams{range, {}})});
    GraphExec& exec = m.exec(m.graph);
    for (int launch = 0; launch < 3; ++launch) {
      ASSERT_EQ(m.launch(exec), Status::kSuccess);
      ASSERT_EQ(m.runtime.enqueue(m.runtime.null_stream(), Machine::copy(out, range->base())), Status::kSuccess);
      ASSERT_EQ(m.runtime.free_async(range->base(), m.runtime.null_stream()), Status::kSuccess);
      ASSERT_EQ(m.runtime.free_async(range->base(), m.runtime.null_stream()), Status::kInvalidValue);
    }
    m.finish();
    EXPECT_EQ(m.word(out), 9u);
    EXPECT_EQ(m.runtime.races_seen(), 0u);
    EXPECT_FALSE(m.there(range->base()));
  }
}

TEST(GraphMemoryNodes, FreeingItTwiceIsRefusedBeforeTheFirstFreeRunsAndWithoutTheGraph) {
  GraphMemory m;
  std::shared_ptr<Reservation> range = m.reserve();
  const Address base = range->base();
  m.node(m.graph, AllocateParams{std::move(range), {}});
  GraphExec& exec = m.exec(m.graph);
  m.run(exec);
  m.runtime.destroy_exec(exec);
  ASSERT_EQ(m.runtime.destroy_graph(m.graph), Status::kSuccess);
  ASSERT_TRUE(m.there(base));
  EXPECT_EQ(m.runtime.free_async(base, m.runtime.null_stream()), Status::kSuccess);
  ASSERT_TRUE(m.there(base)) << "the free has not run";
  EXPECT_EQ(m.runtime.free_async(base, m.runtime.null_stream()), Status::kInvalidValue);
  m.finish();
  EXPECT_FALSE(m.there(base));
}

TEST_F(AllocatedMemory, FreeingWhatAPendingLaunchAllocatesWaitsForIt) {
  EXPECT_EQ(m.launch(m.exec(m.graph)), Status::kSuccess);
  EXPECT_FALSE(m.there(range->base()));
  EXPECT_EQ(m.runtime.free(range->base()), Status::kSuccess);
  EXPECT_EQ(m.runtime.pending(), 0u);
  EXPECT_FALSE(m.there(range->base()));
}

TEST_F(AllocatedMemory, AnExecutableGraphThatFreesBeforeItLaunchesCanBeLaunchedAgain) {
  GraphExec* exec = nullptr;
  ASSERT_EQ(m.runtime.instantiate(m.graph, &exec, kAutoFreeOnLaunch), Status::kSuccess);
  for (int launch = 0; launch < 3; ++launch) ASSERT_EQ(m.launch(*exec), Status::kSuccess);
  m.finish();
  EXPECT_TRUE(m.there(range->base()));
  EXPECT_EQ(m.runtime.memory().mapped_bytes(0), 64u);
}

TEST_F(AllocatedMemory, AnotherGraphMayFreeIt) {
  Graph& other = m.runtime.create_graph();
  m.node(other, FreeParams{range});
  GraphExec &allocates = m.exec(m.graph), &frees = m.exec(other);
  EXPECT_EQ(m.launch(frees), Status::kInvalidValue);  // there is nothing yet
  EXPECT_EQ(m.launch(allocates), Status::kSuccess);
  EXPECT_EQ(m.launch(frees), Status::kSuccess);
  EXPECT_EQ(m.launch(frees), Status::kInvalidValue);
  EXPECT_EQ(m.launch(allocates), Status::kSuccess);
  m.finish();
  EXPECT_TRUE(m.there(range->base()));
}

TEST(GraphMemoryNodes, AUseThatIsNotOrderedBehindTheAllocationIsARaceOrAFault) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    GraphMemory m(seed);
    const std::shared_ptr<Reservation> range = m.reserve();
    m.node(m.graph, AllocateParams{range, {}});
    m.node(m.graph, Machine::set(range->base(), 7));
    ASSERT_EQ(m.launch(m.exec(m.graph)), Status::kSuccess);
    EXPECT_TRUE((m.runtime.synchronize_device() != Status::kSuccess) || m.runtime.races_seen() == 1);
  }
}

TEST_F(AllocatedMemory, AUseBehindTheFreeFaults) {
  m.node(m.graph, Machine::set(range->base(), 7), {m.node(m.graph, FreeParams{range}, {allocate})});
  ASSERT_EQ(m.launch(m.exec(m.graph)), Status::kSuccess);
  EXPECT_EQ(m.runtime.synchronize_device(), Status::kIllegalAddress);
}

TEST_F(AllocatedMemory, ThereIsOneExecutableGraphAtATimeAndNoChildOrLostEdge) {
  Node* empty = m.node(m.graph, EmptyParams{}, {allocate});
  GraphExec& exec = m.exec(m.graph);
  GraphExec* second = nullptr;
  EXPECT_EQ(m.runtime.instantiate(m.graph, &second), Status::kNotSupported);
  m.runtime.destroy_exec(exec);
  EXPECT_EQ(m.runtime.instantiate(m.graph, &second), Status::kSuccess);
  Graph& parent = m.runtime.create_graph();
  Node* child = nullptr;
  EXPECT_EQ(parent.add_child(m.graph, {}, &child), Status::kNotSupported);
  Node* const from[] = {allocate};
  Node* const to[] = {empty};
  EXPECT_EQ(m.graph.remove_edges(from, to), Status::kNotSupported);
}

TEST(GraphMemoryNodes, AnUpdateKeepsTheMemoryNodesAsTheyAre) {
  GraphMemory m;
  const Address at = m.allocate();
  m.node(m.graph, AllocateParams{m.reserve(), {}});
  Node* set = m.node(m.graph, Machine::set(at, 1));
  GraphExec& exec = m.exec(m.graph);
  EXPECT_EQ(m.graph.set_params(*set, Machine::set(at, 2)), Status::kSuccess);
  EXPECT_EQ(exec.update(m.graph).status, Status::kSuccess);
  Graph& other = m.runtime.create_graph();
  m.node(other, AllocateParams{m.reserve(), {}});
  m.node(other, Machine::set(at, 3));
  const UpdateOutcome outcome = exec.update(other);
  EXPECT_EQ(outcome.status, Status::kGraphExecUpdateFailure);
  EXPECT_EQ(outcome.result, UpdateResult::kNotSupported);
  m.run(exec);
  EXPECT_EQ(m.word(at), 2u);
}

TEST(GraphMemoryNodes, MemoryOutlivesTheGraphThatAllocatedIt) {
  GraphMemory m;
  Address base = 0;
  {
    const std::shared_ptr<Reservation> range = m.reserve();
    base = range->base();
    m.node(m.graph, Machine::set(base, 5), {m.node(m.graph, AllocateParams{range, {}})});
  }
  GraphExec& exec = m.exec(m.graph);
  m.run(exec);
  m.runtime.destroy_exec(exec);
  EXPECT_EQ(m.runtime.destroy_graph(m.graph), Status::kSuccess);
  EXPECT_EQ(m.word(base), 5u);
  EXPECT_NE(m.allocate(), base);
  EXPECT_EQ(m.runtime.free(base), Status::kSuccess);
  EXPECT_EQ(m.runtime.live_handles().allocations, 1u);
  EXPECT_EQ(m.reserve()->base(), base);
}

TEST(GraphMemoryNodes, ANodeOfALaterGraphFreesMemoryWhoseGraphIsGone) {
  GraphMemory m;
  Address base = 0;
  {
    const std::shared_ptr<Reservation> range = m.reserve();
    base = range->base();
    m.node(m.graph, AllocateParams{range, {}});
  }
  GraphExec& exec = m.exec(m.graph);
  m.run(exec);
  m.runtime.destroy_exec(exec);
  EXPECT_EQ(m.runtime.destroy_graph(m.graph), Status::kSuccess);
  Reservation* kept = m.runtime.memory().find_reservation(base);
  ASSERT_NE(kept, nullptr);
  Graph& later = m.runtime.create_graph();
  m.node(later, FreeParams{kept->shared_from_this()});
  GraphExec& frees = m.exec(later);
  m.run(frees);
  EXPECT_FALSE(m.there(base));
  EXPECT_EQ(m.launch(frees), Status::kInvalidValue) << "it is freed";
  m.runtime.destroy_exec(frees);
  EXPECT_EQ(m.runtime.destroy_graph(later), Status::kSuccess);
  EXPECT_EQ(m.runtime.memory().find_reservation(base), nullptr);
}

}  // namespace
}  // namespace model
