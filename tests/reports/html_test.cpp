// The page is one well-formed, self-contained file that shows the whole result and escapes all of it.
#include "reports/html.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <pugixml.hpp>
#include <set>
#include <string>

#include "reports/graph_picture.h"
#include "reports/html_sections.h"
#include "reports/samples.h"
#include "reports/text.h"

namespace {

constexpr unsigned kParse = (pugi::parse_full | pugi::parse_ws_pcdata) & ~static_cast<unsigned>(pugi::parse_eol);

pugi::xml_document parsed(const verify::CampaignResult& result) {
  pugi::xml_document document;
  const pugi::xml_parse_result outcome = document.load_string(reports::to_html(result).c_str(), kParse);
  EXPECT_TRUE(outcome) << outcome.description() << " at " << outcome.offset;
  return document;
}

std::size_t count(const pugi::xml_node& node, const char* path) {
  return node.select_nodes(path).size();
}

// All text of an element, as a person reads it.
std::string text_of(const pugi::xml_node& node) {
  std::string text;
  for (const pugi::xpath_node& found : node.select_nodes(".//text()")) text += found.node().value();
  return text;
}

std::string text_at(const pugi::xml_node& node, const char* path) {
  return text_of(node.select_node(path).node());
}

class PageOf : public testing::TestWithParam<std::uint64_t> {};

TEST_P(PageOf, IsWellFormedAndHoldsEveryFindingWithItsProgramAndReplayCommand) {
  const pugi::xml_document page = parsed(samples::campaign(GetParam()));
  ASSERT_EQ(page.select_nodes("//details[@class='finding']").size(), GetParam());
  for (std::uint64_t i = 0; i < GetParam(); ++i) {
    const pugi::xml_node one = page.select_node(fmt::format("//details[@id='finding-{}']", i).c_str()).node();
    const verify::Finding finding = samples::finding(i);
    ASSERT_EQ(text_at(one, "pre[@aria-label='Program']/code"), finding.program_text);
    ASSERT_EQ(text_at(one, fmt::format(".//code[@id='replay-{}']", i).c_str()), finding.replay);
    if (i == 30) break;  // the rest is alike, and a path query walks the whole page
  }
}

INSTANTIATE_TEST_SUITE_P(Html, PageOf, testing::Values(0, 1, 1000));

TEST(Html, AThousandFindingsStayUnderFiveMegabytes) {
  EXPECT_LT(reports::to_html(samples::campaign(1000)).size(), 5U << 20U);
}

TEST(Html, NothingOnThePageIsLoadedFromElsewhere) {
  const std::string source = reports::to_html(samples::campaign(3));
  EXPECT_EQ(source.find("http://"), std::string::npos);
  EXPECT_EQ(source.find("https://"), std::string::npos);
  EXPECT_EQ(source.find("@import"), std::string::npos);
  EXPECT_EQ(source.find("url("), std::string::npos);
  const pugi::xml_document page = parsed(samples::campaign(3));
  EXPECT_EQ(count(page, "//link | //img | //iframe | //object | //embed | //@src | //@srcset"), 0U);
  EXPECT_EQ(count(page, "//@href[not(starts-with(., '#'))]"), 0U);
  EXPECT_EQ(count(page, "//meta[@http-equiv='Content-Security-Policy'][contains(@content, \"default-src 'none'\")]"),
            1U);
}

TEST(Html, IdsAreUniqueAndEveryReferenceToOneLands) {
  const pugi::xml_document page = parsed(samples::campaign(30));
  std::set<std::string> ids;
  for (const auto& found : page.select_nodes("//@id")) {
    EXPECT_TRUE(ids.insert(found.attribute().value()).second) << found.attribute().value();
  }
  for (const auto& found : page.select_nodes("//@href")) EXPECT_TRUE(ids.count(found.attribute().value() + 1));
  for (const auto& found : page.select_nodes("//@aria-labelledby | //@data-copy")) {
    EXPECT_TRUE(ids.count(found.attribute().value())) << found.attribute().value();
  }
}

TEST(Html, ScreenReadersGetOneTopHeadingScopedTablesAndNamedControls) {
  const pugi::xml_document page = parsed(samples::campaign(3));
  EXPECT_EQ(count(page, "//h1"), 1U);
  EXPECT_GE(count(page, "//h2"), 6U);
  EXPECT_EQ(count(page, "//html[@lang='en']"), 1U);
  EXPECT_EQ(count(page, "//th[not(@scope)]"), 0U);
  EXPECT_EQ(count(page, "//table[not(caption)]"), 0U);
  EXPECT_EQ(count(page, "//button[not(@aria-label)]"), 0U);
  EXPECT_EQ(count(page, "//svg[not(@role='img') or not(@aria-label)]"), 0U);
  EXPECT_EQ(count(page, "//svg"), 3U);
}

TEST(Html, TheHeadlineSaysWhatTheCampaignCameTo) {
  const auto headline = [](const verify::CampaignResult& result) { return text_at(parsed(result), "//h1"); };
  EXPECT_EQ(headline(samples::campaign(0)), "No divergence found");
  EXPECT_EQ(headline(samples::campaign(1)), "1 finding: the subject differs from the baseline");
  EXPECT_EQ(headline(verify::CampaignResult{}), "No program ran: nothing was checked");
  verify::CampaignResult with_fault = samples::campaign(2);
  with_fault.fault = "F01";
  EXPECT_EQ(headline(with_fault), "The fault F01 was found: 2 findings");
  with_fault.findings.clear();
  with_fault.verdicts.diverge = 0;
  EXPECT_EQ(headline(with_fault), "The fault F01 was not found");
  verify::CampaignResult interrupted = samples::campaign(0);
  interrupted.interrupted = true;
  EXPECT_NE(headline(interrupted).find("interrupted"), std::string::npos);
  verify::CampaignResult broken = samples::campaign(0);
  broken.verdicts.harness_error = 1;
  EXPECT_NE(headline(broken).find("1 program failed in the harness"), std::string::npos);
  verify::CampaignResult all_discarded = samples::campaign(0);
  all_discarded.verdicts.agree = 0;
  EXPECT_EQ(headline(all_discarded), "No divergence found, but no program agreed either");
  verify::CampaignResult lost = samples::campaign(0);
  lost.verdicts.diverge = 5;
  EXPECT_EQ(headline(lost), "5 programs diverged") << "a divergence without a finding is never called none";
}

TEST(Html, ACampaignWithoutAWordOfWarningIsGood) {
  verify::CampaignResult clean = samples::campaign(0);
  ASSERT_FALSE(clean.messages.empty());
  EXPECT_EQ(text_at(parsed(clean), "//div[@class='verdict warn']/h1"), "No divergence found");
  clean.messages.clear();
  EXPECT_EQ(text_at(parsed(clean), "//div[@class='verdict good']/h1"), "No divergence found");
}

TEST(Html, TheFirstScreenNamesSubjectBaselineSeedVersionProgramsAndRate) {
  const std::string header = text_at(parsed(samples::campaign(3)), "//header");
  for (const char* fact : {"model:patch", "7.2", "model:rebuild", "20240607", "0.1.0", "12,345", "408.1 programs/s",
                           "125 us to generate, 2420 us to run and judge", "A processor, 2 processors, Linux"}) {
    EXPECT_NE(header.find(fact), std::string::npos) << fact;
  }
  EXPECT_NE(header.find("1 of 4 properties were never exercised"), std::string::npos);
}

TEST(Html, FindingsOfOneBugAreOneCardWithItsSmallestProgramFirst) {
  verify::CampaignResult result = samples::campaign(3);
  for (verify::Finding& finding : result.findings) finding.differences.front().where = "argument at 8";
  result.findings[2].commands = 2;
  result.findings.push_back(samples::finding(3));
  const pugi::xml_document page = parsed(result);
  ASSERT_EQ(count(page, "//article[@class='bug']"), 2U);
  EXPECT_EQ(text_at(page, "//h1"), "4 findings of 2 bugs: the subject differs from the baseline");
  const pugi::xml_node bug = page.select_node("//article[@id='bug-of-0']").node();
  EXPECT_STREQ(bug.child("details").attribute("id").value(), "finding-2");
  EXPECT_EQ(count(bug, "details[@class='forms']/details[@class='finding']"), 2U);
  EXPECT_NE(text_at(bug, "details[@class='forms']/summary").find("2 other forms of the same bug, 9 programs in all"),
            std::string::npos);
  EXPECT_EQ(text_at(bug, "p[@class='common']"), "A1 in kernel, after patch: argument at #");
}

TEST(Html, AFindingNamesTheQuirkOrTheFaultThatIsRelated) {
  const std::string text = text_at(parsed(samples::campaign(1)), "//ul[@class='related']");
  EXPECT_EQ(text, "Its program meets the known quirk scalar-like-address: a scalar is taken for an address");
}

TEST(Html, FiltersAreOfferedWhereThereIsMoreThanOneBug) {
  EXPECT_EQ(count(parsed(samples::campaign(1)), "//form"), 0U);
  const pugi::xml_document page = parsed(samples::campaign(2));
  EXPECT_EQ(count(page, "//form[@hidden]//input | //form[@hidden]//select"), 2U);
  EXPECT_EQ(count(page, "//form//option"), 2U) << "all, and A1";
  for (const auto& label : page.select_nodes("//form//label/@for")) {
    EXPECT_EQ(count(page, fmt::format("//form//*[@id='{}']", label.attribute().value()).c_str()), 1U);
  }
}

TEST(Html, ExactlyTheBytesThatDifferAreMarkedOnBothSides) {
  verify::CampaignResult result = samples::campaign(1);
  result.findings[0].differences = {{"b0", "read b0", "00112233", "00ff22aa"}};
  const pugi::xml_document page = parsed(result);
  const auto marks = page.select_nodes("//mark");
  ASSERT_EQ(marks.size(), 4U);
  std::multiset<std::string> texts;
  for (const auto& mark : marks) texts.insert(mark.node().child_value());
  EXPECT_EQ(texts, (std::multiset<std::string>{"11", "33", "aa", "ff"}));
}

TEST(Html, AValueOfAnotherLengthIsMarkedWhereTheOtherEnds) {
  verify::CampaignResult result = samples::campaign(1);
  result.findings[0].differences = {{"b0", "read b0", "0011", "001122"}};
  const pugi::xml_document page = parsed(result);
  const auto marks = page.select_nodes("//mark");
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_STREQ(marks[0].node().child_value(), "22");
}

TEST(Html, ALongValueIsCutAroundItsFirstDifferenceAndSaysSo) {
  verify::CampaignResult result = samples::campaign(1);
  const std::string before(2 * 3000, '0');
  const std::string after(2 * 500, '0');
  result.findings[0].differences = {{"b0", "read b0", before + "11" + after, before + "22" + after}};
  const pugi::xml_document page = parsed(result);
  EXPECT_EQ(count(page, "//mark"), 2U);
  const std::string values = text_at(page, "//div[@class='values']");
  EXPECT_NE(values.find("1 of 3,501 bytes differ, the first at byte 3000"), std::string::npos) << values;
  EXPECT_NE(values.find("2992 before"), std::string::npos) << values;
  EXPECT_NE(values.find("445 more"), std::string::npos) << values;
}

TEST(Html, PropertiesAreListedInNaturalOrderWithTheirStates) {
  const pugi::xml_document page = parsed(samples::campaign(1));
  std::vector<std::string> rows;
  for (const auto& row : page.select_nodes("//section[@id='properties']//tbody/tr")) {
    rows.push_back(text_at(row.node(), "th/strong") + " " + text_at(row.node(), "td[1]"));
  }
  EXPECT_EQ(rows, (std::vector<std::string>{"A1 violated", "A2 held", "P2 held", "P10 not exercised"}));
}

TEST(Html, FeaturesThatWereNeverMetAreListedApart) {
  const pugi::xml_document page = parsed(samples::campaign(0));
  const std::string holes = text_at(page, "//ul[@class='holes']");
  EXPECT_NE(holes.find("node conditional"), std::string::npos);
  EXPECT_NE(holes.find("capture fork"), std::string::npos);
  EXPECT_EQ(holes.find("node kernel"), std::string::npos);
}

TEST(Html, TheNodeAtFaultIsTheOnlyOneDrawnAsFault) {
  const pugi::xml_document page = parsed(samples::campaign(1));
  const auto faults = page.select_nodes("//svg//g[contains(@class, 'fault')]");
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_STREQ(faults[0].node().child_value("title"), "n0");
  EXPECT_NE(text_at(page, "//figcaption").find("at fault (thick border): n0"), std::string::npos);
  EXPECT_EQ(count(page, "//svg//g[@class='edge']"), 2U);
}

TEST(Html, AGraphPastTheBoundIsReplacedByASentence) {
  verify::CampaignResult result = samples::campaign(1);
  verify::GraphPicture& graph = result.findings[0].graphs[0];
  graph.edges.clear();
  graph.nodes.assign(reports::kMaxDrawnNodes, {});
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) graph.nodes[i].name = fmt::format("n{}", i);
  EXPECT_EQ(count(parsed(result), "//svg"), 1U);
  graph.nodes.push_back({"one_more", "", false});
  const pugi::xml_document page = parsed(result);
  EXPECT_EQ(count(page, "//svg"), 0U);
  EXPECT_NE(text_at(page, "//figure").find("Too large to draw"), std::string::npos);
}

TEST(Html, PicturesStopAtTheirBoundAndThePageSaysSo) {
  const pugi::xml_document page = parsed(samples::campaign(reports::kMaxFindingsWithGraphs + 1));
  EXPECT_EQ(count(page, "//svg"), reports::kMaxFindingsWithGraphs);
  EXPECT_NE(text_at(page, "//details[@id='finding-25']").find("Drawn for the first 25 bugs only"), std::string::npos);
}

TEST(Html, LongProgramsAndManyDifferencesAreCutAtTheirBoundsAndThePageSaysSo) {
  verify::CampaignResult result = samples::campaign(1);
  verify::Finding& finding = result.findings[0];
  finding.differences.assign(reports::kMaxShownDifferences, {"b0", "read b0", "00", "01"});
  finding.program_text.assign(reports::kMaxShownProgramBytes, 'x');
  EXPECT_EQ(reports::to_html(result).find("more difference"), std::string::npos);
  EXPECT_EQ(reports::to_html(result).find("all of it is in the file"), std::string::npos);
  finding.differences.push_back(finding.differences[0]);
  finding.program_text += 'x';
  const pugi::xml_document page = parsed(result);
  EXPECT_EQ(count(page, "//div[@class='values']"), reports::kMaxShownDifferences);
  EXPECT_EQ(text_at(page, "//pre[@aria-label='Program']").size(), reports::kMaxShownProgramBytes);
  const std::string text = text_at(page, "//details[@class='finding']");
  EXPECT_NE(text.find("1 more difference in report.json."), std::string::npos);
  EXPECT_NE(text.find("The first 20,000 of 20,001 bytes"), std::string::npos);
}

RC_GTEST_PROP(Html, AnyStringsLeaveThePageWellFormedAndAreReadBackAsTheyWere, ()) {
  const std::string bytes = *samples::any_text();
  pugi::xml_document page;
  RC_ASSERT(page.load_string(reports::to_html(samples::campaign_of(bytes)).c_str(), kParse));
  // The page shows the strings as they were given, and no string became an element or a comment.
  RC_ASSERT(text_at(page, "//pre[@aria-label='Program']/code") == reports::xml_text(bytes));
  RC_ASSERT(text_at(page, "//section[@id='messages']//li") == reports::xml_text(bytes));
  RC_ASSERT(count(page, "//script") == 1U);
  RC_ASSERT(count(page, "//comment()") == 0U);
}

RC_GTEST_PROP(GraphPicture, AnyLabelIsDrawnAsItReads, ()) {
  const std::string label =
      *rc::gen::element<std::string>("a\\Nb", "&lt;", "<b>x</b>", "\\l\\r", "&#65;", "x -> y", "\"", "{|}");
  const auto svg = reports::draw_graph({"g0", {{"n0", label, false}}, {}});
  RC_ASSERT(svg.has_value());
  pugi::xml_document document;
  RC_ASSERT(document.load_string(svg->c_str()));
  // The renderer writes spaces that are not broken.
  std::string drawn = text_at(document, "//text");
  for (std::size_t at = 0; (at = drawn.find("\u00a0", at)) != std::string::npos;) drawn.replace(at, 2, " ");
  RC_ASSERT(drawn == "n0: " + label);
}

TEST(GraphPicture, TheSameGraphIsDrawnTheSameTwice) {
  const verify::GraphPicture graph = samples::finding(0).graphs[0];
  const auto once = reports::draw_graph(graph);
  ASSERT_TRUE(once.has_value());
  EXPECT_EQ(reports::draw_graph(graph), once);
}

TEST(GraphPicture, AnEdgeToANodeThatIsNotListedDrawsThatNode) {
  const auto svg = reports::draw_graph({"g0", {{"n0", "kernel", false}}, {{"n0", "n9"}}});
  ASSERT_TRUE(svg.has_value());
  EXPECT_NE(svg->find("<title>n9</title>"), std::string::npos);
}

TEST(GraphPicture, CyclesAndSelfEdgesAreDrawnToo) {
  const auto svg =
      reports::draw_graph({"g0", {{"a", "", false}, {"b", "", true}}, {{"a", "b"}, {"b", "a"}, {"a", "a"}}});
  ASSERT_TRUE(svg.has_value());
}

TEST(Html, PairsOfOperationAndStateThatWereNeverMetAndThoseThatCannotBeAreTold) {
  const std::string page = reports::to_html(samples::campaign(0));
  EXPECT_NE(page.find("2 of 3 pairs that a program can show were met at least once."), std::string::npos);
  EXPECT_NE(page.find("2 of 3 triples (operation, state, state before it) were met."), std::string::npos);
  EXPECT_NE(page.find("<li>launch with exec: idle, after exec: running (1)</li>"), std::string::npos);
  EXPECT_NE(page.find(">never<"), std::string::npos);
  EXPECT_NE(page.find("<li>launch with exec: idle</li>"), std::string::npos);
  EXPECT_NE(page.find("Operations by the state of their exec: 1 hole<"), std::string::npos);
  EXPECT_NE(page.find("a launch has its buffers where they are"), std::string::npos);
}

verify::RaceResult race(std::string_view bytes) {
  verify::RaceResult result;
  result.explore = "exhaustive, 2 preemptions";
  result.plans.push_back({"stable-buffers", "two threads", "every schedule of 2 preemptions", 14, 0.1, 22, 3, true});
  verify::RaceFinding finding;
  finding.id = "C2-stable-buffers";
  finding.summary = finding.interleaving = finding.program_text = finding.replay = std::string(bytes);
  result.findings.push_back(finding);
  return result;
}

TEST(RacePage, ShowsEveryFindingWithItsInterleavingProgramAndReplayCommand) {
  pugi::xml_document page;
  ASSERT_TRUE(page.load_string(reports::to_html(race("thread 1  |  thread 2\nget 0 {")).c_str(), kParse));
  const pugi::xml_node finding = page.select_node("//details[@id='C2-stable-buffers']").node();
  for (const char* const label : {"Interleaving", "Program", "Replay command"}) {
    EXPECT_EQ(text_at(finding, fmt::format("pre[@aria-label='{}']/code", label).c_str()),
              "thread 1  |  thread 2\nget 0 {");
  }
  EXPECT_EQ(count(page, "//section[@id='plans']//tbody/tr"), 1U);
  EXPECT_EQ(text_at(page, "//h1"), "1 finding among threads");
  verify::RaceResult clean = race("");
  clean.findings.clear();
  clean.schedules = 14;
  EXPECT_NE(reports::to_html(clean).find("No race found in 14 schedules"), std::string::npos);
  clean.fault = "F26";
  EXPECT_NE(reports::to_html(clean).find("The fault F26 was not found"), std::string::npos);
}

RC_GTEST_PROP(RacePage, IsWellFormedWhateverBytesAFindingHolds, (const std::string& bytes)) {
  pugi::xml_document page;
  RC_ASSERT(page.load_string(reports::to_html(race(bytes)).c_str(), kParse));
}

}  // namespace
