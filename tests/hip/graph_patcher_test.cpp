// The effect of a patch of GraphPatcher on its graph, against a fake HIP (hip/fake_api.h): one test a sentence of
// docs/properties.md, over random recordings and random moves, and the corners that random ones reach too seldom.
//
// Verified: A1-A7 of patches of executable graphs and of graphs, children at several depths included; patches after the
// caller replaced parameters. P1-P11 are in patch_safety_test.cpp. Not verified: the behaviour of a real runtime
// (campaigns do that); kernels are never run.
#include "hip/graph_patcher.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "hip/fake_api.h"
#include "hip/patcher_subject.h"
#include "hip/random_recording.h"

namespace {

using namespace patching;

// Calls `visit(node of the fake, node of the recording)` for every node of the tree.
template <class Visit>
void for_each_node(fake::Graph& graph, const Recording& recording, const Visit& visit) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    visit(*graph.nodes[i], recording.nodes()[i]);
    if (const auto* child = std::get_if<hip::ChildRecord>(&recording.nodes()[i].record)) {
      for_each_node(*graph.nodes[i]->child, *child->graph, visit);
    }
  }
}

// Returns the address of the eight bytes of a relocated field.
void* field_of(fake::Node& node, const hip::Relocation& relocation) {
  switch (relocation.field) {
    case Field::kKernelArgument:
      return node.arguments.data() + relocation.offset;
    case Field::kCopyDestination:
      return static_cast<void*>(&node.copy.dstPtr.ptr);
    case Field::kCopySource:
      return static_cast<void*>(&node.copy.srcPtr.ptr);
    case Field::kMemsetDestination:
      return static_cast<void*>(&node.memset.dst);
    case Field::kMemoryOperation:
      break;  // the fake has no batches; batch_nodes_test.cpp is about them
  }
  return nullptr;
}

// A picture of the graph with every relocated field blanked out.
std::string without_pointers(fake::Graph& graph, const Recording& recording) {
  for_each_node(graph, recording, [](fake::Node& node, const hip::RecordedNode& recorded) {
    for (const hip::Relocation& relocation : recorded.relocations) std::memset(field_of(node, relocation), 0, 8);
  });
  return describe(graph);
}

// Counts how often each case is drawn. The properties below say nothing about a case that is never drawn.
struct Reached {
  std::map<std::string_view, int> times;

  void visit(const Recording& recording, int depth) {
    for (const hip::RecordedNode& node : recording.nodes()) {
      times["depth 3"] += depth == 3 ? 1 : 0;
      times["memset"] += std::holds_alternative<hip::MemsetRecord>(node.record) ? 1 : 0;
      times["opaque"] += std::holds_alternative<hip::OpaqueRecord>(node.record) ? 1 : 0;
      if (const auto* copy = std::get_if<hip::CopyRecord>(&node.record)) ++times[copy->linear ? "linear" : "shaped"];
      if (const auto* kernel = std::get_if<hip::KernelRecord>(&node.record)) visit_kernel(*kernel, node.relocations);
      if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) visit(*child->graph, depth + 1);
    }
  }
  void visit_kernel(const hip::KernelRecord& kernel, const std::vector<hip::Relocation>& relocations) {
    ++times[kernel.style == hip::ArgumentStyle::kParams ? "by params" : "packed"];
    times["many arguments"] += kernel.slots.size() > 64 ? 1 : 0;
    for (const hip::Relocation& relocation : relocations) times["unaligned"] += relocation.offset % 8 != 0 ? 1 : 0;
    int& look_alikes = times["look-alike of an address"];
    for (std::size_t at = 0; at + 8 <= kernel.arguments.size(); ++at) {
      const std::uint64_t word = fake::load(kernel.arguments, at);
      look_alikes += word >> 32 == 0x7f12 && word % 512 == 0 ? 1 : 0;
    }
  }
  void visit(const AddressTable& addresses, const std::vector<Move>& moves) {
    const AddressTable after = fake::moved(addresses, moves);
    bool permuted = addresses != after;
    for (std::size_t buffer = 0; buffer < after.size(); ++buffer) {
      const auto owner = std::find(addresses.begin(), addresses.end(), after[buffer]);
      permuted = permuted && owner != addresses.end();
      times["reuse"] +=
          owner != addresses.end() && owner != addresses.begin() + static_cast<std::ptrdiff_t>(buffer) ? 1 : 0;
    }
    times["cycle"] += permuted ? 1 : 0;
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
  for (const char* drawn : {"by params", "packed", "unaligned", "many arguments", "look-alike of an address", "linear",
                            "shaped", "memset", "opaque", "depth 3", "cycle", "reuse"}) {
    EXPECT_GT(reached.times[drawn], 5) << drawn;
  }
}

RC_GTEST_PROP(GraphPatcher, PatchingEqualsRecordingAgain, ()) {
  fake::World world;
  world.node_order =
      *rc::gen::element(fake::NodeOrder::kAsAdded, fake::NodeOrder::kBreadthFirst, fake::NodeOrder::kLastFirst);
  Subject subject(fake::draw_recording(world), fake::draw_addresses(), draw_target());
  const int patches = 1 + fake::below(4);
  for (int i = 0; i < patches; ++i) {
    subject.patch_as_recorded_again(fake::draw_moves(subject.addresses));
  }
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, A1_APatchChangesTheBytesOfRelocatedPointersAndNoOther, ()) {
  Subject untouched(subject.recording, subject.addresses, subject.target);
  subject.patch(fake::draw_moves(subject.addresses));
  RC_ASSERT(without_pointers(subject.patched(), subject.recording) ==
            without_pointers(untouched.patched(), subject.recording));
}

RC_GTEST_PROP(GraphPatcher, A2_EveryPointerIntoAMovedBufferIsPatchedAtAnyDepth, ()) {
  fake::World world;
  const Recording drawn = fake::draw_recording(world);
  const Recording recording = nested(drawn, static_cast<std::uint32_t>(fake::below(12)));
  Subject subject(recording, fake::draw_addresses(), draw_target());
  subject.patch(fake::draw_moves(subject.addresses));
  for_each_node(subject.patched(), recording, [&](fake::Node& node, const hip::RecordedNode& recorded) {
    for (const hip::Relocation& relocation : recorded.relocations) {
      std::uint64_t value = 0;
      std::memcpy(&value, field_of(node, relocation), sizeof(value));
      RC_ASSERT(value == subject.addresses[relocation.buffer] + static_cast<std::uint64_t>(relocation.addend));
    }
  });
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, A3_SwapsAndCyclesHappenAtOnceAndAreUndoneByTheirInverse, ()) {
  const std::string before = describe(subject.patched());
  const auto cycle = fake::draw_cycle(subject.addresses);
  subject.patch_as_recorded_again(cycle);
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
    for (const auto size : {&hipPitchedPtr::pitch, &hipPitchedPtr::xsize, &hipPitchedPtr::ysize}) {
      RC_ASSERT((node.copy.srcPtr.*size) == copy->params.srcPtr.*size);
      RC_ASSERT((node.copy.dstPtr.*size) == copy->params.dstPtr.*size);
    }
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

// Whether an opaque node at any depth may hold a buffer that the moves change.
bool changes_opaque(const Recording& recording, const std::vector<Move>& moves) {
  const auto changed = [&](hip::BufferIndex buffer) { return changes(moves, buffer); };
  return std::ranges::any_of(recording.nodes(), [&](const hip::RecordedNode& node) {
    if (const auto* child = std::get_if<hip::ChildRecord>(&node.record)) return changes_opaque(*child->graph, moves);
    const auto* opaque = std::get_if<hip::OpaqueRecord>(&node.record);
    return opaque != nullptr && std::ranges::any_of(opaque->buffers, changed);
  });
}

RC_GTEST_PROP(GraphPatcher, A7_AMovedBufferOfAnOpaqueNodeIsRefusedBeforeTheFirstCall, ()) {
  fake::World world;
  Subject subject(fake::draw_recording(world, {.opaque = true}), fake::draw_addresses(), draw_target());
  const auto moves = fake::draw_moves(subject.addresses);
  const bool refused = changes_opaque(subject.recording, moves);
  RC_CLASSIFY(refused);
  if (refused) {
    expect_refusal(world, subject, moves, PatchFailure::kRecordAgain);
  } else {
    subject.patch_as_recorded_again(moves);
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
  EXPECT_EQ(failure_of(patcher.patch(std::vector<Move>{{0, 0x1000, 0x3000}})), PatchFailure::kRecordAgain);
  // The child names buffers below 1 only, so buffer 1 is known to be elsewhere.
  EXPECT_TRUE(patcher.patch(std::vector<Move>{{1, 0x2000, 0x3000}}).ok());
  EXPECT_EQ(bits(fake::graph_of(graph.graph).nodes[0]->memset.dst), 0x3000U);
}

TEST_F(InAFakeWorld, A7_AGraphOfTooManyNodesIsRefusedWithoutBeingOpened) {
  const hip::Api table = fake::api();
  const Recording recording = fake::huge(memsets({0}));
  hip::RecordedGraph graph;
  graph.nodes.resize(2);  // never looked at
  auto patcher = GraphPatcher::of_graph(table, recording, graph, AddressTable{0x1000});
  EXPECT_EQ(failure_of(patcher.patch(std::vector<Move>{{0, 0x1000, 0x3000}})), PatchFailure::kRecordAgain);
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
  inner.add(memset_of(1, {0}));  // same types: only the edge tells
  Recording empty_first;
  empty_first.add({hip::EmptyRecord{}, {}, {}});
  empty_first.add(memset_of(0));
  for (const Recording& child : {inner, empty_first}) {
    Subject subject(nested(child, 2), {0x1000, 0x2000}, Target::kExec);
    const std::string before = describe(subject.patched());
    const std::size_t graphs = world.graphs.size();
    world.clones_reversed = true;
    EXPECT_EQ(failure_of(subject.try_patch({{0, 0x1000, 0x3000}})), PatchFailure::kRecordAgain);
    world.clones_reversed = false;
    EXPECT_EQ(describe(subject.patched()), before);
    EXPECT_EQ(world.graphs.size(), graphs);
    EXPECT_TRUE(subject.patcher->usable());
  }
}

TEST(GraphPatcher, A7_AnOpaqueNodeThatIsSeveralNodesMakesANestedChildUnknowable) {
  hip::OpaqueRecord two_nodes;
  two_nodes.record = [](const hip::Api& api, hipGraph_t graph, std::span<const hipGraphNode_t> dependencies,
                        std::span<const hip::DeviceAddress>, hip::Kept&) -> hip::Result<hipGraphNode_t> {
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
  EXPECT_EQ(failure_of(subject.try_patch({{0, 0x1000, 0x3000}})), PatchFailure::kRecordAgain);
  EXPECT_EQ(bits(subject.patched().nodes[0]->child->nodes[0]->child->nodes[0]->memset.dst), 0x1000U);
  // The nodes of a child that the patcher recorded itself are known by their handles.
  Subject shallow(nested(inner, 1), {0x1000}, Target::kExec);
  shallow.patch({{0, 0x1000, 0x3000}});
  EXPECT_EQ(bits(shallow.patched().nodes[0]->child->nodes[0]->memset.dst), 0x3000U);
}

TEST(GraphPatcher, A2_NodesOfNestedChildrenAreFoundInWhateverOrderTheRuntimeListsThem) {
  Recording inner;  // breadth first, the last node comes second; all have one type
  inner.add(memset_of(0));
  inner.add(memset_of(1, {0}));
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

// Replaces one node of `recording` by a node of the same kind drawn afresh: as if the caller had called a setter.
void redraw_one_node(fake::World& world, Recording& recording) {
  const Recording other = fake::draw_recording(world, {.max_nodes = 12});
  for (hip::NodeIndex i = 0; i < recording.nodes().size(); ++i) {
    for (const hip::RecordedNode& node : other.nodes()) {
      if (node.record.index() != recording.nodes()[i].record.index()) continue;
      recording.replace(i, node.record, node.relocations);
      if (*rc::gen::arbitrary<bool>()) return;
    }
  }
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
  changed.make_patcher(before, subject.addresses);
  for (hip::NodeIndex i = 0; i < after.nodes().size(); ++i) {
    changed.patcher->replace(i, after.nodes()[i].record, after.nodes()[i].relocations);
  }
  for (int patch = 0; patch < 2; ++patch) {
    const auto moves = fake::draw_moves(changed.addresses);
    RC_ASSERT(changed.patch_as_recorded_again(moves).relocations == expected_work(after, moves).relocations);
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
    auto& node = *subject.patched().nodes[first];
    node.child->nodes = std::move(fake::graph_of(replaced.value().graph).nodes);
    hip::RecordedNode child = child_of(std::move(inner));
    subject.recording.replace(first, child.record, {});
    subject.patcher->replace(first, child.record, {});
    for (const hip::BufferIndex buffer : {0U, 1U}) {
      const hip::DeviceAddress at = subject.addresses[buffer];
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
  subject.make_patcher(before, start);
  subject.patcher->replace_all(after, updated);
  RC_ASSERT(subject.known_addresses() == updated);
  subject.patch_as_recorded_again(fake::draw_moves(subject.addresses));
}

}  // namespace
