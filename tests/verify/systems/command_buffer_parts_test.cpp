// hip::CommandBuffer that is given the quirks of its runtime's release, on the host model: commands that a library
// enqueues. Known ones become nodes of the buffer's own; for opaque ones, which the release would launch wrongly, the
// commands go into several graphs, launched one behind the other. Other quirks: command_buffer_quirks_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <vector>

#include "command_buffers.h"

namespace {

using hip::StepDecision;
using hip::StepReason;

// A chain of commands that fill buffer 0. A library enqueues the commands that `opaque` and `known` list.
struct InParts : WithQuirks {
  hip::Recording chain(std::size_t length, std::set<std::size_t> opaque, std::set<std::size_t> known = {}) {
    hip::Recording commands;
    for (std::size_t i = 0; i < length; ++i) {
      const int value = static_cast<int>(i + 1);
      hip::TracedWork work{.command = i, .buffers = {0}, .work = filling(value), .errors = sink()};
      if (known.contains(i)) work.shadows = shadows();
      append(commands, opaque.contains(i) || known.contains(i) ? traced(std::move(work)) : fill(value));
    }
    return commands;
  }
  std::uint64_t launches_of(hip::CommandBuffer& buffer, std::size_t place, StepDecision decision, StepReason reason,
                            const StepSeen& seen = {}) {
    wipe();
    return calls_in("hipGraphLaunch", [&] { expect(buffer, place, decision, reason, seen); });
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
    const StepSeen all{each.quirk, static_cast<int>(each.length)};
    EXPECT_EQ(launches_of(buffer, 0, StepDecision::kRecord, StepReason::kFirst, all), each.parts);
    EXPECT_EQ(launches_of(buffer, 0, StepDecision::kLaunch, StepReason::kUnchanged, {.value = all.value}), each.parts);
    expect_value(buffer, {at(1)}, *all.value);
    EXPECT_EQ(value_at(0), 0);
    // Other commands, which need one graph, and the first ones again.
    buffer.set(of(fill(100)));
    EXPECT_EQ(launches_of(buffer, 1, StepDecision::kRecord, StepReason::kOtherCommands, {.value = 100}), 1U);
    buffer.set(chain(each.length, each.opaque));
    EXPECT_EQ(launches_of(buffer, 2, StepDecision::kRecord, StepReason::kOtherCommands, all), each.parts);
  }
  EXPECT_TRUE(told_.empty()) << told_[0];
}

// The graphs of a step come behind all those of the step before, whatever its stream.
TEST_F(InParts, AStepOnAnotherStreamComesBehindTheLastGraphOfTheStepBefore) {
  FilledBuffer buffer(api(), chain(4, {1}), options(k64));
  ASSERT_TRUE(buffer.step(std::array{at(0)}, stream()));
  const auto step = [&] { EXPECT_TRUE(buffer.step(std::array{at(0)}, {api(), capturing_, 0})); };
  EXPECT_EQ(calls_in("hipStreamWaitEvent", step), 3U) << "each graph behind itself, and the first behind the last";
  EXPECT_EQ(value_at(0), 4);
}

TEST_F(InParts, WhateverFailsOfAStepInPartsIsAnsweredOrToldAndTheNextOneIsRight) {
  fail_each_call(10U, [&](FailingCall& call) {
    FilledBuffer buffer(api(), chain(4, {1}, {2}), options(k64));
    ASSERT_TRUE(buffer.step(std::array{at(0)}, stream()));
    succeeds_or_says_so(call, [&] { return buffer.step(std::array{at(1)}, stream()).ok(); });
    expect_value(buffer, {at(2)}, 4);
  });
}

// Known commands become nodes of the buffer's own, and the table of quirks applies to them as to any node.
TEST_F(InParts, WhatALibraryEnqueuedAndIsKnownBecomesNodesThatArePatched) {
  for (const int version : {k72, k64}) {
    FilledBuffer buffer(api(), chain(20, {}, {3, 7, 19}), options(version));
    const StepSeen first{version == k72 ? "child-16" : "child-successors-unordered", 20};
    EXPECT_EQ(launches_of(buffer, 0, StepDecision::kRecord, StepReason::kFirst, first), 1U);
    EXPECT_EQ(launches_of(buffer, 1, StepDecision::kPatch, StepReason::kMoved, {.value = 20}), 1U);
    EXPECT_EQ(buffer.counts().traces.captured, 0U) << "no trace is kept";
  }
  EXPECT_TRUE(told_.empty()) << told_[0];
}

// Nodes that are known on one footing (hip/traced_command.h) may be wrong on another.
TEST_F(InParts, NodesOfWhatALibraryEnqueuedAreLookedAtAgainOnAnotherFooting) {
  const hip::EnqueueAt work = [this](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(at[0]), at[0] % 4 == 0 ? 7 : 9, 16, on), "");
  };
  FilledBuffer buffer(api(), of(library_work(work, shadows())), options(k72));
  for (const hip::DeviceAddress address : {at(0), at(1), at(2) + 1, at(1), at(3)}) {
    expect_value(buffer, {address}, address % 4 == 0 ? 7 : 9);
  }
}

// The host node that fills pinned memory and the copy from that memory are in one graph.
TEST_F(InParts, WhatTheHostStagesIsInTheGraphOfTheCopyFromIt) {
  std::vector<unsigned char> pageable(kBytes, 5);
  for (std::size_t fills = 10; fills <= 16; ++fills) {
    SCOPED_TRACE(fills);
    hip::Recording commands = chain(fills, {0});
    append(commands, copy_from_host());
    append(commands, fill(77, 2));
    FilledBuffer buffer(api(), commands, with_host_memory(k72, hip::BufferMemory::kPageable));
    expect_value(buffer, {at(0), reinterpret_cast<hip::DeviceAddress>(pageable.data()), at(2)}, 5);
    EXPECT_EQ(value_at(2), 77);
  }
}

// The third of three graphs is not launched. The next step, on another stream, waits for the second one before it
// launches anything.
TEST_F(InParts, AStepBehindOneThatFailedHalfWayComesBehindAllThatItLaunched) {
  static std::vector<hipEvent_t> marked;  // the events behind the launches
  static std::vector<hipEvent_t> waited;  // the events that a step waits for before its first launch
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

TEST_F(InParts, WhatIsThrownInOneOfTheGraphsIsTheCallersAndTheNextStepIsRight) {
  bool throws = false;
  hip::Recording commands = chain(4, {1});      // 0 1 | 2 3
  for (const hip::NodeIndex last : {4U, 5U}) {  // | 4 | 5
    const hip::EnqueueAt work = [&, last](hipStream_t on, std::span<const hip::DeviceAddress> where) {
      if (throws && last == 5) throw std::runtime_error("no");
      return filling(static_cast<int>(last + 1))(on, where);
    };
    append(commands, traced({.command = last, .buffers = {0}, .work = work}));
  }
  FilledBuffer buffer(api(), commands, options(k64));
  ASSERT_TRUE(buffer.step(std::array{at(0)}, stream()));
  throws = true;
  const auto step = [&] { EXPECT_THROW((void)buffer.step(std::array{at(1)}, stream()), std::runtime_error); };
  EXPECT_EQ(calls_in("hipGraphLaunch", step), 0U);
  throws = false;
  expect_value(buffer, {at(2)}, 6);
  EXPECT_EQ(value_at(1), 0);
}

// A command that was opaque on one footing is known again on the next: its nodes are not in the executable graph yet.
TEST_F(InParts, NodesThatBecomeKnownAgainAreRecorded) {
  const auto work_of = [this](std::uint64_t command, hip::BufferIndex buffer, bool by_alignment) {
    const hip::EnqueueAt work = [this, buffer, by_alignment](hipStream_t on,
                                                             std::span<const hip::DeviceAddress> where) {
      const int value = by_alignment && where[buffer] % 4 != 0 ? 9 : 7 + static_cast<int>(buffer);
      return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(where[buffer]), value, 16, on), "");
    };
    const hip::Shadows shadows{{{at(4), at(4)}, {at(6), at(6)}}, {kBytes, kBytes}, {buffer}};
    return traced({.command = command, .buffers = {buffer}, .work = work, .shadows = shadows});
  };
  const hip::Recording both = in_a_row({work_of(1, 0, false), work_of(2, 1, true)});
  for (const bool known : {true, false}) {
    FilledBuffer buffer(api(), both, options(known ? k72 : kNone));
    const auto step = [&](hip::DeviceAddress first, hip::DeviceAddress other, int value) {
      expect_value(buffer, {first, other}, 7);
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

TEST_F(InParts, WhatIsKnownAndCannotBeRecordedTwiceIsOpaque) {
  hip::Api refusing = api();
  refusing.hipGraphAddMemsetNode = [](auto...) { return hipErrorOutOfMemory; };
  struct Case {
    hip::Recording commands;
    int version, value;
  };
  for (const Case& each : {Case{of(library_work(filling(7), shadows())), k72, 7},  // one graph
                           Case{chain(3, {1}, {0, 2}), k64, 3}}) {                 // several
    SCOPED_TRACE(each.version);
    FilledBuffer buffer(refusing, each.commands, options(each.version));
    for (int failed = 0; failed < 2; ++failed) EXPECT_FALSE(buffer.step(std::array{at(0)}, stream()));
    expect_value(buffer, {at(0)}, each.value);
  }
}

TEST_F(InParts, AForgottenBufferIsCapturedAgainAndTheGraphBeforeIsGone) {
  FilledBuffer buffer(api(), of(fill(7)), options(k64));
  const auto step = [&] { EXPECT_TRUE(buffer.step(std::array{at(0)}, stream())); };
  step();
  EXPECT_NE(buffer.graph(), nullptr);
  buffer.set(chain(4, {1}));
  step();
  EXPECT_EQ(buffer.graph(), nullptr) << "there are several";
  EXPECT_EQ(calls_in("hipStreamBeginCapture", step), 0U);
  buffer.forget(0);
  EXPECT_EQ(calls_in("hipStreamBeginCapture", step), 1U);
}

// Every call of the first step fails in turn, and the step has several graphs.
TEST_F(InParts, WhateverFailsOfTheFirstStepInPartsTheNextOneIsRight) {
  fail_each_call(20U, [&](FailingCall& call) {
    FilledBuffer buffer(api(), chain(6, {1, 3}, {2}), options(k64));
    wipe();
    if (succeeds_or_says_so(call, [&] { return buffer.step(std::array{at(1)}, stream()).ok(); })) {
      EXPECT_EQ(value_at(1), 6);
    }
    expect_value(buffer, {at(2)}, 6, {api(), capturing_, 0});
    EXPECT_EQ(value_at(1), 0);
    expect(buffer, 2, StepDecision::kLaunch, StepReason::kUnchanged);
  });
}

// Peers count the rounds of all graphs, whichever of them fails.
TEST_F(InParts, ARankOneOfWhoseGraphsFailsComesToTheRoundsOfTheOthers) {
  bool fails = true;
  const auto before = [&] { return fails ? hip::Status(hip::Error{hipErrorNotReady, "not now"}) : hip::Status(); };
  CountedRanks ranks;
  FilledBuffer buffer(api(), collectives(3, before), options(k64, {.ranks = &ranks}));
  EXPECT_EQ(buffer.step(std::array{at(0)}, stream()).error().code, hipErrorNotReady);
  EXPECT_EQ(ranks.rounds, 4);
  EXPECT_EQ(calls_of("hipGraphLaunch"), 0U);
  fails = false;
  ranks.rounds = 0;
  const StepSeen seen{"child-successors-unordered", 3};
  EXPECT_EQ(launches_of(buffer, 0, StepDecision::kRecord, StepReason::kEarlierFailure, seen), 3U);
  EXPECT_EQ(ranks.rounds, 4);
}

}  // namespace
