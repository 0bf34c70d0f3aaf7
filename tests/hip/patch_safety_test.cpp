// The limits of a patch of GraphPatcher, against a fake HIP (hip/fake_api.h): it leaves the caller's memory and other
// graphs alone, a graph whose patch fails stays as it was, and a patch makes few calls and no allocations.
//
// Verified: P1, P2, P4, P8, P10 and P11 of patches of executable graphs and of graphs, and the messages of errors.
// A1-A7 are in graph_patcher_test.cpp. Not verified: the behaviour of a real runtime (campaigns do that).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "hip/allocation_count.h"
#include "hip/fake_api.h"
#include "hip/graph_patcher.h"
#include "hip/patcher_subject.h"
#include "hip/random_recording.h"

namespace {

using namespace patching;

RC_GTEST_FIXTURE_PROP(RandomPatcher, P1_NothingThatTheCallerPassedIsKept, ()) {
  const Recording recording = subject.recording;
  const auto graph = subject.graph;
  const auto cycle = fake::draw_cycle(subject.addresses);
  const AddressTable after = fake::moved(subject.addresses, cycle);
  // Poison in place, so that the memory that was passed holds it.
  for (hip::NodeIndex i = 0; i < subject.recording.nodes().size(); ++i) {
    auto& node = const_cast<hip::RecordedNode&>(subject.recording.nodes()[i]);
    for (hip::Relocation& relocation : node.relocations) relocation = {Field::kKernelArgument, 0xdead, 0xdead, 0xdead};
    if (auto* kernel = std::get_if<hip::KernelRecord>(&node.record)) {
      std::fill(kernel->arguments.begin(), kernel->arguments.end(), std::byte{0xdb});
      std::fill(kernel->slots.begin(), kernel->slots.end(), hip::ArgumentSlot{0xdead, 0xdead});
      kernel->function = nullptr;
    }
    if (auto* copy = std::get_if<hip::CopyRecord>(&node.record)) std::memset(&copy->params, 0xdb, sizeof(copy->params));
    if (auto* set = std::get_if<hip::MemsetRecord>(&node.record)) std::memset(&set->params, 0xdb, sizeof(set->params));
    if (auto* child = std::get_if<hip::ChildRecord>(&node.record)) child->graph.reset();
  }
  std::fill(subject.graph.nodes.begin(), subject.graph.nodes.end(), nullptr);
  std::fill(subject.addresses.begin(), subject.addresses.end(), 0xdbdb);
  subject.table = hip::Api{};
  {
    auto moves = std::make_unique<std::vector<Move>>(cycle);
    RC_ASSERT(subject.patcher->patch(*moves).ok());
    std::fill(moves->begin(), moves->end(), Move{0xdb, 0xdb, 0xdb});
  }
  RC_ASSERT(describe(subject.patched()) == recorded_again(recording, after));
  RC_ASSERT(subject.known_addresses() == after);
}

RC_GTEST_PROP(GraphPatcher, P2_PatchingAnExecutableGraphChangesThatOneAlone, ()) {
  fake::World world;
  Subject subject(fake::draw_recording(world), fake::draw_addresses(), Target::kExec);
  hipGraphExec_t sibling = nullptr;
  RC_ASSERT(subject.table.hipGraphInstantiate(&sibling, subject.graph.graph, nullptr, nullptr, 0) == hipSuccess);
  const std::string before = describe(fake::graph_of(subject.graph.graph));
  subject.patch(fake::draw_cycle(subject.addresses));
  RC_ASSERT(describe(fake::graph_of(subject.graph.graph)) == before);
  RC_ASSERT(describe(fake::graph_of(sibling)) == before);
}

RC_GTEST_PROP(GraphPatcher, P2_PatchingAGraphLeavesItsInstantiationsAlone, ()) {
  fake::World world;
  Subject subject(fake::draw_recording(world), fake::draw_addresses(), Target::kGraph);
  const std::string before = describe(fake::graph_of(subject.exec));
  subject.patch(fake::draw_cycle(subject.addresses));
  RC_ASSERT(describe(fake::graph_of(subject.exec)) == before);
}

// Patches while the calls of these numbers fail. The first call of the patch has number 1.
hip::PatchResult patch_with_failing_calls(fake::World& world, Subject& subject, const std::vector<Move>& moves,
                                          std::set<std::uint64_t> failing) {
  world.call_count = 0;
  world.calls.clear();
  world.failing_calls = std::move(failing);
  hip::PatchResult result = subject.try_patch(moves);
  world.failing_calls.clear();
  return result;
}

RC_GTEST_PROP(GraphPatcher, P4_APatchThatFailsAtAnyCallLeavesTheGraphAsItWas, ()) {
  const auto failing = *rc::gen::element(fake::Failing::kChangesNothing, fake::Failing::kChangesAllTheSame);
  const bool prepared = *rc::gen::arbitrary<bool>();
  fake::World world;
  world.failing = failing;
  const Recording recording = fake::draw_recording(world);
  const AddressTable start = fake::draw_addresses();
  const Target target = draw_target();
  const auto first = fake::draw_cycle(start);
  const auto moves = fake::draw_moves(prepared ? fake::moved(start, first) : start);
  for (std::uint64_t ordinal = 1;; ++ordinal) {
    int leaks = 0;
    Subject subject(recording, start, target, {[&](int, const char*) { ++leaks; }});
    if (prepared) subject.patch(first);
    const std::string before = describe(subject.patched());
    const hip::PatchResult result = patch_with_failing_calls(world, subject, moves, {ordinal});
    if (world.call_count < ordinal) {
      RC_ASSERT(result.ok());
      return;
    }
    RC_ASSERT(failure_of(result) == PatchFailure::kRolledBack);
    RC_ASSERT(result.error().code == hipErrorUnknown);
    RC_ASSERT(subject.patcher->usable());
    RC_ASSERT(describe(subject.patched()) == before);
    RC_ASSERT(subject.known_addresses() == subject.addresses);
    // Nothing is half done inside either: the same patch, and another one, come out right.
    subject.patch_as_recorded_again(moves);
    subject.patch_as_recorded_again(fake::draw_cycle(subject.addresses));
    RC_ASSERT(leaks == 0);
  }
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, P4_APatchThatCannotBePutBackIsUnusableAndSaysSoFromThenOn, ()) {
  subject.patch(fake::draw_cycle(subject.addresses));  // prepares some children
  const auto moves = fake::draw_cycle(subject.addresses);
  RC_PRE(expected_work(subject.recording, moves).nodes > 0U);
  // From some call on everything fails, so that putting back fails as well, if there is anything to put back.
  const auto first = static_cast<std::uint64_t>(1 + fake::below(4));
  std::set<std::uint64_t> failing;
  for (std::uint64_t ordinal = first; ordinal < first + 1000; ++ordinal) failing.insert(ordinal);
  const hip::PatchResult result = patch_with_failing_calls(world, subject, moves, failing);
  if (result.ok()) return;  // it took fewer calls
  const bool reached_setters = std::any_of(world.calls.begin(), world.calls.end(), is_setter);
  RC_CLASSIFY(reached_setters);
  RC_ASSERT((result.error().failure == PatchFailure::kUnusable) == reached_setters);
  RC_ASSERT(subject.patcher->usable() == !reached_setters);
  if (reached_setters) expect_refusal(world, subject, {}, PatchFailure::kUnusable);
}

TEST_F(InAFakeWorld, P4_OneFailedCallOfPuttingBackIsEnoughToBeUnusable) {
  for (std::uint64_t back = 4; back <= 6; ++back) {  // three memsets: the third fails, then three are put back
    Subject subject(memsets({0, 0, 0}), {0x1000}, Target::kExec);
    const auto result = patch_with_failing_calls(world, subject, {{0, 0x1000, 0x3000}}, {3, back});
    EXPECT_EQ(world.call_count, 6U);  // it goes on, to save what can be saved
    EXPECT_EQ(failure_of(result), PatchFailure::kUnusable);
    EXPECT_FALSE(subject.patcher->usable());
  }
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, P11_ABadMoveIsNamedAndChangesNothing, ()) {
  auto moves = fake::draw_moves(subject.addresses);
  const int kind = fake::below(3);
  if (kind == 0) moves.push_back({fake::kBuffers, 0x1000, 0x2000});
  if (kind == 1) {
    if (moves.empty()) moves.push_back({0, subject.addresses[0], 0x3000});
    moves.push_back(moves[static_cast<std::size_t>(fake::below(static_cast<int>(moves.size())))]);
  }
  if (kind == 2) {
    moves = fake::draw_cycle(subject.addresses);
    moves.back().from += 8;
  }
  expect_refusal(world, subject, moves, PatchFailure::kBadMove);
  // And leaves no mark on the next one.
  subject.patch_as_recorded_again(fake::draw_cycle(subject.addresses));
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, P10_APatchTouchesAsManyRelocationsAsTheMovedBuffersHave, ()) {
  const auto moves = fake::draw_moves(subject.addresses);
  RC_ASSERT(subject.patch(moves).relocations == expected_work(subject.recording, moves).relocations);
}

TEST(GraphPatcher, P10_TheCallsOfAPatchDoNotGrowWithTheGraph) {
  for (const int others : {0, 100, 10000}) {
    fake::World world;
    Recording recording = memsets({0});
    for (int i = 0; i < others; ++i) recording.add(memset_of(1));
    Subject subject(recording, {0x1000, 0x2000}, Target::kExec);
    world.calls.clear();
    EXPECT_EQ(subject.patch({{0, 0x1000, 0x3000}}).relocations, 1U);
    EXPECT_EQ(world.calls.size(), 1U);
  }
}

// Returns the number of the caller's allocations during a patch, or nothing where the patch failed.
std::optional<std::uint64_t> allocations_of_patch(fake::World& world, Subject& subject,
                                                  const std::vector<Move>& moves) {
  world.log_calls = false;
  const allocation::Counter counter(&world.inside);
  const bool ok = subject.try_patch(moves).ok();
  return ok ? std::optional(allocation::Counter::count()) : std::nullopt;
}

RC_GTEST_FIXTURE_PROP(RandomPatcher, P10_APatchAllocatesNothingOnceItsChildrenArePrepared, ()) {
  std::vector<Move> all;
  for (hip::BufferIndex buffer = 0; buffer < subject.addresses.size(); ++buffer) {
    all.push_back({buffer, subject.addresses[buffer], subject.addresses[buffer] + 0x10'0000});
  }
  subject.patch(all);
  for (int patch = 0; patch < 3; ++patch) {
    const auto moves = fake::draw_moves(subject.addresses);
    RC_ASSERT(allocations_of_patch(world, subject, moves) == 0U);
    subject.addresses = fake::moved(subject.addresses, moves);
  }
}

TEST(GraphPatcher, P10_WithoutChildGraphsNotEvenTheFirstPatchAllocates) {
  for (const Target target : {Target::kExec, Target::kGraph}) {
    fake::World world;
    Recording recording = memsets({0, 1, 0, 1});
    hip::KernelRecord kernel;
    kernel.arguments.resize(24);
    kernel.function = world.add_kernel({{}, 24});
    recording.add({kernel, {}, {{Field::kKernelArgument, 3, 0, 0}, {Field::kKernelArgument, 16, 1, 0}}});
    Subject subject(recording, {0x1000, 0x2000}, target);
    EXPECT_EQ(allocations_of_patch(world, subject, {{0, 0x1000, 0x2000}, {1, 0x2000, 0x1000}}), 0U);
  }
}

RC_GTEST_PROP(GraphPatcher, P8_APatcherLeavesNoGraphBehind, ()) {
  fake::World world;
  {
    Subject subject(fake::draw_recording(world), fake::draw_addresses(), draw_target());
    subject.patch(fake::draw_cycle(subject.addresses));
    GraphPatcher moved_to = std::move(*subject.patcher);
    subject.patcher.emplace(std::move(moved_to));
    for (hip::NodeIndex i = 0; i < subject.recording.nodes().size(); ++i) {
      subject.patcher->replace(i, subject.recording.nodes()[i].record, subject.recording.nodes()[i].relocations);
    }
    subject.patch(fake::draw_cycle(subject.addresses));
    subject.patcher->replace_all(subject.recording, subject.addresses);
    subject.patch(fake::draw_cycle(subject.addresses));
  }
  RC_ASSERT(world.graphs.size() == 1U);  // the subject's own
}

// Destroys a patcher that cannot destroy its private child graph.
void fail_in_teardown(fake::World& world, hip::PatcherOptions options = {}) {
  Subject subject(nested(memsets({0}), 1), {0x1000}, Target::kExec, std::move(options));
  subject.patch({{0, 0x1000, 0x3000}});
  world.failing_calls = {world.call_count + 1};
}

TEST_F(InAFakeWorld, AnErrorInTeardownIsToldToWhoeverListens) {
  std::vector<int> heard;
  fail_in_teardown(world, {[&](int code, const char*) { heard.push_back(code); }});
  EXPECT_EQ(heard, std::vector<int>{hipErrorUnknown});
}

TEST_F(InAFakeWorld, AnErrorInTeardownThatNobodyListensForIsWrittenToStandardError) {
  testing::internal::CaptureStderr();
  fail_in_teardown(world);
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_NE(written.find("hipErrorUnknown"), std::string::npos) << written;
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 1);
}

TEST_F(InAFakeWorld, AMessageNamesTheNodeThePlaceAndTheRemedy) {
  Recording recording = memsets({0});
  recording.add(child_of(nested(memsets({0, 1}), 1)));
  Subject subject(recording, {0x1000, 0x2000}, Target::kExec);
  subject.patch({{1, 0x2000, 0x4000}});
  const auto result = patch_with_failing_calls(world, subject, {{1, 0x4000, 0x5000}}, {1});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(
      result.error().message,
      "node 1/0/1 (memset): hipGraphMemsetNodeSetParams: hipErrorUnknown; the graph is as it was before the patch: "
      "patch again or record it again");
}

}  // namespace
