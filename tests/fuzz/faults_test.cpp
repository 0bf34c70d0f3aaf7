// The catalogue of faults. A campaign finds each fault soon, names the property that it breaks, and shrinks the program
// to a readable size; the same programs with the real patcher in place of the faulty one find nothing.
//
// Programs are the programs of a campaign with the same seed, judged with the checks that every program gets. Checks
// that a campaign only samples are left out: no fault of the catalogue needs them.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "fuzz/faults/catalogue.h"
#include "verify/execute/model_platform.h"
#include "verify/generate/generator.h"
#include "verify/oracle/judge.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"
#include "verify/run/executor.h"
#include "verify/shrink/shrinker.h"

namespace {

using verify::VerdictKind;

// About five times the programs that the rarest fault (F06: only one kernel has that many arguments) took in 40
// campaigns.
constexpr std::uint64_t kPrograms = 12000;
constexpr std::uint64_t kSeeds = 20;
constexpr std::uint64_t kMostCommands = 12;

// A patcher under test and the baseline.
class Bench {
 public:
  explicit Bench(const verify::PatcherFactory& patchers)
      : subject_(under_test_, verify::StrategyKind::kPatch, patchers),
        baseline_(reference_, verify::StrategyKind::kRebuild),
        judge_(subject_, baseline_) {}

  verify::Judgement judge(const verify::Program& program, std::uint64_t index) {
    return judge_.judge(program, {.schedule_seed = index + 1, .isolation = false});
  }

 private:
  verify::ModelPlatform under_test_, reference_;
  verify::Executor subject_, baseline_;
  verify::Judge judge_;
};

struct Found {
  std::uint64_t index = 0;
  verify::Program program;
  verify::PropertyId property{};
};

verify::Program program_of(std::uint64_t seed, std::uint64_t index) {
  return verify::campaign_program(seed, index, {});
}

// The first program of a campaign on which `bench` does not agree.
std::optional<Found> find_first(Bench& bench, std::uint64_t seed) {
  for (std::uint64_t i = 0; i < kPrograms; ++i) {
    verify::Program program = program_of(seed, i);
    const verify::Judgement judgement = bench.judge(program, i);
    if (judgement.verdict == VerdictKind::kAgree || judgement.verdict == VerdictKind::kPoisoned) continue;
    EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge) << judgement.reason << "\n" << verify::print_program(program);
    if (judgement.broken.empty()) return std::nullopt;
    return Found{i, std::move(program), judgement.broken.front()};
  }
  return std::nullopt;
}

verify::Program shrink(Bench& bench, const Found& found) {
  const auto same = [&](const verify::Program& program) {
    const verify::Judgement judgement = bench.judge(program, found.index);
    return judgement.verdict == VerdictKind::kDiverge && judgement.broken.front() == found.property;
  };
  return verify::Shrinker().shrink(found.program, same).program;
}

struct EachFault : testing::TestWithParam<std::string> {
  [[nodiscard]] const fuzz::Fault& fault() const { return *fuzz::find_fault(GetParam()); }
  [[nodiscard]] bool names(verify::PropertyId property) const {
    return std::count(fault().properties.begin(), fault().properties.end(), property) != 0;
  }
};

TEST_P(EachFault, IsFoundByEveryCampaignAndNamedAfterItsProperty) {
  Bench bench(fault().patchers);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::optional<Found> found = find_first(bench, seed);
    ASSERT_TRUE(found) << "not found with seed " << seed;
    EXPECT_TRUE(names(found->property)) << "seed " << seed << " names " << verify::property(found->property).name
                                        << "\n"
                                        << verify::print_program(found->program);
  }
}

TEST_P(EachFault, ShrinksToAtMostTwelveCommandsThatShowTheSameAndNothingWithTheRealPatcher) {
  Bench faulty(fault().patchers);
  Bench real(verify::graph_patcher_factory());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::optional<Found> found = find_first(faulty, seed);
    ASSERT_TRUE(found) << "not found with seed " << seed;
    const verify::Program shrunk = shrink(faulty, *found);
    EXPECT_LE(verify::counted_commands(shrunk), kMostCommands) << verify::print_program(shrunk);
    const verify::Judgement again = faulty.judge(shrunk, found->index);
    ASSERT_EQ(again.verdict, VerdictKind::kDiverge);
    EXPECT_TRUE(names(again.broken.front())) << verify::print_program(shrunk);
    EXPECT_EQ(real.judge(shrunk, found->index).verdict, VerdictKind::kAgree) << verify::print_program(shrunk);
  }
}

// Not only where it shows first: a campaign that goes on must not list the same defect under a second name.
TEST_P(EachFault, IsNamedAfterItsPropertyWhereverItShows) {
  constexpr std::uint64_t kManyPrograms = 1500;
  Bench bench(fault().patchers);
  for (std::uint64_t i = 0; i < kManyPrograms; ++i) {
    const verify::Program program = program_of(1, i);
    const verify::Judgement judgement = bench.judge(program, i);
    // Now and then the generator makes a race: the model sees it, and the program says nothing.
    if (judgement.verdict == VerdictKind::kAgree || judgement.verdict == VerdictKind::kPoisoned) continue;
    ASSERT_EQ(judgement.verdict, VerdictKind::kDiverge) << "program " << i << ": " << judgement.reason << "\n"
                                                        << verify::print_program(program);
    EXPECT_TRUE(names(judgement.broken.front()))
        << "program " << i << " names " << verify::property(judgement.broken.front()).name << "\n"
        << verify::print_program(program);
  }
}

std::vector<std::string> patcher_faults() {
  std::vector<std::string> ids;
  for (const fuzz::Fault& fault : fuzz::faults()) {
    if (fault.patchers && !fault.ends_the_process) ids.emplace_back(fault.id);
  }
  return ids;
}
INSTANTIATE_TEST_SUITE_P(Catalogue, EachFault, testing::ValuesIn(patcher_faults()),
                         [](const testing::TestParamInfo<std::string>& each) { return each.param; });

TEST(Faults, TheRealPatcherAgreesOnEveryProgramThatAFaultIsLookedForIn) {
  Bench real(verify::graph_patcher_factory());
  std::uint64_t poisoned = 0;
  for (std::uint64_t i = 0; i < kPrograms; ++i) {
    const verify::Program program = program_of(1, i);
    const verify::Judgement judgement = real.judge(program, i);
    if (judgement.verdict == VerdictKind::kPoisoned && ++poisoned <= kPrograms / 1000) continue;
    ASSERT_EQ(judgement.verdict, VerdictKind::kAgree) << "program " << i << "\n"
                                                      << verify::print_program(program) << judgement.reason;
  }
}

TEST(Faults, HaveUniqueIdsInOrderAndAreFoundByThem) {
  std::string previous;
  for (const fuzz::Fault& fault : fuzz::faults()) {
    EXPECT_LT(previous, fault.id);
    EXPECT_EQ(fuzz::find_fault(fault.id), &fault);
    previous = fault.id;
  }
  EXPECT_FALSE(previous.empty());
}

TEST(Faults, NameASystemAPropertyAndWhatIsWrong) {
  for (const fuzz::Fault& fault : fuzz::faults()) {
    EXPECT_FALSE(fault.system.empty()) << fault.id;
    EXPECT_FALSE(fault.summary.empty()) << fault.id;
    EXPECT_FALSE(fault.properties.empty()) << fault.id;
  }
}

TEST(Faults, AnUnknownIdIsNoFault) {
  EXPECT_EQ(fuzz::find_fault(""), nullptr);
  EXPECT_EQ(fuzz::find_fault("F0"), nullptr);
  EXPECT_EQ(fuzz::find_fault("F011"), nullptr);
}

}  // namespace
