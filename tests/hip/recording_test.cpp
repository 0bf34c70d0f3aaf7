// Recordings: packing, flaws, relocation, and recording through the API, against a fake HIP (hip/fake_api.h).
//
// Verified: HIP receives the nodes and parameters that the recording states; both argument styles; failure of every
// call. Not verified: that a runtime copies its parameters before a call returns (P1); the model and the campaigns
// verify it.
#include "hip/recording.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstring>
#include <tuple>
#include <utility>

#include "hip/fake_api.h"
#include "hip/random_recording.h"

namespace {

using fake::bits;
using fake::child_of;
using fake::load;
using fake::nested;
using hip::ArgumentStyle;
using hip::Field;
using hip::Recording;

hip::RecordedNode kernel_with(std::uint32_t bytes, std::vector<hip::Relocation> relocations) {
  hip::KernelRecord kernel;
  kernel.arguments.resize(bytes);
  return {kernel, {}, std::move(relocations)};
}

Recording one_empty_node() {
  Recording recording;
  recording.add({hip::EmptyRecord{}, {}, {}});
  return recording;
}

RC_GTEST_PROP(Recording, ArgumentsOfAnySizePackAtTheirSlotsAndAllOtherBytesAreZero, ()) {
  const auto sizes = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(0, 33));
  std::vector<hip::ArgumentSlot> slots;
  std::vector<std::vector<std::byte>> values;
  std::uint32_t end = 0;
  for (const std::uint32_t size : sizes) {
    const std::uint32_t offset = end + *rc::gen::inRange<std::uint32_t>(0, 9);
    slots.push_back({offset, size});
    values.emplace_back(size, static_cast<std::byte>(1 + *rc::gen::inRange(0, 255)));
    end = offset + size;
  }
  const std::vector<std::span<const std::byte>> spans(values.begin(), values.end());
  const auto kernel = hip::KernelRecord::from_arguments(nullptr, slots, spans);
  RC_ASSERT(kernel.arguments.size() == end);
  std::vector<std::byte> expected(end);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    for (std::size_t byte = 0; byte < values[i].size(); ++byte) expected[slots[i].offset + byte] = values[i][byte];
  }
  RC_ASSERT(kernel.arguments == expected);
}

TEST(Recording, AnOpaqueKernelIsOfItsDevice) {
  hip::OpaqueRecord opaque;
  opaque.record = [](const hip::Api&, hipGraph_t, auto, auto, auto&) { return hip::Error{hipErrorNotSupported, ""}; };
  opaque.device = 1;
  hip::Recording recording;
  recording.add({opaque, {}, {}});
  EXPECT_EQ(hip::home_of(recording), 0) << "what it adds may run nowhere";
  opaque.kernel = true;
  recording.replace(0, opaque, {});
  EXPECT_EQ(hip::home_of(recording), 1);
  EXPECT_EQ(hip::device_of(opaque), 1);
  hip::OpaqueRecord other = opaque;
  other.device = 0;
  recording.add({other, {}, {}});
  EXPECT_EQ(hip::home_of(recording), 0) << "of several devices";
}

TEST(Recording, EveryFlawOfANodeHasWords) {
  const hip::RecordedNode fine =
      kernel_with(16, {{Field::kKernelArgument, 0, 0, 0}, {Field::kKernelArgument, 8, 0, 0}});
  EXPECT_EQ(hip::flaw_of(fine, 0), nullptr);

  hip::RecordedNode depends = fine;
  depends.dependencies = {0};
  EXPECT_EQ(hip::flaw_of(depends, 1), nullptr);
  EXPECT_STREQ(hip::flaw_of(depends, 0), "a dependency is not an earlier node");
  depends.dependencies = {0, 1, 0};
  EXPECT_STREQ(hip::flaw_of(depends, 2), "a dependency is named twice");

  constexpr Field kArgument = Field::kKernelArgument;
  const auto flaw = [](std::vector<hip::Relocation> relocations) {
    return hip::flaw_of(kernel_with(16, std::move(relocations)), 0);
  };
  EXPECT_STREQ(flaw({{kArgument, 9, 0, 0}}), "a relocation lies outside the argument block");
  EXPECT_STREQ(flaw({{kArgument, 0xffff'ffff, 0, 0}}), "a relocation lies outside the argument block");
  EXPECT_STREQ(flaw({{kArgument, 8, 0, 0}, {kArgument, 1, 0, 0}}), "two relocations overlap");
  EXPECT_STREQ(flaw({{Field::kCopySource, 0, 0, 0}}), "a relocation names a field that a kernel does not have");
  EXPECT_STREQ(flaw({{kArgument, 0, 0xffff'ffff, 0}}), "a relocation names no buffer");

  hip::RecordedNode by_params = fine;
  std::get<hip::KernelRecord>(by_params.record).style = ArgumentStyle::kParams;
  EXPECT_STREQ(hip::flaw_of(by_params, 0), "a kernel recorded through kernelParams needs slots");
  std::get<hip::KernelRecord>(by_params.record).slots = {{12, 8}};
  EXPECT_STREQ(hip::flaw_of(by_params, 0), "a slot lies outside the argument block");

  EXPECT_STREQ(hip::flaw_of({hip::MemsetRecord{}, {}, {{Field::kCopyDestination, 0, 0, 0}}}, 0),
               "a relocation names a field that the node does not have");
  EXPECT_STREQ(hip::flaw_of({hip::MemsetRecord{}, {}, {{Field::kMemsetDestination, 8, 0, 0}}}, 0),
               "only relocations of kernel arguments have an offset");
  EXPECT_STREQ(hip::flaw_of({hip::CopyRecord{}, {}, {{Field::kCopySource, 0, 0, 0}, {Field::kCopySource, 0, 1, 0}}}, 0),
               "two relocations overlap");
  for (const hip::NodeRecord& record : {hip::NodeRecord(hip::HostRecord{}), hip::NodeRecord(hip::EmptyRecord{})}) {
    EXPECT_EQ(hip::flaw_of({record, {}, {}}, 0), nullptr);
    EXPECT_NE(hip::flaw_of({record, {}, {{Field::kCopySource, 0, 0, 0}}}, 0), nullptr);
  }
  EXPECT_STREQ(hip::flaw_of({hip::ChildRecord{}, {}, {}}, 0), "a child graph node needs a recording");
  EXPECT_STREQ(hip::flaw_of({hip::OpaqueRecord{}, {}, {}}, 0), "an opaque node needs a function that records it");
  hip::OpaqueRecord opaque;
  opaque.record = [](const hip::Api&, hipGraph_t, auto, auto, auto&) { return hip::Error{hipErrorUnknown, ""}; };
  EXPECT_EQ(hip::flaw_of({opaque, {}, {}}, 0), nullptr);
  opaque.buffers = {0xffff'ffff};
  EXPECT_STREQ(hip::flaw_of({opaque, {}, {}}, 0), "an opaque node names no buffer");
}

TEST(Recording, EdgesAndNodesCanBeTakenAwayAgain) {
  Recording recording;
  for (hip::BufferIndex buffer = 0; buffer < 4; ++buffer) {
    recording.add({hip::MemsetRecord{}, {}, {{Field::kMemsetDestination, 0, buffer, 0}}});
  }
  recording.connect(0, 1);
  recording.connect(3, 1);  // a later node may be waited for
  recording.connect(1, 2);
  recording.connect(0, 2);
  EXPECT_EQ(recording.nodes()[1].dependencies, (std::vector<hip::NodeIndex>{0, 3}));
  recording.disconnect(0, 2);
  EXPECT_EQ(recording.nodes()[2].dependencies, std::vector<hip::NodeIndex>{1});
  const auto made = [&recording] {
    std::vector<std::array<hip::NodeIndex, 3>> edges;
    for (const Recording::Connection& each : recording.connections()) {
      edges.push_back({each.from, each.to, each.nodes_before});
    }
    return edges;
  };
  using Edges = std::vector<std::array<hip::NodeIndex, 3>>;
  EXPECT_EQ(made(), (Edges{{0, 1, 4}, {3, 1, 4}, {1, 2, 4}}));
  recording.erase(0);
  EXPECT_EQ(made(), (Edges{{2, 0, 3}, {0, 1, 3}}));
  ASSERT_EQ(recording.nodes().size(), 3U);
  EXPECT_EQ(recording.nodes()[0].dependencies, std::vector<hip::NodeIndex>{2});
  EXPECT_EQ(recording.nodes()[1].dependencies, std::vector<hip::NodeIndex>{0});
  EXPECT_EQ(recording.tree_size(), 3U);
  recording.erase(2);
  EXPECT_TRUE(recording.nodes()[0].dependencies.empty());
  EXPECT_EQ(recording.buffer_count(), 3U);
}

TEST(Recording, SeveralNodesAreErasedAsOneAfterTheOtherWouldBe) {
  const auto made = [](const auto& erase) {
    Recording recording;
    for (int i = 0; i < 6; ++i) recording.add(one_empty_node().nodes()[0]);
    for (const auto& [from, to] : {std::pair{0U, 5U}, {1U, 5U}, {4U, 5U}, {2U, 3U}, {4U, 1U}, {5U, 0U}})
      recording.connect(from, to);
    erase(recording);
    std::vector<std::vector<hip::NodeIndex>> all;
    for (const hip::RecordedNode& node : recording.nodes()) all.push_back(node.dependencies);
    for (const Recording::Connection& each : recording.connections())
      all.push_back({each.from, each.to, each.nodes_before});
    return all;
  };
  const auto together = made([](Recording& recording) { recording.erase(1, 3); });
  const auto singly = made([](Recording& recording) {
    for (int i = 0; i < 3; ++i) recording.erase(1);
  });
  EXPECT_EQ(together, singly);
  EXPECT_EQ(together[2], (std::vector<hip::NodeIndex>{0, 1}));
}

TEST(Recording, CountsBuffersDepthAndNodesThroughChildren) {
  Recording inner;
  inner.add(kernel_with(8, {{Field::kKernelArgument, 0, 6, 0}}));
  Recording middle = one_empty_node();
  middle.add(child_of(inner));
  Recording outer;
  outer.add({hip::MemsetRecord{}, {}, {{Field::kMemsetDestination, 0, 2, 0}}});
  EXPECT_EQ(outer.buffer_count(), 3U);
  EXPECT_EQ(outer.child_depth(), 0U);
  const hip::NodeIndex child = outer.add(child_of(middle));
  EXPECT_EQ(std::tuple(outer.buffer_count(), outer.child_depth(), outer.tree_size()), std::tuple(7U, 2U, 5U));
  outer.replace(child, child_of({}).record, {});
  EXPECT_EQ(std::tuple(outer.buffer_count(), outer.child_depth(), outer.tree_size()), std::tuple(3U, 1U, 2U));
}

TEST(Recording, RelocatingSetsEveryKindOfFieldToBasePlusAddend) {
  const hip::AddressTable addresses = {0x1000, 0x2000};
  const auto kernel = hip::relocated(
      kernel_with(17, {{Field::kKernelArgument, 9, 1, -16}, {Field::kKernelArgument, 0, 0, 4}}), addresses);
  EXPECT_EQ(load(std::get<hip::KernelRecord>(kernel).arguments, 9), 0x1ff0U);
  EXPECT_EQ(load(std::get<hip::KernelRecord>(kernel).arguments, 0), 0x1004U);
  EXPECT_EQ(std::get<hip::KernelRecord>(kernel).arguments[8], std::byte{0});
  const auto copy = hip::relocated(
      {hip::CopyRecord{}, {}, {{Field::kCopySource, 0, 0, 1}, {Field::kCopyDestination, 0, 1, 2}}}, addresses);
  EXPECT_EQ(bits(std::get<hip::CopyRecord>(copy).params.srcPtr.ptr), 0x1001U);
  EXPECT_EQ(bits(std::get<hip::CopyRecord>(copy).params.dstPtr.ptr), 0x2002U);
  const auto memset = hip::relocated({hip::MemsetRecord{}, {}, {{Field::kMemsetDestination, 0, 1, 0}}}, addresses);
  EXPECT_EQ(bits(std::get<hip::MemsetRecord>(memset).params.dst), 0x2000U);
}

// Compares a recorded graph with its recording, node by node, without any code of recording.cpp.
void expect_equal(const fake::Graph& graph, const Recording& recording, const hip::AddressTable& addresses) {
  RC_ASSERT(graph.nodes.size() == recording.nodes().size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const fake::Node& node = *graph.nodes[i];
    const hip::RecordedNode& recorded = recording.nodes()[i];
    RC_ASSERT(node.dependencies.size() == recorded.dependencies.size());
    for (std::size_t d = 0; d < node.dependencies.size(); ++d) {
      RC_ASSERT((node.dependencies[d] == graph.nodes[recorded.dependencies[d]].get()));
    }
    if (const auto* kernel = std::get_if<hip::KernelRecord>(&recorded.record)) {
      std::vector<std::byte> expected = kernel->arguments;
      for (const hip::Relocation& relocation : recorded.relocations) {
        const std::uint64_t value = addresses[relocation.buffer] + static_cast<std::uint64_t>(relocation.addend);
        std::memcpy(expected.data() + relocation.offset, &value, sizeof(value));
      }
      RC_ASSERT(node.type == hipGraphNodeTypeKernel);
      RC_ASSERT(node.arguments == expected);
      RC_ASSERT(bits(node.function) == bits(kernel->function));
      RC_ASSERT(node.grid.x == kernel->grid.x && node.grid.y == kernel->grid.y && node.block.y == kernel->block.y);
      RC_ASSERT(node.shared_bytes == kernel->shared_bytes);
    }
    if (const auto* copy = std::get_if<hip::CopyRecord>(&recorded.record)) {
      RC_ASSERT(node.type == hipGraphNodeTypeMemcpy);
      RC_ASSERT(node.linear == copy->linear);
      RC_ASSERT(node.copy.kind == copy->params.kind);
      RC_ASSERT(node.copy.extent.width == copy->params.extent.width);
      RC_ASSERT(copy->linear || node.copy.extent.depth == copy->params.extent.depth);
    }
    if (const auto* memset = std::get_if<hip::MemsetRecord>(&recorded.record)) {
      RC_ASSERT(node.type == hipGraphNodeTypeMemset);
      RC_ASSERT(node.memset.value == memset->params.value);
    }
    if (const auto* child = std::get_if<hip::ChildRecord>(&recorded.record)) {
      RC_ASSERT(node.type == hipGraphNodeTypeGraph);
      expect_equal(*node.child, *child->graph, addresses);
    }
  }
}

RC_GTEST_PROP(Recording, ARecordedGraphHoldsWhatTheRecordingStates, ()) {
  fake::World world;
  const Recording recording = fake::draw_recording(world);
  const hip::AddressTable addresses = fake::draw_addresses();
  const auto recorded = hip::record_graph(fake::api(), recording, addresses);
  RC_ASSERT(recorded.ok());
  expect_equal(fake::graph_of(recorded.value().graph), recording, addresses);
  RC_ASSERT(world.graphs.size() == 1U);  // graphs of children were only passing
}

RC_GTEST_PROP(Recording, BothArgumentStylesRecordTheSameNode, ()) {
  fake::World world;
  const Recording original = fake::draw_recording(world, {.kernels_only = true});
  const hip::AddressTable addresses = fake::draw_addresses();
  std::string pictures[2];
  for (const ArgumentStyle style : {ArgumentStyle::kParams, ArgumentStyle::kExtra}) {
    Recording recording;
    for (hip::RecordedNode node : original.nodes()) {
      auto& kernel = std::get<hip::KernelRecord>(node.record);
      std::vector<std::byte> packed(kernel.arguments.size());  // without the bytes between arguments
      for (const hip::ArgumentSlot& slot : kernel.slots) {
        std::memcpy(packed.data() + slot.offset, kernel.arguments.data() + slot.offset, slot.size);
      }
      kernel.arguments = packed;
      kernel.style = style;
      recording.add(std::move(node));
    }
    const auto recorded = hip::record_graph(fake::api(), recording, addresses);
    RC_ASSERT(recorded.ok());
    pictures[static_cast<int>(style)] = describe(fake::graph_of(recorded.value().graph));
  }
  RC_ASSERT(pictures[0] == pictures[1]);
}

RC_GTEST_PROP(Recording, ARecordingThatFailsAtAnyCallLeavesNothingBehind, ()) {
  fake::World world;
  const Recording recording = fake::draw_recording(world, {.opaque = true});
  const hip::AddressTable addresses = fake::draw_addresses();
  for (std::uint64_t failing = 1;; ++failing) {
    world.call_count = 0;
    world.calls.clear();
    world.failing_calls = {failing};
    const auto recorded = hip::record_graph(fake::api(), recording, addresses);
    if (world.call_count < failing) {
      RC_ASSERT(recorded.ok());  // it took fewer calls than this
      break;
    }
    RC_ASSERT(!recorded.ok());
    RC_ASSERT(recorded.error().code == hipErrorUnknown);
    RC_ASSERT(world.graphs.empty());  // a graph that the runtime refuses to destroy is destroyed a moment later
  }
}

TEST(Recording, ChildrenNestToTheLimitAndNoDeeper) {
  fake::World world;
  EXPECT_TRUE(hip::record_graph(fake::api(), nested(one_empty_node(), hip::kMaxChildDepth), {}).ok());
  const std::uint64_t calls = world.call_count;
  const auto too_deep = hip::record_graph(fake::api(), nested(one_empty_node(), hip::kMaxChildDepth + 1), {});
  ASSERT_FALSE(too_deep.ok());
  EXPECT_EQ(too_deep.error().code, hipErrorInvalidValue);
  EXPECT_EQ(world.call_count, calls);
}

TEST(Recording, ASmallRecordingOfAHugeGraphIsRefusedAtOnce) {
  fake::World world;
  const auto recorded = hip::record_graph(fake::api(), fake::huge(one_empty_node()), {});
  ASSERT_FALSE(recorded.ok());
  EXPECT_EQ(recorded.error().code, hipErrorInvalidValue);
  EXPECT_EQ(world.call_count, 0U);
}

RC_GTEST_PROP(RelocationTable, ARowHoldsAllRelocationsOfItsBufferInNodeOrder, ()) {
  const int count = *rc::gen::inRange(0, 60);
  std::vector<hip::RelocationSite> sites;
  std::vector<hip::OpaqueUse> uses;
  for (int i = 0; i < count; ++i) {
    const auto node = static_cast<hip::TreeIndex>(i / 3);
    const auto buffer = *rc::gen::inRange<hip::BufferIndex>(0, 6);
    if (*rc::gen::inRange(0, 3) == 0)
      uses.push_back({node, buffer});
    else
      sites.push_back({node, {Field::kKernelArgument, static_cast<std::uint32_t>(i), buffer, i}});
  }
  const hip::RelocationTable table(sites, uses, 6);
  for (hip::BufferIndex buffer = 0; buffer < 6; ++buffer) {
    std::vector<hip::Relocation> expected;
    for (const auto& site : sites) {
      if (site.relocation.buffer == buffer) expected.push_back(site.relocation);
    }
    std::vector<hip::Relocation> found;
    for (const auto& site : table.relocations_of(buffer)) found.push_back(site.relocation);
    RC_ASSERT(found == expected);  // `offset` tells entries apart and grows with the node
    std::vector<hip::TreeIndex> opaque;
    for (const auto& use : uses) {
      if (use.buffer == buffer) opaque.push_back(use.node);
    }
    std::vector<hip::TreeIndex> opaque_found;
    for (const auto& use : table.opaque_uses_of(buffer)) opaque_found.push_back(use.node);
    RC_ASSERT(opaque_found == opaque);
  }
}

}  // namespace
