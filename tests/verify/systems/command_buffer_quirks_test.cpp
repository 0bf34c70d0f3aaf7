// hip::CommandBuffer that is given the quirks of its runtime's release, on the host model: which ways it leaves, and
// what it does instead.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "command_buffers.h"

namespace {

using hip::StepDecision;
using hip::StepReason;

constexpr int k72 = 70253211, k64 = 60443484, kNone = 0;  // as hipRuntimeGetVersion answers

struct QuirkAware : CommandBuffers {
  hip::CommandBufferOptions options(int version, bool update = false) {
    const hip::ReleaseQuirks quirks = version == kNone ? hip::ReleaseQuirks() : hip::ReleaseQuirks::of_version(version);
    return {.update = update, .quirks = quirks, .errors = sink()};
  }
  // Each says which quirk it was.
  void expect(hip::CommandBuffer& buffer, std::size_t place, StepDecision decision, StepReason reason,
              std::string_view quirk) {
    const std::array addresses{at(place)};
    const hip::Result<hip::CommandStep> step = buffer.step(addresses, stream());
    ASSERT_TRUE(step) << step.error().message;
    EXPECT_EQ(step.value().decision, decision);
    EXPECT_EQ(step.value().reason, reason);
    EXPECT_EQ(step.value().quirk == nullptr ? "" : step.value().quirk->id, quirk);
  }
  struct Waits {
    std::uint64_t devices = 0, events = 0;
    bool operator==(const Waits&) const = default;
  };
  template <class Body>
  Waits waits_in(const Body& body) {
    const Waits before{calls_of("hipDeviceSynchronize"), calls_of("hipEventSynchronize")};
    body();
    return {calls_of("hipDeviceSynchronize") - before.devices, calls_of("hipEventSynchronize") - before.events};
  }
  hip::RecordedNode child(hip::RecordedNode node) {
    return {hip::ChildRecord{std::make_shared<const hip::Recording>(of(std::move(node)))}, {}, {}};
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
  hip::CommandBuffer touched(api(), options(k72)), safe(api(), options(k72)), bare(api());
  touched.set(of(child(rows(7))));
  safe.set(of(rows(8)));
  bare.set(of(child(rows(9))));
  expect(touched, 0, StepDecision::kRecord, StepReason::kFirst, "");
  expect(touched, 1, StepDecision::kRecord, StepReason::kQuirk, "memset-2d-graph-set");
  EXPECT_EQ(value_at(1), 7);
  expect(touched, 1, StepDecision::kLaunch, StepReason::kUnchanged, "");
  expect(safe, 2, StepDecision::kRecord, StepReason::kFirst, "");
  expect(safe, 3, StepDecision::kPatch, StepReason::kMoved, "");
  EXPECT_EQ(value_at(3), 8);
  expect(bare, 4, StepDecision::kRecord, StepReason::kFirst, "");
  expect(bare, 5, StepDecision::kPatch, StepReason::kMoved, "");
  EXPECT_EQ(value_at(5), 9);
}

// The release refuses an empty node by the function that adds any.
TEST_F(QuirkAware, CommandsAreAddedByTheFunctionsThatTakeThem) {
  hip::Api refusing = api();
  refusing.hipGraphAddNode = [](auto...) { return hipErrorInvalidValue; };
  hip::RecordedNode nothing{hip::EmptyRecord{}, {}, {}};
  nothing.form = hip::NodeForm::kGeneric;
  const std::array addresses{at(0)};
  for (const hip::RecordedNode& command : {nothing, child(nothing)}) {
    hip::CommandBuffer buffer(refusing, options(k72)), unaware(refusing, {.errors = sink()});
    buffer.set(of(command));
    unaware.set(of(command));
    EXPECT_TRUE(buffer.step(addresses, stream()));
    EXPECT_FALSE(unaware.step(addresses, stream()));
  }
}

TEST_F(QuirkAware, AnUpdateThatTheReleaseWouldDoWrongIsRecorded) {
  FilledBuffer buffer(api(), of(child(fill(7))), options(k72, true));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst, "");
  buffer.set(of(child(fill(8))));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kQuirk, "child-update-lost");
  EXPECT_EQ(value_at(0), 8);
  buffer.set(of(fill(9)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kQuirk, "update-half-way");
  buffer.set(of(fill(10)));
  expect(buffer, 0, StepDecision::kUpdate, StepReason::kOtherCommands, "");
  EXPECT_EQ(value_at(0), 10);
}

TEST_F(QuirkAware, CommandsThatTheReleaseWouldLaunchWronglyAreChainedOrFlattened) {
  hip::CommandBuffer wide(api(), options(k72)), nested(api(), options(k64));
  hip::Recording roots = of(fill(7));
  roots.add(fill(8));
  wide.set(roots);
  expect(wide, 0, StepDecision::kRecord, StepReason::kFirst, "side-roots-unordered");
  std::size_t edges = 0;
  ASSERT_EQ(api().hipGraphGetEdges(wide.graph(), nullptr, nullptr, &edges), hipSuccess);
  EXPECT_EQ(edges, 1u);
  expect(wide, 1, StepDecision::kPatch, StepReason::kMoved, "");
  EXPECT_EQ(value_at(1), 8);

  hip::Recording followed = of(child(fill(9)));
  followed.add(behind(0, fill(10)));
  nested.set(followed);
  expect(nested, 2, StepDecision::kRecord, StepReason::kFirst, "child-successors-unordered");
  EXPECT_EQ(type_of_first_node(nested.graph()), hipGraphNodeTypeMemset);
  EXPECT_EQ(value_at(2), 10);
}

TEST_F(QuirkAware, WhatNothingHelpsAgainstIsAnErrorUntilOtherCommandsAreSet) {
  hip::CommandBufferOptions several = options(k72);
  several.several_devices = true;  // what a library enqueued may be rows of another one
  FilledBuffer buffer(api(), of(captured(7)), several);
  const std::array addresses{at(0)};
  const hip::Result<hip::CommandStep> step = buffer.step(addresses, stream());
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, hipErrorNotSupported);
  EXPECT_NE(step.error().message.find("rows-beside-unordered"), std::string::npos);
  buffer.set(of(fill(8)));
  expect(buffer, 0, StepDecision::kRecord, StepReason::kEarlierFailure, "");
  EXPECT_EQ(value_at(0), 8);
}

// A chain of fills of one buffer; `opaque` and `known` say which of them a library enqueues.
struct InParts : QuirkAware {
  hip::Recording chain(std::size_t length, std::set<std::size_t> opaque, std::set<std::size_t> known = {}) {
    hip::Recording commands;
    for (std::size_t i = 0; i < length; ++i) {
      hip::RecordedNode node = fill(static_cast<int>(i + 1));
      if (opaque.contains(i) || known.contains(i)) {
        hip::TracedWork work{.command = i, .stream = capturing_, .buffers = {0}, .work = {}};
        work.work = filling(static_cast<int>(i + 1));
        work.errors = sink();
        if (known.contains(i)) work.shadows = shadows();
        node = hip::traced_command(std::move(work));
      }
      if (i != 0) node.dependencies = {static_cast<hip::NodeIndex>(i - 1)};
      commands.add(std::move(node));
    }
    return commands;
  }
  std::uint64_t launches_of(hip::CommandBuffer& buffer, std::size_t place, StepDecision decision, StepReason reason,
                            std::string_view quirk) {
    const std::uint64_t before = calls_of("hipGraphLaunch");
    wipe();
    expect(buffer, place, decision, reason, quirk);
    return calls_of("hipGraphLaunch") - before;
  }
};

// On 6.4 nothing may come behind a child, on 7.2 no child is in a graph of 16 nodes or more.
TEST_F(InParts, WhatNobodyCanLookIntoIsLaunchedInGraphsOneBehindTheOther) {
  struct Case {
    int version;
    std::size_t length;
    std::set<std::size_t> opaque;
    std::uint64_t parts;
    std::string_view quirk;
  };
  for (const Case& each :
       {Case{k64, 4, {1}, 2, "child-successors-unordered"}, Case{k64, 4, {0, 1}, 3, "child-successors-unordered"},
        Case{k64, 4, {3}, 1, ""}, Case{k72, 40, {5, 20, 39}, 3, "child-16"}, Case{k72, 15, {5}, 1, ""}}) {
    FilledBuffer buffer(api(), chain(each.length, each.opaque), options(each.version));
    const int last = static_cast<int>(each.length);
    EXPECT_EQ(launches_of(buffer, 0, StepDecision::kRecord, StepReason::kFirst, each.quirk), each.parts);
    EXPECT_EQ(value_at(0), last);
    EXPECT_EQ(launches_of(buffer, 0, StepDecision::kLaunch, StepReason::kUnchanged, ""), each.parts);
    EXPECT_EQ(value_at(0), last);
    const std::array moved{at(1)};
    wipe();
    ASSERT_TRUE(buffer.step(moved, stream()));
    EXPECT_EQ(value_at(1), last);
    EXPECT_EQ(value_at(0), 0);
    // Other commands of one graph, and back.
    buffer.set(of(fill(100)));
    EXPECT_EQ(launches_of(buffer, 1, StepDecision::kRecord, StepReason::kOtherCommands, ""), 1U);
    EXPECT_EQ(value_at(1), 100);
    buffer.set(chain(each.length, each.opaque));
    EXPECT_EQ(launches_of(buffer, 2, StepDecision::kRecord, StepReason::kOtherCommands, each.quirk), each.parts);
    EXPECT_EQ(value_at(2), last);
  }
  EXPECT_TRUE(told_.empty()) << told_[0];
}

// The graphs of a step come behind all those of the step before, whatever its stream.
TEST_F(InParts, AStepOnAnotherStreamComesBehindTheLastGraphOfTheStepBefore) {
  FilledBuffer buffer(api(), chain(4, {1}), options(k64));
  const std::array addresses{at(0)};
  ASSERT_TRUE(buffer.step(addresses, stream()));
  const std::uint64_t before = calls_of("hipStreamWaitEvent");
  ASSERT_TRUE(buffer.step(addresses, {api(), capturing_, 0}));
  EXPECT_EQ(calls_of("hipStreamWaitEvent") - before, 3U) << "each graph behind itself, and the first behind the last";
  EXPECT_EQ(value_at(0), 4);
}

TEST_F(InParts, WhateverFailsOfAStepInPartsIsAnsweredOrToldAndTheNextOneIsRight) {
  fail_each_call(10U, [&](FailingCall& call) {
    FilledBuffer buffer(api(), chain(4, {1}, {2}), options(k64));
    told_.clear();
    ASSERT_TRUE(buffer.step(std::array{at(0)}, stream()));
    call.arm(interposer_);
    const bool done = buffer.step(std::array{at(1)}, stream()).ok();
    call.disarm(interposer_);
    EXPECT_TRUE(!call.fired() || !done || !told_.empty()) << call;
    wipe();
    ASSERT_TRUE(buffer.step(std::array{at(2)}, stream())) << call;
    EXPECT_EQ(value_at(2), 4) << call;
  });
}

// Children and all that is known of them: nodes of the buffer's own, which the table applies to.
TEST_F(InParts, WhatALibraryEnqueuedAndIsKnownBecomesNodesThatArePatched) {
  for (const int version : {k72, k64}) {
    FilledBuffer buffer(api(), chain(20, {}, {3, 7, 19}), options(version));
    EXPECT_EQ(launches_of(buffer, 0, StepDecision::kRecord, StepReason::kFirst,
                          version == k72 ? "child-16" : "child-successors-unordered"),
              1U);
    EXPECT_EQ(value_at(0), 20);
    EXPECT_EQ(launches_of(buffer, 1, StepDecision::kPatch, StepReason::kMoved, ""), 1U);
    EXPECT_EQ(value_at(1), 20);
    EXPECT_EQ(buffer.counts().traces.captured, 0U) << "no trace is kept";
  }
  EXPECT_TRUE(told_.empty()) << told_[0];
}

// Nodes that are known on one footing (hip/traced_command.h) need not be the same on another footing.
TEST_F(InParts, NodesOfWhatALibraryEnqueuedAreLookedAtAgainOnAnotherFooting) {
  const hip::EnqueueAt work = [this](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(at[0]), at[0] % 4 == 0 ? 7 : 9, 16, on), "");
  };
  FilledBuffer buffer(api(), of(library_work(work, shadows())), options(k72));
  for (const hip::DeviceAddress address : {at(0), at(1), at(2) + 1, at(1), at(3)}) {
    wipe();
    ASSERT_TRUE(buffer.step(std::array{address}, stream()));
    EXPECT_EQ(byte_at(address), address % 4 == 0 ? 7 : 9);
  }
}

// A child with a circle inside cannot be flattened, and the release launches it wrongly where something follows.
TEST_F(QuirkAware, AChildThatCannotBeFlattenedIsRefusedAndNotSplitForEver) {
  hip::Recording circle = of(fill(7));
  circle.add(fill(8));
  circle.connect(0, 1);
  circle.connect(1, 0);
  hip::Recording commands = of({hip::ChildRecord{std::make_shared<const hip::Recording>(std::move(circle))}, {}, {}});
  commands.add(behind(0, fill(9)));
  FilledBuffer buffer(api(), commands, options(k64));
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

// The host node that fills pinned memory and the copy from it are of one graph.
TEST_F(InParts, WhatTheHostStagesIsInTheGraphOfTheCopyFromIt) {
  std::vector<unsigned char> pageable(kBytes, 5);
  for (std::size_t fills = 10; fills <= 16; ++fills) {
    hip::Recording commands = chain(fills, {0});
    hip::CopyRecord record;
    record.linear = true;
    record.params.extent = {kBytes, 1, 1};
    record.params.kind = hipMemcpyHostToDevice;
    commands.add({record,
                  {static_cast<hip::NodeIndex>(fills - 1)},
                  {{hip::Field::kCopyDestination, 0, 0, 0}, {hip::Field::kCopySource, 0, 1, 0}}});
    commands.add(behind(static_cast<hip::NodeIndex>(fills), fill(77, 2)));
    hip::CommandBufferOptions with = options(k72);
    with.memory = [](hip::BufferIndex buffer) {
      return buffer == 1 ? hip::BufferMemory::kPageable : hip::BufferMemory::kDevice;
    };
    FilledBuffer buffer(api(), std::move(commands), with);
    wipe();
    const std::array addresses{at(0), reinterpret_cast<hip::DeviceAddress>(pageable.data()), at(2)};
    ASSERT_TRUE(buffer.step(addresses, stream())) << fills;
    EXPECT_EQ(value_at(0), 5) << fills;
    EXPECT_EQ(value_at(2), 77) << fills;
  }
}

// Of three graphs the last is not launched: the next step, on another stream, comes behind the second before anything.
TEST_F(InParts, AStepBehindOneThatFailedHalfWayComesBehindAllThatItLaunched) {
  static std::vector<hipEvent_t> marked;  // behind each launch
  static std::vector<hipEvent_t> waited;  // for, before a launch of the step
  static const hip::Api* under = nullptr;
  static bool launched = false;
  marked.clear();
  waited.clear();
  under = &api();
  hip::Api watched = api();
  watched.hipEventRecord = [](hipEvent_t event, hipStream_t on) {
    marked.push_back(event);
    return under->hipEventRecord(event, on);
  };
  watched.hipStreamWaitEvent = [](hipStream_t on, hipEvent_t event, unsigned flags) {
    if (!launched) waited.push_back(event);
    return under->hipStreamWaitEvent(on, event, flags);
  };
  watched.hipGraphLaunch = [](hipGraphExec_t exec, hipStream_t on) {
    launched = true;
    return under->hipGraphLaunch(exec, on);
  };
  FilledBuffer buffer(watched, chain(5, {0, 2}), options(k64));  // 0 | 1 2 | 3 4
  const std::array addresses{at(0)};
  ASSERT_TRUE(buffer.step(addresses, {watched, stream_, 0}));
  interposer_.fail(*verify::find_function("hipGraphLaunch"), 3);
  ASSERT_FALSE(buffer.step(addresses, {watched, stream_, 0}));
  launched = false;
  waited.clear();
  ASSERT_EQ(marked.size(), 5U);
  ASSERT_TRUE(buffer.step(addresses, {watched, capturing_, 0}));
  EXPECT_NE(std::find(waited.begin(), waited.end(), marked[4]), waited.end());
  EXPECT_EQ(value_at(0), 5);
  buffer.set(chain(4, {1}));  // fewer graphs
  ASSERT_TRUE(buffer.step(addresses, {watched, stream_, 0}));
  EXPECT_EQ(value_at(0), 4);
}

TEST_F(QuirkAware, AGraphThatIsUpdatedToOtherCommandsIsRecordedAgainAfterSoManyNodes) {
  for (const bool grows : {true, false}) {
    hip::CommandBufferOptions often = options(grows ? k72 : kNone, true);
    often.renew_after = 2;
    FilledBuffer buffer(api(), of(fill(7)), often);
    expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst, "");
    for (int value = 1; value < 8; ++value) {
      buffer.set(of(fill(value)));
      if (grows && value % 3 == 0) {
        expect(buffer, 0, StepDecision::kRecord, StepReason::kRenewed, "exec-set-grows");
      } else {
        expect(buffer, 0, StepDecision::kUpdate, StepReason::kOtherCommands, "");
      }
      EXPECT_EQ(value_at(0), value);
    }
  }
}

TEST_F(InParts, WhatIsThrownInOneOfTheGraphsIsTheCallersAndTheNextStepIsRight) {
  bool throws = false;
  hip::Recording commands = chain(4, {1});      // 0 1 | 2 3
  for (const hip::NodeIndex last : {4U, 5U}) {  // | 4 | 5
    hip::TracedWork work{.command = last, .stream = capturing_, .buffers = {0}, .work = {}};
    work.work = [&, last](hipStream_t on, std::span<const hip::DeviceAddress> where) {
      if (throws && last == 5) throw std::runtime_error("no");
      return filling(static_cast<int>(last + 1))(on, where);
    };
    commands.add(behind(last - 1, hip::traced_command(std::move(work))));
  }
  FilledBuffer buffer(api(), commands, options(k64));
  ASSERT_TRUE(buffer.step(std::array{at(0)}, stream()));
  throws = true;
  const std::uint64_t launches = calls_of("hipGraphLaunch");
  EXPECT_THROW((void)buffer.step(std::array{at(1)}, stream()), std::runtime_error);
  EXPECT_EQ(calls_of("hipGraphLaunch"), launches);
  throws = false;
  wipe();
  ASSERT_TRUE(buffer.step(std::array{at(2)}, stream()));
  EXPECT_EQ(value_at(2), 6);
  EXPECT_EQ(value_at(1), 0);
}

// Where the first step may answer so; a trace is captured as it is at once.
TEST_F(QuirkAware, WorkThatCannotBeCapturedAtItsShadowsIsOpaque) {
  for (const bool quirks : {false, true}) {
    hip::TracedWork work{.command = 1, .stream = capturing_, .buffers = {0}, .work = {}};
    work.work = [this](hipStream_t on, std::span<const hip::DeviceAddress> where) {
      if (where[0] >= at(4)) return hip::Status(hip::Error{hipErrorInvalidValue, "no such memory"});
      return filling(7)(on, where);
    };
    work.shadows = shadows();
    work.errors = sink();
    FilledBuffer buffer(api(), of(hip::traced_command(std::move(work))), options(quirks ? k72 : kNone));
    wipe();
    for (int failed = 0; quirks && failed < 2; ++failed) {
      EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorInvalidValue);
    }
    EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
    EXPECT_EQ(value_at(0), 7);
  }
  EXPECT_EQ(told_.size(), 1U);
}

// The executable graph lacks the nodes that became known again on this footing: it was made of other nodes.
TEST_F(InParts, NodesThatBecomeKnownAgainAreRecorded) {
  const auto work_of = [this](std::uint64_t command, hip::BufferIndex buffer, bool by_alignment) {
    hip::TracedWork work{.command = command, .stream = capturing_, .buffers = {buffer}, .work = {}};
    work.work = [this, buffer, by_alignment](hipStream_t on, std::span<const hip::DeviceAddress> where) {
      const int value = by_alignment && where[buffer] % 4 != 0 ? 9 : 7 + static_cast<int>(buffer);
      return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(where[buffer]), value, 16, on), "");
    };
    work.shadows = {{{at(4), at(4)}, {at(6), at(6)}}, {kBytes, kBytes}, {buffer}};
    return hip::traced_command(std::move(work));
  };
  hip::Recording both = of(work_of(1, 0, false));
  both.add(behind(0, work_of(2, 1, true)));
  for (const bool known : {true, false}) {
    FilledBuffer buffer(api(), both, options(known ? k72 : kNone));
    const auto step = [&](hip::DeviceAddress first, hip::DeviceAddress other, int value) {
      wipe();
      const auto done = buffer.step(std::array{first, other}, stream());
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(byte_at(first), 7);
      EXPECT_EQ(byte_at(other), value);
    };
    step(at(0), at(1), 8);
    step(at(0), at(1) + 1, 9);       // the second is opaque
    step(at(2) + 32, at(1) + 1, 9);  // looked at again, and still is
    step(at(3) + 32, at(1) + 1, 9);  // patched
    step(at(2), at(3), 8);           // known again
    step(at(0), at(1), 8);
    EXPECT_TRUE(told_.empty()) << told_[0];
  }
}

TEST_F(QuirkAware, WhatIsKnownAndCannotBeRecordedTwiceIsOpaque) {
  hip::Api refusing = api();
  refusing.hipGraphAddMemsetNode = [](auto...) { return hipErrorOutOfMemory; };
  FilledBuffer buffer(refusing, of(library_work(filling(7), shadows())), options(k72));
  for (int failed = 0; failed < 2; ++failed) EXPECT_FALSE(buffer.step(std::array{at(0)}, stream()));
  EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
  EXPECT_EQ(value_at(0), 7);
}

TEST_F(InParts, WhatIsKnownAndCannotBeRecordedTwiceIsOpaqueThereToo) {
  hip::Api refusing = api();
  refusing.hipGraphAddMemsetNode = [](auto...) { return hipErrorOutOfMemory; };
  FilledBuffer buffer(refusing, chain(3, {1}, {0, 2}), options(k64));
  for (int failed = 0; failed < 2; ++failed) EXPECT_FALSE(buffer.step(std::array{at(0)}, stream()));
  EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
  EXPECT_EQ(value_at(0), 3);
}

TEST_F(InParts, AForgottenBufferIsCapturedAgainAndTheGraphBeforeIsGone) {
  FilledBuffer buffer(api(), of(fill(7)), options(k64));
  ASSERT_TRUE(buffer.step(std::array{at(0)}, stream()));
  EXPECT_NE(buffer.graph(), nullptr);
  buffer.set(chain(4, {1}));
  ASSERT_TRUE(buffer.step(std::array{at(0)}, stream()));
  EXPECT_EQ(buffer.graph(), nullptr) << "there are several";
  const auto captures_of_a_step = [&] {
    const std::uint64_t before = calls_of("hipStreamBeginCapture");
    EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
    return calls_of("hipStreamBeginCapture") - before;
  };
  EXPECT_EQ(captures_of_a_step(), 0U);
  buffer.forget(0);
  EXPECT_EQ(captures_of_a_step(), 1U);
}

// With every graph of a step in parts and every call of the first step failing in turn.
TEST_F(InParts, WhateverFailsOfTheFirstStepInPartsTheNextOneIsRight) {
  fail_each_call(20U, [&](FailingCall& call) {
    FilledBuffer buffer(api(), chain(6, {1, 3}, {2}), options(k64));
    told_.clear();
    wipe();
    call.arm(interposer_);
    const bool done = buffer.step(std::array{at(1)}, stream()).ok();
    call.disarm(interposer_);
    EXPECT_TRUE(!call.fired() || !done || !told_.empty()) << call;
    if (done) {
      EXPECT_EQ(value_at(1), 6) << call;
    }
    wipe();
    ASSERT_TRUE(buffer.step(std::array{at(2)}, {api(), capturing_, 0})) << call;
    EXPECT_EQ(value_at(2), 6) << call;
    EXPECT_EQ(value_at(1), 0) << call;
    EXPECT_TRUE(buffer.step(std::array{at(2)}, stream()).value().decision == StepDecision::kLaunch) << call;
  });
}

// "If both are one: clear it." Nothing at its shadows, which are apart, says nothing of where its buffers are.
TEST_F(QuirkAware, WorkThatEnqueuesNothingAtItsShadowsAloneIsNoEmptyNode) {
  const hip::EnqueueAt work = [this](hipStream_t on, std::span<const hip::DeviceAddress> where) {
    return where[0] == where[1] ? filling(7)(on, where) : hip::Status();
  };
  FilledBuffer buffer(api(), of(library_work(work, shadows_of_two(), {0, 1})), options(k72));
  for (const std::size_t other : {0, 3, 0}) {
    wipe();
    ASSERT_TRUE(buffer.step(std::array{at(0), at(other)}, stream()));
    EXPECT_EQ(value_at(0), other == 0 ? 7 : 0);
  }
}

// Work that a library enqueued on a stream of device 1 belongs to device 1.
TEST_F(QuirkAware, NodesOfWhatALibraryEnqueuedAreOfTheDeviceOfItsStream) {
  const DevicesOfMemsets watched(api());
  const hipStream_t there = stream_of(1), capturing = stream_of(1);
  for (const bool quirks : {false, true}) {
    for (const int device : {0, 1}) {
      DevicesOfMemsets::seen().clear();
      hip::TracedWork work{.command = 1, .stream = capturing, .buffers = {0}, .work = filling(7)};
      work.shadows = shadows();
      hip::CommandBufferOptions with = options(quirks ? k72 : kNone);
      with.device = device;
      with.several_devices = true;
      FilledBuffer buffer(watched.table(), of(hip::traced_command(std::move(work))), with);
      const hip::StreamRef on(watched.table(), device == 0 ? stream_ : there, device);
      for (const std::size_t place : {0, 2}) {
        const hip::Result<hip::CommandStep> step = buffer.step(std::array{at(place)}, on);
        EXPECT_TRUE(step) << step.error().message;
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
    hip::CommandBufferOptions often = options(grows ? k72 : kNone);
    often.renew_after = 3;
    FilledBuffer buffer(api(), of(fill(7)), often);
    expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst, "");
    for (std::size_t place = 1; place <= 3; ++place)
      expect(buffer, place, StepDecision::kPatch, StepReason::kMoved, "");
    if (!grows) {
      expect(buffer, 4, StepDecision::kPatch, StepReason::kMoved, "");
      continue;
    }
    expect(buffer, 3, StepDecision::kLaunch, StepReason::kUnchanged, "");
    expect(buffer, 4, StepDecision::kRecord, StepReason::kRenewed, "exec-set-grows");
    expect(buffer, 5, StepDecision::kPatch, StepReason::kMoved, "");
    EXPECT_EQ(value_at(5), 7);
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
  expect(buffer, 0, StepDecision::kRecord, StepReason::kEarlierFailure, "");
}

TEST_F(QuirkAware, ARankThatCannotLookIntoItsCommandsComesToEachRound) {
  hip::TracedWork known{.command = 1, .stream = capturing_, .buffers = {0}, .work = {}};
  known.work = [](hipStream_t, std::span<const hip::DeviceAddress>) {
    return hip::Status(hip::Error{hipErrorNotReady, "not now"});
  };
  known.shadows = shadows();
  hip::TracedWork together{.command = 2, .stream = capturing_, .buffers = {0}, .work = filling(7)};
  together.collective = true;
  hip::Recording both = of(hip::traced_command(std::move(known)));
  both.add(behind(0, hip::traced_command(std::move(together))));
  CountedRanks ranks;
  hip::CommandBufferOptions with = options(k72);
  with.ranks = &ranks;
  FilledBuffer buffer(api(), std::move(both), with);
  EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorNotReady);
  EXPECT_EQ(ranks.rounds, 2);
}

// Peers count the rounds of all graphs, whichever of them fails.
TEST_F(InParts, ARankOneOfWhoseGraphsFailsComesToTheRoundsOfTheOthers) {
  bool fails = true;
  const auto before = [&] { return fails ? hip::Status(hip::Error{hipErrorNotReady, "not now"}) : hip::Status(); };
  CountedRanks ranks;
  hip::CommandBufferOptions with = options(k64);
  with.ranks = &ranks;
  FilledBuffer buffer(api(), collectives(3, before), with);
  EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorNotReady);
  EXPECT_EQ(ranks.rounds, 4);
  EXPECT_EQ(calls_of("hipGraphLaunch"), 0U);
  fails = false;
  ranks.rounds = 0;
  EXPECT_EQ(launches_of(buffer, 0, StepDecision::kRecord, StepReason::kEarlierFailure, "child-successors-unordered"),
            3U);
  EXPECT_EQ(ranks.rounds, 4);
  EXPECT_EQ(value_at(0), 3);
}

TEST_F(QuirkAware, TheDeviceIsWaitedForBeforeAnExecutableGraphGoesWhereTheReleaseNeedsThat) {
  const auto waits_of = [&](const hip::ReleaseQuirks& quirks) {
    return waits_in([&] {
      hip::CommandBuffer unused(api(), {.quirks = quirks});
      FilledBuffer buffer(api(), of(fill(7)), {.quirks = quirks});
      EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
    });
  };
  EXPECT_EQ(waits_of({}), (Waits{.devices = 0, .events = 1}));
  EXPECT_EQ(waits_of(hip::ReleaseQuirks::of_version(k64)), (Waits{.devices = 0, .events = 1}));
  EXPECT_EQ(waits_of(hip::ReleaseQuirks::of_version(k72)), (Waits{.devices = 1, .events = 0}));
}

TEST_F(QuirkAware, TheDeviceIsWaitedForBeforeATraceGoesWhereTheReleaseNeedsThat) {
  const auto waits_of = [&](const hip::ReleaseQuirks& quirks) {
    return waits_in([&] {
      const hip::Enqueue work = [&](hipStream_t on) { return filling(5)(on, std::array{at(0)}); };
      const auto trace = hip::capture_trace(api(), capturing_, work, {}, quirks);
      EXPECT_TRUE(trace && trace.value()->launch(stream()));
    });
  };
  EXPECT_EQ(waits_of({}), (Waits{.devices = 0, .events = 1}));
  EXPECT_EQ(waits_of(hip::ReleaseQuirks::of_version(k72)), (Waits{.devices = 1, .events = 0}));
}

// A stream of device 1, where the buffers are of device 0.
struct OnAnotherDevice : QuirkAware {
  OnAnotherDevice() {
    EXPECT_EQ(api().hipSetDevice(1), hipSuccess);
    EXPECT_EQ(api().hipStreamCreate(&away_), hipSuccess);
    EXPECT_EQ(api().hipSetDevice(0), hipSuccess);
  }
  ~OnAnotherDevice() override { EXPECT_EQ(api().hipStreamDestroy(away_), hipSuccess); }
  [[nodiscard]] hip::StreamRef elsewhere() { return {api(), away_, 1}; }
  // Returns the value that new work on the stream finds at `place`. Nothing waits for the buffers' device.
  int value_behind(std::size_t place) {
    unsigned char value = 0;
    EXPECT_EQ(api().hipMemcpyAsync(&value, reinterpret_cast<void*>(at(place)), 1, hipMemcpyDeviceToHost, away_),
              hipSuccess);
    EXPECT_EQ(api().hipStreamSynchronize(away_), hipSuccess);
    return value;
  }

 private:
  hipStream_t away_ = nullptr;
};

// A stream of another device is given two events, and one of the graph's own the launch.
TEST_F(OnAnotherDevice, AStreamOfTheBuffersOwnLaunchesWhereTheReleaseNeedsThat) {
  for (const bool needed : {true, false}) {
    hip::CommandBufferOptions with = options(needed ? k72 : kNone);
    with.several_devices = true;
    FilledBuffer buffer(api(), of(fill(7)), with);
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
    told_.clear();
    call.arm(interposer_);
    const bool stepped = buffer.step(std::array{at(0)}, elsewhere()).ok();
    call.disarm(interposer_);
    EXPECT_TRUE(!call.fired() || !stepped || !told_.empty()) << call;
    if (stepped) {
      EXPECT_EQ(value_behind(0), 7) << call << ": ordered or waited for, whatever failed";
    }
    wipe();
    ASSERT_TRUE(buffer.step(std::array{at(0)}, elsewhere())) << call;
    EXPECT_EQ(value_behind(0), 7) << call;
    wipe();
  });
}

// Recorded, patched and moved to where a release needs the whole graph again.
TEST_F(QuirkAware, WhateverFailsOfAStepOfFlattenedOrNestedCommandsIsAnsweredOrToldAndTheNextOneIsRight) {
  for (const bool flatten : {false, true}) {
    for (const int version : {kNone, k72, k64}) {
      SCOPED_TRACE(testing::Message() << flatten << " " << version);
      fail_each_call(20, [&](FailingCall& call) {
        hip::CommandBufferOptions with = options(version, true);
        with.flatten = flatten;
        FilledBuffer buffer(api(), of(child(child(rows(7)))), with);
        told_.clear();
        call.arm(interposer_);
        bool all = true;
        for (const std::size_t place : {0, 1, 2}) all = buffer.step(std::array{at(place)}, stream()).ok() && all;
        buffer.set(of(child(child(rows(8)))));
        all = buffer.step(std::array{at(2)}, stream()).ok() && all;
        call.disarm(interposer_);
        EXPECT_TRUE(!call.fired() || !all || !told_.empty()) << call;
        wipe();
        ASSERT_TRUE(buffer.step(std::array{at(3)}, stream())) << call;
        EXPECT_EQ(value_at(3), 8) << call;
        EXPECT_EQ(value_at(2), 0) << call;
      });
    }
  }
}

TEST_F(QuirkAware, BranchesAreChainedWhereThereAreSeveralDevices) {
  hip::Recording fork = of(fill(7));
  for (const int value : {8, 9}) {
    fork.add(behind(0, fill(value)));
  }
  for (const bool several : {false, true}) {
    hip::CommandBufferOptions with = options(k72);
    with.several_devices = several;
    FilledBuffer buffer(api(), fork, with);
    expect(buffer, 0, StepDecision::kRecord, StepReason::kFirst, several ? "launch-branches-elsewhere" : "");
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
    const Waits waits = waits_in([&] {
      FilledBuffer buffer(api(), of(fill(7)), options(k72));
      EXPECT_TRUE(buffer.step(std::array{at(0)}, stream()));
      interposer_.fail(*verify::find_function(function), 1);
    });
    EXPECT_EQ(waits.events, 1u) << function;
    EXPECT_EQ(told_.size(), 1u) << function;
  }
}

TEST_F(QuirkAware, ATraceThatMayHoldChildrenIsNotHandedOverWhereTheyWouldBeLost) {
  hip::TracedWork opaque{.command = 1, .stream = capturing_, .buffers = {0}, .work = filling(7)};
  hip::TracedWork known = opaque;
  known.command = 2;
  known.shadows = shadows();
  hip::CommandBuffer one(api(), options(k72)), other(api(), options(k72));
  one.set(of(hip::traced_command(std::move(opaque))));
  other.set(of(hip::traced_command(std::move(known))));
  for (hip::CommandBuffer* buffer : {&one, &other}) {
    expect(*buffer, 0, StepDecision::kRecord, StepReason::kFirst, "");
    const bool may = buffer == &one;
    expect(*buffer, 1, may ? StepDecision::kRecord : StepDecision::kPatch,
           may ? StepReason::kQuirk : StepReason::kMoved, may ? "child-set-nested" : "");
    EXPECT_EQ(value_at(1), 7);
    wipe();
  }
}

// ---- what the host does instead

struct ByTheHost : QuirkAware {
  ByTheHost() {
    EXPECT_EQ(api().hipHostMalloc(&pinned_, 2 * kBytes, hipHostMallocDefault), hipSuccess);
    pageable_.assign(2 * kBytes, 5);
  }
  ~ByTheHost() override { EXPECT_EQ(api().hipHostFree(pinned_), hipSuccess); }

  hip::CommandBufferOptions knowing(int version, hip::BufferMemory memory, bool update) {
    hip::CommandBufferOptions with = options(version, update);
    with.memory = [memory](hip::BufferIndex buffer) { return buffer == 0 ? memory : hip::BufferMemory::kDevice; };
    return with;
  }
  // From buffer 0 to buffer 1.
  static hip::RecordedNode copy() {
    hip::CopyRecord record;
    record.linear = true;
    record.params.extent = {kBytes, 1, 1};
    record.params.kind = hipMemcpyHostToDevice;
    return {record, {}, {{hip::Field::kCopyDestination, 0, 1, 0}, {hip::Field::kCopySource, 0, 0, 0}}};
  }
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
    FilledBuffer buffer(api(), of(copy()), knowing(k72, hip::BufferMemory::kPageable, update));
    const auto step = [&](std::size_t from, std::size_t to, StepDecision decision, StepReason reason, int value) {
      const hip::Result<hip::CommandStep> done = buffer.step(std::array{source(from), at(to)}, stream());
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(done.value().decision, decision);
      EXPECT_EQ(done.value().reason, reason);
      if (decision == StepDecision::kRecord) {
        ASSERT_NE(done.value().quirk, nullptr);
        EXPECT_EQ(done.value().quirk->id, reason == StepReason::kQuirk ? "host-params-late" : "pageable-copy-early");
      }
      EXPECT_EQ(value_at(to), value);
    };
    pageable_.assign(2 * kBytes, 5);
    step(0, 0, StepDecision::kRecord, StepReason::kFirst, 5);
    pageable_.assign(2 * kBytes, 6);
    step(0, 0, StepDecision::kLaunch, StepReason::kUnchanged, 6);
    // No update brings a host node what it is to do.
    const auto reason = [update](StepReason otherwise) { return update ? StepReason::kQuirk : otherwise; };
    step(1, 0, StepDecision::kRecord, reason(StepReason::kOpaque), 6);
    step(1, 1, StepDecision::kRecord, reason(StepReason::kOpaque), 6);
    buffer.set(of(copy()));
    step(1, 1, StepDecision::kRecord, reason(StepReason::kOtherCommands), 6);
  }
  EXPECT_EQ(calls_of("hipHostMalloc") - allocated, 8u);
  EXPECT_EQ(calls_of("hipHostFree") - freed, 8u);
}

TEST_F(ByTheHost, AMemsetOfPinnedMemoryIsAHostNode) {
  for (const hip::BufferMemory memory : {hip::BufferMemory::kPinned, hip::BufferMemory::kUnknown}) {
    FilledBuffer buffer(api(), of(fill(7)), knowing(k64, memory, false));
    ASSERT_TRUE(buffer.step(std::array{reinterpret_cast<hip::DeviceAddress>(pinned_)}, stream()));
    ASSERT_EQ(api().hipDeviceSynchronize(), hipSuccess);
    EXPECT_EQ(pinned()[0], 7);
    EXPECT_EQ(pinned()[kBytes - 1], 7);
    EXPECT_EQ(type_of_first_node(buffer.graph()),
              memory == hip::BufferMemory::kPinned ? hipGraphNodeTypeHost : hipGraphNodeTypeMemset)
        << "what may be a device's memory the host leaves alone";
    std::memset(pinned_, 0, kBytes);
  }
}

// The bed finds what is left behind.
TEST_F(ByTheHost, WhateverFailsOfAStepIsAnsweredOrToldAndTheNextOneIsRight) {
  fail_each_call(20u, [&](FailingCall& call) {
    FilledBuffer buffer(api(), of(copy()), knowing(k72, hip::BufferMemory::kPageable, false));
    told_.clear();
    call.arm(interposer_);
    const bool first = buffer.step(std::array{source(0), at(0)}, stream()).ok();
    const bool second = buffer.step(std::array{source(1), at(1)}, stream()).ok();
    call.disarm(interposer_);
    EXPECT_TRUE(!call.fired() || !first || !second || !told_.empty()) << call;
    wipe();
    ASSERT_TRUE(buffer.step(std::array{source(0), at(2)}, stream())) << call;
    EXPECT_EQ(value_at(2), 5) << call;
  });
}

}  // namespace
