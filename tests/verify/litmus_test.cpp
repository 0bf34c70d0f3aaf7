// The programs of tests/litmus: the behaviour of graphs, captures, children and bodies without nodes, on the model and
// on every release. HIP's documentation does not describe most of it; these programs pin the behaviour that can be
// relied on.
//
// The first lines of a file are comments: the subject of the program, and then a line "RELEASES: QUIRK" for each
// outcome of a runtime that differs from the model. A strategy that goes around the quirk agrees.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "releases.h"

namespace verify {
namespace {

struct Litmus {
  std::string name, text;
  // The quirk that may show on the release; empty: none may.
  [[nodiscard]] std::string allowed_on(std::string_view release) const {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && line.starts_with("#");) {
      const std::size_t colon = line.find(": ");
      if (colon != std::string::npos && line.substr(0, colon).find(release) != std::string::npos)
        return line.substr(colon + 2);
    }
    return {};
  }
};

std::vector<Litmus> litmus_programs() {
  std::vector<Litmus> all;
  for (const auto& file : std::filesystem::directory_iterator(LITMUS)) {
    all.push_back({file.path().stem().string(), text_in(file.path())});
  }
  EXPECT_GE(all.size(), 7u);
  return all;
}

TEST(Litmus, EveryStrategyAgreesOnTheModel) {
  for (const Litmus& each : litmus_programs()) {
    SCOPED_TRACE(each.name);
    agrees_under_strategies(parsed(each.text), {.every_call_fails = true, .however_built = true}, kStrategies);
  }
}

#ifdef HGCHECK_HAVE_AGENT

class LitmusOn : public testing::TestWithParam<std::string_view> {};

TEST_P(LitmusOn, EachEndsAsItSays) {
  const std::string_view release = GetParam();
  for (const StrategyKind strategy :
       {StrategyKind::kPatch, StrategyKind::kRebuild, StrategyKind::kCareful, StrategyKind::kCommandBuffer}) {
    ReleaseJudge judge(release, strategy);
    ASSERT_TRUE(judge.ready());
    judge->know(QuirkSet(release), strategy);
    const bool goes_around = strategy == StrategyKind::kCareful || strategy == StrategyKind::kCommandBuffer;
    for (const Litmus& each : litmus_programs()) {
      const std::string quirk = each.allowed_on(release);
      const bool around = goes_around && std::ranges::any_of(quirks(), [&](const Quirk& known_one) {
                            return known_one.id == quirk && known_one.gone_around != GoneAround::kNever;
                          });
      const Judgement judgement = judge->judge(parsed(each.text), {});
      const bool agrees = quirk.empty() || around;
      EXPECT_EQ(judgement.verdict, agrees ? VerdictKind::kAgree : VerdictKind::kKnownQuirk)
          << each.name << " under " << strategy_name(strategy) << "\n"
          << described(judgement);
      if (!agrees) {
        EXPECT_EQ(judgement.reason, quirk) << each.name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Releases, LitmusOn, ::testing::Values(HGCHECK_RELEASES), release_name);

#endif

}  // namespace
}  // namespace verify
