// Several campaigns on one page: a column each, a row a quirk, every finding.
#include "reports/side_by_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pugixml.hpp>

namespace reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

verify::CampaignResult campaign(const std::string& subject) {
  verify::CampaignResult result;
  result.subject = subject;
  result.baseline = "model:rebuild";
  result.programs = 12345;
  result.verdicts.agree = 12000;
  return result;
}

TEST(SideBySide, EveryCampaignIsAColumnAndEveryQuirkARow) {
  verify::CampaignResult a = campaign("rocm-soft@7.2:patch"), b = campaign("rocm-soft@5.7:patch");
  a.quirks = {{"child-16", 7}};
  b.quirks = {{"joins-unordered", 1234}};
  const std::string page = side_by_side({{a, "a/index.html"}, {b, ""}});
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(page.c_str(), pugi::parse_default | pugi::parse_doctype)) << page;
  for (const char* text : {"rocm-soft@7.2:patch", "rocm-soft@5.7:patch", "child-16", "joins-unordered", "1,234",
                           "12,345", "href=\"a/index.html\"", "No unexplained divergence"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
}

TEST(SideBySide, AnUnexplainedDivergenceIsTheHeadlineAndIsListedWithItsProgram) {
  verify::CampaignResult result = campaign("rocm-soft@7.2:patch");
  result.verdicts.diverge = 2;
  verify::Finding finding;
  finding.id = "P3-000001";
  finding.summary = "b0 <differs>";
  finding.program_text = "launch e0 s0\n";
  result.findings = {finding};
  const std::string page = side_by_side({{result, ""}});
  EXPECT_THAT(page, HasSubstr("2 programs diverged without explanation"));
  EXPECT_THAT(page, HasSubstr("b0 &lt;differs&gt;"));
  EXPECT_THAT(page, HasSubstr("launch e0 s0"));
  EXPECT_THAT(page, Not(HasSubstr("<differs>")));
}

}  // namespace
}  // namespace reports
