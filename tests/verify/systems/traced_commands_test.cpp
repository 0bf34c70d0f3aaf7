// Traced commands and collectives of hip::CommandBuffer on the host model: against verify/systems/command_model.h, with
// every call of a step failing in turn, and with ranks that are threads, each with a runtime of its own.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>

#include "command_bed.h"
#include "hip/sync/sync.h"
#include "hip/traced_command.h"
#include "verify/execute/heap_counter.h"
#include "verify/systems/command_model.h"

namespace {

using hip::StepDecision;
using hip::StepReason;

// ---- the commands of these tests, by number; each fills its buffers behind the one before

constexpr std::size_t kBuffers = 3, kCommands = 8;
enum : std::size_t { kNode, kOpaque, kKnown, kNothing, kCollective, kCopy, kChild, kTracedInChild };

const std::array<verify::CommandModel::Command, kCommands>& descriptions() {
  static const std::array<verify::CommandModel::Command, kCommands> all = {{
      {.number = kNode, .buffers = {0}},
      {.number = kOpaque, .buffers = {1}, .traced = true},
      {.number = kKnown, .buffers = {2}, .traced = true, .known = true},
      {.number = kNothing, .buffers = {1}, .traced = true, .empty = true},
      {.number = kCollective, .buffers = {0, 1}, .traced = true, .collective = true},
      {.number = kCopy, .buffers = {0, 1}, .copies = true},
      {.number = kChild, .buffers = {2}},
      {.number = kTracedInChild, .buffers = {1}, .traced = true},
  }};
  return all;
}

int value_of(std::size_t command, hip::BufferIndex buffer) {
  return command == kNothing ? 0 : static_cast<int>(16 * (command + 1) + buffer);
}

class TracedBed : public CommandBed {
 public:
  explicit TracedBed(int device = 0) : CommandBed(device) {
    EXPECT_EQ(api().hipMalloc(&shadow_, 4 * kBytes), hipSuccess);
  }
  ~TracedBed() { EXPECT_EQ(api().hipFree(shadow_), hipSuccess); }

  hip::RecordedNode command(std::size_t number) {
    const verify::CommandModel::Command& told = descriptions().at(number);
    if (number == kNode) return fill(value_of(number, 0));
    if (number == kCopy) return copy(0, 1);
    if (number == kChild) return child(fill(value_of(number, 2), 2));
    hip::TracedWork work;
    work.command = number;
    work.stream = capturing_;
    work.buffers = told.buffers;
    work.collective = told.collective;
    work.errors = sink();
    work.work = [this, number, told](hipStream_t on, std::span<const hip::DeviceAddress> addresses) {
      for (const hip::BufferIndex buffer : told.buffers) {
        if (hip::Status status = filling(value_of(number, buffer), buffer)(on, addresses); !status) return status;
      }
      return hip::Status();
    };
    if (told.known) {
      // Apart, so that one past the end of one is not the begin of the other.
      const auto one = reinterpret_cast<hip::DeviceAddress>(shadow_), other = one + 2 * kBytes;
      work.shadows = {
          {{one, one, one}, {other, other, other}}, std::vector<std::uint64_t>(kBuffers, kBytes), told.buffers};
    }
    hip::RecordedNode node = hip::traced_command(std::move(work));
    return number == kTracedInChild ? child(std::move(node)) : node;
  }
  hip::Recording commands(std::size_t mask) {
    hip::Recording all;
    for (std::size_t number = 0; number < kCommands; ++number) {
      if ((mask >> number & 1) == 0) continue;
      hip::RecordedNode node = command(number);
      const auto count = static_cast<hip::NodeIndex>(all.nodes().size());
      if (count != 0) node.dependencies = {count - 1};
      all.add(std::move(node));
    }
    return all;
  }
  static std::vector<verify::CommandModel::Command> described(std::size_t mask) {
    std::vector<verify::CommandModel::Command> all;
    for (std::size_t number = 0; number < kCommands; ++number) {
      if ((mask >> number & 1) != 0) all.push_back(descriptions().at(number));
    }
    return all;
  }
  using Places = std::array<std::size_t, kBuffers>;
  hip::AddressTable table(const Places& places) const {
    hip::AddressTable addresses;
    for (const std::size_t place : places) addresses.push_back(at(place));
    return addresses;
  }
  // Checks the bytes that the commands leave in the wiped memory.
  void expect_bytes(std::size_t mask, const Places& places) {
    std::array<int, kPlaces> expected{};
    for (std::size_t number = 0; number < kCommands; ++number) {
      if ((mask >> number & 1) == 0 || number == kNothing) continue;
      for (const hip::BufferIndex buffer : descriptions().at(number).buffers) {
        if (number == kCopy) {
          expected.at(places[1]) = expected.at(places[0]);
        } else {
          expected.at(places.at(buffer)) = value_of(number, buffer);
        }
      }
    }
    for (std::size_t place = 0; place < kPlaces; ++place) EXPECT_EQ(value_at(place), expected.at(place)) << place;
  }

 private:
  static hip::RecordedNode child(hip::RecordedNode node) {
    return {hip::ChildRecord{std::make_shared<hip::Recording>(of(std::move(node)))}, {}, {}};
  }
  hip::RecordedNode copy(hip::BufferIndex from, hip::BufferIndex to) const {
    hip::CopyRecord record;
    record.params.srcPtr = {memory_, kBytes, kBytes, 1};
    record.params.dstPtr = {memory_, kBytes, kBytes, 1};
    record.params.extent = {kBytes, 1, 1};
    record.params.kind = hipMemcpyDeviceToDevice;
    record.linear = true;
    return {record, {}, {{hip::Field::kCopyDestination, 0, to, 0}, {hip::Field::kCopySource, 0, from, 0}}};
  }

  void* shadow_ = nullptr;
};

constexpr std::size_t kAll = (std::size_t{1} << kCommands) - 1;

// ---- against the model

struct System {
  TracedBed bed;
  hip::CommandBuffer buffer{bed.api(), {.errors = bed.sink()}};
};
// The model's, and what the caller of a command buffer knows anyway.
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
  // The model needs no address that is real: places tell as much.
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
    const hip::Result<hip::CommandStep> step = buffer.step(table(places), stream());
    EXPECT_TRUE(step) << step.error().message;
    return step ? step.value() : hip::CommandStep{};
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

// "If source and destination are not one: copy." Where it enqueued nothing says nothing of where it will.
TEST_F(TracedCommands, WorkThatEnqueuedNothingIsAskedAgainWhenItsBuffersMove) {
  for (const bool shadows : {false, true}) {
    hip::TracedWork work{.command = 1, .stream = capturing_, .buffers = {0, 1}, .work = {}};
    work.work = [this](hipStream_t on, std::span<const hip::DeviceAddress> at) {
      if (at[0] == at[1]) return hip::Status();
      return hip::called(api().hipMemcpyAsync(reinterpret_cast<void*>(at[1]), reinterpret_cast<void*>(at[0]), kBytes,
                                              hipMemcpyDeviceToDevice, on),
                         "hipMemcpyAsync");
    };
    if (shadows) work.shadows = shadows_of_two();
    FilledBuffer buffer(api(), of(hip::traced_command(std::move(work))), {.errors = sink()});
    for (const Places& places : {Places{0, 0, 2}, Places{0, 3, 2}, Places{0, 0, 2}, Places{0, 3, 2}}) {
      wipe();
      put(0, 7);
      step(buffer, places);
      EXPECT_EQ(value_at(3), places[1] == 3 ? 7 : 0) << "shadows: " << shadows;
    }
  }
}

// A library may choose its nodes by alignment: what is known of it holds on the footing that it was captured on.
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
    const hip::Result<hip::CommandStep> step = buffer.step(std::array{address}, stream());
    EXPECT_TRUE(step);
    EXPECT_EQ(byte_at(address), address % 4 == 0 ? 7 : 9);
    return step ? step.value().traces : hip::TraceUse{};
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

// Each step asks about every collective: with fewer places than there are each would take the next one's.
TEST_F(TracedCommands, MoreCollectivesThanTracesAreNotCapturedAtEveryStep) {
  constexpr std::size_t kMany = 70;
  // No release of AMD's launches so many children in one graph.
  const hip::ReleaseQuirks quirks =
      TestRuntime::kIsModel ? hip::ReleaseQuirks() : hip::ReleaseQuirks::of_version(70200000);
  hip::CommandBuffer buffer(api(), {.quirks = quirks, .errors = sink()});
  hip::Recording all;
  for (std::size_t i = 0; i < kMany; ++i) {
    hip::TracedWork work{.command = 100 + i, .stream = capturing_, .buffers = {0}, .work = filling(7)};
    work.collective = true;
    hip::RecordedNode node = hip::traced_command(std::move(work));
    if (i != 0) node.dependencies = {static_cast<hip::NodeIndex>(i - 1)};
    all.add(std::move(node));
  }
  buffer.set(std::move(all));
  EXPECT_EQ(step(buffer, {0, 1, 2}).traces.captured, kMany);
  const hip::CommandStep again = step(buffer, {0, 1, 2});
  EXPECT_EQ(again.decision, StepDecision::kLaunch);
  EXPECT_EQ(again.traces.hits, kMany);
  EXPECT_EQ(again.traces.captured, 0u);
}

// Heap allocations of the runtime, which is the model; they do not count as the buffer's.
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
// With a release's quirks, known traced commands are nodes. Graphs in parts: command_buffer_quirks_test.cpp.
void a_failing_step_is_answered_or_told(const hip::ReleaseQuirks& quirks) {
  const auto prepare = [](hip::CommandBuffer& buffer, TracedBed& bed, int scene) {
    if (scene == 0) return;  // the first step
    EXPECT_TRUE(buffer.step(bed.table({0, 1, 2}), bed.stream()));
    if (scene == 2) buffer.set(bed.commands(kAll & ~(std::size_t{1} << kNode)));
  };
  for (int scene = 0; scene < 3; ++scene) {
    SCOPED_TRACE(testing::Message() << "scene " << scene);
    fail_each_call(19, [&](FailingCall& call) {
      TracedBed bed;
      FilledBuffer buffer(bed.api(), bed.commands(kAll), {.quirks = quirks, .errors = bed.sink()});
      prepare(buffer, bed, scene);
      bed.wipe();
      bed.told_.clear();
      call.arm(bed.interposer_);
      const bool stepped = buffer.step(bed.table({3, 4, 5}), bed.stream()).ok();
      call.disarm(bed.interposer_);
      EXPECT_TRUE(stepped || call.fired());
      EXPECT_TRUE(!call.fired() || !stepped || !bed.told_.empty()) << call;
      const std::size_t mask = scene == 2 ? kAll & ~(std::size_t{1} << kNode) : kAll;
      if (stepped) bed.expect_bytes(mask, {3, 4, 5});
      bed.wipe();
      EXPECT_TRUE(buffer.step(bed.table({6, 7, 5}), bed.stream())) << call;
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
    EXPECT_EQ(bed.told_.empty(), !call.fired()) << call;
  });
}

// ---- ranks

constexpr std::chrono::minutes kPatience{10};  // a busy machine is no rank that does not come

// One rank on its own device; the agreement keeps the ranks in step.
class Rank {
 public:
  Rank(hip::RankAgreement& ranks, int device)
      : bed_(device), buffer_(bed_.api(), {.device = device, .ranks = &ranks, .errors = bed_.sink()}) {
    buffer_.set(bed_.commands(1 << kOpaque | 1 << kCollective));
  }
  hip::Result<hip::CommandStep> step(const TracedBed::Places& places) {
    return buffer_.step(bed_.table(places), bed_.stream());
  }
  hip::CommandBuffer& buffer() { return buffer_; }
  TracedBed& bed() { return bed_; }

 private:
  TracedBed bed_;
  hip::CommandBuffer buffer_;
};
using Steps = std::vector<hip::Result<hip::CommandStep>>;
using Play = std::function<Steps(Rank&)>;

std::array<Steps, 2> two_ranks(const Play& first, const Play& second) {
  hip::ThreadRanks ranks({.ranks = 2, .patience = kPatience});
  std::array<Steps, 2> seen;
  hip::sync::Thread peer([&] {
    Rank rank(ranks, 1);
    seen[1] = second(rank);
  });
  {
    Rank rank(ranks, 0);
    seen[0] = first(rank);
  }
  peer.join();
  return seen;
}

TEST(Collectives, RanksUseTheirTracesTogetherOrAllCapture) {
  const TracedBed::Places here{0, 1, 2};
  const auto seen = two_ranks(
      [&](Rank& rank) { return Steps{rank.step(here), rank.step(here), rank.step(here), rank.step({0, 1, 5})}; },
      [&](Rank& rank) {
        Steps steps{rank.step(here), rank.step(here)};
        rank.buffer().forget(0);
        steps.push_back(rank.step(here));
        steps.push_back(rank.step({4, 1, 2}));
        return steps;
      });
  struct Expected {
    std::uint64_t hits, captured, overruled;
    StepDecision decision;
  };
  // The first step captures the other traced command as well.
  const std::array<std::array<Expected, 4>, 2> expected = {{
      {{{0, 2, 0, StepDecision::kRecord},
        {1, 0, 0, StepDecision::kLaunch},
        {0, 1, 1, StepDecision::kPatch},
        {0, 1, 1, StepDecision::kPatch}}},
      {{{0, 2, 0, StepDecision::kRecord},
        {1, 0, 0, StepDecision::kLaunch},
        {0, 1, 0, StepDecision::kPatch},
        {0, 1, 0, StepDecision::kPatch}}},
  }};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (std::size_t i = 0; i < 4; ++i) {
      const hip::Result<hip::CommandStep>& step = seen.at(rank).at(i);
      ASSERT_TRUE(step) << step.error().message;
      const Expected& should = expected.at(rank).at(i);
      EXPECT_EQ(step.value().traces.hits, should.hits) << rank << " " << i;
      EXPECT_EQ(step.value().traces.captured, should.captured) << rank << " " << i;
      EXPECT_EQ(step.value().traces.overruled, should.overruled) << rank << " " << i;
      EXPECT_EQ(step.value().decision, should.decision) << rank << " " << i;
    }
  }
}

// Whichever call of one rank's step fails, the ranks launch together or not at all, and go on together.
TEST(Collectives, ARankThatFailsKeepsItsPeerFromLaunchingAndTheNextStepIsRight) {
  const TracedBed::Places here{0, 1, 2}, there{3, 4, 5};
  fail_each_call(16u, [&](FailingCall& call) {
    std::uint64_t launches = 0;
    const auto last = [&](Rank& rank) {
      rank.bed().wipe();
      hip::Result<hip::CommandStep> step = rank.step(here);
      if (step) rank.bed().expect_bytes(1 << kOpaque | 1 << kCollective, here);
      return step;
    };
    const auto seen = two_ranks(
        [&](Rank& rank) {
          Steps steps{rank.step(here)};
          const std::uint64_t before = rank.bed().calls_of("hipGraphLaunch");
          steps.push_back(rank.step(there));
          launches = rank.bed().calls_of("hipGraphLaunch") - before;
          steps.push_back(last(rank));
          return steps;
        },
        [&](Rank& rank) {
          Steps steps{rank.step(here)};
          call.arm(rank.bed().interposer_);
          steps.push_back(rank.step(there));
          call.disarm(rank.bed().interposer_);
          steps.push_back(last(rank));
          return steps;
        });
    for (const Steps& steps : seen) {
      ASSERT_EQ(steps.size(), 3u);
      EXPECT_TRUE(steps[0]);
      EXPECT_TRUE(steps[2]) << call << ": " << steps[2].error().message;
    }
    EXPECT_TRUE(seen[1][1] || call.fired());
    // After the ranks agreed to launch.
    if (call.fired() && call.function() == verify::find_function("hipGraphLaunch")) return;
    EXPECT_EQ(seen[0][1].ok(), seen[1][1].ok()) << call;
    EXPECT_EQ(launches, seen[0][1] ? 1u : 0u) << call;
  });
}

TEST(Collectives, ARankWhosePeerDoesNotComeIsToldAndLaunchesNothing) {
  hip::ThreadRanks ranks({.ranks = 2, .patience = std::chrono::milliseconds(1)});
  Rank rank(ranks, 0);
  for (int i = 0; i < 2; ++i) {
    const hip::Result<hip::CommandStep> step = rank.step({0, 1, 2});
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().code, hipErrorLaunchTimeOut);
  }
  EXPECT_EQ(rank.bed().calls_of("hipGraphLaunch"), 0u);
  EXPECT_EQ(rank.bed().calls_of("hipStreamBeginCapture"), 0u);
}

}  // namespace
