// hip::CommandBuffer on the host model: what it decides, and why. What its steps do to memory, also when calls fail, is
// held to a model in scenarios (systems_test.cpp).
#include "hip/command_buffer.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>

#include "hip/captured_graph.h"
#include "hip/differential_capture.h"
#include "verify/execute/interposer.h"
#include "verify/execute/model_platform.h"

namespace {

using hip::StepDecision;
using hip::StepReason;

constexpr std::size_t kBytes = 64;

class CommandBuffers : public testing::Test {
 protected:
  void SetUp() override {
    platform_.enter();
    platform_.begin(0);
    interposer_.begin(platform_.api(), false);
    scope_.emplace(interposer_);
    ASSERT_EQ(api().hipMalloc(&memory_, 4 * kBytes), hipSuccess);
    ASSERT_EQ(api().hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking), hipSuccess);
    ASSERT_EQ(api().hipStreamCreateWithFlags(&capturing_, hipStreamNonBlocking), hipSuccess);
  }
  void TearDown() override {
    EXPECT_EQ(api().hipStreamDestroy(stream_), hipSuccess);
    EXPECT_EQ(api().hipStreamDestroy(capturing_), hipSuccess);
    EXPECT_EQ(api().hipFree(memory_), hipSuccess);
    scope_.reset();
    EXPECT_EQ(platform_.leaks(), "");
    platform_.leave();
  }

  const hip::Api& api() { return interposer_.table(); }
  hip::StreamRef stream() { return {api(), stream_, 0}; }
  hip::DeviceAddress at(std::size_t place) const {
    return reinterpret_cast<hip::DeviceAddress>(memory_) + place * kBytes;
  }
  hip::RecordedNode fill(int value) const {
    hipMemsetParams params{};
    params.dst = memory_;
    params.elementSize = 1;
    params.value = static_cast<unsigned>(value);
    params.width = params.pitch = kBytes;
    params.height = 1;
    return {hip::MemsetRecord{params}, {}, {{hip::Field::kMemsetDestination, 0, 0, 0}}};
  }
  hip::RecordedNode captured(int value) {
    return hip::captured_command(capturing_, {0}, [this, value](hipStream_t on, auto addresses) {
      if (value == 0) return hip::Status();
      return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(addresses[0]), value, kBytes, on), "memset");
    });
  }
  static hip::Recording of(hip::RecordedNode node) {
    hip::Recording commands;
    commands.add(std::move(node));
    return commands;
  }
  void expect(hip::CommandBuffer& buffer, std::size_t place, StepDecision decision, StepReason reason) {
    const std::array addresses{at(place)};
    const hip::Result<hip::CommandStep> step = buffer.step(addresses, stream());
    ASSERT_TRUE(step) << step.error().message;
    EXPECT_EQ(step.value().decision, decision);
    EXPECT_EQ(step.value().reason, reason);
  }
  int value_at(std::size_t place) {
    unsigned char value = 0;
    EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
    EXPECT_EQ(api().hipMemcpy(&value, reinterpret_cast<void*>(at(place)), 1, hipMemcpyDeviceToHost), hipSuccess);
    return value;
  }
  std::vector<std::string> told_;
  hip::ErrorSink sink() {
    return {
        [](void* self, const hip::Error& error) { static_cast<CommandBuffers*>(self)->told_.push_back(error.message); },
        this};
  }

  verify::ModelPlatform platform_{{.devices = 1, .identity = true}};
  verify::Interposer interposer_;
  std::optional<verify::Interposer::Scope> scope_;
  void* memory_ = nullptr;
  hipStream_t stream_ = nullptr, capturing_ = nullptr;
};

TEST_F(CommandBuffers, RecordFirstThenLaunchWhileNothingChangesAndPatchWhatMoved) {
  hip::CommandBuffer buffer(api());
  buffer.set(of(fill(7)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  expect(buffer, 0, StepDecision::kLaunch, StepReason::kUnchanged);
  expect(buffer, 1, StepDecision::kPatch, StepReason::kMoved);
  EXPECT_EQ(value_at(1), 7);
  expect(buffer, 1, StepDecision::kLaunch, StepReason::kUnchanged);
  EXPECT_EQ(buffer.counts().decisions[static_cast<std::size_t>(StepDecision::kLaunch)], 2u);
  EXPECT_EQ(buffer.counts().reasons[static_cast<std::size_t>(StepReason::kMoved)], 1u);
}

TEST_F(CommandBuffers, OtherCommandsOfTheSameShapeAreAnUpdateAndOfAnotherARecording) {
  hip::CommandBuffer buffer(api(), {.update = true});
  buffer.set(of(fill(7)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  buffer.set(of(fill(8)));
  expect(buffer, 0, StepDecision::kUpdate, StepReason::kOtherCommands);
  EXPECT_EQ(value_at(0), 8);
  expect(buffer, 1, StepDecision::kPatch, StepReason::kMoved);
  EXPECT_EQ(value_at(1), 8);
  hip::Recording two = of(fill(9));
  two.add(fill(10));
  two.connect(0, 1);
  buffer.set(std::move(two));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kUpdateRefused);
  EXPECT_EQ(value_at(0), 10);
}

TEST_F(CommandBuffers, AMovedBufferOfACapturedCommandIsNeverGuessed) {
  hip::CommandBuffer updating(api(), {.update = true}), recording(api());
  for (hip::CommandBuffer* buffer : {&updating, &recording}) {
    buffer->set(of(captured(5)));
    expect(*buffer, 0, StepDecision::kRecord, StepReason::kFirst);
    expect(*buffer, 2, buffer == &updating ? StepDecision::kUpdate : StepDecision::kRecord, StepReason::kOpaque);
    EXPECT_EQ(value_at(2), 5);
    EXPECT_EQ(api().hipMemset(memory_, 0, 4 * kBytes), hipSuccess);
  }
}

TEST_F(CommandBuffers, NoGraphIsInstantiatedWithoutANode) {
  hip::CommandBuffer none(api()), empty(api());
  empty.set(of(captured(0)));
  for (hip::CommandBuffer* buffer : {&none, &empty}) {
    expect(*buffer, 0, StepDecision::kRecord, StepReason::kFirst);
    std::size_t nodes = 0;
    ASSERT_EQ(api().hipGraphGetNodes(buffer->graph(), nullptr, &nodes), hipSuccess);
    ASSERT_EQ(nodes, 1u);
    hipGraphNode_t node = nullptr;
    ASSERT_EQ(api().hipGraphGetNodes(buffer->graph(), &node, &nodes), hipSuccess);
    hipGraphNodeType type{};
    ASSERT_EQ(api().hipGraphNodeGetType(node, &type), hipSuccess);
    EXPECT_EQ(type, hipGraphNodeTypeEmpty);
  }
}

TEST_F(CommandBuffers, FlattenedChildrenAreNodesOfTheBuffersOwnAndDoTheSame) {
  hip::CommandBuffer nested(api()), flat(api(), {.flatten = true});
  const auto child = std::make_shared<const hip::Recording>(of(fill(7)));
  for (hip::CommandBuffer* buffer : {&nested, &flat}) {
    buffer->set(of({hip::ChildRecord{child}, {}, {}}));
    expect(*buffer, 0, StepDecision::kRecord, StepReason::kFirst);
    expect(*buffer, 3, StepDecision::kPatch, StepReason::kMoved);
    EXPECT_EQ(value_at(0), 7);
    EXPECT_EQ(value_at(3), 7);
    hipGraphNode_t node = nullptr;
    std::size_t nodes = 1;
    ASSERT_EQ(api().hipGraphGetNodes(buffer->graph(), &node, &nodes), hipSuccess);
    hipGraphNodeType type{};
    ASSERT_EQ(api().hipGraphNodeGetType(node, &type), hipSuccess);
    EXPECT_EQ(type, buffer == &flat ? hipGraphNodeTypeMemset : hipGraphNodeTypeGraph);
    EXPECT_EQ(api().hipMemset(memory_, 0, 4 * kBytes), hipSuccess);
  }
}

TEST_F(CommandBuffers, ACommandThatWasCapturedDifferentiallyIsPatched) {
  hip::Shadows shadows{{{at(0)}, {at(2)}}, {kBytes}, {0}};
  const hip::EnqueueAt work = [this](hipStream_t on, std::span<const hip::DeviceAddress> addresses) {
    return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(addresses[0]), 9, kBytes, on), "memset");
  };
  const auto no_kernels = [](hipFunction_t) { return std::optional<std::vector<hip::ArgumentSlot>>(); };
  hip::Result<hip::RecordedNode> command =
      hip::differential_command(api(), capturing_, work, shadows, no_kernels, sink());
  ASSERT_TRUE(command) << command.error().message;
  hip::CommandBuffer buffer(api(), {.flatten = true});
  buffer.set(of(std::move(command).value()));
  expect(buffer, 1, StepDecision::kRecord, StepReason::kFirst);
  expect(buffer, 3, StepDecision::kPatch, StepReason::kMoved);
  EXPECT_EQ(value_at(3), 9);
}

TEST_F(CommandBuffers, WithPatchingOffTheyUpdateOrRecord) {
  hip::CommandBuffer buffer(api(), {.patch = false, .update = true});
  buffer.set(of(fill(7)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  expect(buffer, 1, StepDecision::kUpdate, StepReason::kPatchingIsOff);
  EXPECT_EQ(value_at(1), 7);
}

TEST_F(CommandBuffers, APatchThatFailsIsToldAndTheStepSucceedsAnotherWay) {
  hip::CommandBuffer buffer(api(), {.update = true, .errors = sink()});
  buffer.set(of(fill(7)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  interposer_.fail(*verify::find_function("hipGraphExecMemsetNodeSetParams"), 1);
  expect(buffer, 1, StepDecision::kUpdate, StepReason::kPatchFailed);
  EXPECT_EQ(value_at(1), 7);
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(CommandBuffers, AFailedLaunchIsTheAnswerAndTheNextStepRecords) {
  hip::CommandBuffer buffer(api());
  buffer.set(of(fill(7)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  interposer_.fail(*verify::find_function("hipGraphLaunch"), 1);
  const std::array addresses{at(0)};
  EXPECT_FALSE(buffer.step(addresses, stream()));
  EXPECT_EQ(buffer.counts().failed, 1u);
  expect(buffer, 0, StepDecision::kRecord, StepReason::kEarlierFailure);
}

TEST_F(CommandBuffers, ATraceOfWorkThatEnqueuesNothingIsNone) {
  const hip::Enqueue nothing = [](hipStream_t) { return hip::Status(); };
  const auto trace = hip::capture_trace(api(), capturing_, nothing);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace.value(), nullptr);
}

TEST_F(CommandBuffers, WorkThatFailsEndsItsCapture) {
  const hip::Enqueue fails = [](hipStream_t) { return hip::Status(hip::Error{hipErrorNotReady, "not now"}); };
  const auto captured = hip::CapturedGraph::capture(api(), capturing_, fails);
  ASSERT_FALSE(captured);
  EXPECT_EQ(captured.error().code, hipErrorNotReady);
  hipStreamCaptureStatus state = hipStreamCaptureStatusActive;
  ASSERT_EQ(api().hipStreamIsCapturing(capturing_, &state), hipSuccess);
  EXPECT_EQ(state, hipStreamCaptureStatusNone);
}

}  // namespace
