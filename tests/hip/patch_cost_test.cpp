// How many HIP calls a patch makes, counted: on 4,096 kernel nodes over as many buffers, each buffer used four times.
//
// The time of a patch is measured in bench/ and asserted nowhere.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hip/patcher_subject.h"

namespace {

constexpr std::uint32_t kNodes = 4096;  // and as many buffers
constexpr std::array<std::uint32_t, 4> kDistances = {0, 1021, 2039, 3067};
constexpr std::uint32_t kPointerBytes = 8;
constexpr hip::DeviceAddress kHere = 0x7f0000000000, kThere = 0x7f8000000000, kSpacing = 0x1000;

hip::BufferIndex buffer_of(std::uint32_t node, std::size_t argument) {
  return (node + kDistances[argument]) % kNodes;
}

struct BigGraph {
  BigGraph() {
    fake::Kernel layout;
    for (std::uint32_t i = 0; i < kDistances.size(); ++i) layout.slots.push_back({i * kPointerBytes, kPointerBytes});
    layout.slots.push_back({static_cast<std::uint32_t>(kDistances.size()) * kPointerBytes, kPointerBytes});  // a scalar
    layout.block_bytes = layout.slots.size() * kPointerBytes;
    hip::KernelRecord kernel;
    kernel.function = world.add_kernel(layout);
    kernel.arguments.resize(layout.block_bytes);
    hip::Recording recording;
    hip::AddressTable here;
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      hip::RecordedNode recorded{kernel, {}, {}};
      for (std::uint32_t i = 0; i < kDistances.size(); ++i) {
        recorded.relocations.push_back({hip::Field::kKernelArgument, i * kPointerBytes, buffer_of(node, i), 0});
      }
      recording.add(std::move(recorded));
      here.push_back(kHere + node * kSpacing);
    }
    subject.emplace(recording, here, patching::Target::kExec);
  }

  // Every `stride`-th of the first `count` * `stride` buffers.
  [[nodiscard]] std::vector<hip::Move> moves_of(std::uint32_t count, std::uint32_t stride) const {
    std::vector<hip::Move> moves;
    for (std::uint32_t i = 0; i < count; ++i) {
      moves.push_back({i * stride, subject->addresses[i * stride], kThere + i * stride * kSpacing});
    }
    return moves;
  }

  // Handles of the nodes with a relocation of a moved buffer, in node order, found by looking at every node.
  [[nodiscard]] std::vector<const void*> nodes_that_change(const std::vector<hip::Move>& moves) const {
    std::vector<bool> moved(kNodes);
    for (const hip::Move& move : moves) moved[move.buffer] = true;
    std::vector<const void*> nodes;
    for (std::uint32_t node = 0; node < kNodes; ++node) {
      bool changes = false;
      for (std::size_t i = 0; i < kDistances.size(); ++i) changes |= moved[buffer_of(node, i)];
      if (changes) nodes.push_back(subject->graph.nodes[node]);
    }
    return nodes;
  }

  fake::World world;
  std::optional<patching::Subject> subject;
};

struct MovedBuffers {
  std::uint32_t count, stride;
};

class PatchCost : public testing::TestWithParam<MovedBuffers> {};

TEST_P(PatchCost, APatchMakesExactlyOneCallForEachNodeWithAChangedRelocationInNodeOrderEveryTime) {
  BigGraph big;
  std::vector<hip::Move> moves = big.moves_of(GetParam().count, GetParam().stride);
  const std::vector<const void*> expected = big.nodes_that_change(moves);
  for (int turn = 0; turn < 3; ++turn) {
    big.world.calls.clear();
    const std::uint64_t before = big.world.call_count;
    const hip::PatchResult result = big.subject->try_patch(moves);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(big.world.call_count - before, expected.size());
    EXPECT_EQ(result.report().calls, expected.size());
    EXPECT_EQ(result.report().nodes, expected.size());
    EXPECT_EQ(result.report().relocations, moves.size() * kDistances.size());
    std::vector<const void*> called;
    for (const fake::Call& call : big.world.calls) {
      EXPECT_EQ(call.function, "hipGraphExecKernelNodeSetParams");
      called.push_back(call.node);
    }
    EXPECT_EQ(called, expected);
    for (hip::Move& move : moves) std::swap(move.from, move.to);
  }
}

// One buffer, a few, 1 % of them, 10 % and all: few nodes and many are brought into order by different means.
INSTANTIATE_TEST_SUITE_P(Of4096Buffers, PatchCost,
                         testing::Values(MovedBuffers{1, 7}, MovedBuffers{8, 450}, MovedBuffers{41, 99},
                                         MovedBuffers{410, 9}, MovedBuffers{kNodes, 1}),
                         [](const auto& one) { return std::to_string(one.param.count) + "Moved"; });

TEST(PatchCost, APatchThatMovesEveryBufferToWhereItIsMakesNoCall) {
  BigGraph big;
  std::vector<hip::Move> moves = big.moves_of(kNodes, 1);
  for (hip::Move& move : moves) move.to = move.from;
  const std::uint64_t before = big.world.call_count;
  ASSERT_TRUE(big.subject->try_patch(moves).ok());
  EXPECT_EQ(big.world.call_count, before);
}

}  // namespace
