// The summary of a CI job: complete for few findings, bounded for many, and no program's text ends its own fence.
#include "reports/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "reports/samples.h"

namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Markdown, ACleanCampaignSaysSoInItsFirstLine) {
  const std::string text = reports::to_markdown(samples::campaign(0));
  EXPECT_THAT(text.substr(0, text.find('\n')), HasSubstr("No divergence"));
  EXPECT_THAT(text, HasSubstr("| agree | diverge |"));
}

TEST(Markdown, AFindingHasItsSentenceItsProgramAndItsReplay) {
  const verify::CampaignResult result = samples::campaign(1);
  const std::string text = reports::to_markdown(result);
  EXPECT_THAT(text, HasSubstr("1 finding"));
  EXPECT_THAT(text, HasSubstr(result.findings[0].program_text));
  EXPECT_THAT(text, HasSubstr(result.findings[0].replay));
  EXPECT_THAT(text, HasSubstr("Breaks **A1**: A patch changes the bytes of relocated pointers"));
}

TEST(Markdown, ManyFindingsAreCutAndTheCutIsSaid) {
  verify::CampaignResult result = samples::campaign(1000);
  std::string text = reports::to_markdown(result);
  EXPECT_THAT(text, HasSubstr("980 findings more"));
  for (verify::Finding& finding : result.findings) finding.program_text.assign(1 << 20, 'x');
  text = reports::to_markdown(result);
  EXPECT_LT(text.size(), reports::kMaxSummaryBytes + 20'000);
}

TEST(Markdown, AProgramThatHoldsAFenceDoesNotEndIt) {
  verify::CampaignResult result = samples::campaign(1);
  result.findings[0].program_text = "```\n<script>\n````\n";
  EXPECT_THAT(reports::to_markdown(result), HasSubstr("`````\n```\n<script>\n````\n`````\n"));
}

TEST(Markdown, ASummaryMakesNoMarkup) {
  verify::CampaignResult result = samples::campaign(1);
  result.findings[0].summary = "<img src=x> [a](b) | *c*\n# d";
  EXPECT_THAT(reports::to_markdown(result), HasSubstr("\\<img src=x\\> \\[a\\]\\(b\\) \\| \\*c\\* \\# d"));
}

RC_GTEST_PROP(Markdown, AnyResultMakesABoundedSummary, ()) {
  const verify::CampaignResult result = samples::campaign_of(*samples::any_text());
  RC_ASSERT(reports::to_markdown(result).rfind("## hgcheck: ", 0) == 0);
}

}  // namespace
