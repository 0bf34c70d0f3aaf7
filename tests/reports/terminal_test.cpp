// A terminal shows the important results of a campaign in few lines, whatever the campaign found.
#include "reports/terminal.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>

#include "reports/samples.h"

namespace {

using reports::Detail;
using testing::HasSubstr;
using testing::Not;

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// A campaign with far more of everything than a screen holds.
verify::CampaignResult large_campaign() {
  verify::CampaignResult result = samples::campaign(1'000);
  for (int i = 0; i < 500; ++i) {
    result.coverage[fmt::format("feature {}", i)] = 0;
    result.reasons[fmt::format("poisoned: reason {}", i)] = 1;
    result.costs.push_back({fmt::format("operation {}", i), "bytes", 0, {16, 64}, {1600, 6400}, 1.0, 1.0});
    result.messages.push_back(fmt::format("worker {} was lost", i));
  }
  return result;
}

TEST(Terminal, TheShortFormHasAtMostItsBoundOfLines) {
  const std::string text = reports::to_terminal(large_campaign(), {true, false, false}, Detail::kShort);
  EXPECT_LE(lines_of(text), reports::kTerminalLines) << text;
  EXPECT_THAT(text, HasSubstr("12345 programs, 456789 commands in 30.2 s (408 programs/s, 2 jobs)\n"));
  EXPECT_THAT(text, HasSubstr("A1-000000  a scalar equal to an old address was overwritten by a patch\n"));
  EXPECT_THAT(text, HasSubstr("replay: hgcheck replay A1-000000.program"));
  EXPECT_THAT(text, HasSubstr("and 996 more findings"));
  EXPECT_THAT(text, HasSubstr("and 1000 more notes")) << "501 messages and 502 reasons, of which three are shown";
  EXPECT_THAT(text, testing::EndsWith("\ndivergences found\n"));
}

TEST(Terminal, TheStepsOfCommandBuffersAreOneLineWithTheMostFrequentReasons) {
  verify::CampaignResult result = samples::campaign(0);
  result.steps = {{"launched", 3}, {"refused", 9}, {"refused: a", 2}, {"refused: b", 4}, {"refused: c", 3}};
  EXPECT_THAT(reports::to_terminal(result, {}, Detail::kShort),
              HasSubstr("\nsteps of command buffers: 3 launched, 9 refused; refused: b (4), c (3), and 1 more\n"));
}

TEST(Terminal, ALibraryThatRefusedOrFailedAtEveryStepWasNotJudged) {
  verify::CampaignResult result = samples::campaign(0);
  result.steps = {{"refused", 9}, {"refused: a", 9}, {"failed: b", 2}};
  EXPECT_TRUE(reports::refused_every_step(result.steps));
  const std::string text = reports::to_terminal(result, {}, Detail::kShort);
  EXPECT_THAT(text, HasSubstr("\nsteps of command buffers: 9 refused; refused: a (9); failed: b (2)\n"));
  EXPECT_THAT(text, testing::EndsWith("\nnothing was judged: the library refused every step\n"));
  result.steps["set"] = 1;
  EXPECT_FALSE(reports::refused_every_step(result.steps));
  EXPECT_FALSE(reports::refused_every_step({}));
}

TEST(Terminal, LinesThatWerePrintedBeforeTakeTheRoomOfFindings) {
  for (std::size_t printed = 0; printed <= reports::kTerminalFindings; ++printed) {
    const std::string text = reports::to_terminal(large_campaign(), {true, false, false, printed}, Detail::kShort);
    EXPECT_LE(printed + lines_of(text), reports::kTerminalLines) << text;
    EXPECT_THAT(text, HasSubstr(fmt::format("and {} more findings", 996 + (printed + 1) / 2)));
  }
}

TEST(Terminal, TheShortFormLeavesHolesAndCostsToTheReport) {
  const std::string text = reports::to_terminal(large_campaign(), {}, Detail::kShort);
  EXPECT_THAT(text, Not(HasSubstr("never generated")));
  EXPECT_THAT(text, Not(HasSubstr("cost of")));
}

TEST(Terminal, TheLongFormHasEverything) {
  const std::string text = reports::to_terminal(large_campaign(), {}, Detail::kLong);
  for (const char* part : {"triples (operation, state, state before it): 2 of 3\n", "exercised: A1 8000",
                           "never generated: feature 499\n", "never generated: launch with exec: idle\n",
                           "cost of operation 499: bytes ^1.00", "poisoned: reason 499 x1\n", "worker 499 was lost\n",
                           "A1-000999  a scalar", "  6 of 87 commands, seen in 3 programs\n", "  also breaks P3\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Terminal, NotesThatFitAreAllShown) {
  const std::string text = reports::to_terminal(samples::campaign(0), {}, Detail::kShort);
  for (const char* note : {"worker 1 was lost once and started again\n", "discarded: capture was never joined x21\n",
                           "unsupported: hipGraphAddNode x4\n"}) {
    EXPECT_THAT(text, HasSubstr(note));
  }
}

TEST(Terminal, TheQuietFormIsFindingsAndTheVerdict) {
  EXPECT_EQ(reports::to_terminal(samples::campaign(1), {}, Detail::kFindings),
            "A1-000000  a scalar equal to an old address was overwritten by a patch\n"
            "  replay: hgcheck replay A1-000000.program --subject model:patch\n"
            "divergences found\n");
  EXPECT_EQ(reports::to_terminal(samples::campaign(0), {}, Detail::kFindings), "no divergence\n");
}

TEST(Terminal, TheVerdictIsTheLastLine) {
  const auto verdict = [](const verify::CampaignResult& result, const reports::Ending& ending) {
    return reports::to_terminal(result, ending, Detail::kFindings);
  };
  verify::CampaignResult with_fault = samples::campaign(0);
  with_fault.fault = "F01";
  EXPECT_EQ(verdict(with_fault, {}), "the fault was not found\n");
  EXPECT_EQ(verdict(samples::campaign(0), {false, false, true}), "not a valid campaign\n");
  EXPECT_EQ(verdict(samples::campaign(0), {false, true, true}), "interrupted\n");
}

RC_GTEST_PROP(Terminal, AnyTextStaysOnItsLine, ()) {
  const std::string text = reports::to_terminal(samples::campaign_of(*samples::any_text()), {}, Detail::kShort);
  RC_ASSERT(lines_of(text) <= reports::kTerminalLines);
  RC_ASSERT(text.find('\x1b') == std::string::npos);
}

}  // namespace
