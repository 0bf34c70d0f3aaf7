// The scenarios on real threads, for ThreadSanitizer under `./dev tsan`. Worlds and checks are the explorer's.
#include "verify/race/stress.h"

#include <gtest/gtest.h>

namespace race_test {
namespace {

using namespace verify::race;

class Stress : public testing::TestWithParam<std::string_view> {};

TEST_P(Stress, OnRealThreadsEveryPlanIsClean) {
  const Scenario& scenario = *find_scenario(GetParam());
  for (const NamedPlan& plan : scenario.plans) {
    const Stressed result = stress(scenario, "", plan.plan, {.rounds = 300, .seconds = 20});
    EXPECT_EQ(result.failure.kind, FailureKind::kNone) << plan.name << ": " << result.failure.message;
    EXPECT_GT(result.rounds, 0U);
  }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> names;
  for (const Scenario& scenario : scenarios()) names.push_back(scenario.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Stress, testing::ValuesIn(names()), [](const auto& test) {
  std::string name(test.param);
  std::erase(name, '-');
  return name;
});

TEST(Stress, WhatShowsInEveryScheduleIsToldByTheFirstRound) {
  const Scenario& scenario = *find_scenario("current-stream");
  const Call enter{0}, use{2};
  const Plan plan{{enter}, {{}, {use}}, {}};  // before the threads start, the first one's stream becomes current
  EXPECT_EQ(stress(scenario, "F36", plan, {.rounds = 1}).failure.property, "S2");
  EXPECT_EQ(stress(scenario, "", plan, {.rounds = 1}).failure.kind, FailureKind::kNone);
}

}  // namespace
}  // namespace race_test
