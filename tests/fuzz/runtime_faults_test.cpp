// Faults of runtimes and of systems, and those that end the process: whole campaigns find each soon, name it rightly
// and shrink it to a few commands; and what is left agrees as soon as the fault is gone.
#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "fuzz/campaign.h"
#include "fuzz/faults/catalogue.h"
#include "fuzz/finding.h"
#include "fuzz/isolate.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"

namespace {

constexpr double kSeconds = 120;
constexpr std::uint64_t kMostCommands = 10, kMostCommandsOfOthers = 12;

std::vector<std::string> runtime_faults() {
  std::vector<std::string> ids;
  for (const fuzz::Fault& fault : fuzz::faults()) {
    if (fault.layer) ids.emplace_back(fault.id);
  }
  return ids;
}

std::vector<std::string> other_faults() {
  std::vector<std::string> ids;
  for (const fuzz::Fault& fault : fuzz::faults()) {
    if (fault.parts || fault.ends_the_process) ids.emplace_back(fault.id);
  }
  return ids;
}

class EachFaultOfACampaign : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static bool names(const std::string& property) {
    const std::vector<verify::PropertyId>& ids = fuzz::find_fault(GetParam())->properties;
    return std::any_of(ids.begin(), ids.end(),
                       [&](verify::PropertyId id) { return verify::property(id).name == property; });
  }
  static verify::VerdictKind judge(const fuzz::SetupOptions& options, const verify::Program& program) {
    auto setup = fuzz::Setup::make(options);
    EXPECT_TRUE(setup) << setup.error().message;
    if (!setup) return verify::VerdictKind::kHarnessError;
    return fuzz::judge_isolated(*setup.value(), program, fuzz::all_checks(1), options.program_timeout).verdict;
  }
};

TEST_P(EachFaultOfACampaign, IsFoundNamedAndShrunkToFewCommandsThatAgreeWithoutIt) {
  const std::uint64_t most = fuzz::find_fault(GetParam())->layer ? kMostCommands : kMostCommandsOfOthers;
  fuzz::CampaignOptions options;
  options.setup.fault = GetParam();
  options.seconds = kSeconds;
  for (options.seed = 1; options.seed <= 2; ++options.seed) {
    const auto outcome = fuzz::run_campaign(options, [] { return false; }, [](const fuzz::Progress&) {});
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(outcome.value().result.findings.size(), 1U) << "seed " << options.seed;
    const verify::Finding& finding = outcome.value().result.findings.front();
    EXPECT_TRUE(names(finding.property)) << finding.property << ": " << finding.summary << "\n" << finding.program_text;
    EXPECT_LE(finding.commands, most) << finding.program_text;
    const auto parsed = verify::parse_program(finding.program_text);
    ASSERT_TRUE(std::holds_alternative<verify::Program>(parsed)) << finding.program_text;
    EXPECT_EQ(judge({}, std::get<verify::Program>(parsed)), verify::VerdictKind::kAgree) << finding.program_text;
  }
}

INSTANTIATE_TEST_SUITE_P(Runtimes, EachFaultOfACampaign, testing::ValuesIn(runtime_faults()),
                         [](const testing::TestParamInfo<std::string>& each) { return each.param; });
INSTANTIATE_TEST_SUITE_P(Systems, EachFaultOfACampaign, testing::ValuesIn(other_faults()),
                         [](const testing::TestParamInfo<std::string>& each) { return each.param; });

}  // namespace
