// Curves of benchmarks: which benchmarks share a chart, where curves cross, and how a page shows it.
#include "reports/benchmark_curves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <pugixml.hpp>
#include <string>
#include <vector>

namespace {

using reports::BenchmarkResult;
using reports::BenchmarkRun;
using reports::CurveChart;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

BenchmarkRun timed(const std::string& name, double processor, double real = 1) {
  BenchmarkRun run;
  run.name = name;
  run.processor = processor;
  run.real = real;
  return run;
}

// Two ways over three sizes: patching costs 10 a command, mapping 400 and 2 a command; they cross at 50.
BenchmarkResult two_ways() {
  BenchmarkResult result;
  for (const int size : {64, 1024, 16}) {
    const std::string rest = "/commands:" + std::to_string(size) + "/moved:10";
    result.runs.push_back(timed("step/model/patch" + rest, 10.0 * size));
    result.runs.push_back(timed("step/model/remap" + rest, 400 + 2.0 * size));
  }
  return result;
}

TEST(BenchmarkCurves, BenchmarksThatDifferInSizeAndWayShareAChart) {
  const std::vector<CurveChart> charts = reports::charts_of(two_ways());
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].title, "step, model; moved 10");
  EXPECT_EQ(charts[0].axis, "commands");
  ASSERT_EQ(charts[0].curves.size(), 2U);
  EXPECT_EQ(charts[0].curves[0].name, "patch");
  std::vector<double> sizes;
  for (const reports::CurvePoint& point : charts[0].curves[1].points) sizes.push_back(point.size);
  EXPECT_THAT(sizes, ElementsAre(16, 64, 1024));
  EXPECT_EQ(charts[0].curves[1].points[2].nanoseconds, 2448);
}

TEST(BenchmarkCurves, OtherPartsOfTheNameAreOtherCharts) {
  BenchmarkResult result = two_ways();
  for (BenchmarkRun run : two_ways().runs) {
    run.name.replace(run.name.find("moved:10"), 8, "moved:1");
    result.runs.push_back(run);
  }
  ASSERT_EQ(reports::charts_of(result).size(), 2U);
  EXPECT_EQ(reports::charts_of(result)[1].title, "step, model; moved 1");
}

TEST(BenchmarkCurves, OneCurveOrOneSizeOrNoSizeIsNoChart) {
  BenchmarkResult result;
  result.runs = {timed("a/commands:1", 3),
                 timed("a/commands:2", 4),
                 timed("b/commands:1", 5),
                 timed("c", 1),
                 timed("c/16", 1),
                 timed("commands:4", 1),
                 timed("d/commands:", 1),
                 timed("d/commands:x", 1),
                 timed("e/commands:-1", 1),
                 timed("e/commands:inf", 1),
                 timed("e/commands:1e2x", 1),
                 timed("", 1),
                 timed("//:", 1)};
  EXPECT_TRUE(reports::charts_of(result).empty());
}

TEST(BenchmarkCurves, FailedBenchmarksAndTimesOfZeroHaveNoPoint) {
  BenchmarkResult result = two_ways();
  result.runs[0].error = "no device";
  result.runs[2].processor = 0;
  EXPECT_TRUE(reports::charts_of(result).empty()) << "one point of a way is no curve";
}

TEST(BenchmarkCurves, RealTimeIsTakenWhereTheBenchmarkSaysSo) {
  BenchmarkResult result;
  for (const char* way : {"a", "b"}) {
    for (const char* size : {"1", "2"})
      result.runs.push_back(timed(std::string("done/") + way + "/bytes:" + size + "/real_time", 5, 70));
  }
  const std::vector<CurveChart> charts = reports::charts_of(result);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].title, "done");
  EXPECT_EQ(charts[0].curves[0].points[0].nanoseconds, 70);
}

TEST(BenchmarkCurves, ACrossingSaysWhichIsFasterBelowIt) {
  const std::vector<reports::Crossing> crossings = reports::crossings_of(reports::charts_of(two_ways()).front());
  ASSERT_EQ(crossings.size(), 1U);
  EXPECT_EQ(crossings[0].below, "patch");
  EXPECT_EQ(crossings[0].above, "remap");
  EXPECT_GT(crossings[0].size, 40) << "between 16 and 64, on straight lines of the logarithms";
  EXPECT_LT(crossings[0].size, 60);
}

TEST(BenchmarkCurves, CurvesThatMeetAndPartAgainDoNotCross) {
  CurveChart chart{"", "n", {{"a", {{1, 5}, {2, 5}, {3, 5}}}, {"b", {{1, 6}, {2, 5}, {3, 6}}}}};
  EXPECT_TRUE(reports::crossings_of(chart).empty());
  chart.curves[1].points[2].nanoseconds = 4;
  ASSERT_EQ(reports::crossings_of(chart).size(), 1U) << "they meet at 2 and cross there";
  chart.curves[1].points = {{7, 1}, {8, 1}};
  EXPECT_TRUE(reports::crossings_of(chart).empty()) << "no size in common";
}

TEST(BenchmarkCurves, ThePageDrawsEachCurveAndSaysWhereTheyCross) {
  const std::string text = reports::to_html(two_ways());
  pugi::xml_document page;
  ASSERT_TRUE(page.load_string(text.c_str(), pugi::parse_full));
  EXPECT_EQ(page.select_nodes("//section[@id='curves']//path").size(), 2U);
  EXPECT_THAT(text, HasSubstr("patch and remap cross at about "));
  for (const auto& path : page.select_nodes("//section[@id='curves']//path"))
    EXPECT_THAT(std::string(path.node().attribute("d").value()), Not(HasSubstr("n"))) << "nan";
  BenchmarkResult none;
  none.runs = {timed("a", 1)};
  EXPECT_THAT(reports::to_html(none), Not(HasSubstr("id=\"curves\"")));
}

TEST(BenchmarkCurves, TimesThatAreAllAlikeHaveAChart) {
  BenchmarkResult result;
  for (const char* name : {"a/n:1", "a/n:2", "b/n:1", "b/n:2"}) result.runs.push_back(timed(name, 10));
  const std::string text = reports::to_html(result);
  pugi::xml_document page;
  ASSERT_TRUE(page.load_string(text.c_str(), pugi::parse_full));
  EXPECT_EQ(page.select_nodes("//section[@id='curves']//path").size(), 2U);
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

}  // namespace
