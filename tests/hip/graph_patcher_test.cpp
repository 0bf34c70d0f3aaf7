// GraphPatcher against a fake HIP (hip/fake_api.h): one test a sentence of docs/properties.md, over random recordings
// and random moves, and the corners that random ones reach too seldom.
//
// Verified: A1-A7, P1, P2, P4 and P10 of patches of executable graphs and of graphs, children at several depths
// included. Not verified: what a real runtime makes of the calls (campaigns do that); kernels are never run.
#include "hip/graph_patcher.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "hip/allocation_count.h"
#include "hip/fake_api.h"
#include "hip/random_recording.h"

namespace {

using fake::bits;
using fake::child_of;
using fake::load;
using hip::AddressTable;
using hip::DeviceAddress;
using hip::Field;
using hip::GraphPatcher;
using hip::Move;
using hip::PatchFailure;
using hip::Recording;

enum class Target : std::uint8_t { kExec, kGraph };

Target draw_target() {
  return *rc::gen::element(Target::kExec, Target::kGraph);
}

// A graph recorded from a recording, instantiated, with a patcher of one of the two.
struct Subject {
  Subject(const Recording& recorded_from, AddressTable at, Target which, hip::PatcherOptions options = {})
      : recording(recorded_from), addresses(std::move(at)), target(which) {
    auto recorded = hip::record_graph(table, recording, addresses);
    EXPECT_TRUE(recorded.ok());
    graph = recorded.value();
    EXPECT_EQ(table.hipGraphInstantiate(&exec, graph.graph, nullptr, nullptr, 0), hipSuccess);
    patcher.emplace(target == Target::kExec
                        ? GraphPatcher::of_exec(table, recording, graph, exec, addresses, std::move(options))
                        : GraphPatcher::of_graph(table, recording, graph, addresses, std::move(options)));
  }

  [[nodiscard]] const fake::Graph& patched() const {
    return target == Target::kExec ? fake::graph_of(exec) : fake::graph_of(graph.graph);
  }
  [[nodiscard]] AddressTable known_addresses() const {
    const auto known = patcher->addresses();
    return {known.begin(), known.end()};
  }
  // A patch that has to succeed.
  hip::PatchReport patch(const std::vector<Move>& moves) {
    const hip::PatchResult result = patcher->patch(moves);
    if (!result.ok()) RC_FAIL(result.error().message);
    addresses = fake::moved(addresses, moves);
    return result.report();
  }

  hip::Api table = fake::api();
  Recording recording;
  AddressTable addresses;
  Target target;
  hip::RecordedGraph graph;
  hipGraphExec_t exec = nullptr;
  std::optional<GraphPatcher> patcher;
};

struct InAFakeWorld : testing::Test {
  fake::World world;
};

// A patcher of a graph that is drawn afresh for each run of a property.
struct RandomPatcher : InAFakeWorld {
  Subject subject{fake::draw_recording(world), fake::draw_addresses(), draw_target()};
};

// Returns the description of the graph that is recorded again at `addresses`.
std::string recorded_again(const Recording& recording, const AddressTable& addresses) {
  const hip::Api table = fake::api();
  const auto recorded = hip::record_graph(table, recording, addresses);
  RC_ASSERT(recorded.ok());
  std::string picture = describe(fake::graph_of(recorded.value().graph));
  RC_ASSERT(table.hipGraphDestroy(recorded.value().graph) == hipSuccess);
  return picture;
}

// Calls `visit(node of the fake, node of the recording)` for every node of the tree.
template <class Visit>
void for_each_node(const fake::Graph& graph, const Recording& recording, const Visit& visit) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    visit(*graph.nodes[i], recording.nodes()[i]);
    if (const auto* child = std::get_if<hip::ChildRecord>(&recording.nodes()[i].record)) {
      for_each_node(*graph.nodes[i]->child, *child->graph, visit);
    }
  }
}

std::uint64_t value_of(const fake::Node& node, const hip::Relocation& relocation) {
  switch (relocation.field) {
    case Field::kKernelArgument:
      return load(node.arguments, relocation.offset);
    case Field::kCopyDestination:
      return bits(node.copy.dstPtr.ptr);
    case Field::kCopySource:
      return bits(node.copy.srcPtr.ptr);
    case Field::kMemsetDestination:
      return bits(node.memset.dst);
  }
  return 0;
}

// A picture of the graph with every relocated field blanked out.
std::string without_pointers(fake::Graph& graph, const Recording& recording) {
  for_each_node(graph, recording, [](const fake::Node& seen, const hip::RecordedNode& recorded) {
    auto& node = const_cast<fake::Node&>(seen);
    for (const hip::Relocation& relocation : recorded.relocations) {
      if (relocation.field == Field::kKernelArgument) std::memset(node.arguments.data() + relocation.offset, 0, 8);
      if (relocation.field == Field::kCopyDestination) node.copy.dstPtr.ptr = nullptr;
      if (relocation.field == Field::kCopySource) node.copy.srcPtr.ptr = nullptr;
      if (relocation.field == Field::kMemsetDestination) node.memset.dst = nullptr;
    }
  });
  return describe(graph);
}

bool changes(const std::vector<Move>& moves, hip::BufferIndex buffer) {
  return std::any_of(moves.begin(), moves.end(),
                     [&](const Move& move) { return move.buffer == buffer && move.from != move.to; });
}

// How many setter calls the moves are worth, stated without any code of the patcher.
struct Expected {
  std::uint32_t nodes = 0;
  std::uint32_t relocations = 0;
  std::uint32_t hand_overs = 0;
};

Expected expected_work(const Recording& recording, const std::vector<Move>& moves) {
  Expected work;
  for (const hip::RecordedNode& node : recording.nodes()) {
    std::uint32_t changed = 0;
    for (const hip::Relocation& relocation : node.relocations) changed += changes(moves, relocation.buffer) ? 1 : 0;
    work.relocations += changed;
    work.nodes += changed != 0 ? 1 : 0;
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) {
      const Expected inner = expected_work(*child->graph, moves);
      work.nodes += inner.nodes;
      work.relocations += inner.relocations;
      work.hand_overs += inner.nodes != 0 ? 1 : 0;  // of a child's child it is part of the child's
    }
  }
  return work;
}

bool is_setter(const fake::Call& call) {
  return call.function.find("SetParams") != std::string::npos;
}

hip::RecordedNode memset_of(hip::BufferIndex buffer) {
  return {hip::MemsetRecord{}, {}, {{Field::kMemsetDestination, 0, buffer, 0}}};
}

// `inner` below `depth` child graph nodes.
Recording nested(Recording inner, std::uint32_t depth) {
  for (std::uint32_t i = 0; i < depth; ++i) {
    Recording parent;
    parent.add(child_of(std::move(inner)));
    inner = std::move(parent);
  }
  return inner;
}

Recording memsets(std::initializer_list<hip::BufferIndex> buffers) {
  Recording recording;
  for (const hip::BufferIndex buffer : buffers) recording.add(memset_of(buffer));
  return recording;
}

// Counts how often each case is drawn. The properties below say nothing about a case that is never drawn.
struct Reached {
  int kernels = 0, by_params = 0, unaligned = 0, many_arguments = 0, look_alikes = 0, linear = 0, shaped = 0;
  int memsets = 0, opaque = 0, depth_3 = 0, cycles = 0, reuses = 0;

  void visit(const Recording& recording, int depth) {
    for (const hip::RecordedNode& node : recording.nodes()) {
      depth_3 += depth == 3 ? 1 : 0;
      memsets += std::holds_alternative<hip::MemsetRecord>(node.record) ? 1 : 0;
      opaque += std::holds_alternative<hip::OpaqueRecord>(node.record) ? 1 : 0;
      if (const auto* copy = std::get_if<hip::CopyRecord>(&node.record)) ++(copy->linear ? linear : shaped);
      if (const auto* kernel = std::get_if<hip::KernelRecord>(&node.record)) visit_kernel(*kernel, node.relocations);
      if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) visit(*child->graph, depth + 1);
    }
  }
  void visit_kernel(const hip::KernelRecord& kernel, const std::vector<hip::Relocation>& relocations) {
    ++kernels;
    by_params += kernel.style == hip::ArgumentStyle::kParams ? 1 : 0;
    many_arguments += kernel.slots.size() > 64 ? 1 : 0;
    for (const hip::Relocation& relocation : relocations) unaligned += relocation.offset % 8 != 0 ? 1 : 0;
    for (std::size_t at = 0; at + 8 <= kernel.arguments.size(); ++at) {
      look_alikes += load(kernel.arguments, at) >> 32 == 0x7f12 && load(kernel.arguments, at) % 512 == 0 ? 1 : 0;
    }
  }
  void visit(const AddressTable& addresses, const std::vector<Move>& moves) {
    const AddressTable after = fake::moved(addresses, moves);
    bool permuted = addresses != after;
    for (std::size_t buffer = 0; buffer < after.size(); ++buffer) {
      const auto owner = std::find(addresses.begin(), addresses.end(), after[buffer]);
      permuted = permuted && owner != addresses.end();
      reuses += owner != addresses.end() && owner != addresses.begin() + static_cast<std::ptrdiff_t>(buffer) ? 1 : 0;
    }
    cycles += permuted ? 1 : 0;
  }
};

TEST(RandomRecording, ReachesEverythingThatThePropertiesSpeakAbout) {
  constexpr int kDrawsOfEachRun = 20;  // of 100 runs: rare things are rare, but not that rare
  Reached reached;
  EXPECT_TRUE(rc::check([&] {
    for (int i = 0; i < kDrawsOfEachRun; ++i) {
      fake::World world;
      reached.visit(fake::draw_recording(world, {.opaque = true}), 0);
      const AddressTable addresses = fake::draw_addresses();
      reached.visit(addresses, fake::draw_moves(addresses));
    }
  }));
  EXPECT_GT(reached.by_params, 5);
  EXPECT_GT(reached.kernels - reached.by_params, 5);
  EXPECT_GT(reached.unaligned, 5);
  EXPECT_GT(reached.many_arguments, 5);
  EXPECT_GT(reached.look_alikes, 5);
  EXPECT_GT(reached.linear, 5);
  EXPECT_GT(reached.shaped, 5);
  EXPECT_GT(reached.memsets, 5);
  EXPECT_GT(reached.opaque, 5);
  EXPECT_GT(reached.depth_3, 5);
  EXPECT_GT(reached.cycles, 5);
  EXPECT_GT(reached.reuses, 5);
}

RC_GTEST_PROP(GraphPatcher, PatchingEqualsRecordingAgain, ()) {
  fake::World world;
  world.node_order =
      *rc::gen::element(fake::NodeOrder::kAsAdded, fake::NodeOrder::kBreadthFirst, fake::NodeOrder::kLastFirst);
  Subject subject(fake::draw_recording(world), fake::draw_addresses(), draw_target());
  const int patches = 1 + fake::below(4);
  for (int i = 0; i < patches; ++i) {
    subject.patch(fake::draw_moves(subject.addresses));
    RC_ASSERT(describe(subject.patched()) == recorded_again(subject.recording, subject.addresses));
    RC_ASSERT(subject.known_addresses() == subject.addresses);
  }
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, A1_APatchChangesTheBytesOfRelocatedPointersAndNoOther, ()) {
  Subject untouched(subject.recording, subject.addresses, subject.target);
  subject.patch(fake::draw_moves(subject.addresses));
  RC_ASSERT(without_pointers(const_cast<fake::Graph&>(subject.patched()), subject.recording) ==
            without_pointers(const_cast<fake::Graph&>(untouched.patched()), subject.recording));
}

RC_GTEST_PROP(GraphPatcher, A2_EveryPointerIntoAMovedBufferIsPatchedAtAnyDepth, ()) {
  fake::World world;
  Recording recording = fake::draw_recording(world);
  recording = nested(std::move(recording), static_cast<std::uint32_t>(fake::below(12)));
  Subject subject(recording, fake::draw_addresses(), draw_target());
  subject.patch(fake::draw_moves(subject.addresses));
  for_each_node(subject.patched(), recording, [&](const fake::Node& node, const hip::RecordedNode& recorded) {
    for (const hip::Relocation& relocation : recorded.relocations) {
      RC_ASSERT(value_of(node, relocation) ==
                subject.addresses[relocation.buffer] + static_cast<std::uint64_t>(relocation.addend));
    }
  });
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, A3_SwapsAndCyclesHappenAtOnceAndAreUndoneByTheirInverse, ()) {
  const std::string before = describe(subject.patched());
  const auto cycle = fake::draw_cycle(subject.addresses);
  subject.patch(cycle);
  RC_ASSERT(describe(subject.patched()) == recorded_again(subject.recording, subject.addresses));
  std::vector<Move> inverse;
  for (const Move& move : cycle) inverse.push_back({move.buffer, move.to, move.from});
  std::reverse(inverse.begin(), inverse.end());
  subject.patch(inverse);
  RC_ASSERT(describe(subject.patched()) == before);
}

TEST(GraphPatcher, A3_AnAddressThatWasReusedBelongsToItsNewOwner) {
  for (const Target target : {Target::kExec, Target::kGraph}) {
    fake::World world;
    Subject subject(memsets({0, 1}), {0x1000, 0x2000}, target);
    subject.patch({{0, 0x1000, 0x3000}});
    subject.patch({{1, 0x2000, 0x1000}});  // where buffer 0 was
    subject.patch({{1, 0x1000, 0x4000}});
    EXPECT_EQ(bits(subject.patched().nodes[0]->memset.dst), 0x3000U);
    EXPECT_EQ(bits(subject.patched().nodes[1]->memset.dst), 0x4000U);
  }
}

RC_GTEST_PROP(GraphPatcher, A4_ArgumentsGoInAsOnePackedBlockOfExactlyTheKernelsSize, ()) {
  fake::World world;
  Subject subject(fake::draw_recording(world, {.kernels_only = true}), fake::draw_addresses(), draw_target());
  world.calls.clear();
  subject.patch(fake::draw_cycle(subject.addresses));
  std::map<const void*, std::size_t> size_of;
  for (std::size_t i = 0; i < subject.graph.nodes.size(); ++i) {
    const auto& kernel = std::get<hip::KernelRecord>(subject.recording.nodes()[i].record);
    size_of[subject.graph.nodes[i]] = reinterpret_cast<const fake::Kernel*>(kernel.function)->block_bytes;
  }
  for (const fake::Call& call : world.calls) {
    RC_ASSERT(call.packed);
    RC_ASSERT(call.block_bytes == size_of.at(call.node));
  }
  RC_ASSERT(describe(subject.patched()) == recorded_again(subject.recording, subject.addresses));
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, A5_APatchedCopyKeepsKindShapeAndForm, ()) {
  subject.patch(fake::draw_cycle(subject.addresses));
  for_each_node(subject.patched(), subject.recording, [](const fake::Node& node, const hip::RecordedNode& recorded) {
    const auto* copy = std::get_if<hip::CopyRecord>(&recorded.record);
    if (copy == nullptr) return;
    RC_ASSERT(node.linear == copy->linear);
    RC_ASSERT(node.copy.kind == copy->params.kind);
    RC_ASSERT(node.copy.extent.width == copy->params.extent.width);
    if (copy->linear) return;
    const auto same = [](const auto& a, const auto& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; };
    RC_ASSERT(same(node.copy.extent, copy->params.extent));
    RC_ASSERT(same(node.copy.srcPos, copy->params.srcPos) && same(node.copy.dstPos, copy->params.dstPos));
    RC_ASSERT(node.copy.srcPtr.pitch == copy->params.srcPtr.pitch &&
              node.copy.dstPtr.pitch == copy->params.dstPtr.pitch);
    RC_ASSERT(node.copy.srcPtr.xsize == copy->params.srcPtr.xsize &&
              node.copy.dstPtr.xsize == copy->params.dstPtr.xsize);
    RC_ASSERT(node.copy.srcPtr.ysize == copy->params.srcPtr.ysize &&
              node.copy.dstPtr.ysize == copy->params.dstPtr.ysize);
  });
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, A6_OnlyNodesWithAChangedRelocationAreTouchedByOneCallEach, ()) {
  for (int patch = 0; patch < 3; ++patch) {
    const auto moves = fake::draw_moves(subject.addresses);
    const Expected expected = expected_work(subject.recording, moves);
    const std::uint32_t hand_overs = subject.target == Target::kExec ? expected.hand_overs : 0;
    world.calls.clear();
    const hip::PatchReport report = subject.patch(moves);
    RC_ASSERT(report.nodes == expected.nodes);
    RC_ASSERT(report.calls == expected.nodes + hand_overs);
    std::map<const void*, int> calls_of;
    std::uint32_t setters = 0;
    std::uint32_t handed_over = 0;
    for (const fake::Call& call : world.calls) {
      if (!is_setter(call)) continue;
      ++setters;
      handed_over += call.function == "hipGraphExecChildGraphNodeSetParams" ? 1 : 0;
      RC_ASSERT(++calls_of[call.node] == 1);
    }
    RC_ASSERT(setters == report.calls);
    RC_ASSERT(handed_over == hand_overs);
    if (report.prepared == 0) RC_ASSERT(world.calls.size() == report.calls);
  }
}

RC_GTEST_PROP(GraphPatcher, A6_APatchThatChangesNothingMakesNoCall, ()) {
  fake::World world;
  Subject subject(fake::draw_recording(world, {.opaque = true}), fake::draw_addresses(), draw_target());
  std::vector<Move> nowhere;
  for (hip::BufferIndex buffer = 0; buffer < subject.addresses.size(); ++buffer) {
    nowhere.push_back({buffer, subject.addresses[buffer], subject.addresses[buffer]});
  }
  world.calls.clear();
  RC_ASSERT(subject.patch({}).calls == 0U);
  RC_ASSERT(subject.patch(nowhere).relocations == 0U);
  RC_ASSERT(world.calls.empty());
}

TEST_F(InAFakeWorld, A6_ABufferThatNoNodeHoldsMovesInTheTableAlone) {
  Subject subject(memsets({0}), {0x1000, 0x2000}, Target::kExec);
  world.calls.clear();
  EXPECT_EQ(subject.patch({{1, 0x2000, 0x5000}}).calls, 0U);
  EXPECT_TRUE(world.calls.empty());
  EXPECT_EQ(subject.patcher->addresses()[1], 0x5000U);
}

// Every buffer that an opaque node at any depth may hold.
void collect_opaque(const Recording& recording, std::vector<hip::BufferIndex>& buffers) {
  for (const hip::RecordedNode& node : recording.nodes()) {
    if (const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record)) {
      buffers.insert(buffers.end(), opaque->buffers.begin(), opaque->buffers.end());
    }
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) collect_opaque(*child->graph, buffers);
  }
}

RC_GTEST_PROP(GraphPatcher, A7_AMovedBufferOfAnOpaqueNodeIsRefusedBeforeTheFirstCall, ()) {
  fake::World world;
  Subject subject(fake::draw_recording(world, {.opaque = true}), fake::draw_addresses(), draw_target());
  std::vector<hip::BufferIndex> opaque;
  collect_opaque(subject.recording, opaque);
  const auto moves = fake::draw_moves(subject.addresses);
  const bool refused =
      std::any_of(opaque.begin(), opaque.end(), [&](hip::BufferIndex buffer) { return changes(moves, buffer); });
  RC_CLASSIFY(refused);
  const std::string before = describe(subject.patched());
  world.calls.clear();
  const hip::PatchResult result = subject.patcher->patch(moves);
  RC_ASSERT(result.ok() == !refused);
  if (refused) {
    RC_ASSERT(result.error().failure == PatchFailure::kRecordAgain);
    RC_ASSERT(world.calls.empty());
    RC_ASSERT(describe(subject.patched()) == before);
    RC_ASSERT(subject.known_addresses() == subject.addresses);
  } else {
    RC_ASSERT(describe(subject.patched()) == recorded_again(subject.recording, fake::moved(subject.addresses, moves)));
  }
}

TEST_F(InAFakeWorld, A7_ChildrenBeyondTheDepthLimitAreRefusedAndOthersArePatched) {
  const hip::Api table = fake::api();
  Recording recording;
  recording.add(memset_of(1));
  recording.add(child_of(nested(memsets({0}), 200)));
  hip::RecordedGraph graph;  // record_graph refuses it; somebody may have built it otherwise
  ASSERT_EQ(table.hipGraphCreate(&graph.graph, 0), hipSuccess);
  graph.nodes.resize(2);
  const hipMemsetParams params{};
  ASSERT_EQ(table.hipGraphAddMemsetNode(&graph.nodes[0], graph.graph, nullptr, 0, &params), hipSuccess);
  auto patcher = GraphPatcher::of_graph(table, recording, graph, AddressTable{0x1000, 0x2000});
  const auto refused = patcher.patch(std::vector<Move>{{0, 0x1000, 0x3000}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().failure, PatchFailure::kRecordAgain);
  // The child names buffers below 1 only, so buffer 1 is known to be elsewhere.
  EXPECT_TRUE(patcher.patch(std::vector<Move>{{1, 0x2000, 0x3000}}).ok());
  EXPECT_EQ(bits(fake::graph_of(graph.graph).nodes[0]->memset.dst), 0x3000U);
}

TEST_F(InAFakeWorld, A7_AGraphOfTooManyNodesIsRefusedWithoutBeingOpened) {
  const hip::Api table = fake::api();
  Recording recording = memsets({0});
  for (int level = 0; level < 40; ++level) {  // each level holds the one below twice: 2^40 nodes
    const auto below = std::make_shared<const Recording>(std::move(recording));
    recording = Recording();
    recording.add({hip::ChildRecord{below}, {}, {}});
    recording.add({hip::ChildRecord{below}, {}, {}});
  }
  hip::RecordedGraph graph;
  graph.nodes.resize(2);  // never looked at
  auto patcher = GraphPatcher::of_graph(table, recording, graph, AddressTable{0x1000});
  const auto refused = patcher.patch(std::vector<Move>{{0, 0x1000, 0x3000}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().failure, PatchFailure::kRecordAgain);
  EXPECT_EQ(world.call_count, 0U);
}

TEST(GraphPatcher, A7_ChildrenAtTheDepthLimitArePatched) {
  for (const Target target : {Target::kExec, Target::kGraph}) {
    fake::World world;
    Subject subject(nested(memsets({0}), hip::kMaxChildDepth), {0x1000}, target);
    EXPECT_EQ(subject.patch({{0, 0x1000, 0x3000}}).nodes, 1U);
    EXPECT_EQ(describe(subject.patched()), recorded_again(subject.recording, {0x3000}));
  }
}

TEST_F(InAFakeWorld, A7_ARuntimeThatListsClonesInAnotherOrderIsFoundOutAndNothingChanges) {
  Recording inner = memsets({0});
  inner.add({hip::MemsetRecord{}, {0}, {{Field::kMemsetDestination, 0, 1, 0}}});  // same types: only the edge tells
  Recording empty_first;
  empty_first.add({hip::EmptyRecord{}, {}, {}});
  empty_first.add(memset_of(0));
  for (const Recording& child : {inner, empty_first}) {
    Subject subject(nested(child, 2), {0x1000, 0x2000}, Target::kExec);
    const std::string before = describe(subject.patched());
    const std::size_t graphs = world.graphs.size();
    world.clones_reversed = true;
    const auto result = subject.patcher->patch(std::vector<Move>{{0, 0x1000, 0x3000}});
    world.clones_reversed = false;
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().failure, PatchFailure::kRecordAgain);
    EXPECT_EQ(describe(subject.patched()), before);
    EXPECT_EQ(world.graphs.size(), graphs);
    EXPECT_TRUE(subject.patcher->usable());
  }
}

TEST(GraphPatcher, A7_AnOpaqueNodeThatIsSeveralNodesMakesANestedChildUnknowable) {
  hip::OpaqueRecord two_nodes;
  two_nodes.record = [](const hip::Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                        std::span<const DeviceAddress>, hip::Kept&) -> hip::Result<hipGraphNode_t> {
    hipGraphNode_t node = nullptr;
    for (int i = 0; i < 2; ++i) {
      const hipError_t status = api.hipGraphAddEmptyNode(&node, graph, dependencies.data(), dependencies.size());
      if (status != hipSuccess) return hip::Error{status, "hipGraphAddEmptyNode"};
    }
    return node;
  };
  Recording inner = memsets({0});
  inner.add({two_nodes, {}, {}});
  fake::World world;
  Subject subject(nested(inner, 2), {0x1000}, Target::kExec);
  const auto result = subject.patcher->patch(std::vector<Move>{{0, 0x1000, 0x3000}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().failure, PatchFailure::kRecordAgain);
  EXPECT_EQ(bits(subject.patched().nodes[0]->child->nodes[0]->child->nodes[0]->memset.dst), 0x1000U);
  // The nodes of a child that the patcher recorded itself are known by their handles.
  Subject shallow(nested(inner, 1), {0x1000}, Target::kExec);
  shallow.patch({{0, 0x1000, 0x3000}});
  EXPECT_EQ(bits(shallow.patched().nodes[0]->child->nodes[0]->memset.dst), 0x3000U);
}

TEST(GraphPatcher, A2_NodesOfNestedChildrenAreFoundInWhateverOrderTheRuntimeListsThem) {
  Recording inner;  // breadth first, the last node comes second; all have one type
  inner.add(memset_of(0));
  inner.add({hip::MemsetRecord{}, {0}, {{Field::kMemsetDestination, 0, 1, 0}}});
  inner.add(memset_of(2));
  for (const Target target : {Target::kExec, Target::kGraph}) {
    for (const auto order : {fake::NodeOrder::kAsAdded, fake::NodeOrder::kBreadthFirst, fake::NodeOrder::kLastFirst}) {
      fake::World world;
      world.node_order = order;
      Subject subject(nested(inner, 3), {0x1000, 0x2000, 0x3000}, target);
      subject.patch({{0, 0x1000, 0x5000}, {1, 0x2000, 0x6000}, {2, 0x3000, 0x7000}});
      EXPECT_EQ(describe(subject.patched()), recorded_again(subject.recording, {0x5000, 0x6000, 0x7000}));
    }
  }
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, P1_NothingThatTheCallerPassedIsKept, ()) {
  const Recording recording = subject.recording;
  const auto graph = subject.graph;
  const auto cycle = fake::draw_cycle(subject.addresses);
  const AddressTable after = fake::moved(subject.addresses, cycle);
  // Poison in place, so that the memory that was passed holds it.
  for (hip::NodeIndex i = 0; i < subject.recording.nodes().size(); ++i) {
    auto& node = const_cast<hip::RecordedNode&>(subject.recording.nodes()[i]);
    for (hip::Relocation& relocation : node.relocations) relocation = {Field::kKernelArgument, 0xdead, 0xdead, 0xdead};
    if (auto* kernel = std::get_if<hip::KernelRecord>(&node.record)) {
      std::fill(kernel->arguments.begin(), kernel->arguments.end(), std::byte{0xdb});
      std::fill(kernel->slots.begin(), kernel->slots.end(), hip::ArgumentSlot{0xdead, 0xdead});
      kernel->function = nullptr;
    }
    if (auto* copy = std::get_if<hip::CopyRecord>(&node.record)) std::memset(&copy->params, 0xdb, sizeof(copy->params));
    if (auto* set = std::get_if<hip::MemsetRecord>(&node.record)) std::memset(&set->params, 0xdb, sizeof(set->params));
    if (auto* child = std::get_if<hip::ChildRecord>(&node.record)) child->graph.reset();
  }
  std::fill(subject.graph.nodes.begin(), subject.graph.nodes.end(), nullptr);
  std::fill(subject.addresses.begin(), subject.addresses.end(), 0xdbdb);
  subject.table = hip::Api{};
  {
    auto moves = std::make_unique<std::vector<Move>>(cycle);
    RC_ASSERT(subject.patcher->patch(*moves).ok());
    std::fill(moves->begin(), moves->end(), Move{0xdb, 0xdb, 0xdb});
  }
  RC_ASSERT(describe(subject.patched()) == recorded_again(recording, after));
  RC_ASSERT(subject.known_addresses() == after);
}

RC_GTEST_PROP(GraphPatcher, P2_PatchingAnExecutableGraphChangesThatOneAlone, ()) {
  fake::World world;
  Subject subject(fake::draw_recording(world), fake::draw_addresses(), Target::kExec);
  hipGraphExec_t sibling = nullptr;
  RC_ASSERT(subject.table.hipGraphInstantiate(&sibling, subject.graph.graph, nullptr, nullptr, 0) == hipSuccess);
  const std::string before = describe(fake::graph_of(subject.graph.graph));
  subject.patch(fake::draw_cycle(subject.addresses));
  RC_ASSERT(describe(fake::graph_of(subject.graph.graph)) == before);
  RC_ASSERT(describe(fake::graph_of(sibling)) == before);
}

RC_GTEST_PROP(GraphPatcher, P2_PatchingAGraphLeavesItsInstantiationsAlone, ()) {
  fake::World world;
  Subject subject(fake::draw_recording(world), fake::draw_addresses(), Target::kGraph);
  const std::string before = describe(fake::graph_of(subject.exec));
  subject.patch(fake::draw_cycle(subject.addresses));
  RC_ASSERT(describe(fake::graph_of(subject.exec)) == before);
}

RC_GTEST_PROP(GraphPatcher, P4_APatchThatFailsAtAnyCallLeavesTheGraphAsItWas, ()) {
  const auto failing = *rc::gen::element(fake::Failing::kChangesNothing, fake::Failing::kChangesAllTheSame);
  const bool prepared = *rc::gen::arbitrary<bool>();
  fake::World world;
  world.failing = failing;
  const Recording recording = fake::draw_recording(world);
  const AddressTable start = fake::draw_addresses();
  const Target target = draw_target();
  const auto first = fake::draw_cycle(start);
  const auto moves = fake::draw_moves(prepared ? fake::moved(start, first) : start);
  for (std::uint64_t ordinal = 1;; ++ordinal) {
    int leaks = 0;
    Subject subject(recording, start, target, {[&](int, const char*) { ++leaks; }});
    if (prepared) subject.patch(first);
    const std::string before = describe(subject.patched());
    world.call_count = 0;
    world.failing_calls = {ordinal};
    const hip::PatchResult result = subject.patcher->patch(moves);
    world.failing_calls.clear();
    if (world.call_count < ordinal) {
      RC_ASSERT(result.ok());
      return;
    }
    RC_ASSERT(!result.ok());
    RC_ASSERT(result.error().failure == PatchFailure::kRolledBack);
    RC_ASSERT(result.error().code == hipErrorUnknown);
    RC_ASSERT(subject.patcher->usable());
    RC_ASSERT(describe(subject.patched()) == before);
    RC_ASSERT(subject.known_addresses() == subject.addresses);
    // Nothing is half done inside either: the same patch, and another one, come out right.
    subject.patch(moves);
    RC_ASSERT(describe(subject.patched()) == recorded_again(recording, subject.addresses));
    subject.patch(fake::draw_cycle(subject.addresses));
    RC_ASSERT(describe(subject.patched()) == recorded_again(recording, subject.addresses));
    RC_ASSERT(leaks == 0);
  }
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, P4_APatchThatCannotBePutBackIsUnusableAndSaysSoFromThenOn, ()) {
  subject.patch(fake::draw_cycle(subject.addresses));  // prepares some children
  const auto moves = fake::draw_cycle(subject.addresses);
  RC_PRE(expected_work(subject.recording, moves).nodes > 0U);
  // From some call on everything fails, so that putting back fails as well, if there is anything to put back.
  world.call_count = 0;
  world.calls.clear();
  const auto first = static_cast<std::uint64_t>(1 + fake::below(4));
  for (std::uint64_t ordinal = first; ordinal < first + 1000; ++ordinal) world.failing_calls.insert(ordinal);
  const hip::PatchResult result = subject.patcher->patch(moves);
  world.failing_calls.clear();
  if (result.ok()) return;  // it took fewer calls
  const bool reached_setters = std::any_of(world.calls.begin(), world.calls.end(), is_setter);
  RC_CLASSIFY(reached_setters);
  RC_ASSERT((result.error().failure == PatchFailure::kUnusable) == reached_setters);
  RC_ASSERT(subject.patcher->usable() == !reached_setters);
  if (!reached_setters) return;
  world.calls.clear();
  const hip::PatchResult later = subject.patcher->patch({});
  RC_ASSERT(!later.ok());
  RC_ASSERT(later.error().failure == PatchFailure::kUnusable);
  RC_ASSERT(world.calls.empty());
}

TEST_F(InAFakeWorld, P4_OneFailedCallOfPuttingBackIsEnoughToBeUnusable) {
  for (std::uint64_t back = 4; back <= 6; ++back) {  // three memsets: the third fails, then three are put back
    Subject subject(memsets({0, 0, 0}), {0x1000}, Target::kExec);
    world.call_count = 0;
    world.failing_calls = {3, back};
    const auto result = subject.patcher->patch(std::vector<Move>{{0, 0x1000, 0x3000}});
    EXPECT_EQ(world.call_count, 6U);  // it goes on, to save what can be saved
    world.failing_calls.clear();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().failure, PatchFailure::kUnusable);
    EXPECT_FALSE(subject.patcher->usable());
  }
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, P11_ABadMoveIsNamedAndChangesNothing, ()) {
  auto moves = fake::draw_moves(subject.addresses);
  const int kind = fake::below(3);
  if (kind == 0) moves.push_back({fake::kBuffers, 0x1000, 0x2000});
  if (kind == 1) {
    if (moves.empty()) moves.push_back({0, subject.addresses[0], 0x3000});
    moves.push_back(moves[static_cast<std::size_t>(fake::below(static_cast<int>(moves.size())))]);
  }
  if (kind == 2) {
    moves = fake::draw_cycle(subject.addresses);
    moves.back().from += 8;
  }
  const std::string before = describe(subject.patched());
  world.calls.clear();
  const hip::PatchResult result = subject.patcher->patch(moves);
  RC_ASSERT(!result.ok());
  RC_ASSERT(result.error().failure == PatchFailure::kBadMove);
  RC_ASSERT(world.calls.empty());
  RC_ASSERT(describe(subject.patched()) == before);
  // And leaves no mark on the next one.
  subject.patch(fake::draw_cycle(subject.addresses));
  RC_ASSERT(describe(subject.patched()) == recorded_again(subject.recording, subject.addresses));
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, P10_APatchTouchesAsManyRelocationsAsTheMovedBuffersHave, ()) {
  const auto moves = fake::draw_moves(subject.addresses);
  RC_ASSERT(subject.patch(moves).relocations == expected_work(subject.recording, moves).relocations);
}

TEST(GraphPatcher, P10_TheCallsOfAPatchDoNotGrowWithTheGraph) {
  for (const int others : {0, 100, 10000}) {
    fake::World world;
    Recording recording = memsets({0});
    for (int i = 0; i < others; ++i) recording.add(memset_of(1));
    Subject subject(recording, {0x1000, 0x2000}, Target::kExec);
    world.calls.clear();
    EXPECT_EQ(subject.patch({{0, 0x1000, 0x3000}}).relocations, 1U);
    EXPECT_EQ(world.calls.size(), 1U);
  }
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, P10_APatchAllocatesNothingOnceItsChildrenArePrepared, ()) {
  std::vector<Move> all;
  for (hip::BufferIndex buffer = 0; buffer < subject.addresses.size(); ++buffer) {
    all.push_back({buffer, subject.addresses[buffer], subject.addresses[buffer] + 0x10'0000});
  }
  subject.patch(all);
  world.log_calls = false;
  for (int patch = 0; patch < 3; ++patch) {
    const auto moves = fake::draw_moves(subject.addresses);
    std::uint64_t allocations = 0;
    bool ok = false;
    {
      const allocation::Counter counter(&world.inside);
      const hip::PatchResult result = subject.patcher->patch(moves);
      allocations = allocation::Counter::count();
      ok = result.ok();
    }
    RC_ASSERT(ok);
    RC_ASSERT(allocations == 0U);
    subject.addresses = fake::moved(subject.addresses, moves);
  }
}

TEST(GraphPatcher, P10_WithoutChildGraphsNotEvenTheFirstPatchAllocates) {
  for (const Target target : {Target::kExec, Target::kGraph}) {
    fake::World world;
    Recording recording = memsets({0, 1, 0, 1});
    hip::KernelRecord kernel;
    kernel.arguments.resize(24);
    kernel.function = world.add_kernel({{}, 24});
    recording.add({kernel, {}, {{Field::kKernelArgument, 3, 0, 0}, {Field::kKernelArgument, 16, 1, 0}}});
    Subject subject(recording, {0x1000, 0x2000}, target);
    const std::vector<Move> swap = {{0, 0x1000, 0x2000}, {1, 0x2000, 0x1000}};
    world.log_calls = false;
    const allocation::Counter counter(&world.inside);
    const bool ok = subject.patcher->patch(swap).ok();
    const std::uint64_t allocations = allocation::Counter::count();
    EXPECT_TRUE(ok);
    EXPECT_EQ(allocations, 0U);
  }
}

RC_GTEST_PROP(GraphPatcher, P8_APatcherLeavesNoGraphBehind, ()) {
  fake::World world;
  {
    Subject subject(fake::draw_recording(world), fake::draw_addresses(), draw_target());
    subject.patch(fake::draw_cycle(subject.addresses));
    GraphPatcher moved_to = std::move(*subject.patcher);
    subject.patcher.emplace(std::move(moved_to));
    for (hip::NodeIndex i = 0; i < subject.recording.nodes().size(); ++i) {
      subject.patcher->replace(i, subject.recording.nodes()[i].record, subject.recording.nodes()[i].relocations);
    }
    subject.patch(fake::draw_cycle(subject.addresses));
    subject.patcher->replace_all(subject.recording, subject.addresses);
    subject.patch(fake::draw_cycle(subject.addresses));
  }
  RC_ASSERT(world.graphs.size() == 1U);  // the subject's own
}

TEST_F(InAFakeWorld, AnErrorInTeardownIsToldToWhoeverListens) {
  std::vector<int> heard;
  {
    Subject subject(nested(memsets({0}), 1), {0x1000}, Target::kExec,
                    {[&](int code, const char*) { heard.push_back(code); }});
    subject.patch({{0, 0x1000, 0x3000}});
    world.failing_calls = {world.call_count + 1};
  }
  EXPECT_EQ(heard, std::vector<int>{hipErrorUnknown});
}

TEST_F(InAFakeWorld, AnErrorInTeardownThatNobodyListensForIsWrittenToStandardError) {
  testing::internal::CaptureStderr();
  {
    Subject subject(nested(memsets({0}), 1), {0x1000}, Target::kExec);
    subject.patch({{0, 0x1000, 0x3000}});
    world.failing_calls = {world.call_count + 1};
  }
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_NE(written.find("hipErrorUnknown"), std::string::npos) << written;
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 1);
}

// Replaces one node of `recording` by a node of the same kind drawn afresh: as if the caller had called a setter.
std::optional<hip::NodeIndex> redraw_one_node(fake::World& world, Recording& recording) {
  const Recording other = fake::draw_recording(world, {.max_nodes = 12});
  for (hip::NodeIndex i = 0; i < recording.nodes().size(); ++i) {
    for (const hip::RecordedNode& node : other.nodes()) {
      if (node.record.index() != recording.nodes()[i].record.index()) continue;
      recording.replace(i, node.record, node.relocations);
      if (*rc::gen::arbitrary<bool>()) return i;
    }
  }
  return std::nullopt;
}

RC_GTEST_PROP(GraphPatcher, ANodeThatTheCallerReplacedIsPatchedFromItsNewParameters, ()) {
  fake::World world;
  const Recording before = fake::draw_recording(world);
  Subject subject(before, fake::draw_addresses(), draw_target());
  subject.patch(fake::draw_moves(subject.addresses));
  Recording after = before;
  redraw_one_node(world, after);
  // The caller's own setters, for every node that differs: here a graph recorded again stands for what they leave.
  Subject changed(after, subject.addresses, subject.target);
  changed.patcher.emplace(
      changed.target == Target::kExec
          ? GraphPatcher::of_exec(changed.table, before, changed.graph, changed.exec, subject.addresses)
          : GraphPatcher::of_graph(changed.table, before, changed.graph, subject.addresses));
  for (hip::NodeIndex i = 0; i < after.nodes().size(); ++i) {
    changed.patcher->replace(i, after.nodes()[i].record, after.nodes()[i].relocations);
  }
  for (int patch = 0; patch < 2; ++patch) {
    const auto moves = fake::draw_moves(changed.addresses);
    RC_ASSERT(changed.patch(moves).relocations == expected_work(after, moves).relocations);
    RC_ASSERT(describe(changed.patched()) == recorded_again(after, changed.addresses));
  }
}

TEST_F(InAFakeWorld, ReplacingAChildGraphDropsThePrivateOneAndShiftsNoOtherNode) {
  Recording recording = memsets({0});
  const hip::NodeIndex first = recording.add(child_of(memsets({0, 1})));
  recording.add(child_of(memsets({1, 0})));
  recording.add(memset_of(1));
  Subject subject(recording, {0x1000, 0x2000}, Target::kExec);
  subject.patch({{0, 0x1000, 0x3000}});
  for (Recording inner : {memsets({1, 1, 1, 0}), memsets({}), memsets({0})}) {
    // The caller hands over a graph with other nodes; a runtime that allows it changes the executable graph.
    const auto replaced = hip::record_graph(subject.table, inner, subject.addresses);
    auto& node = *const_cast<fake::Graph&>(subject.patched()).nodes[first];
    node.child->nodes = std::move(fake::graph_of(replaced.value().graph).nodes);
    hip::RecordedNode child = child_of(std::move(inner));
    subject.recording.replace(first, child.record, {});
    subject.patcher->replace(first, child.record, {});
    for (const hip::BufferIndex buffer : {0U, 1U}) {
      const DeviceAddress at = subject.addresses[buffer];
      subject.patch({{buffer, at, at + 0x1'0000}});
      EXPECT_EQ(describe(subject.patched()), recorded_again(subject.recording, subject.addresses));
    }
  }
}

RC_GTEST_PROP(GraphPatcher, AnUpdateOfTheWholeGraphIsPatchedFromItsRecording, ()) {
  fake::World world;
  const Recording before = fake::draw_recording(world);
  Recording after = before;
  redraw_one_node(world, after);
  const AddressTable start = fake::draw_addresses();
  const AddressTable updated = fake::draw_addresses();
  // As hipGraphExecUpdate does: the executable graph holds what `after` states, under the handles of the old graph.
  Subject subject(after, updated, draw_target());
  subject.patcher.emplace(subject.target == Target::kExec
                              ? GraphPatcher::of_exec(subject.table, before, subject.graph, subject.exec, start)
                              : GraphPatcher::of_graph(subject.table, before, subject.graph, start));
  subject.patcher->replace_all(after, updated);
  RC_ASSERT(subject.known_addresses() == updated);
  subject.patch(fake::draw_moves(subject.addresses));
  RC_ASSERT(describe(subject.patched()) == recorded_again(after, subject.addresses));
}

TEST_F(InAFakeWorld, AMessageNamesTheNodeThePlaceAndTheRemedy) {
  Recording recording = memsets({0});
  recording.add(child_of(nested(memsets({0, 1}), 1)));
  Subject subject(recording, {0x1000, 0x2000}, Target::kExec);
  subject.patch({{1, 0x2000, 0x4000}});
  world.failing_calls = {world.call_count + 1};
  const auto result = subject.patcher->patch(std::vector<Move>{{1, 0x4000, 0x5000}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(
      result.error().message,
      "node 1/0/1 (memset): hipGraphMemsetNodeSetParams: hipErrorUnknown; the graph is as it was before the patch: "
      "patch again or record it again");
}

}  // namespace
