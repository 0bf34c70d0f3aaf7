// The JUnit file of a campaign parses, its counts match its contents, and it carries every finding's program.
#include "reports/junit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <pugixml.hpp>
#include <string>

#include "reports/samples.h"
#include "reports/text.h"

namespace {

std::size_t count(const pugi::xml_node& node, const char* path) {
  return node.select_nodes(path).size();
}

void expect_counts_agree(const pugi::xml_node& node) {
  EXPECT_EQ(node.attribute("tests").as_ullong(), count(node, ".//testcase"));
  EXPECT_EQ(node.attribute("failures").as_ullong(), count(node, ".//testcase[failure]"));
  EXPECT_EQ(node.attribute("skipped").as_ullong(), count(node, ".//testcase[skipped]"));
  EXPECT_EQ(node.attribute("errors").as_string("none"), std::string("0"));
}

class JunitOf : public testing::TestWithParam<std::uint64_t> {};

TEST_P(JunitOf, TheCountsOfEverySuiteAreThoseOfItsCases) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(reports::to_junit(samples::campaign(GetParam())).c_str()));
  const pugi::xml_node root = document.child("testsuites");
  expect_counts_agree(root);
  for (const pugi::xml_node& suite : root.children("testsuite")) expect_counts_agree(suite);
  EXPECT_EQ(count(root, "testsuite[@name='properties']/testcase"), 4U);
  EXPECT_EQ(count(root, "testsuite[@name='findings']/testcase[failure]"), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Junit, JunitOf, testing::Values(0, 1, 1000));

TEST(Junit, AViolatedPropertyFailsAndAnUnexercisedOneIsSkippedAndAHeldOnePasses) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(reports::to_junit(samples::campaign(1)).c_str()));
  const pugi::xml_node suite = document.select_node("//testsuite[@name='properties']").node();
  EXPECT_EQ(count(suite, "testcase[starts-with(@name, 'A1 ')]/failure"), 1U);
  EXPECT_EQ(count(suite, "testcase[starts-with(@name, 'P10 ')]/skipped"), 1U);
  EXPECT_EQ(count(suite, "testcase[starts-with(@name, 'A2 ')][not(*)]"), 1U);
  EXPECT_EQ(count(suite, "testcase[starts-with(@name, 'P2 ')][not(*)]"), 1U);
}

TEST(Junit, AFindingCarriesItsProgramItsReplayCommandAndItsDifferences) {
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(reports::to_junit(samples::campaign(1)).c_str()));
  const pugi::xml_node failure = document.select_node("//testsuite[@name='findings']//failure").node();
  const std::string text = failure.child_value();
  const verify::Finding finding = samples::finding(0);
  EXPECT_NE(text.find(finding.program_text), std::string::npos);
  EXPECT_NE(text.find(finding.replay), std::string::npos);
  EXPECT_NE(text.find(finding.differences[0].observed), std::string::npos);
  EXPECT_EQ(failure.attribute("type").as_string(), finding.property);
  EXPECT_EQ(failure.attribute("message").as_string(), finding.summary);
}

RC_GTEST_PROP(Junit, AnyStringsComeBackFromAParser, ()) {
  const std::string bytes = *samples::any_text();
  pugi::xml_document document;
  const unsigned options = pugi::parse_default & ~pugi::parse_eol;
  RC_ASSERT(document.load_string(reports::to_junit(samples::campaign_of(bytes)).c_str(), options));
  const std::string text = document.select_node("//testsuite[@name='findings']//failure").node().child_value();
  RC_ASSERT(text.find(reports::xml_text(bytes)) != std::string::npos);
}

}  // namespace
