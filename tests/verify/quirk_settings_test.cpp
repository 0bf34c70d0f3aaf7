// Quirks of a setting of the runtime: they count in programs that state its variables.
#include <gtest/gtest.h>

#include <utility>

#include "judging.h"
#include "verify/quirks/quirk.h"

namespace verify {
namespace {

constexpr Quirk launches_under(std::string_view environment) {
  Quirk quirk{};
  quirk.id = "made-up";
  quirk.releases = {hip::Release::k7_2};
  quirk.strategy = StrategyKind::kPatch;
  quirk.triggers = "op=launch";
  quirk.effects = "bytes";
  quirk.environment = environment;
  return quirk;
}

// A quirk of a setting of the runtime explains nothing in programs that do not state it, and is steered around in those
// that do.
TEST(Quirks, AQuirkOfASettingShowsOnlyInProgramsThatStateIt) {
  const Quirk quirk = launches_under("AMD_DIRECT_DISPATCH=0 GPU_MAX_HW_QUEUES=2");
  EXPECT_EQ(flaw_of(quirk).value_or(""), "");
  EXPECT_NE(flaw_of(launches_under("AMD_DIRECT_DISPATCH")), std::nullopt);
  const QuirkSet quirks("7.2", {&quirk, 1});
  Program program = program_of("graph g0\nempty g0.n0\ninstantiate e0 g0\nlaunch e0 s0\n");
  const Divergence other_bytes{program.steps.size(), Effect::kBytes, 0};
  const auto shows = [&](Environment environment) {
    program.setting.environment = std::move(environment);
    State state;
    const Command& launch = program.steps.back().command;
    for (std::size_t i = 0; i + 1 < program.steps.size(); ++i) state.apply(program.steps[i].command);
    const bool avoided =
        quirks.triggered(state, launch, StrategyKind::kPatch, 0, program.setting.environment) != nullptr;
    EXPECT_EQ(quirks.explain(program, StrategyKind::kPatch, other_bytes) != nullptr, avoided);
    EXPECT_EQ(quirks.met_by(program, StrategyKind::kPatch).contains(&quirk), avoided);
    return avoided;
  };
  EXPECT_FALSE(shows({}));
  EXPECT_FALSE(shows({{"AMD_DIRECT_DISPATCH", "0"}}));
  EXPECT_FALSE(shows({{"AMD_DIRECT_DISPATCH", "1"}, {"GPU_MAX_HW_QUEUES", "2"}}));
  EXPECT_TRUE(shows({{"AMD_DIRECT_DISPATCH", "0"}, {"GPU_MAX_HW_QUEUES", "2"}, {"HIP_HOST_COHERENT", "1"}}));
}

}  // namespace
}  // namespace verify
