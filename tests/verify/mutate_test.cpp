#include "verify/generate/mutate.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "programs.h"
#include "verify/generate/generator.h"

namespace verify {
namespace {

constexpr std::uint64_t kMutants = 2000;

Program mutant(std::uint64_t index, const GeneratorOptions& options) {
  RandomChoices choices{rc::Random(index)};
  return mutate_program(campaign_program(1, index, options), campaign_program(2, index, options), choices, options);
}

TEST(Mutants, AreValidPrograms) {
  const GeneratorOptions options;
  for (std::uint64_t index = 0; index < kMutants; ++index) {
    const Program program = mutant(index, options);
    EXPECT_EQ(flaw(program), "") << print_program(program);
  }
}

TEST(Mutants, MostlyDifferFromTheirParentAndFromEachOther) {
  const GeneratorOptions options;
  std::set<std::string> texts;
  std::uint64_t changed = 0;
  for (std::uint64_t index = 0; index < kMutants; ++index) {
    const std::string text = print_program(mutant(index, options));
    changed += text == print_program(campaign_program(1, index, options)) ? 0 : 1;
    texts.insert(text);
  }
  EXPECT_GT(changed, kMutants * 8 / 10);
  EXPECT_GT(texts.size(), kMutants * 9 / 10);
}

TEST(Mutants, AreTheSameForTheSameChoices) {
  const GeneratorOptions options;
  for (std::uint64_t index = 0; index < 50; ++index) EXPECT_EQ(mutant(index, options), mutant(index, options));
}

TEST(Mutants, DoNotLaunchWhatMayRace) {
  const GeneratorOptions options;
  for (std::uint64_t index = 0; index < kMutants; ++index) {
    const Program program = mutant(index, options);
    State state;
    for (const Step& step : program.steps) {
      const auto* launch = std::get_if<Launch>(&step.command);
      if (launch != nullptr) {
        EXPECT_FALSE(state.launch_races(launch->exec, launch->stream)) << print_program(program);
      }
      for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
    }
  }
}

// A generated program has no race and nothing that may not stand.
TEST(Repair, LeavesGeneratedProgramsAsTheyAre) {
  const GeneratorOptions options;
  std::uint64_t same = 0, total = 500;
  for (std::uint64_t index = 0; index < total; ++index) {
    const Program program = campaign_program(3, index, options);
    same += repair_program(program, options) == program ? 1 : 0;
  }
  EXPECT_GT(same, total * 95 / 100);
}

TEST(Repair, OrdersNodesThatWouldRace) {
  const Program raced = program_of(
      "buffer b0 256\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=8\n"
      "memset g0.n1 dst=b0+0 value=2 element=1 width=8\n");
  const Program program = repair_program(raced, {});
  EXPECT_EQ(print_command(program.steps[3].command), "memset g0.n1 dst=b0+0 value=2 element=1 width=8 after=n0");
}

}  // namespace
}  // namespace verify
