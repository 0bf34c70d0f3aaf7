// The faulty systems on their benches, without programs around them: each breaks its property, nothing else, soon, in
// few actions; and the real systems break nothing in the same scenarios.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "fuzz/faults/systems/systems.h"
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

struct Faulty {
  std::string id;
  verify::Parts (*parts)();
  verify::System system;
  PropertyId property;
};
const Faulty kFaults[] = {
    {"F18", fuzz::instantiates_empty_traces, verify::System::kTraces, PropertyId::kP11},
    {"F19", fuzz::finalises_empty_bodies, verify::System::kTraces, PropertyId::kP11},
    {"F20", fuzz::keys_traces_by_address, verify::System::kTraces, PropertyId::kA3},
    {"F21", fuzz::records_collectives_each_time, verify::System::kTraces, PropertyId::kP10},
    {"F22", fuzz::ranks_decide_alone, verify::System::kTraces, PropertyId::kC6},
    {"F23", fuzz::never_frees_its_buffers, verify::System::kStabilizer, PropertyId::kP8},
    {"F24", fuzz::notes_the_recording_before_it_succeeds, verify::System::kStabilizer, PropertyId::kC3},
    {"F27", fuzz::drops_errors_of_teardown, verify::System::kStabilizer, PropertyId::kC4},
    {"F28", fuzz::copies_back_to_an_earlier_step, verify::System::kStabilizer, PropertyId::kS4},
    {"F29", fuzz::reuses_what_is_too_small, verify::System::kStabilizer, PropertyId::kS4},
    {"F30", fuzz::caches_after_a_failed_query, verify::System::kCache, PropertyId::kC1},
    {"F31", fuzz::never_makes_the_device_current, verify::System::kCache, PropertyId::kC1},
    {"F32", fuzz::keys_by_device_alone, verify::System::kCache, PropertyId::kC1},
    {"F33", fuzz::caches_busy_streams, verify::System::kCache, PropertyId::kC1},
    {"F35", fuzz::default_stream_needs_no_waiting, verify::System::kStreams, PropertyId::kS1},
    {"F36", fuzz::one_current_stream_for_all_threads, verify::System::kStreams, PropertyId::kS2},
    {"F38", fuzz::copies_in_on_the_default_stream, verify::System::kLauncher, PropertyId::kS1},
    {"F39", fuzz::waits_for_arrays_only, verify::System::kLauncher, PropertyId::kS3},
    {"F40", fuzz::frees_before_it_allocates, verify::System::kScratch, PropertyId::kS3},
    {"F41", fuzz::keeps_a_pointer_across_growing, verify::System::kScratch, PropertyId::kS1},
    {"F42", fuzz::moved_from_forgets_its_stream, verify::System::kScratch, PropertyId::kS3},
};

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

// Leaves out one action after another as long as `property` is still what breaks.
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

class EachFaultySystem : public testing::TestWithParam<Faulty> {};

TEST_P(EachFaultySystem, BreaksItsPropertyAndNoOtherInFewActions) {
  Machine machine;
  const verify::Parts faulty = GetParam().parts();
  const verify::Parts real = verify::real_parts();
  std::uint64_t found = 0;
  for (std::uint64_t i = 0; i < kScenarios; ++i) {
    const Actions actions = scenario_of(i, GetParam().system);
    const std::optional<PropertyId> broken = machine.run(faulty, actions, i + 1);
    if (!broken) continue;
    ASSERT_EQ(verify::property(*broken).name, verify::property(GetParam().property).name) << words(actions);
    if (++found > 3) continue;
    const Actions few = shrink(machine, faulty, actions, i + 1, *broken);
    EXPECT_LE(few.size(), kMostActions) << words(few);
    EXPECT_EQ(machine.run(real, few, i + 1), std::nullopt) << words(few);
  }
  EXPECT_GT(found, 3u);
}

INSTANTIATE_TEST_SUITE_P(Faults, EachFaultySystem, testing::ValuesIn(kFaults),
                         [](const testing::TestParamInfo<Faulty>& each) { return each.param.id; });

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
