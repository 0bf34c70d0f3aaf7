// hip::CommandBuffer that is given the quirks of its runtime's release, on the host model: the ways that it avoids
// because the release does them wrong, and the ways that it takes instead. Commands of a library, as nodes or in
// several graphs: command_buffer_parts_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "command_buffers.h"

namespace {

using hip::StepDecision;
using hip::StepReason;

struct QuirkAware : WithQuirks {
  // `body` makes an object with the quirks of a release and destroys it. That waits for the device on 7.2, and for the
  // event of the last launch elsewhere.
  template <class Body>
  void expect_waits(const Body& body) {
    for (const int version : {kNone, k64, k72}) {
      SCOPED_TRACE(version);
      const auto made = [&] { body(quirks_of(version)); };
      const auto events = [&] { EXPECT_EQ(calls_in("hipEventSynchronize", made), version == k72 ? 0U : 1U); };
      EXPECT_EQ(calls_in("hipDeviceSynchronize", events), version == k72 ? 1U : 0U);
    }
  }
  hip::RecordedNode rows(int value) {
    hip::RecordedNode node = fill(value);
    hipMemsetParams& params = std::get<hip::MemsetRecord>(node.record).params;
    params.height = 2;
    params.width = params.pitch = kBytes / 2;
    return node;
  }
};

TEST_F(QuirkAware, APatchThatTheReleaseWouldDoWrongIsRecordedAndOthersAreNot) {
  FilledBuffer touched(api(), of(child(of(rows(7)))), options(k72));
  FilledBuffer safe(api(), of(rows(8)), options(k72));
  FilledBuffer bare(api(), of(child(of(rows(9)))));
  expect(touched, 0, StepDecision::kRecord, StepReason::kFirst);
  expect(touched, 1, StepDecision::kRecord, StepReason::kQuirk, {.quirk = "memset-2d-graph-set", .value = 7});
  expect(touched, 1, StepDecision::kLaunch, StepReason::kUnchanged);
  expect(safe, 2, StepDecision::kRecord, StepReason::kFirst);
  expect(safe, 3, StepDecision::kPatch, StepReason::kMoved, {.value = 8});
  expect(bare, 4, StepDecision::kRecord, StepReason::kFirst);
  expect(bare, 5, StepDecision::kPatch, StepReason::kMoved, {.value = 9});
}

// hipGraphAddNode refuses an empty node on this release; here it refuses every node.
TEST_F(QuirkAware, CommandsAreAddedByTheFunctionsThatTakeThem) {
  hip::Api refusing = api();
  refusing.hipGraphAddNode = [](auto...) { return hipErrorInvalidValue; };
  hip::RecordedNode nothing{hip::EmptyRecord{}, {}, {}};
  nothing.form = hip::NodeForm::kGeneric;
  for (const hip::RecordedNode& command : {nothing, child(of(nothing))}) {
    FilledBuffer buffer(refusing, of(command), options(k72)), unaware(refusing, of(command), options(kNone));
    EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
    EXPECT_FALSE(unaware.step(std::array{at(0)}, stream()));
  }
}

TEST_F(QuirkAware, AnUpdateThatTheReleaseWouldDoWrongIsRecorded) {
  FilledBuffer buffer(api(), of(child(of(fill(7)))), options(k72, {.update = true}));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  buffer.set(of(child(of(fill(8)))));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kQuirk, {.quirk = "child-update-lost", .value = 8});
  buffer.set(of(fill(9)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kQuirk, {.quirk = "update-half-way"});
  buffer.set(of(fill(10)));
  expect(buffer, 0, StepDecision::kUpdate, StepReason::kOtherCommands, {.value = 10});
}

TEST_F(QuirkAware, CommandsThatTheReleaseWouldLaunchWronglyAreChainedOrFlattened) {
  hip::Recording roots = of(fill(7));
  roots.add(fill(8));
  FilledBuffer wide(api(), roots, options(k72));
  expect(wide, 0, StepDecision::kRecord, StepReason::kFirst, {.quirk = "side-roots-unordered"});
  EXPECT_EQ(edges_in(wide.graph()), 1u);
  expect(wide, 1, StepDecision::kPatch, StepReason::kMoved, {.value = 8});

  FilledBuffer nested(api(), in_a_row({child(of(fill(9))), fill(10)}), options(k64));
  expect(nested, 2, StepDecision::kRecord, StepReason::kFirst, {.quirk = "child-successors-unordered", .value = 10});
  EXPECT_EQ(type_of_first_node(nested.graph()), hipGraphNodeTypeMemset);
}

TEST_F(QuirkAware, WhatNothingHelpsAgainstIsAnErrorUntilOtherCommandsAreSet) {
  // With several devices, the captured work may hold a copy of rows on another device.
  FilledBuffer buffer(api(), of(captured(7)), options(k72, {.several_devices = true}));
  const hip::Result<hip::CommandStep> step = buffer.step(std::array{at(0)}, stream());
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, hipErrorNotSupported);
  EXPECT_NE(step.error().message.find("rows-beside-unordered"), std::string::npos);
  buffer.set(of(fill(8)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kEarlierFailure, {.value = 8});
}

// A child with a circle inside cannot be flattened, and the release launches it wrongly where something follows.
TEST_F(QuirkAware, AChildThatCannotBeFlattenedIsRefusedAndNotSplitForEver) {
  hip::Recording circle = in_a_row({fill(7), fill(8)});
  circle.connect(1, 0);
  FilledBuffer buffer(api(), in_a_row({child(circle), fill(9)}), options(k64));
  EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorNotSupported);
}

// A copy of an array has no rows that could be recorded.
TEST_F(QuirkAware, ACopyThatHasNoRowsIsRefusedAndNotSplitForEver) {
  hip::CopyRecord copy;
  copy.params.extent = {8, 0, 1};
  copy.params.dstPtr.pitch = copy.params.srcPtr.pitch = 16;
  copy.params.kind = hipMemcpyDeviceToDevice;
  FilledBuffer buffer(api(),
                      of({copy, {}, {{hip::Field::kCopyDestination, 0, 0, 0}, {hip::Field::kCopySource, 0, 1, 0}}}),
                      options(k72));
  EXPECT_FALSE(buffer.step(std::array{at(0), at(1)}, stream()));
}

TEST_F(QuirkAware, AGraphThatIsUpdatedToOtherCommandsIsRecordedAgainAfterSoManyNodes) {
  for (const bool grows : {true, false}) {
    FilledBuffer buffer(api(), of(fill(7)), options(grows ? k72 : kNone, {.update = true, .renew_after = 2}));
    expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
    for (int value = 1; value < 8; ++value) {
      buffer.set(of(fill(value)));
      if (grows && value % 3 == 0) {
        expect(buffer, 0, StepDecision::kRecord, StepReason::kRenewed, {.quirk = "exec-set-grows", .value = value});
      } else {
        expect(buffer, 0, StepDecision::kUpdate, StepReason::kOtherCommands, {.value = value});
      }
    }
  }
}

// With the quirks of a release, two steps fail before the work counts as opaque. Without quirks, the first step
// captures it at its buffers' own addresses.
TEST_F(QuirkAware, WorkThatCannotBeCapturedAtItsShadowsIsOpaque) {
  const hip::EnqueueAt work = [this](hipStream_t on, std::span<const hip::DeviceAddress> where) {
    if (where[0] >= at(4)) return hip::Status(hip::Error{hipErrorInvalidValue, "no such memory"});
    return filling(7)(on, where);
  };
  const hip::RecordedNode command =
      traced({.command = 1, .buffers = {0}, .work = work, .shadows = shadows(), .errors = sink()});
  for (const bool quirks : {false, true}) {
    FilledBuffer buffer(api(), of(command), options(quirks ? k72 : kNone));
    for (int failed = 0; quirks && failed < 2; ++failed) {
      EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorInvalidValue);
    }
    expect_value(buffer, {at(0)}, 7);
  }
  EXPECT_EQ(told_.size(), 1U);
}

// The work fills its buffer only where both of its buffers are one. It enqueues nothing at its shadows, which are two
// places; that says nothing about the real addresses.
TEST_F(QuirkAware, WorkThatEnqueuesNothingAtItsShadowsAloneIsNoEmptyNode) {
  const hip::EnqueueAt work = [this](hipStream_t on, std::span<const hip::DeviceAddress> where) {
    return where[0] == where[1] ? filling(7)(on, where) : hip::Status();
  };
  FilledBuffer buffer(api(), of(library_work(work, shadows_of_two(), {0, 1})), options(k72));
  for (const std::size_t other : {0, 3, 0}) expect_value(buffer, {at(0), at(other)}, other == 0 ? 7 : 0);
}

// Work that a library enqueues on a stream of device 1 becomes nodes of device 1.
TEST_F(QuirkAware, NodesOfWhatALibraryEnqueuedAreOfTheDeviceOfItsStream) {
  const DevicesOfMemsets watched(api());
  const hipStream_t there = stream_of(1), capturing = stream_of(1);
  const hip::RecordedNode command =
      traced({.command = 1, .stream = capturing, .buffers = {0}, .work = filling(7), .shadows = shadows()});
  for (const bool quirks : {false, true}) {
    for (const int device : {0, 1}) {
      DevicesOfMemsets::seen().clear();
      FilledBuffer buffer(watched.table(), of(command),
                          options(quirks ? k72 : kNone, {.device = device, .several_devices = true}));
      const hip::StreamRef on(watched.table(), device == 0 ? stream_ : there, device);
      for (const std::size_t place : {0, 2}) {
        step_of(buffer, std::array{at(place)}, on);
      }
      EXPECT_EQ(DevicesOfMemsets::seen(), (std::vector<int>{1})) << quirks << " of a buffer of device " << device;
      EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
    }
  }
  EXPECT_EQ(api().hipStreamDestroy(there), hipSuccess);
  EXPECT_EQ(api().hipStreamDestroy(capturing), hipSuccess);
}

TEST_F(QuirkAware, AGraphThatTheReleaseGrowsByIsRecordedAgainAfterSoManyCalls) {
  for (const bool grows : {true, false}) {
    FilledBuffer buffer(api(), of(fill(7)), options(grows ? k72 : kNone, {.renew_after = 3}));
    expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst);
    for (std::size_t place = 1; place <= 3; ++place) expect(buffer, place, StepDecision::kPatch, StepReason::kMoved);
    if (!grows) {
      expect(buffer, 4, StepDecision::kPatch, StepReason::kMoved);
      continue;
    }
    expect(buffer, 3, StepDecision::kLaunch, StepReason::kUnchanged);
    expect(buffer, 4, StepDecision::kRecord, StepReason::kRenewed, {.quirk = "exec-set-grows"});
    expect(buffer, 5, StepDecision::kPatch, StepReason::kMoved, {.value = 7});
  }
}

TEST_F(QuirkAware, AStepOfAStreamThatCapturesIsRefusedWhereTheReleaseWouldLaunchAtOnce) {
  FilledBuffer buffer(api(), of(fill(7)), options(k72));
  ASSERT_EQ(api().hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal), hipSuccess);
  EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorStreamCaptureUnsupported);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(api().hipStreamEndCapture(stream_, &graph), hipSuccess);
  EXPECT_EQ(api().hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(value_at(0), 0);
  expect(buffer, 0, StepDecision::kRecord, StepReason::kEarlierFailure);
}

TEST_F(QuirkAware, ARankThatCannotLookIntoItsCommandsComesToEachRound) {
  const hip::EnqueueAt fails = [](hipStream_t, std::span<const hip::DeviceAddress>) {
    return hip::Status(hip::Error{hipErrorNotReady, "not now"});
  };
  CountedRanks ranks;
  FilledBuffer buffer(api(), in_a_row({library_work(fails, shadows()), collective(2)}),
                      options(k72, {.ranks = &ranks}));
  EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorNotReady);
  EXPECT_EQ(ranks.rounds, 2);
}

TEST_F(QuirkAware, TheDeviceIsWaitedForBeforeAnExecutableGraphGoesWhereTheReleaseNeedsThat) {
  expect_waits([&](const hip::ReleaseQuirks& quirks) {
    hip::CommandBuffer unused(api(), {.quirks = quirks});
    FilledBuffer buffer(api(), of(fill(7)), {.quirks = quirks});
    EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
  });
}

TEST_F(QuirkAware, TheDeviceIsWaitedForBeforeATraceGoesWhereTheReleaseNeedsThat) {
  expect_waits([&](const hip::ReleaseQuirks& quirks) {
    const hip::Enqueue work = [&](hipStream_t on) { return filling(5)(on, std::array{at(0)}); };
    const auto trace = hip::capture_trace(api(), capturing_, work, {}, quirks);
    EXPECT_TRUE(trace && trace.value()->launch(stream()));
  });
}

// A stream of device 1, where the buffers are of device 0.
struct OnAnotherDevice : QuirkAware {
  ~OnAnotherDevice() override { EXPECT_EQ(api().hipStreamDestroy(away_), hipSuccess); }
  [[nodiscard]] hip::StreamRef elsewhere() { return {api(), away_, 1}; }
  // The value that the stream's next work finds there. This does not wait for the buffers' device.
  int value_behind(std::size_t place) {
    unsigned char value = 0;
    EXPECT_EQ(api().hipMemcpyAsync(&value, reinterpret_cast<void*>(at(place)), 1, hipMemcpyDeviceToHost, away_),
              hipSuccess);
    EXPECT_EQ(api().hipStreamSynchronize(away_), hipSuccess);
    return value;
  }

 private:
  const hipStream_t away_ = stream_of(1, hipStreamDefault);
};

// The launch goes to a stream of the buffer's own. Two events a step order it behind and before the given stream.
TEST_F(OnAnotherDevice, AStreamOfTheBuffersOwnLaunchesWhereTheReleaseNeedsThat) {
  for (const bool needed : {true, false}) {
    FilledBuffer buffer(api(), of(fill(7)), options(needed ? k72 : kNone, {.several_devices = true}));
    const std::uint64_t streams = calls_of("hipStreamCreateWithPriority"), waits = calls_of("hipStreamWaitEvent");
    for (std::size_t place = 0; place < 2; ++place) {
      ASSERT_TRUE(buffer.step(std::array{at(place)}, elsewhere()));
      EXPECT_EQ(value_behind(place), 7);
    }
    EXPECT_EQ(calls_of("hipStreamCreateWithPriority") - streams, needed ? 1u : 0u);
    EXPECT_EQ(calls_of("hipStreamWaitEvent") - waits, needed ? 4u : 0u);
    wipe();
  }
}

TEST_F(OnAnotherDevice, WhateverFailsOfALaunchIsToldAndTheNextOneIsRight) {
  fail_each_call(15u, [&](FailingCall& call) {
    FilledBuffer buffer(api(), of(fill(7)), options(k72));
    const auto step = [&] { return buffer.step(std::array{at(0)}, elsewhere()).ok(); };
    if (succeeds_or_says_so(call, step)) {
      EXPECT_EQ(value_behind(0), 7) << "ordered or waited for, whatever failed";
    }
    wipe();
    ASSERT_TRUE(step());
    EXPECT_EQ(value_behind(0), 7);
    wipe();
  });
}

// The steps record the graph, patch it (or record it again, where the release needs that) and bring other commands into
// it.
TEST_F(QuirkAware, WhateverFailsOfAStepOfFlattenedOrNestedCommandsIsAnsweredOrToldAndTheNextOneIsRight) {
  const auto nested = [&](int value) { return of(child(of(child(of(rows(value)))))); };
  for (const bool flatten : {false, true}) {
    for (const int version : {kNone, k72, k64}) {
      SCOPED_TRACE(testing::Message() << flatten << " " << version);
      fail_each_call(20, [&](FailingCall& call) {
        FilledBuffer buffer(api(), nested(7), options(version, {.flatten = flatten, .update = true}));
        succeeds_or_says_so(call, [&] {
          bool all = true;
          for (const std::size_t place : {0, 1, 2}) all = buffer.step(std::array{at(place)}, stream()).ok() && all;
          buffer.set(nested(8));
          return buffer.step(std::array{at(2)}, stream()).ok() && all;
        });
        expect_value(buffer, {at(3)}, 8);
        EXPECT_EQ(value_at(2), 0);
      });
    }
  }
}

TEST_F(QuirkAware, BranchesAreChainedWhereThereAreSeveralDevices) {
  hip::Recording fork = of(fill(7));
  for (const int value : {8, 9}) fork.add(behind(0, fill(value)));
  for (const bool several : {false, true}) {
    FilledBuffer buffer(api(), fork, options(k72, {.several_devices = several}));
    expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst, {.quirk = several ? "launch-branches-elsewhere" : ""});
    hipGraphNode_t from[2] = {}, to[2] = {};
    std::size_t edges = 2;
    ASSERT_EQ(api().hipGraphGetEdges(buffer.graph(), from, to, &edges), hipSuccess);
    EXPECT_EQ(edges, 2u);
    EXPECT_EQ(from[0] == from[1], !several);
  }
}

TEST_F(QuirkAware, TheLastLaunchIsWaitedForWhereTheDeviceCannotBe) {
  for (const char* const function : {"hipDeviceSynchronize", "hipGetDevice"}) {
    told_.clear();
    const std::uint64_t events = calls_in("hipEventSynchronize", [&] {
      FilledBuffer buffer(api(), of(fill(7)), options(k72));
      EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
      interposer_.fail(*verify::find_function(function), 1);
    });
    EXPECT_EQ(events, 1u) << function;
    EXPECT_EQ(told_.size(), 1u) << function;
  }
}

TEST_F(QuirkAware, ATraceThatMayHoldChildrenIsNotHandedOverWhereTheyWouldBeLost) {
  FilledBuffer opaque(api(), of(library_work(filling(7))), options(k72));
  FilledBuffer known(api(), of(library_work(filling(7), shadows())), options(k72));
  for (hip::CommandBuffer* buffer : {&opaque, &known}) expect(*buffer, 0, StepDecision::kRecord, StepReason::kFirst);
  expect(opaque, 1, StepDecision::kRecord, StepReason::kQuirk, {.quirk = "child-set-nested", .value = 7});
  wipe();
  expect(known, 1, StepDecision::kPatch, StepReason::kMoved, {.value = 7});
}

// ---- work that the host does in place of the release

struct ByTheHost : QuirkAware {
  ByTheHost() {
    EXPECT_EQ(api().hipHostMalloc(&pinned_, 2 * kBytes, hipHostMallocDefault), hipSuccess);
    pageable_.assign(2 * kBytes, 5);
  }
  ~ByTheHost() override { EXPECT_EQ(api().hipHostFree(pinned_), hipSuccess); }

  hip::DeviceAddress source(std::size_t place) const {
    return reinterpret_cast<hip::DeviceAddress>(pageable_.data() + place * kBytes);
  }
  const unsigned char* pinned() const { return static_cast<const unsigned char*>(pinned_); }

  void* pinned_ = nullptr;
  std::vector<unsigned char> pageable_;
};

TEST_F(ByTheHost, ACopyFromPageableMemoryGoesThroughPinnedMemoryAndAMovedBufferIsRecorded) {
  const std::uint64_t allocated = calls_of("hipHostMalloc"), freed = calls_of("hipHostFree");
  for (const bool update : {false, true}) {
    FilledBuffer buffer(api(), of(copy_from_host()), with_host_memory(k72, hip::BufferMemory::kPageable, update));
    const auto step = [&](std::size_t from, std::size_t to, StepDecision decision, StepReason reason, int value) {
      const std::string_view quirk = decision != StepDecision::kRecord ? ""
                                     : reason == StepReason::kQuirk    ? "host-params-late"
                                                                       : "pageable-copy-early";
      expect(buffer, {at(to), source(from)}, decision, reason, {.quirk = quirk, .value = value});
    };
    pageable_.assign(2 * kBytes, 5);
    step(0, 0, StepDecision::kRecord, StepReason::kFirst, 5);
    pageable_.assign(2 * kBytes, 6);
    step(0, 0, StepDecision::kLaunch, StepReason::kUnchanged, 6);
    // With updates on, the step names the quirk that keeps it from one: new parameters of a host node reach launches
    // that were made before.
    const auto reason = [update](StepReason otherwise) { return update ? StepReason::kQuirk : otherwise; };
    step(1, 0, StepDecision::kRecord, reason(StepReason::kOpaque), 6);
    step(1, 1, StepDecision::kRecord, reason(StepReason::kOpaque), 6);
    buffer.set(of(copy_from_host()));
    step(1, 1, StepDecision::kRecord, reason(StepReason::kOtherCommands), 6);
  }
  EXPECT_EQ(calls_of("hipHostMalloc") - allocated, 8u);
  EXPECT_EQ(calls_of("hipHostFree") - freed, 8u);
}

TEST_F(ByTheHost, AMemsetOfPinnedMemoryIsAHostNode) {
  for (const hip::BufferMemory memory : {hip::BufferMemory::kPinned, hip::BufferMemory::kUnknown}) {
    FilledBuffer buffer(api(), of(fill(7, 1)), with_host_memory(k64, memory));
    ASSERT_TRUE(buffer.step(std::array{at(0), reinterpret_cast<hip::DeviceAddress>(pinned_)}, stream()));
    ASSERT_EQ(api().hipDeviceSynchronize(), hipSuccess);
    EXPECT_EQ(pinned()[0], 7);
    EXPECT_EQ(pinned()[kBytes - 1], 7);
    EXPECT_EQ(type_of_first_node(buffer.graph()),
              memory == hip::BufferMemory::kPinned ? hipGraphNodeTypeHost : hipGraphNodeTypeMemset)
        << "what may be a device's memory the host leaves alone";
    std::memset(pinned_, 0, kBytes);
  }
}

// The bed finds memory and graphs that are left behind.
TEST_F(ByTheHost, WhateverFailsOfAStepIsAnsweredOrToldAndTheNextOneIsRight) {
  fail_each_call(20u, [&](FailingCall& call) {
    FilledBuffer buffer(api(), of(copy_from_host()), with_host_memory(k72, hip::BufferMemory::kPageable));
    succeeds_or_says_so(call, [&] {
      const bool first = buffer.step(std::array{at(0), source(0)}, stream()).ok();
      return buffer.step(std::array{at(1), source(1)}, stream()).ok() && first;
    });
    expect_value(buffer, {at(2), source(0)}, 5);
  });
}

}  // namespace
