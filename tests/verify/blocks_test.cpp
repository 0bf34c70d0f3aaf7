// Blocks that repeat: their text, their rounds, which of them are valid, and how they are shrunk and mutated.
#include "verify/program/blocks.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "programs.h"
#include "verify/generate/generator.h"
#include "verify/generate/mutate.h"
#include "verify/shrink/shrinker.h"

namespace verify {
namespace {

constexpr std::string_view kRebuild =
    "hgcheck-program 1\n"
    "placement arena\n"
    "buffer b0 64\n"
    "repeat 3\n"
    "  buffer b1 64\n"
    "  graph g0\n"
    "  memset g0.n0 dst=b1+0 value=1 element=1 width=64\n"
    "  instantiate e0 g0\n"
    "  launch e0 s0\n"
    "  sync device\n"
    "  destroy e0\n"
    "  destroy g0\n"
    "  free b1\n"
    "end\n"
    "read b0\n";

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string changed(text);
  changed.replace(changed.find(what), what.size(), by);
  return changed;
}

TEST(Blocks, ARoundHasStepsAndNamesOfItsOwn) {
  const Program program = parsed(kRebuild);
  ASSERT_EQ(program.steps.size(), 2u + 3 * 9);
  EXPECT_EQ(print_command(program.steps[1].command), "buffer b1 64");
  EXPECT_EQ(print_command(program.steps[10].command), "buffer b2 64");
  EXPECT_EQ(print_command(program.steps[21].command), "memset g2.n0 dst=b3+0 value=1 element=1 width=64");
  EXPECT_EQ(print_command(program.steps.back().command), "read b0");
  EXPECT_EQ(program.steps[21].line, program.steps[3].line);
  EXPECT_EQ(flaw(program), "");
  EXPECT_EQ(counted_commands(program), counted_commands(written_form(program)));
}

TEST(Blocks, ARoundThatAnotherCommandCutsOffIsItsOwnFirstRound) {
  Program program = parsed(kRebuild);
  EXPECT_EQ(in_first_round(program, 2 + 9), 2U);
  program.steps[9].in = {};
  EXPECT_EQ(in_first_round(program, 10), 10U);
}

TEST(Blocks, ThePrintedTextHasEachBlockOnce) {
  EXPECT_EQ(print_program(parsed(kRebuild)), kRebuild);
}

TEST(Blocks, AProgramWhoseRoundsDifferIsPrintedStepByStep) {
  Program program = parsed(kRebuild);
  program.steps[12].repeat = 2;
  const std::string text = print_program(program);
  EXPECT_EQ(text.find("end"), std::string::npos);
  EXPECT_EQ(parsed(text), program);
}

RC_GTEST_PROP(Blocks, ParsingWhatIsPrintedGivesTheProgram, ()) {
  const Program program = *arbitrary_program({});
  RC_ASSERT(parsed(print_program(program)) == program);
  RC_ASSERT(written_form(parsed(print_program(program))) == written_form(program));
}

TEST(Blocks, AreValidWhereEachRoundIs) {
  EXPECT_EQ(flaw(parsed(replaced(kRebuild, "  free b1\n", ""))), "line 12: the round ends and does not give back b1");
  EXPECT_EQ(flaw(parsed(replaced(kRebuild, "  destroy g0\n", ""))),
            "line 12: the round ends and does not give back g0");
  EXPECT_EQ(flaw(parsed(replaced(kRebuild, "  destroy e0\n", ""))),
            "line 12: the round ends and does not give back e0");
  const std::string outer = "graph g0\nrepeat 2\nempty g0.n0\nend\n";
  EXPECT_EQ(flaw(program_of(outer)), "line 4: g0.n0 exists already (in round 2)");
  EXPECT_EQ(flaw(program_of("repeat 2\nstream s1\ndestroy s1\nend\n")), "");
  EXPECT_EQ(flaw(program_of("repeat 2\nstream s1\nend\n")), "line 3: the round ends and does not give back s1");
  EXPECT_EQ(flaw(program_of("repeat 2\nevent v0\nend\n")), "line 3: the round ends and does not give back v0");
  EXPECT_EQ(flaw(program_of("repeat 2\npool p0\nend\n")), "line 3: the round ends and does not give back p0");
  EXPECT_EQ(flaw(program_of("repeat 2\nuserobject u0\nend\n")), "line 3: the round ends and does not give back u0");
}

TEST(Blocks, MemoryOfAGraphGoesWithItsGraph) {
  const std::string setup =
      "repeat 2\ngraph g0\nalloc g0.n0 b0 64\nmemset g0.n1 dst=b0+0 value=1 element=1 width=64 after=n0\n"
      "free g0.n2 b0 after=n1\ninstantiate e0 g0\nlaunch e0 s0\nsync device\ndestroy e0\n";
  EXPECT_EQ(flaw(program_of(setup + "destroy g0\nend\n")), "");
  EXPECT_NE(flaw(program_of(setup + "end\n")), "");
}

TEST(Blocks, HaveCommandsAndDoNotNest) {
  EXPECT_EQ(parse_error_of("repeat 2\nend\n"), "p:3:1: the block is empty");
  EXPECT_EQ(parse_error_of("repeat 2\nrepeat 3\nsync device\nend\nend\n"), "p:3:1: blocks do not nest");
  EXPECT_EQ(parse_error_of("sync device\nend\n"), "p:3:1: there is no block to end");
  EXPECT_EQ(parse_error_of("repeat 2\nsync device\n"), "p:2:1: the block has no line 'end'");
  EXPECT_EQ(parse_error_of("repeat 2\nrepeat 3 sync device\nend\n"), "");
}

TEST(Blocks, HaveBounds) {
  const auto with_names = [](int rounds) {
    return parse_error_of("buffer b89999 64\nrepeat " + std::to_string(rounds) +
                          "\nbuffer b0 64\nbuffer b1 64\nfree b0\nfree b1\nend\n");
  };
  const std::string error =
      ":1: all rounds of the blocks together have more than 100000 commands, or name objects past 99999";
  EXPECT_EQ(with_names(5001), "");
  EXPECT_EQ(with_names(5002), "p:3" + error);
  std::string commands;
  for (int i = 0; i < 10; ++i) commands += "sync device\n";
  EXPECT_EQ(parse_error_of("repeat 10000\n" + commands + "end\n"), "");
  EXPECT_EQ(parse_error_of("repeat 10000\n" + commands + "sync device\nend\n"), "p:2" + error);
}

TEST(Blocks, AreNamedWhereTheyExceedABound) {
  const auto line_of = [](const std::string& commands) { return parse_error_of(commands).substr(0, 6); };
  const std::string names = "\nbuffer b0 64\nbuffer b1 64\nfree b0\nfree b1\nend\n";
  const std::string high = "buffer b89999 64\n";
  EXPECT_EQ(line_of(high + "repeat 5002" + names + "repeat 2\nsync device\nend\n"), "p:3:1:");
  EXPECT_EQ(line_of(high + "repeat 2\nsync device\nend\n\n# a comment\nrepeat 5002" + names), "p:8:1:");
  std::string full = "repeat 10000\n";
  for (int i = 0; i < 10; ++i) full += "sync device\n";
  EXPECT_EQ(line_of(full + "end\nsync device\n"), "p:14:1");
}

std::uint32_t most_rounds(const Program& program) {
  std::uint32_t most = 0;
  for (const Step& step : program.steps) most = std::max(most, step.in.rounds);
  return most;
}

TEST(Blocks, ShrinkToFewerRoundsAndToTheirCommandsThatMatter) {
  const Program program = parsed(replaced(kRebuild, "repeat 3", "repeat 200"));
  const auto launches = [](const Program& candidate) {
    EXPECT_EQ(flaw(candidate), "") << print_program(candidate);
    return std::ranges::count_if(candidate.steps,
                                 [](const Step& step) { return std::holds_alternative<Launch>(step.command); }) >= 37;
  };
  const ShrinkResult result = Shrinker().shrink(program, launches);
  EXPECT_EQ(most_rounds(result.program), 37u) << print_program(result.program);
  EXPECT_LE(written_form(result.program).steps.size(), 5u) << print_program(result.program);
  EXPECT_LT(result.runs, 200u);
}

TEST(Blocks, AreWrittenOutWhereOneRoundIsEnough) {
  const auto launches = [](const Program& candidate) {
    return std::ranges::any_of(candidate.steps,
                               [](const Step& step) { return std::holds_alternative<Launch>(step.command); });
  };
  EXPECT_FALSE(has_blocks(Shrinker().shrink(parsed(kRebuild), launches).program));
}

TEST(Blocks, AreGeneratedWithFewRoundsAndWithMany) {
  std::uint64_t blocks = 0, many = 0, with_objects = 0;
  constexpr std::uint64_t kPrograms = 4000;
  for (std::uint64_t index = 0; index < kPrograms; ++index) {
    const Program program = campaign_program(5, index, {});
    if (!has_blocks(program)) continue;
    ++blocks;
    many += most_rounds(program) >= 50 ? 1 : 0;
    with_objects += all_rounds(without_blocks(written_form(program)))->steps.size() != program.steps.size() &&
                            print_program(program).find("  instantiate") != std::string::npos
                        ? 1
                        : 0;
  }
  EXPECT_GT(blocks, kPrograms / 100);
  EXPECT_LT(blocks, kPrograms * 5 / 100);
  EXPECT_GT(many, 0u);
  EXPECT_GT(with_objects, blocks / 5);
}

// The steps of all rounds of the longest block.
std::size_t longest_block(const Program& program) {
  std::map<std::uint32_t, std::size_t> lengths{{0, 0}};
  for (const Step& step : program.steps) lengths[step.in.block] += step.in.block != 0 ? 1 : 0;
  return std::ranges::max(lengths | std::views::values);
}

TEST(Blocks, SurviveMutationAndStayShort) {
  const GeneratorOptions options;
  const Program base = parsed(replaced(kRebuild, "repeat 3", "repeat 200"));
  std::uint64_t kept = 0;
  for (std::uint64_t index = 0; index < 300; ++index) {
    RandomChoices choices = campaign_choices(9, index);
    const Program mutant = mutate_program(base, campaign_program(1, index, options), choices, options);
    EXPECT_EQ(flaw(mutant), "") << print_program(mutant);
    EXPECT_EQ(parsed(print_program(mutant)), mutant);
    EXPECT_LE(most_rounds(mutant), kMaxMutantRounds);
    EXPECT_LE(longest_block(mutant), kMaxMutantBlock);
    kept += has_blocks(mutant) ? 1 : 0;
  }
  EXPECT_GT(kept, 60u);
}

}  // namespace
}  // namespace verify
