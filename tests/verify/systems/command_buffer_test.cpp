// hip::CommandBuffer on the host model: its decisions and their reasons. Scenarios check the effect of its steps on
// memory against a model, also when calls fail (systems_test.cpp). With a release's quirks:
// command_buffer_quirks_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "command_buffers.h"
#include "hip/captured_launch.h"
#include "hip/differential_capture.h"

namespace {

using hip::StepDecision;
using hip::StepReason;

TEST_F(CommandBuffers, RecordFirstThenLaunchWhileNothingChangesAndPatchWhatMoved) {
  FilledBuffer buffer(api(), of(fill(7)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  expect(buffer, 0, StepDecision::kLaunch, StepReason::kUnchanged);
  expect(buffer, 1, StepDecision::kPatch, StepReason::kMoved);
  EXPECT_EQ(value_at(1), 7);
  expect(buffer, 1, StepDecision::kLaunch, StepReason::kUnchanged);
  EXPECT_EQ(buffer.counts().decisions[static_cast<std::size_t>(StepDecision::kLaunch)], 2u);
  EXPECT_EQ(buffer.counts().reasons[static_cast<std::size_t>(StepReason::kMoved)], 1u);
}

TEST_F(CommandBuffers, OtherCommandsOfTheSameShapeAreAnUpdateAndOfAnotherARecording) {
  FilledBuffer buffer(api(), of(fill(7)), {.update = true});
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  buffer.set(of(fill(8)));
  expect(buffer, 0, StepDecision::kUpdate, StepReason::kOtherCommands);
  EXPECT_EQ(value_at(0), 8);
  expect(buffer, 1, StepDecision::kPatch, StepReason::kMoved);
  EXPECT_EQ(value_at(1), 8);
  buffer.set(in_a_row({fill(9), fill(10)}));
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
    wipe();
  }
}

TEST_F(CommandBuffers, NoGraphIsInstantiatedWithoutANode) {
  hip::CommandBuffer none(api()), empty(api());
  empty.set(of(captured(0)));
  for (hip::CommandBuffer* buffer : {&none, &empty}) {
    expect(*buffer, 0, StepDecision::kRecord, StepReason::kFirst);
    ASSERT_EQ(nodes_in(buffer->graph()), 1u);
    EXPECT_EQ(type_of_first_node(buffer->graph()), hipGraphNodeTypeEmpty);
  }
}

TEST_F(CommandBuffers, FlattenedChildrenAreNodesOfTheBuffersOwnAndDoTheSame) {
  hip::CommandBuffer nested(api()), flat(api(), {.flatten = true});
  for (hip::CommandBuffer* buffer : {&nested, &flat}) {
    buffer->set(of(child(of(fill(7)))));
    expect(*buffer, 0, StepDecision::kRecord, StepReason::kFirst);
    expect(*buffer, 3, StepDecision::kPatch, StepReason::kMoved);
    EXPECT_EQ(value_at(0), 7);
    EXPECT_EQ(value_at(3), 7);
    EXPECT_EQ(type_of_first_node(buffer->graph()), buffer == &flat ? hipGraphNodeTypeMemset : hipGraphNodeTypeGraph);
    wipe();
  }
}

TEST_F(CommandBuffers, ACommandThatWasCapturedDifferentiallyIsPatched) {
  hip::Shadows shadows{{{at(0)}, {at(2)}}, {kBytes}, {0}};
  const auto no_kernels = [](hipFunction_t) { return std::optional<std::vector<hip::ArgumentSlot>>(); };
  hip::Result<hip::RecordedNode> command =
      hip::differential_command(api(), capturing_, filling(9), shadows, no_kernels, sink());
  ASSERT_TRUE(command) << command.error().message;
  FilledBuffer buffer(api(), of(std::move(command).value()), {.flatten = true});
  expect(buffer, 1, StepDecision::kRecord, StepReason::kFirst);
  expect(buffer, 3, StepDecision::kPatch, StepReason::kMoved);
  EXPECT_EQ(value_at(3), 9);
}

TEST_F(CommandBuffers, WithPatchingOffTheyUpdateOrRecord) {
  FilledBuffer buffer(api(), of(fill(7)), {.patch = false, .update = true});
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  expect(buffer, 1, StepDecision::kUpdate, StepReason::kPatchingIsOff);
  EXPECT_EQ(value_at(1), 7);
}

TEST_F(CommandBuffers, APatchThatFailsIsToldAndTheStepSucceedsAnotherWay) {
  FilledBuffer buffer(api(), of(fill(7)), {.update = true, .errors = sink()});
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  interposer_.fail(*verify::find_function("hipGraphExecMemsetNodeSetParams"), 1);
  expect(buffer, 1, StepDecision::kUpdate, StepReason::kPatchFailed);
  EXPECT_EQ(value_at(1), 7);
  EXPECT_EQ(told_.size(), 1u);
}

TEST_F(CommandBuffers, AFailedLaunchIsTheAnswerAndTheNextStepRecords) {
  FilledBuffer buffer(api(), of(fill(7)));
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

// ---- launches into captures

TEST_F(CommandBuffers, ALaunchIntoACaptureIsAChildBehindWhatCameBeforeAndBeforeWhatComes) {
  const std::array addresses{at(0)};
  hip::Result<hip::RecordedGraph> graph = hip::record_graph(api(), of(fill(7)), addresses);
  ASSERT_TRUE(graph);
  const hip::Enqueue work = [&](hipStream_t on) {
    if (hip::Status status = filling(5)(on, addresses); !status) return status;
    if (hip::Status status = hip::launch_into_capture({api(), on, 0}, graph.value().graph, 0); !status) return status;
    return filling(9)(on, addresses);
  };
  const auto captured = hip::CapturedGraph::capture(api(), capturing_, work);
  ASSERT_TRUE(captured) << captured.error().message;
  EXPECT_TRUE(hip::destroy_graph(api(), graph.value().graph));  // the capture has a copy
  std::array<hipGraphNode_t, 3> nodes{}, from{}, to{};
  std::size_t count = nodes.size(), edges = from.size();
  ASSERT_EQ(api().hipGraphGetNodes(captured.value().graph(), nodes.data(), &count), hipSuccess);
  ASSERT_EQ(count, 3u);
  hipGraphNodeType type = hipGraphNodeTypeEmpty;
  ASSERT_EQ(api().hipGraphNodeGetType(nodes[1], &type), hipSuccess);
  EXPECT_EQ(type, hipGraphNodeTypeGraph);
  ASSERT_EQ(api().hipGraphGetEdges(captured.value().graph(), from.data(), to.data(), &edges), hipSuccess);
  ASSERT_EQ(edges, 2u);
  for (std::size_t i = 0; i < edges; ++i) {
    EXPECT_TRUE(from.at(i) == nodes[0] ? to.at(i) == nodes[1] : from.at(i) == nodes[1] && to.at(i) == nodes[2]);
  }
}

// Tests of launches into a capture. nodes_after() counts the nodes of the graph that `work` is captured into.
struct CapturedLaunch : CommandBuffers {
  std::size_t nodes_after(const hip::Enqueue& work) {
    const auto captured = hip::CapturedGraph::capture(api(), capturing_, work);
    EXPECT_TRUE(captured) << captured.error().message;
    return captured ? nodes_in(captured.value().graph()) : 0;
  }
  BuiltGraph graph_of_a_fill() { return {api(), of(fill(7)), {at(0)}}; }
};

TEST_F(CapturedLaunch, IsRefusedWhereNothingIsCaptured) {
  const hip::Status idle = hip::launch_into_capture({api(), capturing_, 0}, graph_of_a_fill().graph(), 0);
  ASSERT_FALSE(idle);
  EXPECT_EQ(idle.error().code, hipErrorIllegalState);
}

TEST_F(CapturedLaunch, IsRefusedWhereTheCaptureIsInvalid) {
  const BuiltGraph built = graph_of_a_fill();
  hip::Status refused;
  const auto captured = hip::CapturedGraph::capture(api(), capturing_, [&](hipStream_t on) {
    EXPECT_NE(api().hipStreamSynchronize(on), hipSuccess);
    refused = hip::launch_into_capture({api(), on, 0}, built.graph(), 0);
    return hip::Status();
  });
  EXPECT_FALSE(captured);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, hipErrorStreamCaptureInvalidated);
}

TEST_F(CapturedLaunch, LeavesNothingWhicheverOfItsCallsFails) {
  const BuiltGraph built = graph_of_a_fill();
  for (const char* function :
       {"hipStreamGetCaptureInfo_v2", "hipGraphAddChildGraphNode", "hipStreamUpdateCaptureDependencies"}) {
    EXPECT_EQ(nodes_after([&](hipStream_t on) {
                interposer_.fail(*verify::find_function(function), 1);
                EXPECT_FALSE(hip::launch_into_capture({api(), on, 0}, built.graph(), 0)) << function;
                return hip::launch_into_capture({api(), on, 0}, built.graph(), 0);
              }),
              1u)
        << function;
  }
}

TEST_F(CapturedLaunch, SaysWhatTheRuntimeLacks) {
  hip::Api old = api();
  EXPECT_EQ(hip::lacking_for_captured_launch(old), nullptr);
  old.hipStreamUpdateCaptureDependencies = nullptr;
  const hip::Status refused = hip::launch_into_capture({old, capturing_, 0}, nullptr, 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, hipErrorNotSupported);
  EXPECT_NE(refused.error().message.find("hipStreamUpdateCaptureDependencies"), std::string::npos);
}

TEST_F(CommandBuffers, MemoryThatTheGraphAllocatesIsRefused) {
  FilledBuffer buffer(api(), unsupported());
  EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorNotSupported);
  buffer.set(of(fill(8)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kEarlierFailure);
}

TEST_F(CommandBuffers, ACollectiveInAChildIsAskedAboutLikeAnyOther) {
  CountedRanks ranks;
  FilledBuffer buffer(api(), of(child(of(collective(1)))), {.ranks = &ranks});
  for (const StepDecision decision : {StepDecision::kRecord, StepDecision::kLaunch}) {
    ranks.rounds = 0;
    const hip::CommandStep step = step_of(buffer, std::array{at(0)}, stream());
    EXPECT_EQ(step.decision, decision);
    EXPECT_EQ(step.traces.captured, decision == StepDecision::kRecord ? 1U : 0U);
    EXPECT_EQ(ranks.rounds, 2) << "whether to capture, and whether to launch";
  }
}

// A child whose nodes depend on each other in a cycle is not taken apart into nodes of the command buffer.
TEST_F(CommandBuffers, ACollectiveThatCannotBeAskedAboutIsRefusedAndItsRoundsAreComeTo) {
  hip::Recording circle = in_a_row({collective(1), fill(8)});
  circle.connect(1, 0);
  hip::Recording commands = of(collective(2));
  commands.add(child(std::move(circle)));
  CountedRanks ranks;
  FilledBuffer buffer(api(), std::move(commands), {.ranks = &ranks});
  EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorNotSupported);
  EXPECT_EQ(ranks.rounds, 2) << "of the one outside, and whether to launch";
}

// Peers count the rounds: a rank comes to that of each collective, and to the last one, whatever has failed.
TEST_F(CommandBuffers, ARankWhoseFirstCollectiveFailsComesToTheRoundsOfTheOthers) {
  bool fails = true;
  const auto before = [&] { return fails ? hip::Status(hip::Error{hipErrorNotReady, "not now"}) : hip::Status(); };
  CountedRanks ranks;
  FilledBuffer buffer(api(), collectives(2, before), {.ranks = &ranks});
  EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorNotReady);
  EXPECT_EQ(ranks.rounds, 3);
  fails = false;
  ranks.rounds = 0;
  EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
  EXPECT_EQ(ranks.rounds, 3);
  EXPECT_EQ(value_at(0), 2);
}

// A command that throws when a graph is recorded leaves no graph behind (the bed finds it).
TEST_F(CommandBuffers, ACommandThatThrowsWhileItIsRecordedLeavesNothing) {
  const hip::EnqueueAt throws = [](hipStream_t, std::span<const hip::DeviceAddress>) -> hip::Status {
    throw std::runtime_error("no");
  };
  FilledBuffer buffer(api(), of(hip::captured_command(capturing_, {0}, throws)), {.errors = sink()});
  EXPECT_THROW((void)buffer.step(std::array{at(0)}, stream()), std::runtime_error);
}

TEST_F(CommandBuffers, ARankWhoseWorkThrowsComesToEachRound) {
  CountedRanks ranks;
  FilledBuffer buffer(api(), collectives(2, []() -> hip::Status { throw std::runtime_error("no"); }),
                      {.ranks = &ranks});
  EXPECT_THROW((void)buffer.step(std::array{at(0)}, stream()), std::runtime_error);
  EXPECT_EQ(ranks.rounds, 3);
}

// One was captured, the other one threw: the step behind that asks for both where the buffers are by then.
TEST_F(CommandBuffers, AStepBehindOneThatThrewUsesNoTraceOfIt) {
  for (const bool first_step : {true, false}) {
    bool throws = false;
    const hip::EnqueueAt work = [&](hipStream_t on, std::span<const hip::DeviceAddress> where) {
      if (throws) throw std::runtime_error("no");
      return filling(8, 1)(on, where);
    };
    const hip::Recording both =
        in_a_row({library_work(filling(7)), traced({.command = 2, .buffers = {1}, .work = work})});
    FilledBuffer buffer(api(), both, {.errors = sink()});
    if (!first_step) {
      ASSERT_TRUE(buffer.step(std::array{at(0), at(1)}, stream()));
    }
    throws = true;
    EXPECT_THROW((void)buffer.step(std::array{at(2), at(3)}, stream()), std::runtime_error);
    throws = false;
    wipe();
    ASSERT_TRUE(buffer.step(std::array{at(4), at(5)}, stream()));
    EXPECT_EQ(value_at(4), 7) << first_step;
    EXPECT_EQ(value_at(5), 8) << first_step;
    EXPECT_EQ(value_at(2), 0) << first_step;
  }
}

// Like ROCm/rocm-systems#10714: the call returns success and reports an error beside it.
TEST_F(CommandBuffers, AnUpdateIsOneOnlyWhereItsResultSaysSo) {
  hip::Api strange = api();
  strange.hipGraphExecUpdate = [](hipGraphExec_t, hipGraph_t, hipGraphNode_t*, hipGraphExecUpdateResult* result) {
    *result = hipGraphExecUpdateErrorNotSupported;
    return hipSuccess;
  };
  FilledBuffer buffer(strange, of(fill(4)), {.update = true});
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  buffer.set(of(fill(9)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kUpdateRefused);
  EXPECT_EQ(value_at(0), 9);
}

// Whichever device is current, and whichever the buffer's own is: a node names its device, 0 as well.
TEST_F(CommandBuffers, NodesOfSeveralDevicesAreRecordedWithTheirOwnDeviceCurrent) {
  const DevicesOfMemsets watched(api());
  hip::RecordedNode elsewhere = fill(8);
  std::get<hip::MemsetRecord>(elsewhere.record).device = 1;
  const hipStream_t there = stream_of(1);
  {
    FilledBuffer buffer(watched.table(), in_a_row({fill(7), elsewhere}), {.device = 1, .several_devices = true});
    step_of(buffer, std::array{at(0)}, {watched.table(), there, 1});
    EXPECT_EQ(current_device(), 0) << "the caller's is current again";
  }
  EXPECT_EQ(DevicesOfMemsets::seen(), (std::vector<int>{0, 1}));
  EXPECT_EQ(api().hipStreamDestroy(there), hipSuccess);
}

TEST_F(CommandBuffers, ALaunchOnAnotherStreamComesBehindTheLastOne) {
  FilledBuffer buffer(api(), of(fill(7)));
  const hip::StreamRef other(api(), capturing_, 0);
  const auto waits_for = [&](const hip::StreamRef& on) {
    return calls_in("hipStreamWaitEvent", [&] { EXPECT_TRUE(buffer.step(std::array{at(0)}, on)); });
  };
  EXPECT_EQ(waits_for(stream()), 0u);
  EXPECT_EQ(waits_for(stream()), 0u);
  EXPECT_EQ(waits_for(other), 1u);
  EXPECT_EQ(waits_for(other), 0u);
  interposer_.fail(*verify::find_function("hipStreamWaitEvent"), 1);
  EXPECT_FALSE(buffer.step(std::array{at(0)}, stream())) << "what cannot be ordered is not launched";
  EXPECT_EQ(waits_for(stream()), 0u) << "it was recorded again, and waited for";
  // Where the last launch could not be marked the device is waited for.
  interposer_.fail(*verify::find_function("hipEventRecord"), 1);
  EXPECT_EQ(waits_for(stream()), 0u);
  const std::uint64_t before = calls_of("hipDeviceSynchronize");
  EXPECT_EQ(waits_for(other), 0u);
  EXPECT_EQ(calls_of("hipDeviceSynchronize"), before + 1);
  // Nor is that forgotten when the device cannot be waited for.
  interposer_.fail(*verify::find_function("hipEventRecord"), 1);
  EXPECT_EQ(waits_for(other), 0u);
  interposer_.fail(*verify::find_function("hipDeviceSynchronize"), 1);
  EXPECT_FALSE(buffer.step(std::array{at(0)}, stream()));
  EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
  EXPECT_EQ(calls_of("hipDeviceSynchronize"), before + 3);
}

}  // namespace
