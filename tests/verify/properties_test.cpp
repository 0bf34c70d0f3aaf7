// One test a property: its name is the sentence, and it checks exactly that sentence over arbitrary programs on the
// model, with the real patcher. A property that was never exercised has not passed, so each test counts that too. Not
// verified here: the properties of a real runtime (campaigns verify them) and the properties of caches and streams.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "eager.h"
#include "judging.h"
#include "verify/generate/generator.h"
#include "verify/shrink/shrinker.h"

namespace verify {
namespace {

// Programs that each of RapidCheck's hundred cases of a test draws (a second check would draw the same ones again).
constexpr int kPrograms = 10;

// Every case of a check does `body` for each of its programs.
template <class Body>
void check_often(std::string_view what, Body body, int programs = kPrograms) {
  EXPECT_TRUE(rc::check(std::string(what), [&] {
    for (int i = 0; i < programs; ++i) body();
  }));
}

bool violates(const Judgement& judgement, PropertyId id) {
  const bool named = std::find(judgement.broken.begin(), judgement.broken.end(), id) != judgement.broken.end();
  return named || std::any_of(judgement.violations.begin(), judgement.violations.end(),
                              [id](const Violation& v) { return v.property == id; });
}

struct Holding {
  JudgeOptions judge;
  GeneratorOptions generator{.size = 40};
  Program (*change)(Program) = nullptr;  // of every program that is drawn
  int programs = kPrograms;
};

// Judges arbitrary programs; none may break `id`, and it has to be exercised `least` times over all of them.
void expect_holds(PropertyId id, std::uint64_t least, const Holding& how = {}) {
  Bench bench;
  JudgeOptions options = how.judge;
  std::uint64_t exercised = 0;
  check_often(
      property(id).sentence,
      [&] {
        Program program = *arbitrary_program(how.generator);
        if (how.change != nullptr) program = how.change(program);
        options.schedule_seed = *rc::gen::inRange<std::uint64_t>(0, 5);
        const Judgement judgement = bench.judge.judge(program, options);
        exercised += judgement.exercised[index_of(id)];
        if (violates(judgement, id)) RC_FAIL(described(judgement));
      },
      how.programs);
  testing::Test::RecordProperty("exercised", std::to_string(exercised));
  EXPECT_GE(exercised, least) << "hardly exercised: this run says nothing about " << property(id).name;
}

// ---- of patching addresses

TEST(Property, A1APatchChangesTheBytesOfRelocatedPointersAndNoOtherByte) {
  expect_holds(PropertyId::kA1, 200);
}
TEST(Property, A2EveryPointerIntoAMovedBufferIsPatchedWhereverItStands) {
  expect_holds(PropertyId::kA2, 200);
}
TEST(Property, A3APatchMapsAllBuffersAtOnce) {
  Holding how;
  how.programs = 2 * kPrograms;  // few move a buffer onto another's place
  expect_holds(PropertyId::kA3, 75, how);
}
TEST(Property, A4ArgumentsOfAnySizeAndAlignmentPackAtTheOffsetsThatTheKernelStates) {
  expect_holds(PropertyId::kA4, 100);
}
TEST(Property, A5APatchedCopyKeepsDirectionExtentPitchOffsetsAndKind) {
  expect_holds(PropertyId::kA5, 50);
}
TEST(Property, A6OnlyNodesWithAChangedRelocationAreTouchedAndNoChangeMakesNoCall) {
  expect_holds(PropertyId::kA6, 200);
}
// Makes most kernels opaque: they are recorded without the places of their pointers.
Program with_opaque_kernels(Program program) {
  const auto hide = [](NodeParams& params, const KernelSpec* spared) {
    auto* kernel = std::get_if<KernelParams>(&params);
    if (kernel != nullptr && kernel->kernel != spared) kernel->opaque = true;
  };
  const KernelSpec* spared = nullptr;  // one kernel stays as it is, wherever it is used
  for (Step& step : program.steps) {
    if (auto* set = std::get_if<SetNode>(&step.command)) hide(set->params, spared);
    auto* add = std::get_if<AddNode>(&step.command);
    const auto* kernel = add == nullptr ? nullptr : std::get_if<KernelParams>(&add->params);
    if (kernel == nullptr) continue;
    if (spared == nullptr) spared = kernel->kernel;
    if (add->fan == 1) hide(add->params, spared);
  }
  return drop_invalid(program);
}

TEST(Property, A7WhereThePatcherCannotKnowItSaysSoAndTheGraphIsRecordedAgain) {
  Holding how;
  how.change = with_opaque_kernels;
  expect_holds(PropertyId::kA7, 100, how);
}

// ---- of the runtime and the patcher

TEST(Property, P1ParametersAreCopiedWhenACallReturns) {
  expect_holds(PropertyId::kP1, 200);
}

TEST(Property, P1OverwritingWhatWasPassedChangesNothingThatIsSeen) {
  Bench bench;
  std::uint64_t launches = 0;
  check_often("the same with and without poison", [&] {
    const Program program = *arbitrary_program({.size = 40});
    RunOptions options;
    const RunResult poisoned = bench.subject.run(program, options);
    options.poison = false;
    const RunResult plain = bench.subject.run(program, options, poisoned.script);
    RC_ASSERT(compare(program, plain.observation, poisoned.observation).empty());
    launches += poisoned.observation.exercised[index_of(PropertyId::kP1)];
  });
  EXPECT_GE(launches, 100u);
}

TEST(Property, P2ASetterOnAnExecutableGraphChangesThatExecutableGraphAlone) {
  expect_holds(PropertyId::kP2, 200);
}

class EveryStrategy : public testing::TestWithParam<StrategyKind> {};
INSTANTIATE_TEST_SUITE_P(Property, EveryStrategy, testing::ValuesIn(kUsersStrategies),
                         [](const auto& at) { return std::string(strategy_name(at.param)); });

TEST_P(EveryStrategy, P3LaunchingAfterAnyMixOfPatchesSettersAndUpdatesObservesTheSameAsAFreshlyRecordedGraph) {
  Bench bench(GetParam());
  std::uint64_t launches = 0;
  check_often("agrees with the rebuilt graph", [&] {
    const Program program = *arbitrary_program({.size = 40});
    const Judgement judgement = bench.judge.judge(program, {.schedule_seed = *rc::gen::inRange<std::uint64_t>(0, 5)});
    launches += judgement.exercised[index_of(PropertyId::kP3)];
    if (judgement.verdict != VerdictKind::kAgree) RC_FAIL(described(judgement));
  });
  EXPECT_GE(launches, 200u);
}

TEST(Property, P4ACallThatFailsSaysSoAndChangesNothingThatCanBeObserved) {
  Holding how;
  how.judge.every_call_fails = true;
  how.generator.size = 25;
  how.programs = 4;
  expect_holds(PropertyId::kP4, 1000, how);
}

TEST(Property, P4AFailCommandIsReportedAndTheSecondAttemptIsAsIfNothingHadHappened) {
  Bench bench;
  std::uint64_t fired = 0;
  check_often("the same with and without failures", [&] {
    const Program program = *arbitrary_program({.size = 60});
    RunOptions options;
    const RunResult failing = bench.subject.run(program, options);
    fired += failing.observation.failures_fired;
    options.failures = false;
    const RunResult plain = bench.subject.run(program, options, failing.script);
    RC_ASSERT(compare(program, plain.observation, failing.observation).empty());
  });
  EXPECT_GE(fired, 10u);
}

TEST(Property, P5EveryDependencyEdgeIsHonouredInEveryLegalSchedule) {
  expect_holds(PropertyId::kP5, 200);
}

TEST(Property, P5WhatIsSeenDoesNotDependOnTheSchedule) {
  Bench bench;
  std::uint64_t edges = 0;
  check_often("the same in every order", [&] {
    const Program program = *arbitrary_program({.size = 40, .failures = false});
    RunOptions options;
    const RunResult in_order = bench.subject.run(program, options);
    for (const TopologySeen& graph : in_order.observation.topology) edges += graph.edges.size();
    for (options.schedule_seed = 1; options.schedule_seed <= 4; ++options.schedule_seed) {
      const RunResult other = bench.subject.run(program, options, in_order.script);
      RC_ASSERT(compare(program, in_order.observation, other.observation).empty());
    }
  });
  EXPECT_GE(edges, 100u);
}

TEST(Property, P8EveryHandleAllocationAndByteIsReleasedExactlyOnce) {
  expect_holds(PropertyId::kP8, 300);
}

// Notes the runtime's live handles at every patch.
class HoldingNoted final : public ExecPatcher {
 public:
  HoldingNoted(std::unique_ptr<ExecPatcher> patcher, std::vector<model::LiveHandles>& held)
      : patcher_(std::move(patcher)), held_(held) {}
  hip::PatchResult patch(std::span<const hip::Move> moves) override {
    hip::PatchResult result = patcher_->patch(moves);
    held_.push_back(model::abi::active()->runtime().live_handles());
    return result;
  }
  void replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) override {
    patcher_->replace(node, std::move(record), std::move(relocations));
  }
  void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) override {
    patcher_->replace_all(recording, addresses);
  }

 private:
  std::unique_ptr<ExecPatcher> patcher_;
  std::vector<model::LiveHandles>& held_;
};

TEST(Property, P8AThousandRepetitionsOfACycleHoldNoMoreThanTwoDo) {
  std::string text =
      "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\ngraph g1\n"
      "memcpy g1.n0 dst=b1+0 src=b0+64 bytes=64 kind=d2d\nchild g1.n1 g0 nest=2 after=n0\ninstantiate e0 g1\n";
  for (int i = 0; i < 1000; ++i) {
    text += "move b0=@b1 b1=@b0\npatch e0\nset e0.n0 memcpy dst=b1+0 src=b0+64 bytes=32 kind=d2d\nlaunch e0 s0\n";
  }
  std::vector<model::LiveHandles> held;
  Bench bench(StrategyKind::kPatch, [&held](const PatchTarget& target) -> std::unique_ptr<ExecPatcher> {
    return std::make_unique<HoldingNoted>(graph_patcher_factory()(target), held);
  });
  const RunResult result = bench.subject.run(program_of(text), {.inspect = false, .isolation = false});
  EXPECT_TRUE(result.observation.violations.empty());
  ASSERT_EQ(held.size(), 1000u);
  EXPECT_TRUE(held.at(1) == held.back());
}

TEST(Property, P9TheSameGraphBuiltInAnotherWayObservesTheSame) {
  Holding how;
  how.judge.however_built = true;
  expect_holds(PropertyId::kP9, 100, how);
}

TEST(Property, P12WhatANodeWritesIsSeenByTheNodesAfterItAndByTheHostAfterSynchronisation) {
  // Against a run of the program by hand, in which every node sees everything at once. It knows no mapped memory.
  Bench bench;
  std::uint64_t reads = 0;
  std::set<MemoryKind> kinds;
  check_often("the same as by hand", [&] {
    const Program program = without_addresses(*arbitrary_program({.size = 50}));
    RC_ASSERT(flaw(program) == "");
    const auto maps = [](const Step& step) { return std::holds_alternative<DeclareView>(step.command); };
    if (std::ranges::any_of(program.steps, maps)) return;
    const Observation observation =
        bench.subject.run(program, {.schedule_seed = *rc::gen::inRange<std::uint64_t>(0, 5)}).observation;
    const std::vector<BytesSeen> by_hand = run_eagerly(program);
    Observation expected = observation;
    expected.reads = by_hand;
    const std::vector<Difference> differences = compare(program, expected, observation);
    if (!differences.empty()) RC_FAIL(differences.front().where + " at '" + differences.front().command + "'");
    reads += by_hand.size();
    for (const Step& step : program.steps) {
      if (const auto* buffer = std::get_if<DeclareBuffer>(&step.command)) kinds.insert(buffer->memory);
    }
  });
  EXPECT_GE(reads, 500u);
  EXPECT_EQ(kinds.size(), 5u);  // device, pinned, pageable, managed and registered memory
}

}  // namespace
}  // namespace verify
