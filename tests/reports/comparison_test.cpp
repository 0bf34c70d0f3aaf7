// Two campaigns compared by cause: whatever the findings' numbers and programs are, the same bug is the same.
#include "reports/comparison.h"

#include <gtest/gtest.h>

#include "reports/html.h"
#include "reports/samples.h"

namespace {

verify::CampaignResult with_causes(const std::vector<std::string>& causes) {
  verify::CampaignResult result = samples::campaign(causes.size());
  for (std::size_t i = 0; i < causes.size(); ++i) result.findings[i].cause = causes[i];
  return result;
}

TEST(Comparison, ACauseIsNewFixedOrStillThere) {
  const verify::CampaignResult earlier = with_causes({"a", "b"});
  verify::CampaignResult later = with_causes({"c", "b"});
  later.findings[1].id = "A1-777777";
  const reports::Comparison comparison = reports::compare(earlier, later);
  EXPECT_EQ(comparison.fresh, std::vector<std::size_t>{0});
  EXPECT_EQ(comparison.remaining, std::vector<std::size_t>{1});
  EXPECT_EQ(comparison.fixed, std::vector<std::size_t>{0});
  EXPECT_EQ(reports::summary_of(comparison), "1 new, 1 fixed, 1 still there");
}

TEST(Comparison, WhatWasNotTestedIsNotFixed) {
  const verify::CampaignResult earlier = with_causes({"a"});
  verify::CampaignResult later = with_causes({});
  later.properties["A1"].exercised = 0;
  EXPECT_EQ(reports::summary_of(reports::compare(earlier, later)), "0 new, 0 fixed, 0 still there, 1 not tested");
}

TEST(Comparison, ACampaignComparedWithItselfHasNothingNew) {
  const verify::CampaignResult result = with_causes({"a", "b", "c"});
  const reports::Comparison comparison = reports::compare(result, result);
  EXPECT_TRUE(comparison.fresh.empty() && comparison.fixed.empty());
  EXPECT_EQ(comparison.remaining.size(), 3U);
}

TEST(Comparison, ThePageShowsItOnItsFirstScreenAndLinksWhatIsNew) {
  const verify::CampaignResult earlier = with_causes({"a"}), later = with_causes({"b"});
  const std::string page = reports::to_html(later, &earlier);
  EXPECT_NE(page.find("Against an earlier campaign: 1 new, 1 fixed, 0 still there."), std::string::npos);
  EXPECT_NE(page.find("href=\"#finding-0\""), std::string::npos);
  EXPECT_EQ(reports::to_html(later).find("earlier campaign"), std::string::npos);
}

TEST(Course, AHistoryIsDrawnAndToldInWordsAndNumbers) {
  verify::CampaignResult result = samples::campaign(0);
  result.history = {{0.5, 100, 0, 10}, {1.0, 300, 1, 12}, {1.5, 400, 2, 12}};
  const std::string page = reports::to_html(result);
  EXPECT_NE(page.find("Programs a second over 1.5 seconds: at most 400 programs a second, 200 at the end"),
            std::string::npos);
  EXPECT_NE(page.find("Findings over 1.5 seconds: at most 2 findings, 2 at the end"), std::string::npos);
  result.history.clear();
  EXPECT_NE(reports::to_html(result).find("over before there was anything to draw"), std::string::npos);
}

}  // namespace
