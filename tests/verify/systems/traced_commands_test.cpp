// Traced commands of hip::CommandBuffer on the host model: against verify/systems/command_model.h, one at a time, and
// with every call of a step failing in turn. Collectives of ranks: collectives_test.cpp.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "traced_bed.h"
#include "verify/execute/heap_counter.h"

namespace {

using hip::StepDecision;
using hip::StepReason;

// ---- against the model

struct System {
  TracedBed bed;
  hip::CommandBuffer buffer{bed.api(), {.errors = bed.sink()}};
};
// The model, and the caller's own knowledge: the commands and the places of the buffers.
struct Said {
  verify::CommandModel model;
  std::size_t mask = 0;
  TracedBed::Places places{0, 1, 2};
};
using Act = rc::state::Command<Said, System>;

struct SetCommands : Act {
  std::size_t mask = *rc::gen::inRange<std::size_t>(1, kAll + 1);
  void apply(Said& said) const override {
    said.mask = mask;
    said.model.set(TracedBed::described(mask));
  }
  void run(const Said&, System& system) const override { system.buffer.set(system.bed.commands(mask)); }
  void show(std::ostream& out) const override { out << "set " << mask; }
};
struct MoveBuffer : Act {
  std::size_t buffer = *rc::gen::inRange<std::size_t>(0, kBuffers), place = *rc::gen::inRange<std::size_t>(0, 8);
  void apply(Said& said) const override { said.places.at(buffer) = place; }
  void run(const Said&, System&) const override {}
  void show(std::ostream& out) const override { out << "move " << buffer << " to " << place; }
};
struct ForgetBuffer : Act {
  hip::BufferIndex buffer = *rc::gen::inRange<hip::BufferIndex>(0, kBuffers);
  void apply(Said& said) const override { said.model.forget(buffer); }
  void run(const Said&, System& system) const override { system.buffer.forget(buffer); }
  void show(std::ostream& out) const override { out << "forget " << buffer; }
};
struct Step : Act {
  void checkPreconditions(const Said& said) const override { RC_PRE(said.mask != 0); }
  // The model only compares addresses: the numbers of the places will do.
  static hip::CommandStep expected(Said& said) {
    const hip::AddressTable places(said.places.begin(), said.places.end());
    return said.model.step(places);
  }
  void apply(Said& said) const override { static_cast<void>(expected(said)); }
  void run(const Said& before, System& system) const override {
    Said said = before;
    const hip::CommandStep should = expected(said);
    system.bed.wipe();
    system.bed.told_.clear();
    const hip::Result<hip::CommandStep> step = system.buffer.step(system.bed.table(said.places), system.bed.stream());
    RC_ASSERT(step.ok());
    RC_ASSERT(step.value().decision == should.decision);
    RC_ASSERT(step.value().reason == should.reason);
    RC_ASSERT(step.value().traces.hits == should.traces.hits);
    RC_ASSERT(step.value().traces.patched == should.traces.patched);
    RC_ASSERT(step.value().traces.captured == should.traces.captured);
    RC_ASSERT(step.value().traces.handed_over == should.traces.handed_over);
    system.bed.expect_bytes(said.mask, said.places);
    RC_ASSERT(!testing::Test::HasNonfatalFailure());
    RC_ASSERT(system.bed.told_.empty() == (should.reason != StepReason::kPatchFailed));
  }
  void show(std::ostream& out) const override { out << "step"; }
};

TEST(CommandModel, EveryStepIsDecidedAsTheModelSaysAndDoesWhatTheCommandsSay) {
  EXPECT_TRUE(rc::check([] {
    System system;
    rc::state::check(Said{}, system,
                     rc::state::gen::execOneOfWithArgs<SetCommands, MoveBuffer, ForgetBuffer, Step, Step>());
  }));
}

// ---- one at a time

class TracedCommands : public testing::Test, protected TracedBed {
 protected:
  hip::CommandStep step(hip::CommandBuffer& buffer, const Places& places) {
    return step_of(buffer, table(places), stream());
  }
};

TEST_F(TracedCommands, ATraceIsCapturedOnceWhateverElseChanges) {
  FilledBuffer buffer(api(), commands(1 << kNode | 1 << kOpaque));
  EXPECT_EQ(step(buffer, {0, 1, 2}).traces.captured, 1u);
  const hip::CommandStep moved = step(buffer, {3, 1, 2});
  EXPECT_EQ(moved.decision, StepDecision::kPatch);
  EXPECT_EQ(moved.traces.captured + moved.traces.hits + moved.traces.handed_over, 0u);
  buffer.set(commands(1 << kOpaque));
  EXPECT_EQ(step(buffer, {3, 1, 2}).traces.hits, 1u);
  EXPECT_EQ(calls_of("hipStreamBeginCapture"), 1u);
  EXPECT_EQ(buffer.counts().traces.captured, 1u);
}

TEST_F(TracedCommands, AKnownTraceIsPatchedAndHandedOverAndNeverCapturedAgain) {
  FilledBuffer buffer(api(), commands(1 << kKnown));
  EXPECT_EQ(step(buffer, {0, 1, 2}).decision, StepDecision::kRecord);
  const std::uint64_t captures = calls_of("hipStreamBeginCapture"), instantiated = calls_of("hipGraphInstantiate");
  for (const std::size_t place : {3, 4, 5}) {
    const hip::CommandStep moved = step(buffer, {0, 1, place});
    EXPECT_EQ(moved.decision, StepDecision::kPatch);
    EXPECT_EQ(moved.traces.patched, 1u);
    EXPECT_EQ(moved.traces.handed_over, 1u);
    EXPECT_EQ(value_at(place), value_of(kKnown, 2));
  }
  EXPECT_EQ(calls_of("hipStreamBeginCapture"), captures);
  EXPECT_EQ(calls_of("hipGraphInstantiate"), instantiated);
}

TEST_F(TracedCommands, ABufferThatWasFreedIsAMissAlsoAtTheSameAddress) {
  FilledBuffer buffer(api(), commands(1 << kOpaque));
  step(buffer, {0, 1, 2});
  buffer.forget(1);
  const hip::CommandStep again = step(buffer, {0, 1, 2});
  EXPECT_EQ(again.decision, StepDecision::kPatch);
  EXPECT_EQ(again.reason, StepReason::kTraces);
  EXPECT_EQ(again.traces.captured, 1u);
}

TEST_F(TracedCommands, ATraceThatDoesNotFitMakesTheStepRecordTheGraph) {
  int fills = 1;
  const hip::EnqueueAt work = [&](hipStream_t on, std::span<const hip::DeviceAddress> addresses) {
    for (int i = 0; i < fills; ++i) {
      if (hip::Status status = filling(7 + i)(on, addresses); !status) return status;
    }
    return hip::Status();
  };
  wipe();
  FilledBuffer buffer(api(), of(library_work(work)), {.errors = sink()});
  step(buffer, {0, 1, 2});
  for (const int now : {2, 0, 1}) {  // another shape, none, and one again
    fills = now;
    const hip::CommandStep other = step(buffer, {static_cast<std::size_t>(3 + now), 1, 2});
    EXPECT_EQ(other.decision, StepDecision::kRecord);
    EXPECT_EQ(other.reason, StepReason::kTraceRefused);
    EXPECT_EQ(value_at(static_cast<std::size_t>(3 + now)), now == 0 ? 0 : 6 + now);
    fills = 3;  // the next one cannot be a hit
    buffer.forget(0);
  }
  EXPECT_TRUE(told_.empty()) << told_[0];
}

TEST_F(TracedCommands, TheirTracesAreBoundedByAsManyAsTheCommandsHaveAtLeast) {
  hip::CommandBuffer buffer(api(), {.max_traces = 1, .errors = sink()});
  const auto captured = [&](std::size_t mask, const Places& places) {
    wipe();
    buffer.set(commands(mask));
    const std::uint64_t captures = step(buffer, places).traces.captured;
    expect_bytes(mask, places);
    return captures;
  };
  EXPECT_EQ(captured(1 << kOpaque, {0, 1, 2}), 1u);
  EXPECT_EQ(captured(1 << kKnown, {0, 1, 2}), 1u);
  EXPECT_EQ(captured(1 << kOpaque, {0, 1, 2}), 1u) << "it had to go for the other one";
  EXPECT_EQ(captured(1 << kOpaque | 1 << kKnown, {0, 1, 2}), 1u);
  EXPECT_EQ(captured(1 << kKnown, {0, 1, 2}), 0u);
  EXPECT_EQ(captured(1 << kOpaque, {0, 1, 2}), 0u) << "there were two at once";
}

// The work copies only where source and destination are two buffers. An empty trace says nothing about other addresses.
TEST_F(TracedCommands, WorkThatEnqueuedNothingIsAskedAgainWhenItsBuffersMove) {
  const hip::EnqueueAt work = [this](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    if (at[0] == at[1]) return hip::Status();
    return hip::called(api().hipMemcpyAsync(reinterpret_cast<void*>(at[1]), reinterpret_cast<void*>(at[0]), kBytes,
                                            hipMemcpyDeviceToDevice, on),
                       "hipMemcpyAsync");
  };
  for (const hip::RecordedNode& command :
       {library_work(work, {}, {0, 1}), library_work(work, shadows_of_two(), {0, 1})}) {
    FilledBuffer buffer(api(), of(command), {.errors = sink()});
    for (const Places& places : {Places{0, 0, 2}, Places{0, 3, 2}, Places{0, 0, 2}, Places{0, 3, 2}}) {
      wipe();
      put(0, 7);
      step(buffer, places);
      EXPECT_EQ(value_at(3), places[1] == 3 ? 7 : 0)
          << "shadows: " << hip::traced_work_of(command)->shadows.has_value();
    }
  }
}

// A library may choose its nodes by alignment: a known command holds on the footing that it was captured on.
TEST_F(TracedCommands, APatchKeepsTheAlignmentThatTheWorkWasCapturedFor) {
  const hip::EnqueueAt work = [this](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    const bool aligned = at[0] % 4 == 0;
    return aligned
               ? hip::called(api().hipMemsetD32Async(reinterpret_cast<hipDeviceptr_t>(at[0]), 0x07070707, 4, on), "")
               : hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(at[0]), 9, 16, on), "");
  };
  FilledBuffer buffer(api(), of(library_work(work, shadows())), {.errors = sink()});
  const auto decision_at = [&](hip::DeviceAddress address) {
    wipe();
    const hip::CommandStep step = step_of(buffer, std::array{address}, stream());
    EXPECT_EQ(byte_at(address), address % 4 == 0 ? 7 : 9);
    return step.traces;
  };
  EXPECT_EQ(decision_at(at(0)).captured, 1u);
  EXPECT_EQ(decision_at(at(1)).patched, 1u);
  EXPECT_EQ(decision_at(at(2) + 1).captured, 1u) << "on another footing";
  EXPECT_EQ(decision_at(at(1)).captured, 1u) << "what is known did not hold there: opaque from then on";
}

TEST_F(TracedCommands, BuffersThatOverlapOtherwiseAreCapturedAgain) {
  const hip::EnqueueAt work = [this](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    return hip::called(api().hipMemsetAsync(reinterpret_cast<void*>(at[0]), at[0] == at[1] ? 1 : 2, kBytes, on), "");
  };
  FilledBuffer buffer(api(), of(library_work(work, shadows_of_two(), {0, 1})), {.errors = sink()});
  for (const Places& places : {Places{0, 1, 2}, Places{2, 3, 2}, Places{3, 3, 2}, Places{0, 1, 2}}) {
    wipe();
    step(buffer, places);
    EXPECT_EQ(value_at(places[0]), places[0] == places[1] ? 1 : 2);
  }
}

TEST_F(TracedCommands, ABufferThatIsNamedTwiceIsPatched) {
  FilledBuffer buffer(api(), of(library_work(filling(7), shadows(), {0, 0})), {.errors = sink()});
  EXPECT_EQ(step(buffer, {0, 1, 2}).traces.captured, 1u);
  EXPECT_EQ(step(buffer, {1, 1, 2}).traces.patched, 1u);
  EXPECT_EQ(value_at(1), 7);
  EXPECT_TRUE(told_.empty()) << told_[0];
}

TEST_F(TracedCommands, WorkThatThrowsLeavesNoCaptureAndKeepsNobodyWaiting) {
  bool throws = true;
  const hip::EnqueueAt work = [&](hipStream_t on, std::span<const hip::DeviceAddress> at) {
    if (throws) throw std::runtime_error("no");
    return filling(7)(on, at);
  };
  FilledBuffer buffer(api(), of(library_work(work)), {.errors = sink()});
  EXPECT_THROW((void)buffer.step(std::array{at(0)}, stream()), std::runtime_error);
  hipStreamCaptureStatus state = hipStreamCaptureStatusActive;
  EXPECT_EQ(api().hipStreamIsCapturing(capturing_, &state), hipSuccess);
  EXPECT_EQ(state, hipStreamCaptureStatusNone);
  throws = false;
  EXPECT_EQ(step(buffer, {0, 1, 2}).traces.captured, 1u);
  EXPECT_EQ(value_at(0), 7);
}

// Each step asks about every collective: with fewer places than collectives, each would take the place of the next one.
TEST_F(TracedCommands, MoreCollectivesThanTracesAreNotCapturedAtEveryStep) {
  constexpr std::size_t kMany = 70;
  // No release of AMD's launches so many children in one graph.
  const hip::ReleaseQuirks quirks =
      TestRuntime::kIsModel ? hip::ReleaseQuirks() : hip::ReleaseQuirks::of_version(70200000);
  hip::CommandBuffer buffer(api(), {.quirks = quirks, .errors = sink()});
  hip::Recording all;
  for (std::size_t i = 0; i < kMany; ++i) {
    append(all, traced({.command = 100 + i, .buffers = {0}, .work = filling(7), .collective = true}));
  }
  buffer.set(std::move(all));
  EXPECT_EQ(step(buffer, {0, 1, 2}).traces.captured, kMany);
  const hip::CommandStep again = step(buffer, {0, 1, 2});
  EXPECT_EQ(again.decision, StepDecision::kLaunch);
  EXPECT_EQ(again.traces.hits, kMany);
  EXPECT_EQ(again.traces.captured, 0u);
}

// The runtime is the model, in this process: its allocations on the heap are not the buffer's.
std::uint64_t t_inside = 0;
template <auto Api_function>
struct Apart;
template <class... Arguments, hipError_t (*hip::Api::*Function)(Arguments...)>
struct Apart<Function> {
  static inline hipError_t (*inner)(Arguments...) = nullptr;
  static hipError_t call(Arguments... arguments) {
    const std::uint64_t before = verify::heap_use().allocations;
    const hipError_t status = inner(arguments...);
    t_inside += verify::heap_use().allocations - before;
    return status;
  }
  static void put_into(hip::Api& api) { inner = std::exchange(api.*Function, call); }
};

TEST_F(TracedCommands, AStepInWhichNothingChangesAllocatesNothingAndOnlyLaunches) {
  hip::Api counted = api();
  Apart<&hip::Api::hipGraphLaunch>::put_into(counted);
  Apart<&hip::Api::hipEventRecord>::put_into(counted);
  Apart<&hip::Api::hipGetDevice>::put_into(counted);
  Apart<&hip::Api::hipSetDevice>::put_into(counted);
  hip::ThreadRanks alone({.ranks = 1});
  FilledBuffer buffer(counted, commands(kAll), {.ranks = &alone, .errors = sink()});
  const hip::AddressTable addresses = table({0, 1, 2});
  const hip::StreamRef on(counted, stream_, 0);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(buffer.step(addresses, on));
  const std::uint64_t before = verify::heap_use().allocations, inside = t_inside,
                      graph_calls = interposer_.graph_calls();
  EXPECT_TRUE(buffer.step(addresses, on));
  EXPECT_EQ(verify::heap_use().allocations - before, t_inside - inside);
  EXPECT_EQ(interposer_.graph_calls() - graph_calls, 1u);
  EXPECT_EQ(buffer.counts().decisions[static_cast<std::size_t>(StepDecision::kLaunch)], 2u);
}

// ---- failures

// Every HIP call of a step fails in turn: the step answers with an error or goes another way, which is told; the next
// one is right, and nothing is left behind.
// With a release's quirks, known traced commands are nodes. Graphs in parts: command_buffer_parts_test.cpp.
void a_failing_step_is_answered_or_told(const hip::ReleaseQuirks& quirks) {
  enum { kFirstStep, kMovedBuffers, kOtherCommands, kScenes };
  for (int scene = kFirstStep; scene < kScenes; ++scene) {
    SCOPED_TRACE(testing::Message() << "scene " << scene);
    const std::size_t mask = scene == kOtherCommands ? kAll & ~(std::size_t{1} << kNode) : kAll;
    fail_each_call(19, [&](FailingCall& call) {
      TracedBed bed;
      FilledBuffer buffer(bed.api(), bed.commands(kAll), {.quirks = quirks, .errors = bed.sink()});
      const auto step = [&](const TracedBed::Places& places) {
        return buffer.step(bed.table(places), bed.stream()).ok();
      };
      EXPECT_TRUE(scene == kFirstStep || step({0, 1, 2}));
      if (scene == kOtherCommands) buffer.set(bed.commands(mask));
      bed.wipe();
      const bool stepped = bed.succeeds_or_says_so(call, [&] { return step({3, 4, 5}); });
      EXPECT_TRUE(stepped || call.fired());
      if (stepped) bed.expect_bytes(mask, {3, 4, 5});
      bed.wipe();
      EXPECT_TRUE(step({6, 7, 5}));
      bed.expect_bytes(mask, {6, 7, 5});
    });
  }
}

TEST(FailingCommands, AStepAnswersOrGoesAnotherWayAndTheNextIsRight) {
  a_failing_step_is_answered_or_told({});
}
TEST(FailingCommands, SoDoesOneThatGoesAroundTheQuirksOf72) {
  a_failing_step_is_answered_or_told(hip::ReleaseQuirks::of_version(70253211));
}
TEST(FailingCommands, SoDoesOneThatGoesAroundTheQuirksOf64) {
  a_failing_step_is_answered_or_told(hip::ReleaseQuirks::of_version(60443483));
}

TEST(FailingCommands, WhateverFailsOfTheEndIsToldAndNothingIsLeftBehind) {
  fail_each_call(4u, [](FailingCall& call) {
    TracedBed bed;
    std::optional<hip::CommandBuffer> buffer;
    buffer.emplace(bed.api(), hip::CommandBufferOptions{.errors = bed.sink()});
    buffer->set(bed.commands(kAll));
    EXPECT_TRUE(buffer->step(bed.table({0, 1, 2}), bed.stream()));
    bed.told_.clear();
    call.arm(bed.interposer_);
    buffer.reset();
    call.disarm(bed.interposer_);
    EXPECT_EQ(bed.told_.empty(), !call.fired());
  });
}

}  // namespace
