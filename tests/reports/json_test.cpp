// The JSON of a campaign: its keys are the documented ones, and reading it gives back the written result.
#include "reports/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "reports/samples.h"

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& item : object.items()) names.push_back(item.key());
  return names;
}

std::string dumped(const verify::CampaignResult& result) {
  return reports::to_json(result).dump();
}

class FindingCounts : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FindingCounts, ReadingWhatWasWrittenAndWritingItAgainGivesTheSameText) {
  const verify::CampaignResult result = samples::campaign(GetParam());
  const auto read = reports::from_json(Json::parse(dumped(result)));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read.value().findings.size(), GetParam());
  EXPECT_EQ(dumped(read.value()), dumped(result));
}

INSTANTIATE_TEST_SUITE_P(Json, FindingCounts, testing::Values(0, 1, 1000));

TEST(Json, TheDocumentedKeysComeFirstAndInTheirOrder) {
  const Json json = reports::to_json(samples::campaign(1));
  const std::vector<std::string> documented = {
      "version",  "subject",    "baseline", "seed",   "programs", "commands", "seconds", "programs_per_second",
      "verdicts", "properties", "coverage", "quirks", "findings"};
  std::vector<std::string> first = keys(json);
  ASSERT_GE(first.size(), documented.size());
  first.resize(documented.size());
  EXPECT_EQ(first, documented);
  EXPECT_THAT(keys(json["verdicts"]), testing::ElementsAre("agree", "diverge", "known_quirk", "poisoned", "unsupported",
                                                           "discarded", "harness_error"));
  EXPECT_THAT(keys(json["properties"]["A1"]), testing::ElementsAre("exercised", "violated"));
  std::vector<std::string> of_finding = keys(json["findings"][0]);
  ASSERT_GE(of_finding.size(), 9U);
  of_finding.resize(9);
  EXPECT_THAT(of_finding, testing::ElementsAre("id", "property", "also", "fault", "program", "commands",
                                               "original_commands", "replay", "summary"));
}

TEST(Json, TheDocumentedKeysAreThereWhenNothingRan) {
  const Json json = reports::to_json(verify::CampaignResult{});
  EXPECT_EQ(json["programs_per_second"], 0.0);
  EXPECT_TRUE(json["findings"].is_array());
  EXPECT_TRUE(json["coverage"].is_object());
  EXPECT_TRUE(json["quirks"].is_object());
  EXPECT_TRUE(json["properties"].is_object());
  EXPECT_EQ(json["verdicts"]["agree"], 0);
}

TEST(Json, EveryFieldKeepsItsValue) {
  const Json json = reports::to_json(samples::campaign(2));
  EXPECT_EQ(json["seed"], 20'240'607);
  EXPECT_EQ(json["size"], 40);
  EXPECT_EQ(json["jobs"], 2);
  EXPECT_DOUBLE_EQ(json["programs_per_second"].get<double>(), 12'345 / 30.25);
  EXPECT_EQ(json["properties"]["A1"]["violated"], 2);
  EXPECT_EQ(json["coverage"]["node conditional"], 0);
  EXPECT_EQ(json["findings"][1]["id"], "A1-000001");
  EXPECT_EQ(json["findings"][1]["program"], "A1-000001.program");
  EXPECT_EQ(json["findings"][1]["original_commands"], 87);
  EXPECT_EQ(json["findings"][1]["graphs"][0]["nodes"][0]["at_fault"], true);
}

TEST(Json, TheLargestSeedSurvives) {
  verify::CampaignResult result = samples::campaign(0);
  result.seed = std::numeric_limits<std::uint64_t>::max();
  const auto read = reports::from_json(Json::parse(dumped(result)));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().seed, std::numeric_limits<std::uint64_t>::max());
}

TEST(Json, ATimeThatIsNoNumberIsWrittenAsZero) {
  verify::CampaignResult result = samples::campaign(0);
  result.seconds = std::nan("");
  EXPECT_EQ(reports::to_json(result)["seconds"], 0.0);
  EXPECT_EQ(reports::to_json(result)["programs_per_second"], 0.0);
}

RC_GTEST_PROP(Json, AnyStringsSurviveUpToTheSpellingOfInvalidBytes, ()) {
  const std::string text = dumped(samples::campaign_of(*samples::any_text()));
  const auto read = reports::from_json(Json::parse(text));
  RC_ASSERT(read.ok());
  RC_ASSERT(dumped(read.value()) == text);
}

// Keys that reports of an earlier hgcheck do not have.
const std::set<std::string> kLaterKeys = {"machine", "release", "related", "generate_us", "judge_us",
                                          "first",   "session", "shards",  "steps",       "triples"};
bool is_later(const Json::json_pointer& place, const std::string& key) {
  return kLaterKeys.contains(key) || (place.empty() && key == "nodes");  // the nodes of a graph were always there
}

// Removing any one key, and giving any one a value of a wrong type, at every depth.
void expect_each_field_is_checked(const Json& whole, const Json::json_pointer& place) {
  const Json& object = whole[place];
  for (const std::string& key : keys(object)) {
    Json without = whole;
    without[place].erase(key);
    const auto missing = reports::from_json(without);
    ASSERT_EQ(missing.ok(), is_later(place, key)) << (place / key).to_string();
    if (!missing.ok()) {
      EXPECT_THAT(missing.error().message, testing::HasSubstr(key));
    }

    Json wrong = whole;
    wrong[place][key] = nullptr;
    EXPECT_FALSE(reports::from_json(wrong).ok()) << (place / key).to_string();
  }
}

TEST(Json, AFieldThatIsMissingOrOfAnotherTypeIsAnErrorThatNamesIt) {
  Json whole = reports::to_json(samples::campaign(1));
  whole.erase("programs_per_second");  // computed from two other fields, not read
  whole["findings"][0].erase("bug");   // likewise
  for (const char* place :
       {"", "/verdicts", "/properties/A1", "/findings/0", "/findings/0/differences/0", "/findings/0/graphs/0",
        "/findings/0/graphs/0/nodes/0", "/findings/0/graphs/0/edges/0", "/findings/0/related/0"}) {
    expect_each_field_is_checked(whole, Json::json_pointer(place));
  }
}

TEST(Json, ANegativeCountIsAnErrorAndNotALargeNumber) {
  Json json = reports::to_json(samples::campaign(0));
  json["programs"] = -1;
  EXPECT_FALSE(reports::from_json(json).ok());
}

TEST(Json, AnythingButAnObjectIsAnError) {
  for (const char* text : {"[]", "null", "1", "\"x\"", "{}"}) {
    EXPECT_FALSE(reports::from_json(Json::parse(text)).ok()) << text;
  }
}

TEST(Json, KeysOfANewerReleaseAreIgnored) {
  Json json = reports::to_json(samples::campaign(1));
  json["from_the_future"] = {1, 2};
  json["findings"][0]["from_the_future"] = true;
  EXPECT_TRUE(reports::from_json(json).ok());
}

}  // namespace
