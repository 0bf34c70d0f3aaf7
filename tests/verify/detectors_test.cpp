// Every property's detector, held against a patcher or a runtime that breaks that property and nothing else.
//
// Each broken thing differs from TinyPatcher, or from the model's table, in one place; the first tests here say that
// the unbroken ones are clean on the same programs. P3 is what a client notices of most breaches, so it may come
// second. Not verified here: that a detector sees every breach of its kind (the catalogue of faults and the campaigns
// do more).
#include "verify/properties/detectors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "judging.h"
#include "tiny_patcher.h"

namespace verify {
namespace {

// ---- the programs: one for each way of breaking things

// A scalar of 8 bytes that equals the address of the buffer that moves.
constexpr std::string_view kScalar =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b1+0 n=8 a=addr(b0)\n"
    "instantiate e0 g0\nmove b0\npatch e0\nlaunch e0 s0\nread b0";
// Pointers at a base and at an interior place.
constexpr std::string_view kSlices =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 slices_u32 out=b0+0 x=b1+0 y=b1+64 z=b1+128 n=4\n"
    "instantiate e0 g0\nmove b1\npatch e0\nlaunch e0 s0\nread b0";
constexpr std::string_view kSwap =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b1+0 n=8 a=7\n"
    "instantiate e0 g0\nmove b0=@b1 b1=@b0\npatch e0\nlaunch e0 s0\nread b0";
constexpr std::string_view kStridedCopy =
    "buffer b0 256\nbuffer b1 256\ngraph g0\n"
    "memcpy3d g0.n0 dst=b0 src=b1 width=4 height=3 depth=2 dpitch=8 spitch=8 drows=4 srows=3 kind=d2d\n"
    "instantiate e0 g0\nmove b1\npatch e0\nlaunch e0 s0\nread b0";
constexpr std::string_view kMemset =
    "buffer b0 256\ngraph g0\nmemset g0.n0 dst=b0 value=7 width=16\ninstantiate e0 g0\nmove b0\npatch e0\n"
    "launch e0 s0\nread b0";
constexpr std::string_view kTwoNodes =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nmemset g0.n0 dst=b0 value=7 width=16\n"
    "memset g0.n1 dst=b1 value=8 width=16\ninstantiate e0 g0\nmove b0\npatch e0\nlaunch e0 s0\nread b0";
constexpr std::string_view kPatchTwice =
    "buffer b0 256\ngraph g0\nmemset g0.n0 dst=b0 value=7 width=16\ninstantiate e0 g0\nmove b0\npatch e0\npatch e0\n"
    "launch e0 s0\nread b0";
constexpr std::string_view kOpaque =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b1+0 n=8 a=7 opaque\n"
    "instantiate e0 g0\nmove b1\npatch e0\nlaunch e0 s0\nread b0";
constexpr std::string_view kTwoExecs =
    "buffer b0 256\ngraph g0\nmemset g0.n0 dst=b0 value=7 width=16\ninstantiate e0 g0\ninstantiate e1 g0\n"
    "move b0\npatch e0\npatch e1\nlaunch e0 s0\nread b0";
constexpr std::string_view kFailingSetter =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b1+0 n=8 a=7\ninstantiate e0 g0\n"
    "move b1\nfail 1 hipGraphExecKernelNodeSetParams\npatch e0\nlaunch e0 s0\nread b0";
constexpr std::string_view kChain =
    "buffer b0 256\nbuffer b1 256\nbuffer b2 256\ngraph g0\nkernel g0.n0 axpy_u64 out=b1+0 in=b0+0 n=8 a=7\n"
    "kernel g0.n1 axpy_u64 out=b2+0 in=b1+0 n=8 a=7 after=n0\ninstantiate e0 g0\nrepeat 4 launch e0 s0\nread b2";

constexpr std::string_view kAllPrograms[] = {kScalar,     kSlices, kSwap,     kStridedCopy,   kMemset, kTwoNodes,
                                             kPatchTwice, kOpaque, kTwoExecs, kFailingSetter, kChain};

Judgement judged(std::string_view commands, Bench& bench, JudgeOptions options = {}) {
  const Program program = program_of(commands);
  EXPECT_EQ(flaw(program), "");
  return bench.judge.judge(program, options);
}

JudgeOptions everything() {
  return {.every_call_fails = true, .however_built = true};
}

// `id` comes first; only what a client notices may come with it.
void expect_exactly(PropertyId id, const Judgement& judgement) {
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  ASSERT_FALSE(judgement.broken.empty()) << described(judgement);
  EXPECT_EQ(judgement.broken.front(), id) << described(judgement);
  for (const PropertyId broken : judgement.broken) {
    EXPECT_TRUE(broken == id || broken == PropertyId::kP3) << described(judgement);
  }
}

// Runs `commands` with TinyPatcher, which has to be clean, and then with the broken one.
template <class Broken>
Judgement against_the_unbroken(std::string_view commands, JudgeOptions options = {}) {
  Bench unbroken(StrategyKind::kPatch, factory_of<TinyPatcher>());
  EXPECT_TRUE(in_agreement(judged(commands, unbroken, options)));
  Bench broken(StrategyKind::kPatch, factory_of<Broken>());
  return judged(commands, broken, options);
}

TEST(Detectors, TheRealPatcherIsCleanOnEveryProgramOfTheseTests) {
  Bench bench;
  for (const std::string_view commands : kAllPrograms) {
    const Judgement judgement = judged(commands, bench, everything());
    EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << commands << "\n" << described(judgement);
    EXPECT_TRUE(judgement.violations.empty()) << described(judgement);
  }
}

TEST(Detectors, TheTinyPatcherIsCleanOnEveryProgramOfTheseTests) {
  Bench bench(StrategyKind::kPatch, factory_of<TinyPatcher>());
  for (const std::string_view commands : kAllPrograms) {
    EXPECT_TRUE(in_agreement(judged(commands, bench))) << commands;
  }
}

// The record that TinyPatcher is about to give a node, and the data that it made the record from.
struct Spoiled {
  hip::NodeRecord& record;
  const std::vector<hip::Relocation>& relocations;
  std::span<const hip::Move> moves;
  const hip::AddressTable& places;  // before the patch
  const hip::AddressTable& addresses;
};

// TinyPatcher that gives each node the record which `Spoil` made wrong.
template <void (*Spoil)(Spoiled)>
struct SpoilsRecords : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  [[nodiscard]] hip::NodeRecord record_for(hip::NodeIndex node, std::span<const hip::Move> moves,
                                           const hip::AddressTable& addresses) const override {
    hip::NodeRecord record = TinyPatcher::record_for(node, moves, addresses);
    Spoil({record, recording.nodes()[node].relocations, moves, places, addresses});
    return record;
  }
};

// ---- A1

// Whatever looks like an address in an argument block is one.
void patches_by_value(Spoiled spoiled) {
  auto* kernel = std::get_if<hip::KernelRecord>(&spoiled.record);
  for (std::size_t at = 0; kernel != nullptr && at + 8 <= kernel->arguments.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, kernel->arguments.data() + at, 8);
    for (const hip::Move& move : spoiled.moves) {
      if (word == move.from) std::memcpy(kernel->arguments.data() + at, &move.to, 8);
    }
  }
}

TEST(Detectors, AScalarThatIsPatchedBecauseItEqualsAnAddressBreaksA1) {
  const Judgement judgement = against_the_unbroken<SpoilsRecords<patches_by_value>>(kScalar);
  expect_exactly(PropertyId::kA1, judgement);
  EXPECT_EQ(judgement.violations.front().where.substr(0, 5), "g0.n0") << described(judgement);
}

void changes_the_memsets_value(Spoiled spoiled) {
  if (auto* memset = std::get_if<hip::MemsetRecord>(&spoiled.record)) memset->params.value += 1;
}

TEST(Detectors, AMemsetWhoseValueIsChangedBreaksA1) {
  expect_exactly(PropertyId::kA1, against_the_unbroken<SpoilsRecords<changes_the_memsets_value>>(kMemset));
}

// ---- A2

// Knows the base of a buffer only: slices stay where they were.
void patches_bases_only(Spoiled spoiled) {
  for (const hip::Relocation& relocation : spoiled.relocations) {
    if (relocation.addend != 0) hip::write_address(spoiled.record, relocation, spoiled.places[relocation.buffer]);
  }
}

TEST(Detectors, ASliceThatIsNotPatchedBreaksA2) {
  const Judgement judgement = against_the_unbroken<SpoilsRecords<patches_bases_only>>(kSlices);
  expect_exactly(PropertyId::kA2, judgement);
  EXPECT_NE(judgement.violations.front().where.find("b1+64"), std::string::npos) << described(judgement);
}

void forgets_the_source(Spoiled spoiled) {
  for (const hip::Relocation& relocation : spoiled.relocations) {
    if (relocation.field == hip::Field::kCopySource)
      hip::write_address(spoiled.record, relocation, spoiled.places[relocation.buffer]);
  }
}

TEST(Detectors, ACopyWhoseSourceIsNotPatchedBreaksA2) {
  expect_exactly(PropertyId::kA2, against_the_unbroken<SpoilsRecords<forgets_the_source>>(kStridedCopy));
}

// ---- A3

// Applies one move after the other to what a field holds, as if moves did not happen at once.
struct MovesOneAfterTheOther : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  [[nodiscard]] hip::NodeRecord record_for(hip::NodeIndex node, std::span<const hip::Move> moves,
                                           const hip::AddressTable&) const override {
    const hip::RecordedNode& original = recording.nodes()[node];
    hip::NodeRecord record = original.record;
    for (const hip::Relocation& relocation : original.relocations) {
      hip::DeviceAddress base = places[relocation.buffer];
      for (const hip::Move& move : moves) {
        if (base == move.from) base = move.to;
      }
      hip::write_address(record, relocation, base);
    }
    return record;
  }
};

TEST(Detectors, ASwapThatIsAppliedMoveByMoveBreaksA3) {
  expect_exactly(PropertyId::kA3, against_the_unbroken<MovesOneAfterTheOther>(kSwap));
}

TEST(Detectors, MoveByMoveIsCleanWhereNothingTakesAnothersPlace) {
  Bench bench(StrategyKind::kPatch, factory_of<MovesOneAfterTheOther>());
  for (const std::string_view commands : {kScalar, kSlices, kMemset}) {
    EXPECT_TRUE(in_agreement(judged(commands, bench)));
  }
}

// Gives every pointer the address of the other buffer.
void mixes_up_the_buffers(Spoiled spoiled) {
  const auto& relocations = spoiled.relocations;
  hip::write_address(spoiled.record, relocations.front(), spoiled.addresses[relocations.back().buffer] + 128);
}

TEST(Detectors, APointerIntoAnotherBuffersNewPlaceBreaksA3) {
  expect_exactly(PropertyId::kA3, against_the_unbroken<SpoilsRecords<mixes_up_the_buffers>>(kSwap));
}

// ---- A4

// Takes every scalar for 4 bytes.
void truncates_scalars(Spoiled spoiled) {
  auto& arguments = std::get<hip::KernelRecord>(spoiled.record).arguments;
  std::memset(arguments.data() + arguments.size() - 4, 0, 4);  // axpy_u64: `a` is the last 8 bytes
}

TEST(Detectors, AScalarOf8BytesThatIsCutTo4BreaksA4) {
  const std::string commands =
      "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b1+0 n=8 a=1234605616436508552\n"
      "instantiate e0 g0\nmove b1\npatch e0\nlaunch e0 s0\nread b0";
  const Judgement judgement = against_the_unbroken<SpoilsRecords<truncates_scalars>>(commands);
  expect_exactly(PropertyId::kA4, judgement);
  EXPECT_EQ(judgement.violations.front().where, "g0.n0 argument byte 28");
}

TEST(Detectors, ACutThatLosesNothingIsClean) {
  Bench bench(StrategyKind::kPatch, factory_of<SpoilsRecords<truncates_scalars>>());
  EXPECT_EQ(judged(kSwap, bench).verdict, VerdictKind::kAgree);  // a=7 fits 4 bytes
}

// ---- A5

void loses_a_row(Spoiled spoiled) {
  std::get<hip::CopyRecord>(spoiled.record).params.extent.height -= 1;
}
void loses_the_pitch(Spoiled spoiled) {
  std::get<hip::CopyRecord>(spoiled.record).params.dstPtr.pitch = 4;
}

TEST(Detectors, ACopyThatLosesARowBreaksA5) {
  expect_exactly(PropertyId::kA5, against_the_unbroken<SpoilsRecords<loses_a_row>>(kStridedCopy));
}
TEST(Detectors, ACopyThatLosesItsPitchBreaksA5) {
  expect_exactly(PropertyId::kA5, against_the_unbroken<SpoilsRecords<loses_the_pitch>>(kStridedCopy));
}

// ---- A6

struct SetsEveryNode : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  [[nodiscard]] bool needs_setting(const hip::RecordedNode&, std::span<const hip::Move> moves) const override {
    return !moves.empty();
  }
};
struct CallsHipForNothing : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  void begin_patch(std::span<const hip::Move> moves) override {
    if (!moves.empty()) return;
    EXPECT_EQ(table.hipDeviceSynchronize(), hipSuccess);
  }
};

TEST(Detectors, SettingANodeThatNothingMovedForBreaksA6) {
  const Judgement judgement = against_the_unbroken<SetsEveryNode>(kTwoNodes);
  expect_exactly(PropertyId::kA6, judgement);
  EXPECT_EQ(judgement.broken.size(), 1u);  // nobody but the counter notices
}
TEST(Detectors, ACallOfHipInAPatchWithNoChangeBreaksA6) {
  const Judgement judgement = against_the_unbroken<CallsHipForNothing>(kPatchTwice);
  expect_exactly(PropertyId::kA6, judgement);
  EXPECT_EQ(judgement.broken.size(), 1u);
}

// ---- A7

struct SkipsWhatItDoesNotKnow : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  [[nodiscard]] bool gives_up_on(const hip::RecordedNode&, std::span<const hip::Move>) const override { return false; }
};

TEST(Detectors, SkippingAnOpaqueNodeSilentlyBreaksA7) {
  expect_exactly(PropertyId::kA7, against_the_unbroken<SkipsWhatItDoesNotKnow>(kOpaque));
}

// ---- P1

// Keeps a reference to the recording that it was made from, which ends with the factory's call.
class KeepsTheCallersRecording : public TinyPatcher {
 public:
  explicit KeepsTheCallersRecording(const PatchTarget& target) : TinyPatcher(target), callers_(&target.recording) {}
  [[nodiscard]] hip::NodeRecord record_for(hip::NodeIndex node, std::span<const hip::Move> moves,
                                           const hip::AddressTable& addresses) const override {
    hip::NodeRecord record = TinyPatcher::record_for(node, moves, addresses);
    const auto* kept = std::get_if<hip::KernelRecord>(&callers_->nodes()[node].record);
    if (auto* kernel = std::get_if<hip::KernelRecord>(&record)) {
      // The scalar `a` of axpy_u64 alone, so that everything else stays right.
      std::memcpy(kernel->arguments.data() + 24, kept->arguments.data() + 24, 8);
    }
    return record;
  }

 private:
  const hip::Recording* callers_;
};

TEST(Detectors, KeepingTheCallersMemoryBreaksP1) {
  const Judgement judgement = against_the_unbroken<KeepsTheCallersRecording>(kSwap);
  ASSERT_FALSE(judgement.broken.empty()) << described(judgement);
  // The poisoned bytes show as a wrong scalar (A4); the cause comes first.
  EXPECT_EQ(judgement.broken.front(), PropertyId::kP1) << described(judgement);
}

TEST(Detectors, KeepingTheCallersMemoryIsCleanWhereNobodyOverwritesIt) {
  Bench bench(StrategyKind::kPatch, factory_of<KeepsTheCallersRecording>());
  EXPECT_TRUE(bench.subject.run(program_of(kSwap), {.poison = false}).observation.violations.empty());
}

// ---- P2

// Brings the first executable graph that it ever saw back to the definition whenever it patches another one.
class UpdatesAnotherExec : public TinyPatcher {
 public:
  UpdatesAnotherExec(const PatchTarget& target, std::shared_ptr<hipGraphExec_t> first)
      : TinyPatcher(target), first_(std::move(first)) {
    if (*first_ == nullptr) *first_ = target.exec;
  }
  void begin_patch(std::span<const hip::Move>) override {
    if (*first_ == executable) return;
    hipGraphNode_t node = nullptr;
    hipGraphExecUpdateResult result{};
    EXPECT_EQ(table.hipGraphExecUpdate(*first_, handles.graph, &node, &result), hipSuccess);
  }

 private:
  std::shared_ptr<hipGraphExec_t> first_;
};

TEST(Detectors, ChangingAnotherExecutableGraphBreaksP2) {
  const auto first = std::make_shared<hipGraphExec_t>(nullptr);
  Bench bench(StrategyKind::kPatch, [first](const PatchTarget& target) -> std::unique_ptr<ExecPatcher> {
    return std::make_unique<UpdatesAnotherExec>(target, first);
  });
  const Judgement judgement = judged(kTwoExecs, bench);
  expect_exactly(PropertyId::kP2, judgement);
  EXPECT_EQ(judgement.violations.front().where, "e0") << described(judgement);
}

// The divergence that the launch left in memory is looked at again, with everything switched on, to name its cause.
TEST(Detectors, ABreachOfP2IsNamedWhereItWasNotLookedFor) {
  const auto first = std::make_shared<hipGraphExec_t>(nullptr);
  Bench bench(StrategyKind::kPatch, [first](const PatchTarget& target) -> std::unique_ptr<ExecPatcher> {
    return std::make_unique<UpdatesAnotherExec>(target, first);
  });
  EXPECT_EQ(broken_names(judged(kTwoExecs, bench, {.isolation = false})), "P2 P3");
}

// ---- P3

// Right parameters, wrong object: the graph that the executable graph came from.
struct PatchesTheDefinition : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  hipError_t set(hip::NodeIndex node, hip::NodeRecord& record) override {
    return set_graph_node(table, handles.nodes[node], record);
  }
};

TEST(Detectors, PatchingTheDefinitionInsteadOfTheExecutableGraphBreaksP3) {
  const std::string commands =
      "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b1+0 n=8 a=7\ninstantiate e0 g0\n"
      "move b1\nwrite b1 seed=1\npatch e0\nlaunch e0 s0\nread b0";
  const Judgement judgement = against_the_unbroken<PatchesTheDefinition>(commands);
  expect_exactly(PropertyId::kP3, judgement);
  EXPECT_FALSE(judgement.differences.empty());
}

// ---- P4

struct SwallowsErrors : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  hipError_t set(hip::NodeIndex node, hip::NodeRecord& record) override {
    static_cast<void>(TinyPatcher::set(node, record));
    return hipSuccess;
  }
};

TEST(Detectors, SwallowingTheErrorOfACallBreaksP4) {
  expect_exactly(PropertyId::kP4, against_the_unbroken<SwallowsErrors>(kFailingSetter));
}

TEST(Detectors, MakingEveryCallFailInTurnFindsASwallowedErrorWithoutAFailCommand) {
  const Judgement judgement = against_the_unbroken<SwallowsErrors>(kSlices, {.every_call_fails = true});
  EXPECT_EQ(broken_names(judgement), "P4") << described(judgement);
}

// ---- P5, P8, P9

Judgement judged_on(std::string_view commands, void (*change)(hip::Api&), JudgeOptions options = {}) {
  OtherBench bench(change);
  return bench.judge.judge(program_of(commands), options);
}

void change_nothing(hip::Api&) {}
void drop_edges(hip::Api& table) {
  table.hipGraphAddKernelNode = [](hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t*, std::size_t,
                                   const hipKernelNodeParams* params) {
    return model::abi::InProcess::api().hipGraphAddKernelNode(out, graph, nullptr, 0, params);
  };
}
void never_destroy_execs(hip::Api& table) {
  table.hipGraphExecDestroy = [](hipGraphExec_t) { return hipSuccess; };
}
void refuse_to_destroy_execs(hip::Api& table) {
  table.hipGraphExecDestroy = [](hipGraphExec_t) { return hipErrorInvalidValue; };
}

TEST(Detectors, TheModelsTableByItselfIsClean) {
  for (const std::string_view commands : kAllPrograms) {
    EXPECT_TRUE(in_agreement(judged_on(commands, change_nothing, everything())));
  }
}

TEST(Detectors, ARuntimeThatDropsEdgesBreaksP5) {
  expect_exactly(PropertyId::kP5, judged_on(kChain, drop_edges));
}

TEST(Detectors, AnExecutableGraphThatIsNeverReleasedBreaksP8) {
  const Judgement judgement = judged_on(kChain, never_destroy_execs);
  expect_exactly(PropertyId::kP8, judgement);
  EXPECT_EQ(judgement.violations.front().observed, "1 executable graphs") << described(judgement);
}

TEST(Detectors, AnErrorInTearDownBreaksP8) {
  expect_exactly(PropertyId::kP8, judged_on(kChain, refuse_to_destroy_execs));
}

// Leaves a graph behind with every patch.
struct LeaksAGraph : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  void begin_patch(std::span<const hip::Move>) override {
    hipGraph_t leaked = nullptr;
    EXPECT_EQ(table.hipGraphCreate(&leaked, 0), hipSuccess);
  }
};

TEST(Detectors, APatcherThatLeavesAGraphBehindBreaksP8) {
  expect_exactly(PropertyId::kP8, against_the_unbroken<LeaksAGraph>(kSlices));
}

// Wrong for kernels that were recorded through `extra`, right for those recorded through `kernelParams`.
void minds_the_style(Spoiled spoiled) {
  auto* kernel = std::get_if<hip::KernelRecord>(&spoiled.record);
  if (kernel != nullptr && kernel->style == hip::ArgumentStyle::kExtra) kernel->arguments.back() ^= std::byte{1};
}

TEST(Detectors, CaringHowAGraphWasBuiltBreaksP9) {
  Bench bench(StrategyKind::kPatch, factory_of<SpoilsRecords<minds_the_style>>());
  EXPECT_EQ(judged(kSwap, bench).verdict, VerdictKind::kAgree);  // by itself the program is clean
  const Judgement judgement = judged(kSwap, bench, {.however_built = true});
  expect_exactly(PropertyId::kP9, judgement);
  EXPECT_EQ(judgement.violations.front().where, "the other argument style");
}

// ---- the evidence itself

TEST(Evidence, AValueIsCarriedAlongFromInsideABufferOrOnePastIt) {
  const hip::AddressTable before = {0x1000, 0x2000, 0x3000}, after = {0x5000, 0x2000, 0x1000};
  const std::vector<std::uint64_t> bytes = {256, 256, 256};
  const PatchEvidence patch{0, before, after, bytes, {}};
  EXPECT_TRUE(patch.moved(0));
  EXPECT_FALSE(patch.moved(1));
  EXPECT_TRUE(patch.carried_along(0x1000, 0x5000));
  EXPECT_TRUE(patch.carried_along(0x1100, 0x5100));   // one past the end
  EXPECT_FALSE(patch.carried_along(0x1101, 0x5101));  // beyond
  EXPECT_FALSE(patch.carried_along(0x1000, 0x5001));
  EXPECT_FALSE(patch.carried_along(0x2000, 0x2000));  // did not move
  EXPECT_TRUE(patch.carried_along(0x3010, 0x1010));
}

TEST(Evidence, PlacesOverlapWhereABufferTakesAnothersPlace) {
  const std::vector<std::uint64_t> bytes = {256, 256};
  const hip::AddressTable before = {0x1000, 0x2000}, swapped = {0x2000, 0x1000}, apart = {0x5000, 0x6000},
                          partly = {0x5000, 0x10ff};
  EXPECT_TRUE((PatchEvidence{0, before, swapped, bytes, {}}.places_overlap()));
  EXPECT_TRUE((PatchEvidence{0, before, partly, bytes, {}}.places_overlap()));
  EXPECT_FALSE((PatchEvidence{0, before, apart, bytes, {}}.places_overlap()));
}

// One memset of b0, held at `observed`, after b0 went from 0x1000 to 0x5000.
Violations found_at(bool (*detect)(const PatchEvidence&, Violations&), std::uint64_t observed) {
  static const hip::AddressTable before = {0x1000, 0x2000}, after = {0x5000, 0x6000};
  static const std::vector<std::uint64_t> bytes = {256, 256};
  hip::RecordedNode recorded;
  hip::MemsetRecord memset;
  memset.params.elementSize = 1;
  memset.params.width = 16;
  memset.params.height = 1;
  recorded.record = memset;
  recorded.relocations = {{hip::Field::kMemsetDestination, 0, 0, 16}};
  const model::NodeParams actual = model::MemsetParams{observed, 0, 0, 1, 16, 1};
  PatchEvidence patch{3, before, after, bytes, {}};
  patch.nodes.push_back({"g0.n0", &recorded, &actual, nullptr, true});
  Violations found;
  static_cast<void>(detect(patch, found));
  return found;
}

TEST(Evidence, EachDetectorOfPointersSeesItsOwnKindOfWrongAddress) {
  constexpr std::uint64_t kRight = 0x5010, kStale = 0x1010, kOthers = 0x6010, kNowhere = 0x9990;
  struct Case {
    std::uint64_t observed;
    bool a2, a3, p3;
  };
  for (const Case& c : {Case{kRight, false, false, false}, Case{kStale, true, false, true},
                        Case{kOthers, false, true, true}, Case{kNowhere, false, false, true}}) {
    EXPECT_EQ(!found_at(detect_a2, c.observed).empty(), c.a2) << hex(c.observed);
    EXPECT_EQ(!found_at(detect_a3, c.observed).empty(), c.a3) << hex(c.observed);
    EXPECT_EQ(!found_at(detect_p3, c.observed).empty(), c.p3) << hex(c.observed);
    EXPECT_TRUE(found_at(detect_a1, c.observed).empty()) << hex(c.observed);
  }
  const Violations found = found_at(detect_a2, kStale);
  EXPECT_EQ(found.at(0).step, 3u);
  EXPECT_EQ(found.at(0).property, PropertyId::kA2);
  EXPECT_EQ(found.at(0).expected, "0x5010");
}

TEST(Properties, EveryPropertyHasANameASentenceAndItsPlaceInTheOrder) {
  ASSERT_EQ(properties().size(), kProperties);
  for (std::size_t i = 0; i < kProperties; ++i) {
    const Property& listed = properties()[i];
    EXPECT_EQ(index_of(listed.id), i);
    EXPECT_EQ(&property(listed.id), &listed);
    EXPECT_EQ(find_property(listed.name), &listed);
    EXPECT_FALSE(listed.title.empty());
    EXPECT_TRUE(listed.sentence.ends_with("."));
  }
  EXPECT_EQ(find_property("A0"), nullptr);
}

}  // namespace
}  // namespace verify
