// The real systems are clean in every schedule within the bound, and each fault shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "verify/race/operators.h"
#include "verify/race/scenario_body.h"

namespace race_test {
namespace {

using namespace verify::race;

constexpr std::uint64_t kMostSchedules = 100'000;

TEST(Scenarios, TheRealSystemsAreCleanInEveryScheduleOfTwoPreemptions) {
  count_memory();
  ScheduleRunner runner;
  for (const Scenario& scenario : scenarios()) {
    for (const NamedPlan& plan : scenario.plans) {
      ScenarioBody body(scenario, "", plan.plan);
      const Exploration result = explore(runner, body, {.schedules = kMostSchedules});
      EXPECT_EQ(result.failure.kind, FailureKind::kNone)
          << scenario.name << ", " << plan.name << ": " << failure_name(result.failure.kind) << ": "
          << result.failure.message;
      EXPECT_TRUE(result.complete) << scenario.name << ", " << plan.name;
    }
  }
}

// A schedule may stop a thread between owing a callback and giving it to the stream for as long as it likes; the limit
// on steps leaves drain() no room to ask again and again meanwhile.
TEST(Scenarios, DrainingAWorkerWaitsForACallbackThatIsBeingPostedWithoutSpinning) {
  count_memory();
  const Scenario& scenario = *find_scenario("worker-thread");
  const Call post_after{1}, drain{2};
  ScenarioBody body(scenario, "", {{}, {{post_after}, {post_after, drain}}, {}});
  ScheduleRunner runner(ScheduleOptions{.max_steps = 200});
  const Exploration result = explore(runner, body, {.schedules = kMostSchedules});
  EXPECT_EQ(result.failure.kind, FailureKind::kNone) << result.failure.message;
  EXPECT_TRUE(result.complete);
}

struct Expected {
  std::string_view fault;
  std::set<std::string_view> properties;
};

TEST(Scenarios, EachFaultShowsAndBreaksItsProperty) {
  count_memory();
  const std::vector<Expected> all = {{"F22", {"C6"}},       {"F25", {"C5"}}, {"F26", {"C2"}},
                                     {"F34", {"C4"}},       {"F36", {"S2"}}, {"F37", {"S1", "C4"}},
                                     {"U20", {"C5", "P2"}}, {"U29", {"C4"}}, {"M12", {"C6"}}};
  ScheduleRunner runner;
  for (const Expected& expected : all) {
    std::set<std::string> broken;
    for (const Scenario& scenario : scenarios()) {
      if (std::find(scenario.faults.begin(), scenario.faults.end(), expected.fault) == scenario.faults.end()) continue;
      for (const NamedPlan& plan : scenario.plans) {
        ScenarioBody body(scenario, std::string(expected.fault), plan.plan);
        const Exploration result = explore(runner, body, {});
        if (result.failure.kind != FailureKind::kNone) broken.emplace(property_of(scenario, result.failure));
      }
    }
    EXPECT_FALSE(broken.empty()) << expected.fault;
    for (const std::string& property : broken) {
      EXPECT_TRUE(expected.properties.contains(property)) << expected.fault << " breaks " << property;
    }
  }
}

}  // namespace
}  // namespace race_test
