// The reviewed command buffer (fuzz/examples/reviewed_commands.cpp): each finding of its review, alone in the mended
// library, is caught by its own property, in a program of at most twelve commands (tests/reviewed) in which the mended
// library agrees. The mended library agrees in generated programs, and sets nodes in many steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "library_bed.h"
#include "programs.h"
#include "verify/generate/generator.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"

namespace verify {
namespace {

constexpr std::size_t kMostCommands = 12;
constexpr std::uint64_t kOrders = 4;  // that `hgcheck replay` tries

struct Finding {
  const char* id;
  std::vector<PropertyId> properties;  // any of them is right
  bool dies = false;                   // the library ends the process, which a campaign names P11
};
void PrintTo(const Finding& finding, std::ostream* out) {
  *out << finding.id;
}

std::string library(const std::string& name) {
  return EXAMPLES "/" + name + ".so";
}

Program program_of_finding(const Finding& finding) {
  std::ifstream file(std::string(REVIEWED_PROGRAMS "/") + finding.id + ".program");
  std::stringstream text;
  text << file.rdbuf();
  return parsed(text.str());
}

// The first of a few orders that does not agree, else the last.
Judgement judged(LibraryBed& bed, const Program& program) {
  Judgement judgement;
  for (std::uint64_t seed = 1; seed <= kOrders && judgement.verdict == VerdictKind::kAgree; ++seed)
    judgement = bed.judge(program, {.schedule_seed = seed});
  return judgement;
}

class ReviewedCommands : public testing::TestWithParam<Finding> {};

TEST_P(ReviewedCommands, AFindingIsCaughtByItsOwnProperty) {
  const Program program = program_of_finding(GetParam());
  EXPECT_LE(program.steps.size(), kMostCommands);
  const std::string alone = library(std::string("reviewed_") + GetParam().id);
  LibraryBed bed(alone);
  if (GetParam().dies) {
    const Program plain = parsed(
        "hgcheck-program 1\nbuffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=4 k=1\n"
        "instantiate e0 g0\nlaunch e0 s0\n");
    EXPECT_EQ(judged(bed, plain).verdict, VerdictKind::kAgree);
    EXPECT_DEATH(judged(bed, program), "");
    return;
  }
  const Judgement judgement = judged(bed, program);
  ASSERT_EQ(judgement.verdict, VerdictKind::kDiverge);
  ASSERT_FALSE(judgement.broken.empty());
  EXPECT_TRUE(std::ranges::count(GetParam().properties, judgement.broken.front()) == 1)
      << property(judgement.broken.front()).name;
}

TEST_P(ReviewedCommands, TheMendedLibraryAgrees) {
  LibraryBed bed(library("mended_commands"));
  EXPECT_EQ(judged(bed, program_of_finding(GetParam())).verdict, VerdictKind::kAgree);
}

using enum PropertyId;
INSTANTIATE_TEST_SUITE_P(Findings, ReviewedCommands,
                         testing::Values(Finding{"F01", {kA1}}, Finding{"F02", {kA1}}, Finding{"F03", {kA2}},
                                         Finding{"F04", {kA3}}, Finding{"F05", {kA4}}, Finding{"F06", {kA2}},
                                         Finding{"F07", {kA5}}, Finding{"F08", {kA5}}, Finding{"F09", {kA2}},
                                         Finding{"F10", {kP11}, true}, Finding{"F11", {kA7}}, Finding{"F12", {kP5}},
                                         Finding{"F13", {kP3}}, Finding{"F14", {kP1}}, Finding{"F15", {kP4}},
                                         Finding{"F16", {kP8}}, Finding{"F17", {kP4}}, Finding{"F18", {kP11}, true},
                                         Finding{"F19", {kP5}}, Finding{"F20", {kA3, kA7}}, Finding{"R22", {kA1}},
                                         Finding{"R23", {kP3}}, Finding{"R24", {kP8}}, Finding{"R25", {kP3, kP5}},
                                         Finding{"R26", {kA5}}, Finding{"R27", {kP5}}),
                         [](const testing::TestParamInfo<Finding>& info) { return info.param.id; });

TEST(ReviewedCommandsTogether, DivergeWhereOneOfTheirFindingsDoes) {
  for (const char* id : {"F01", "F03", "F07", "F16"}) {
    LibraryBed bed(library("reviewed_commands"));
    EXPECT_EQ(judged(bed, program_of_finding({id, {}})).verdict, VerdictKind::kDiverge) << id;
  }
}

TEST(MendedCommands, GeneratedProgramsAgreeAndManyStepsSetNodes) {
  LibraryBed mended(library("mended_commands"));
  StepCounts steps;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const Program program = campaign_program(42, index, {});
    EXPECT_EQ(mended.judge(program, {.every_call_fails = index % 8 == 0}).verdict, VerdictKind::kAgree)
        << print_program(program);
    const Observation observation = mended.run(program);
    for (const auto& [what, count] : observation.steps) steps[what] += count;
  }
  EXPECT_GT(steps["set"], 100U);
  EXPECT_FALSE(steps.contains("refused"));
}

}  // namespace
}  // namespace verify
