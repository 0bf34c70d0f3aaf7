// SARIF of a campaign: the fields that the standard requires of a file, a run, a rule and a result, and the fields that
// readers rely on. tests/reports/machine_forms_test.py checks real outputs against a schema.
#include "reports/sarif.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "reports/samples.h"

namespace {

using Json = nlohmann::ordered_json;

class SarifOf : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SarifOf, EveryFindingIsAResultOfARuleThatIsThere) {
  const Json sarif = reports::to_sarif(samples::campaign(GetParam()));
  EXPECT_EQ(sarif.at("version"), "2.1.0");
  ASSERT_EQ(sarif.at("runs").size(), 1U);
  const Json& run = sarif.at("runs")[0];
  const Json& rules = run.at("tool").at("driver").at("rules");
  std::size_t errors = 0;
  for (const Json& result : run.at("results")) {
    EXPECT_EQ(rules.at(result.at("ruleIndex").get<std::size_t>()).at("id"), result.at("ruleId"));
    EXPECT_FALSE(result.at("message").at("text").get<std::string>().empty());
    EXPECT_GE(result.at("locations")[0].at("physicalLocation").at("region").at("startLine").get<int>(), 1);
    errors += result.at("level") == "error" ? 1 : 0;
  }
  EXPECT_EQ(errors, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Sarif, SarifOf, testing::Values(0, 1, 1000));

TEST(Sarif, TheSameCauseHasTheSameFingerprintInEveryCampaign) {
  verify::CampaignResult first = samples::campaign(1), second = samples::campaign(1);
  first.findings[0].cause = second.findings[0].cause = "A1 g#.n# argument at #";
  second.findings[0].program_text += "read b0\n";
  second.findings[0].id = "A1-999999";
  const auto print = [](const verify::CampaignResult& result) {
    return reports::to_sarif(result).at("runs")[0].at("results")[0].at("partialFingerprints");
  };
  EXPECT_EQ(print(first), print(second));
  second.findings[0].cause = "A1 another";
  EXPECT_NE(print(first), print(second));
}

TEST(Sarif, AKnownQuirkIsASuppressedNote) {
  verify::CampaignResult result = samples::campaign(0);
  result.quirks = {{"child-16", 3}};
  const Json quirk = reports::to_sarif(result).at("runs")[0].at("results").back();
  EXPECT_EQ(quirk.at("level"), "note");
  EXPECT_EQ(quirk.at("suppressions").size(), 1U);
  EXPECT_EQ(quirk.at("locations")[0].at("physicalLocation").at("artifactLocation").at("uri"),
            "verify/findings/child-16/finding.program");
}

TEST(Sarif, APathWithASpaceIsAUri) {
  verify::CampaignResult result = samples::campaign(1);
  result.findings[0].program_path = "a report/#1.program";
  const Json location = reports::to_sarif(result).at("runs")[0].at("results")[0].at("locations")[0];
  EXPECT_EQ(location.at("physicalLocation").at("artifactLocation").at("uri"), "a%20report/%231.program");
}

RC_GTEST_PROP(Sarif, AnyResultMakesTextThatParsesAgain, ()) {
  const verify::CampaignResult result = samples::campaign_of(*samples::any_text());
  RC_ASSERT(!Json::parse(reports::to_sarif(result).dump(), nullptr, false).is_discarded());
}

}  // namespace
