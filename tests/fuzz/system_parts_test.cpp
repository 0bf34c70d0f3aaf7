// The faulty systems on their benches, without programs around them: each breaks its property, nothing else, soon, in
// few actions; and the real systems break nothing in the same scenarios.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>

#include "fuzz/faults/catalogue.h"
#include "verify/execute/model_platform.h"
#include "verify/generate/scenario.h"
#include "verify/properties/property.h"
#include "verify/systems/bench.h"

namespace {

using verify::PropertyId;
using verify::SystemAction;
using Actions = std::vector<SystemAction>;

constexpr std::uint64_t kScenarios = 1500;  // the rarest (F30) shows in about 1 of 80
constexpr std::size_t kMostActions = 12;

std::vector<fuzz::Fault> faulty_systems() {
  std::vector<fuzz::Fault> faulty;
  std::ranges::copy_if(fuzz::faults(), std::back_inserter(faulty),
                       [](const fuzz::Fault& f) { return f.parts.has_value(); });
  return faulty;
}

class Machine {
 public:
  Machine() : platform_({.devices = verify::kScenarioDevices, .identity = true}) {}
  // The most specific property that the first action to break one breaks.
  std::optional<PropertyId> run(const verify::Parts& parts, const Actions& actions, std::uint64_t seed) {
    platform_.enter();
    platform_.begin(seed);
    std::optional<PropertyId> broken;
    const auto note = [&broken](const verify::SystemsBench::Outcome& outcome) {
      if (broken || outcome.violations.empty()) return;
      broken = std::min_element(outcome.violations.begin(), outcome.violations.end(), [](const auto& a, const auto& b) {
                 return a.property < b.property;
               })->property;
    };
    {
      verify::SystemsBench bench(platform_, parts);
      for (const SystemAction& action : actions) note(bench.run(action));
      note(bench.finish());
    }
    platform_.leave();
    return broken;
  }

 private:
  verify::ModelPlatform platform_;
};

Actions scenario_of(std::uint64_t index, verify::System system) {
  verify::RandomChoices choices{rc::Random(index)};
  return verify::draw_scenario(choices, system, {.size = 30, .devices = 2, .failures = true});
}

bool valid(const Actions& actions) {
  verify::SystemsState state;
  for (const SystemAction& action : actions) {
    if (state.check(action)) return false;
    state.apply(action);
  }
  return true;
}

std::string words(const Actions& actions) {
  std::string text;
  for (const SystemAction& action : actions) text += verify::print_action(action) + "\n";
  return text;
}

// Leaves out one action after another as long as the remaining actions still break `property`.
Actions shrink(Machine& machine, const verify::Parts& parts, Actions actions, std::uint64_t seed, PropertyId property) {
  for (std::size_t i = 0; i < actions.size();) {
    Actions fewer = actions;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (valid(fewer) && machine.run(parts, fewer, seed) == property) {
      actions = std::move(fewer);
      i = 0;
    } else {
      ++i;
    }
  }
  return actions;
}

class EachFaultySystem : public testing::TestWithParam<fuzz::Fault> {};

TEST_P(EachFaultySystem, BreaksItsPropertyAndNoOtherInFewActions) {
  Machine machine;
  const verify::Parts& faulty = *GetParam().parts;
  const PropertyId property = GetParam().properties.front();
  const verify::Parts real = verify::real_parts();
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < kScenarios; ++i) {
    const Actions actions = scenario_of(i, *GetParam().scenarios);
    const std::optional<PropertyId> broken = machine.run(faulty, actions, i + 1);
    if (!broken) continue;
    ASSERT_EQ(verify::property(*broken).name, verify::property(property).name) << words(actions);
    if (++found > 3) continue;
    const Actions few = shrink(machine, faulty, actions, i + 1, *broken);
    EXPECT_LE(few.size(), kMostActions) << words(few);
    EXPECT_EQ(machine.run(real, few, i + 1), std::nullopt) << words(few);
  }
  EXPECT_GT(found, 3u);
}

INSTANTIATE_TEST_SUITE_P(Faults, EachFaultySystem, testing::ValuesIn(faulty_systems()),
                         [](const testing::TestParamInfo<fuzz::Fault>& each) { return std::string(each.param.id); });

TEST(RealSystems, BreakNothingInTheSameScenarios) {
  Machine machine;
  const verify::Parts real = verify::real_parts();
  for (std::uint64_t i = 0; i < kScenarios; ++i) {
    for (std::size_t system = 0; system < verify::kSystems; ++system) {
      const Actions actions = scenario_of(i, static_cast<verify::System>(system));
      ASSERT_EQ(machine.run(real, actions, i + 1), std::nullopt) << words(actions);
    }
  }
}

}  // namespace
