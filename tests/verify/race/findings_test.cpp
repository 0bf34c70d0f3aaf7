// Findings are small, are text, and reproduce every time.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "verify/race/arena.h"
#include "verify/race/exhaustive.h"
#include "verify/race/operators.h"
#include "verify/race/scenario_body.h"
#include "verify/race/shrink_race.h"

namespace race_test {
namespace {

using namespace verify::race;

// The fault as the explorer finds it first, before it is made smaller.
RaceFile find(ScheduleRunner& runner, std::string_view fault) {
  for (const Scenario& scenario : scenarios()) {
    if (std::find(scenario.faults.begin(), scenario.faults.end(), fault) == scenario.faults.end()) continue;
    for (const NamedPlan& plan : scenario.plans) {
      ScenarioBody body(scenario, std::string(fault), plan.plan);
      const Exploration result = explore(runner, body, {});
      if (result.failure.kind == FailureKind::kNone) continue;
      return {&scenario,
              std::string(fault),
              plan.plan,
              result.failed_choices,
              std::string(property_of(scenario, result.failure)),
              std::string(failure_name(result.failure.kind))};
    }
  }
  ADD_FAILURE() << fault << " is not found";
  return {};
}

struct Smallest {
  const char* fault;
  std::uint32_t threads, calls, preemptions;
};

class Found : public testing::TestWithParam<Smallest> {};

TEST_P(Found, IsShrunkToTheFewestCallsAndPreemptionsThatShowIt) {
  const bool counted = count_memory();
  ScheduleRunner runner;
  const RaceFile found = find(runner, GetParam().fault);
  const ShrunkRace small = shrink_race(runner, found);
  EXPECT_EQ(small.race.property, found.property);
  EXPECT_EQ(small.race.failure, found.failure);
  EXPECT_LE(small.threads, 3U);
  EXPECT_EQ(small.threads, GetParam().threads);
  if (!counted) return;  // where memory is a sanitizer's a longer way may be needed to something that is seen
  EXPECT_EQ(small.calls, GetParam().calls) << print_race(small.race);
  EXPECT_EQ(small.preemptions, GetParam().preemptions) << print_race(small.race);
  // One preemption fewer shows nothing in any schedule of the same plan.
  if (small.preemptions != 0) {
    ScenarioBody body(*small.race.scenario, small.race.fault, small.race.plan);
    EXPECT_EQ(explore(runner, body, {.bound = small.preemptions - 1, .reduce = false}).failure.kind,
              FailureKind::kNone);
  }
}

// Every schedule of the plan that could have fewer: one with n switches has no more than n preemptions.
TEST_P(Found, NoScheduleOfItsPlanShowsItWithFewerSwitches) {
  count_memory();
  ScheduleRunner runner;
  const ShrunkRace small = shrink_race(runner, find(runner, GetParam().fault));
  ScenarioBody body(*small.race.scenario, small.race.fault, small.race.plan);
  warm_up(runner, body);
  Exhaustive every({.bound = small.switches == 0 ? 0 : small.switches - 1, .reduce = false});
  std::uint32_t fewest = small.switches;
  std::uint64_t schedules = 0;
  while (every.next() && ++schedules < 400'000) {
    const Failure& failure = run_once(runner, body, every);
    if (failure_name(failure.kind) == small.race.failure) fewest = std::min(fewest, switches_in(runner.choices()));
  }
  EXPECT_LT(schedules, 400'000U);
  EXPECT_EQ(small.switches, fewest) << print_race(small.race);
}

TEST_P(Found, ReplaysTheSameReportAThousandTimesOfAThousand) {
  count_memory();
  ScheduleRunner runner;
  const RaceFile found = shrink_race(runner, find(runner, GetParam().fault)).race;
  const hip::Result<RaceFile> read = parse_race(print_race(found));
  ASSERT_TRUE(read.ok()) << read.error().message;
  ScenarioBody body(*read.value().scenario, read.value().fault, read.value().plan);
  std::string first;
  int same = 0;
  for (int i = 0; i < 1000; ++i) {
    bool as_recorded = false;
    const Failure& failure = replay(runner, body, read.value().choices, &as_recorded);
    EXPECT_TRUE(as_recorded);
    EXPECT_EQ(failure_name(failure.kind), found.failure);
    const std::string report = picture_of(runner, failure);
    if (i == 0) first = report;
    if (report == first) ++same;
  }
  EXPECT_EQ(same, 1000);
}

TEST_P(Found, IsFoundByRandomPrioritiesToo) {
  count_memory();
  ScheduleRunner runner;
  bool shows = false;
  for (const Scenario& scenario : scenarios()) {
    if (std::find(scenario.faults.begin(), scenario.faults.end(), GetParam().fault) == scenario.faults.end()) continue;
    ScenarioBody body(scenario, GetParam().fault, scenario.plans.front().plan);
    const ExploreOptions options{.mode = Mode::kPct, .schedules = 10'000};
    const Exploration result = explore(runner, body, options);
    shows = shows || result.failure.kind != FailureKind::kNone;
    EXPECT_GT(result.probability, 0);
    // The same seed finds the same.
    EXPECT_EQ(explore(runner, body, options).failed_choices, result.failed_choices);
  }
  EXPECT_TRUE(shows);
}

INSTANTIATE_TEST_SUITE_P(Faults, Found,
                         testing::Values(Smallest{"F22", 2, 5, 0}, Smallest{"F25", 2, 3, 0}, Smallest{"F26", 2, 2, 1},
                                         Smallest{"F34", 0, 0, 0}, Smallest{"F36", 2, 2, 0}, Smallest{"F37", 2, 2, 1},
                                         Smallest{"U20", 2, 2, 0}, Smallest{"U29", 1, 2, 0}, Smallest{"M12", 2, 2, 0}),
                         [](const auto& test) { return std::string(test.param.fault); });

TEST(RaceFile, ReadsBackAsItWasWritten) {
  for (const Scenario& scenario : scenarios()) {
    for (const NamedPlan& plan : scenario.plans) {
      RaceFile race{&scenario, "", plan.plan, {0, 1, 1, 1, 2, 0}, "C5", "data race"};
      if (!scenario.faults.empty()) race.fault = scenario.faults.front();
      const std::string text = print_race(race);
      const hip::Result<RaceFile> read = parse_race(text);
      ASSERT_TRUE(read.ok()) << text << read.error().message;
      EXPECT_EQ(read.value().plan, plan.plan);
      EXPECT_EQ(read.value().choices, race.choices);
      EXPECT_EQ(print_race(read.value()), text);
    }
  }
}

TEST(RaceFile, IsRefusedWithTheLineThatIsWrong) {
  const std::string head = "hgcheck-program 1\nrace stable-buffers\n";
  const std::pair<std::string, const char*> wrong[] = {
      {"", "no line 'race SCENARIO'"},
      {"hgcheck-program 2\n", "line 1"},
      {"hgcheck-program 1\nrace nothing\n", "line 2: there is no scenario"},
      {"hgcheck-program 1\nthread 1 get 0\n", "line 2"},
      {"hgcheck-program 1\nrace stable-buffers fault=F22\n", "line 2: fault F22"},
      {head + "thread 2 get 0\n", "line 3: threads are numbered"},
      {head + "thread 1 fetch\n", "line 3: scenario stable-buffers has no call 'fetch'"},
      {head + "thread 1 get\n", "line 3: 'get' takes a number"},
      {head + "thread 1 get 99999999999\n", "line 3: 'get' takes a number"},
      {head + "thread 1 is-cached 1\n", "line 3: 'is-cached' takes no argument"},
      {head + "schedule 9\n", "line 3: '9'"},
      {head + "schedule 1*0\n", "line 3"},
      {head + "schedule 1*99999999999999999999\n", "line 3"},
      {head + "frobnicate\n", "line 3"},
  };
  for (const auto& [text, message] : wrong) {
    const hip::Result<RaceFile> read = parse_race(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().message;
  }
}

TEST(Linearizable, AcceptsWhatSomeOrderExplainsAndNothingElse) {
  // A register: 0 reads, anything else writes that.
  struct Register final : SequentialModel {
    std::int64_t value = 0;
    [[nodiscard]] std::unique_ptr<SequentialModel> clone() const override { return std::make_unique<Register>(*this); }
    bool accepts(unsigned, const Call& call, std::int64_t answer) override {
      if (call.argument != 0) value = call.argument;
      return answer == value;
    }
  };
  const auto write = [](unsigned thread, int value, std::uint32_t begin, std::uint32_t end) {
    return Invocation{thread, {0, value}, value, begin, end};
  };
  const auto read = [](unsigned thread, int value, std::uint32_t begin, std::uint32_t end) {
    return Invocation{thread, {0, 0}, value, begin, end};
  };
  EXPECT_TRUE(linearizable(std::vector<Invocation>{}, Register()));
  EXPECT_TRUE(linearizable(std::vector{write(0, 1, 0, 3), read(1, 0, 1, 2)}, Register()));
  EXPECT_TRUE(linearizable(std::vector{write(0, 1, 0, 3), read(1, 1, 1, 2)}, Register()));
  EXPECT_FALSE(linearizable(std::vector{write(0, 1, 0, 1), read(1, 0, 2, 3)}, Register()));
  // New, then old, while one write goes on.
  EXPECT_FALSE(linearizable(std::vector{write(0, 1, 0, 9), read(1, 1, 1, 2), read(1, 0, 3, 4)}, Register()));
}

TEST(Memory, StaysFlatHoweverManySchedulesThereAre) {
  if (!count_memory()) return;  // a sanitizer's allocator keeps memory for reasons of its own
  ScheduleRunner runner;
  const Scenario& scenario = *find_scenario("stream-cache");
  ScenarioBody body(scenario, "", scenario.plans.front().plan);
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    std::uint64_t all = 0, pages = 0;
    file >> all >> pages;
    return pages * 4096;
  };
  ExploreOptions options{.mode = Mode::kPct, .schedules = 2'000};
  (void)explore(runner, body, options);
  const std::uint64_t before = resident();
  options.schedules = 40'000;
  (void)explore(runner, body, options);
  EXPECT_LT(resident(), before + (std::uint64_t{1} << 20U));
  EXPECT_LT(Arena::of_process().used(), std::size_t{1} << 20U);
}

}  // namespace
}  // namespace race_test
