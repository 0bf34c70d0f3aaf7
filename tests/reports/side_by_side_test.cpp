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
  verify::CampaignResult a = campaign("rocm-soft@7.2:patch"), b = campaign("rocm-soft@6.4:patch");
  a.quirks = {{"child-16", 7}};
  b.quirks = {{"relaunch-crash", 1234}};
  const std::string page = side_by_side({{a, "a/index.html"}, {b, ""}});
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(page.c_str(), pugi::parse_default | pugi::parse_doctype)) << page;
  for (const char* text : {"rocm-soft@7.2:patch", "rocm-soft@6.4:patch", "child-16", "relaunch-crash", "1,234",
                           "12,345", "href=\"a/index.html\"", "No unexplained divergence"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
}

TEST(SideBySide, ABugThatOneReleaseHasAndAnotherHasNotIsARowWithBoth) {
  verify::CampaignResult a = campaign("rocm-soft@7.2:patch"), b = campaign("rocm-soft@6.4:patch");
  verify::Finding finding;
  finding.property = "P3";
  finding.program_text = "kernel g0.n0\nset g0.n0\n";
  finding.differences = {{"b0+16", "the end", "00", "01"}};
  finding.seen = 7;
  a.findings = {finding};
  a.properties = {{"P3", {900, 7}}, {"P9", {0, 0}}};
  b.properties = {{"P3", {800, 0}}, {"P9", {3, 0}}};
  pugi::xml_document page;
  ASSERT_TRUE(page.load_string(side_by_side({{a, ""}, {b, ""}}).c_str(), pugi::parse_default | pugi::parse_doctype));
  const auto row = [&page](const std::string& name) {
    std::vector<std::string> cells;
    for (const auto& cell : page.select_nodes(("//tr[th='" + name + "']/td").c_str())) {
      cells.emplace_back(cell.node().child_value());
    }
    return cells;
  };
  EXPECT_THAT(row("P3; kernel; set; b#+#"), ::testing::ElementsAre("7", "-"));
  EXPECT_THAT(row("P3"), ::testing::ElementsAre("violated by 7", "held"));
  EXPECT_THAT(row("P9"), ::testing::ElementsAre("not exercised", "held"));
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
