// Every property's detector, held against a patcher or a runtime that breaks that property and nothing else.
//
// Each broken thing differs from TinyPatcher, or from the model's table, in one place; the first tests here say that
// the unbroken ones are clean on the same programs. A client notices most breaches as P3, so P3 may come second. Not
// verified here: that a detector sees every breach of its kind (the catalogue of faults and the campaigns do more).
#include "verify/properties/detectors.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "judging.h"
#include "tiny_patcher.h"

namespace verify {
namespace {

// ---- the programs: one for each way of breaking things

// Instantiates a graph of these nodes, does `then`, launches the graph and reads b0. The buffer b1 is there if it is
// named.
std::string launched_after(const std::string& nodes, const std::string& then) {
  const bool has_b1 = (nodes + then).find("b1") != std::string::npos;
  return std::string("buffer b0 256\n") + (has_b1 ? "buffer b1 256\n" : "") + "graph g0\n" + nodes +
         "\ninstantiate e0 g0\n" + then + "\nlaunch e0 s0\nread b0";
}

const std::string kMemsetNode = "memset g0.n0 dst=b0 value=7 width=16";
const std::string kKernelNode = "kernel g0.n0 axpy_u64 out=b0+0 in=b1+0 n=8 a=";
// A scalar of 8 bytes that equals the address of the buffer that moves.
const std::string kScalar = launched_after(kKernelNode + "addr(b0)", "move b0\npatch e0");
const std::string kLongScalar = launched_after(kKernelNode + "1234605616436508552", "move b1\npatch e0");
// Pointers at a base and at an interior place.
const std::string kSlices =
    launched_after("kernel g0.n0 slices_u32 out=b0+0 x=b1+0 y=b1+64 z=b1+128 n=4", "move b1\npatch e0");
const std::string kSwap = launched_after(kKernelNode + "7", "move b0=@b1 b1=@b0\npatch e0");
const std::string kStridedCopy =
    launched_after("memcpy3d g0.n0 dst=b0 src=b1 width=4 height=3 depth=2 dpitch=8 spitch=8 drows=4 srows=3 kind=d2d",
                   "move b1\npatch e0");
const std::string kMemset = launched_after(kMemsetNode, "move b0\npatch e0");
const std::string kTwoNodes =
    launched_after(kMemsetNode + "\nmemset g0.n1 dst=b1 value=8 width=16", "move b0\npatch e0");
const std::string kPatchTwice = launched_after(kMemsetNode, "move b0\npatch e0\npatch e0");
const std::string kOpaque = launched_after(kKernelNode + "7 opaque", "move b1\npatch e0");
const std::string kTwoExecs = launched_after(kMemsetNode, "instantiate e1 g0\nmove b0\npatch e0\npatch e1");
const std::string kWritten = launched_after(kKernelNode + "7", "move b1\nwrite b1 seed=1\npatch e0");
const std::string kFailingSetter =
    launched_after(kKernelNode + "7", "move b1\nfail 1 hipGraphExecKernelNodeSetParams\npatch e0");
const std::string kChain =
    "buffer b0 256\nbuffer b1 256\nbuffer b2 256\ngraph g0\nkernel g0.n0 axpy_u64 out=b1+0 in=b0+0 n=8 a=7\n"
    "kernel g0.n1 axpy_u64 out=b2+0 in=b1+0 n=8 a=7 after=n0\ninstantiate e0 g0\nrepeat 4 launch e0 s0\nread b2";

const std::string kAllPrograms[] = {kScalar,     kLongScalar, kSlices,   kSwap,    kStridedCopy,   kMemset, kTwoNodes,
                                    kPatchTwice, kOpaque,     kTwoExecs, kWritten, kFailingSetter, kChain};

Judgement judged(std::string_view commands, Bench& bench, JudgeOptions options = {}) {
  const Program program = program_of(commands);
  EXPECT_EQ(flaw(program), "");
  return bench.judge.judge(program, options);
}

JudgeOptions everything() {
  return {.every_call_fails = true, .however_built = true};
}

// `id` comes first. Only P3, by which a client notices the breach, may come with it.
void expect_exactly(PropertyId id, const Judgement& judgement) {
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  ASSERT_FALSE(judgement.broken.empty()) << described(judgement);
  EXPECT_EQ(judgement.broken.front(), id) << described(judgement);
  for (const PropertyId broken : judgement.broken) {
    EXPECT_TRUE(broken == id || broken == PropertyId::kP3) << described(judgement);
  }
}

template <class Patcher>
void expect_clean(std::span<const std::string> programs, JudgeOptions options = {}) {
  Bench bench(StrategyKind::kPatch, factory_of<Patcher>());
  for (const std::string& commands : programs) {
    EXPECT_TRUE(in_agreement(judged(commands, bench, options))) << commands;
  }
}

// Runs `commands` with TinyPatcher, which has to be clean, and then with the broken one.
template <class Broken>
Judgement against_the_unbroken(const std::string& commands, JudgeOptions options = {}) {
  expect_clean<TinyPatcher>({&commands, 1}, options);
  Bench broken(StrategyKind::kPatch, factory_of<Broken>());
  return judged(commands, broken, options);
}

// Runs `commands` likewise: the broken patcher breaks exactly this property.
template <class Broken>
Judgement expect_breach(PropertyId id, const std::string& commands) {
  Judgement judgement = against_the_unbroken<Broken>(commands);
  expect_exactly(id, judgement);
  return judgement;
}

TEST(Detectors, TheRealPatcherIsCleanOnEveryProgramOfTheseTests) {
  Bench bench;
  for (const std::string& commands : kAllPrograms) {
    const Judgement judgement = judged(commands, bench, everything());
    EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << commands << "\n" << described(judgement);
    EXPECT_TRUE(judgement.violations.empty()) << described(judgement);
  }
}

TEST(Detectors, TheTinyPatcherIsCleanOnEveryProgramOfTheseTests) {
  expect_clean<TinyPatcher>(kAllPrograms);
}

// The record that TinyPatcher is about to give a node, and the data that it was made from.
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

// Takes every word of an argument block that equals an old address for a pointer.
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
  const Judgement judgement = expect_breach<SpoilsRecords<patches_by_value>>(PropertyId::kA1, kScalar);
  EXPECT_EQ(judgement.violations.front().where.substr(0, 5), "g0.n0") << described(judgement);
}

void changes_the_memsets_value(Spoiled spoiled) {
  if (auto* memset = std::get_if<hip::MemsetRecord>(&spoiled.record)) memset->params.value += 1;
}

TEST(Detectors, AMemsetWhoseValueIsChangedBreaksA1) {
  expect_breach<SpoilsRecords<changes_the_memsets_value>>(PropertyId::kA1, kMemset);
}

// ---- A2

// Knows the base of a buffer only: slices stay where they were.
void patches_bases_only(Spoiled spoiled) {
  for (const hip::Relocation& relocation : spoiled.relocations) {
    if (relocation.addend != 0) hip::write_address(spoiled.record, relocation, spoiled.places[relocation.buffer]);
  }
}

TEST(Detectors, ASliceThatIsNotPatchedBreaksA2) {
  const Judgement judgement = expect_breach<SpoilsRecords<patches_bases_only>>(PropertyId::kA2, kSlices);
  EXPECT_NE(judgement.violations.front().where.find("b1+64"), std::string::npos) << described(judgement);
}

void forgets_the_source(Spoiled spoiled) {
  for (const hip::Relocation& relocation : spoiled.relocations) {
    if (relocation.field == hip::Field::kCopySource)
      hip::write_address(spoiled.record, relocation, spoiled.places[relocation.buffer]);
  }
}

TEST(Detectors, ACopyWhoseSourceIsNotPatchedBreaksA2) {
  expect_breach<SpoilsRecords<forgets_the_source>>(PropertyId::kA2, kStridedCopy);
}

// ---- A3

// Applies one move after the other to the place of a buffer, as if moves did not happen at once.
void moves_one_after_the_other(Spoiled spoiled) {
  for (const hip::Relocation& relocation : spoiled.relocations) {
    hip::DeviceAddress base = spoiled.places[relocation.buffer];
    for (const hip::Move& move : spoiled.moves) {
      if (base == move.from) base = move.to;
    }
    hip::write_address(spoiled.record, relocation, base);
  }
}

TEST(Detectors, ASwapThatIsAppliedMoveByMoveBreaksA3) {
  expect_breach<SpoilsRecords<moves_one_after_the_other>>(PropertyId::kA3, kSwap);
}

TEST(Detectors, MoveByMoveIsCleanWhereNothingTakesAnothersPlace) {
  expect_clean<SpoilsRecords<moves_one_after_the_other>>(std::array{kScalar, kSlices, kMemset});
}

// Gives every pointer the address of the other buffer.
void mixes_up_the_buffers(Spoiled spoiled) {
  const auto& relocations = spoiled.relocations;
  hip::write_address(spoiled.record, relocations.front(), spoiled.addresses[relocations.back().buffer] + 128);
}

TEST(Detectors, APointerIntoAnotherBuffersNewPlaceBreaksA3) {
  expect_breach<SpoilsRecords<mixes_up_the_buffers>>(PropertyId::kA3, kSwap);
}

// ---- A4

// Takes every scalar for 4 bytes.
void truncates_scalars(Spoiled spoiled) {
  auto& arguments = std::get<hip::KernelRecord>(spoiled.record).arguments;
  std::memset(arguments.data() + arguments.size() - 4, 0, 4);  // axpy_u64: `a` is the last 8 bytes
}

TEST(Detectors, AScalarOf8BytesThatIsCutTo4BreaksA4) {
  const Judgement judgement = expect_breach<SpoilsRecords<truncates_scalars>>(PropertyId::kA4, kLongScalar);
  EXPECT_EQ(judgement.violations.front().where, "g0.n0 argument byte 28");
}

TEST(Detectors, ACutThatLosesNothingIsClean) {
  expect_clean<SpoilsRecords<truncates_scalars>>({&kSwap, 1});  // a=7 fits 4 bytes
}

// ---- A5

void loses_a_row(Spoiled spoiled) {
  std::get<hip::CopyRecord>(spoiled.record).params.extent.height -= 1;
}
void loses_the_pitch(Spoiled spoiled) {
  std::get<hip::CopyRecord>(spoiled.record).params.dstPtr.pitch = 4;
}

TEST(Detectors, ACopyThatLosesARowBreaksA5) {
  expect_breach<SpoilsRecords<loses_a_row>>(PropertyId::kA5, kStridedCopy);
}
TEST(Detectors, ACopyThatLosesItsPitchBreaksA5) {
  expect_breach<SpoilsRecords<loses_the_pitch>>(PropertyId::kA5, kStridedCopy);
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
  const Judgement judgement = expect_breach<SetsEveryNode>(PropertyId::kA6, kTwoNodes);
  EXPECT_EQ(judgement.broken.size(), 1u);  // only the counter of setters notices
}
TEST(Detectors, ACallOfHipInAPatchWithNoChangeBreaksA6) {
  const Judgement judgement = expect_breach<CallsHipForNothing>(PropertyId::kA6, kPatchTwice);
  EXPECT_EQ(judgement.broken.size(), 1u);
}

// ---- A7

struct SkipsWhatItDoesNotKnow : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  [[nodiscard]] bool gives_up_on(const hip::RecordedNode&, std::span<const hip::Move>) const override { return false; }
};

TEST(Detectors, SkippingAnOpaqueNodeSilentlyBreaksA7) {
  expect_breach<SkipsWhatItDoesNotKnow>(PropertyId::kA7, kOpaque);
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
  static PatcherFactory factory() {
    return [first = std::make_shared<hipGraphExec_t>(nullptr)](const PatchTarget& target) {
      return std::make_unique<UpdatesAnotherExec>(target, first);
    };
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
  Bench bench(StrategyKind::kPatch, UpdatesAnotherExec::factory());
  const Judgement judgement = judged(kTwoExecs, bench);
  expect_exactly(PropertyId::kP2, judgement);
  EXPECT_EQ(judgement.violations.front().where, "e0") << described(judgement);
}

// The divergence that the launch left in memory is looked at again, with everything switched on, to name its cause.
TEST(Detectors, ABreachOfP2IsNamedWhereItWasNotLookedFor) {
  Bench bench(StrategyKind::kPatch, UpdatesAnotherExec::factory());
  EXPECT_EQ(broken_names(judged(kTwoExecs, bench, {.isolation = false})), "P2 P3");
}

// ---- P3

// Right parameters, wrong object: the graph that the executable graph came from.
struct PatchesTheDefinition : TinyPatcher {
  using TinyPatcher::TinyPatcher;
  hipError_t set(hip::NodeIndex node, hip::NodeRecord& record) override {
    return set_node(table, nullptr, handles.nodes[node], record);
  }
};

TEST(Detectors, PatchingTheDefinitionInsteadOfTheExecutableGraphBreaksP3) {
  const Judgement judgement = expect_breach<PatchesTheDefinition>(PropertyId::kP3, kWritten);
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
  expect_breach<SwallowsErrors>(PropertyId::kP4, kFailingSetter);
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
  for (const std::string& commands : kAllPrograms) {
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
  expect_breach<LeaksAGraph>(PropertyId::kP8, kSlices);
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

}  // namespace
}  // namespace verify
