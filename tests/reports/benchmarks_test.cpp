// Google Benchmark's results as a page: nothing is lost, medians stand for repetitions, and the times of an earlier
// result stand beside the new times.
#include "reports/benchmarks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "reports/samples.h"

namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Json one(const std::string& name, double time, const std::string& aggregate = "") {
  Json json = {{"name", aggregate.empty() ? name : name + "_" + aggregate},
               {"run_name", name},
               {"run_type", aggregate.empty() ? "iteration" : "aggregate"},
               {"iterations", 7},
               {"real_time", 2 * time},
               {"cpu_time", time},
               {"time_unit", "us"},
               {"calls", 41.0}};
  if (!aggregate.empty()) json["aggregate_name"] = aggregate;
  return json;
}

Json run_of(const std::vector<Json>& benchmarks) {
  return {{"context",
           {{"date", "2026-01-02"}, {"executable", "build/bin/bench_patch"}, {"num_cpus", 2}, {"mhz_per_cpu", 2600}}},
          {"benchmarks", benchmarks}};
}

reports::BenchmarkResult read(const Json& json) {
  auto result = reports::read_benchmarks(json);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? std::move(result).value() : reports::BenchmarkResult{};
}

std::vector<std::string> names(const reports::BenchmarkResult& result) {
  std::vector<std::string> all;
  for (const reports::BenchmarkRun& run : result.runs) all.push_back(run.name);
  return all;
}

TEST(Benchmarks, EveryRunIsReadWithItsTimesInOneUnitAndItsCounters) {
  const reports::BenchmarkResult result = read(run_of({one("patch/16", 3), one("scan/16", 5)}));
  EXPECT_EQ(result.program, "bench_patch");
  EXPECT_THAT(names(result), ElementsAre("patch/16", "scan/16"));
  EXPECT_DOUBLE_EQ(result.runs[0].processor, 3000);
  EXPECT_DOUBLE_EQ(result.runs[0].real, 6000);
  EXPECT_THAT(result.runs[0].counters, ElementsAre(testing::Pair("calls", 41.0)));
}

TEST(Benchmarks, WhereThereAreRepetitionsTheMedianStandsForThem) {
  const reports::BenchmarkResult result =
      read(run_of({one("patch", 3), one("patch", 9), one("patch", 6, "mean"), one("patch", 5, "median")}));
  EXPECT_THAT(names(result), ElementsAre("patch"));
  EXPECT_DOUBLE_EQ(result.runs[0].processor, 5000);
}

TEST(Benchmarks, ABenchmarkThatFailedIsOnThePageWithItsMessage) {
  Json failed = one("patch", 0);
  failed["error_message"] = "no device";
  const std::string page = reports::to_html(read(run_of({failed, one("scan", 5, "median")})));
  EXPECT_THAT(page, HasSubstr("bench_patch: 2 benchmarks, 1 failed"));
  EXPECT_THAT(page, HasSubstr("no device"));
}

TEST(Benchmarks, SizesStandInTheOrderOfTheirNumbersWhateverOrderTheyRanIn) {
  pugi::xml_document page;
  const Json json = run_of({one("patch/64/10", 4), one("patch/8/100", 2), one("patch/64/9", 3), one("patch/8", 1)});
  ASSERT_TRUE(page.load_string(reports::to_html(read(json)).c_str(), pugi::parse_full));
  std::vector<std::string> rows;
  for (const auto& row : page.select_nodes("//tbody/tr/th")) rows.emplace_back(row.node().child_value());
  EXPECT_THAT(rows, ElementsAre("patch/8", "patch/8/100", "patch/64/9", "patch/64/10"));
}

TEST(Benchmarks, AnEarlierRunStandsBesideWithTheRatio) {
  const reports::BenchmarkResult earlier = read(run_of({one("patch", 2)}));
  const std::string page = reports::to_html(read(run_of({one("patch", 3), one("scan", 5)})), &earlier);
  EXPECT_THAT(page, HasSubstr("2 us, now 1.50 times that"));
  EXPECT_THAT(page, HasSubstr("not there before"));
}

TEST(Benchmarks, WhatIsNoRunOfBenchmarksIsAnError) {
  EXPECT_FALSE(reports::holds_benchmarks(Json::array()));
  EXPECT_FALSE(reports::holds_benchmarks(Json{{"findings", 1}}));
  for (const Json& json : {Json{{"context", 1}, {"benchmarks", Json::array()}},
                           Json{{"context", Json::object()}, {"benchmarks", 2}}, run_of({Json{{"cpu_time", 1}}})}) {
    EXPECT_FALSE(reports::read_benchmarks(json).ok()) << json.dump();
  }
}

RC_GTEST_PROP(Benchmarks, ThePageIsWellFormedWhateverBytesTheNamesHold, ()) {
  reports::BenchmarkResult result;
  result.program = result.date = *samples::any_text();
  reports::BenchmarkRun run;
  run.name = run.label = result.program;
  run.processor = *rc::gen::element(0.0, 12.5, 3e9);
  run.counters[result.program] = 1;
  result.runs = {run, run};
  result.runs[1].error = result.program;
  pugi::xml_document page;
  RC_ASSERT(page.load_string(reports::to_html(result, &result).c_str(), pugi::parse_full));
  RC_ASSERT(page.select_nodes("//tbody/tr").size() == 2U);
}

}  // namespace
