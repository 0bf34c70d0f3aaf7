#include "fuzz/tally.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "verify/program/coverage.h"

namespace fuzz {
namespace {

verify::TripleCoverage of_this_build() {
  static const Board board{};
  const std::array boards = {&board};
  verify::CampaignResult result;
  sum_boards(boards, result);
  return result.triples;
}

TEST(Tally, DigitsOfTriplesAddUpToNine) {
  verify::TripleCoverage sum = of_this_build(), more = sum;
  ASSERT_EQ(sum.digits, std::string(verify::coverage_triples().size(), '0'));
  more.digits[1] = '5';
  add_triples(sum, more);
  EXPECT_EQ(sum.digits[1], '5');
  add_triples(sum, more);
  EXPECT_EQ(sum.digits[1], '9');
  describe_triples(sum);
  EXPECT_EQ(sum.met, 1);
  ASSERT_EQ(sum.rarest.size(), 1);
  EXPECT_TRUE(sum.rarest.front().ends_with(" (9 or more)")) << sum.rarest.front();
}

TEST(Tally, DigitsOfOtherTriplesCountAsNone) {
  const verify::TripleCoverage mine = of_this_build();
  verify::TripleCoverage other = mine;
  other.digits.assign(mine.digits.size(), '3');
  other.names = "of another build";
  verify::TripleCoverage sum = mine;
  add_triples(sum, other);
  EXPECT_EQ(sum.digits, mine.digits);
  verify::TripleCoverage resumed = other;
  add_triples(resumed, mine);
  EXPECT_EQ(resumed.digits, mine.digits);
  EXPECT_EQ(resumed.names, mine.names);
  describe_triples(other);
  EXPECT_EQ(other.possible, 0);
}

TEST(Tally, ReasonsOfRefusedStepsAreBounded) {
  verify::StepCounts sum = {{"set", 2}};
  add_steps(sum, {{"set", 3}, {"setter calls", 9}, {"refused", 1}, {"refused: why", 1}});
  EXPECT_EQ(sum, (verify::StepCounts{{"set", 5}, {"setter calls", 9}, {"refused", 1}, {"refused: why", 1}}));
  for (int i = 0; i < 1000; ++i) add_steps(sum, {{"refused", 1}, {"refused: " + std::to_string(i), 1}});
  add_steps(sum, {{"refused: why", 1}, {"launched", 1}});
  EXPECT_LE(sum.size(), 70U);
  EXPECT_EQ(sum.at("refused: why"), 2);
  EXPECT_EQ(sum.at("refused"), 1001);
  EXPECT_EQ(sum.at("launched"), 1);
  std::uint64_t by_reason = 0;
  for (const auto& [what, count] : sum) by_reason += what.starts_with("refused: ") ? count : 0;
  EXPECT_EQ(by_reason, 1002);
}

}  // namespace
}  // namespace fuzz
