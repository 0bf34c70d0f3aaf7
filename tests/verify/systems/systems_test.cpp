// The systems of hip/ against their models: stateful RapidCheck tests of the real ones on the host model, every call
// failing in turn, and a bench that notices faults (fuzz/faults/systems has more of them).
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/state.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>

#include "verify/execute/model_platform.h"
#include "verify/generate/scenario.h"
#include "verify/properties/property.h"
#include "verify/systems/bench.h"
#include "verify/systems/streams_model.h"

namespace {

using verify::System;
using verify::SystemAction;
using verify::SystemsBench;
using verify::SystemVerb;

// One of RapidCheck's own choices at a time, so that it shrinks them.
struct PropertyChoices final : verify::Choices {
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) override {
    return bound < 2 ? 0 : *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, bound));
  }
};

// The bench on a fresh model.
class Machine {
 public:
  explicit Machine(std::uint64_t schedule_seed, const verify::Parts& parts)
      : platform_({.devices = verify::kScenarioDevices, .identity = true}) {
    platform_.enter();
    platform_.begin(schedule_seed);
    bench_.emplace(platform_, parts);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    static_cast<void>(bench_->finish());
    bench_.reset();
    platform_.leave();
  }
  [[nodiscard]] SystemsBench& bench() { return *bench_; }
  [[nodiscard]] verify::ModelPlatform& platform() { return platform_; }

 private:
  verify::ModelPlatform platform_;
  std::optional<SystemsBench> bench_;
};

std::string words(const std::vector<verify::Violation>& violations) {
  std::string text;
  for (const verify::Violation& v : violations) {
    text.append(verify::property(v.property).name).append(" ").append(v.where);
    text.append(": expected ").append(v.expected).append(", observed ").append(v.observed).append("\n");
  }
  return text;
}

std::string words(const std::vector<SystemAction>& actions) {
  std::string text;
  for (const SystemAction& action : actions) text += verify::print_action(action) + "\n";
  return text;
}

std::string run_all(Machine& machine, const std::vector<SystemAction>& actions) {
  for (const SystemAction& action : actions) {
    const SystemsBench::Outcome outcome = machine.bench().run(action);
    if (!outcome.violations.empty()) return verify::print_action(action) + ": " + words(outcome.violations);
  }
  return words(machine.bench().finish().violations);
}

// ---- stateful properties

class Act final : public rc::state::Command<verify::SystemsState, Machine> {
 public:
  explicit Act(const SystemAction& action) : action_(action) {}
  void checkPreconditions(const verify::SystemsState& state) const override { RC_PRE(!state.check(action_)); }
  void apply(verify::SystemsState& state) const override { state.apply(action_); }
  void run(const verify::SystemsState&, Machine& machine) const override {
    const SystemsBench::Outcome outcome = machine.bench().run(action_);
    if (!outcome.violations.empty()) RC_FAIL(words(outcome.violations));
  }
  void show(std::ostream& out) const override { out << verify::print_action(action_); }

 private:
  SystemAction action_;
};

constexpr int kReleases[] = {70253211, 60443483};  // as hipRuntimeGetVersion answers; 0: none

// The real systems with the quirks of the release, or with no quirks (version 0).
const verify::Parts& parts_of(int version) {
  static std::map<int, verify::Parts> all;
  const auto known = all.find(version);
  if (known != all.end()) return known->second;
  return all[version] =
             verify::real_parts(version == 0 ? hip::ReleaseQuirks() : hip::ReleaseQuirks::of_version(version));
}

struct EachSystem : testing::TestWithParam<std::tuple<System, int>> {
  static System system() { return std::get<0>(GetParam()); }
  static const verify::Parts& parts() { return parts_of(std::get<1>(GetParam())); }
  void holds_against_its_model(const verify::ScenarioOptions& options) {
    using Command = rc::state::Command<verify::SystemsState, Machine>;
    const bool holds = rc::check([&] {
      Machine machine(*rc::gen::inRange<std::uint64_t>(0, 1000), parts());
      const auto next = [&](const verify::SystemsState& state) {
        return rc::gen::exec([state, options]() -> std::shared_ptr<const Command> {
          PropertyChoices choices;
          return std::make_shared<Act>(verify::draw_action(choices, system(), state, options));
        });
      };
      rc::state::check(verify::SystemsState(), machine, next);
      const SystemsBench::Outcome end = machine.bench().finish();
      if (!end.violations.empty()) RC_FAIL(words(end.violations));
    });
    EXPECT_TRUE(holds);
  }
};

TEST_P(EachSystem, DoesWhatItsModelSays) {
  holds_against_its_model({.size = 0, .devices = 2, .failures = false});
}

TEST_P(EachSystem, DoesWhatItsModelSaysWhenCallsFail) {
  holds_against_its_model({.size = 0, .devices = 2, .failures = true});
}

// Every call that a scenario makes fails in turn, whatever function it is; the failure is reported, nothing is left
// behind, and the following actions are right.
TEST_P(EachSystem, ReportsEveryFailingCallLeavesNothingBehindAndGoesOn) {
  std::uint64_t fired = 0;
  const std::uint64_t seeds = std::get<1>(GetParam()) == 0 ? 60 : 20;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    verify::RandomChoices choices{rc::Random(seed)};
    const std::vector<SystemAction> actions =
        verify::draw_scenario(choices, system(), {.size = 12, .devices = 2, .failures = false});
    std::array<std::uint64_t, verify::kFunctions> calls{};
    {
      Machine machine(seed, parts());
      ASSERT_EQ(run_all(machine, actions), "") << words(actions);
      for (std::size_t i = 0; i < verify::kFunctions; ++i) {
        calls[i] = machine.bench().interposer().calls_of(static_cast<verify::Function>(i));
      }
    }
    for (std::size_t i = 0; i < verify::kFunctions; ++i) {
      for (std::uint32_t nth = 1; nth <= calls[i]; ++nth) {
        Machine machine(seed, parts());
        machine.bench().interposer().fail(static_cast<verify::Function>(i), nth);
        EXPECT_EQ(run_all(machine, actions), "")
            << "call " << nth << " of " << verify::function_name(static_cast<verify::Function>(i)) << " in\n"
            << words(actions);
        fired += machine.bench().failures_fired();
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(fired, 100u);
}

std::string name_of(const testing::TestParamInfo<std::tuple<System, int>>& each) {
  constexpr const char* kNames[] = {"StreamCache",       "Streams", "ScratchBuffer",  "Launcher",
                                    "AddressStabilizer", "Traces",  "RemappedBuffers"};
  const auto [system, version] = each.param;
  const std::string name = kNames[static_cast<std::size_t>(system)];
  return version == 0 ? name
                      : name + "Of" + std::to_string(version / 10000000) + std::to_string(version / 100000 % 100);
}
INSTANTIATE_TEST_SUITE_P(Systems, EachSystem,
                         testing::Combine(testing::Values(System::kCache, System::kStreams, System::kScratch,
                                                          System::kLauncher, System::kStabilizer, System::kTraces,
                                                          System::kRemapper),
                                          testing::Values(0)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(WithQuirks, EachSystem,
                         testing::Combine(testing::Values(System::kScratch, System::kLauncher, System::kStabilizer),
                                          testing::ValuesIn(kReleases)),
                         name_of);

// An H200 and 6.4 answer so.
TEST(StreamsModel, AWaitForAnEventThatMayBeDoneStandsBehindNoOtherWork) {
  verify::StreamsModel model;
  model.make(1, 0, true);
  model.record(0, 0);
  static_cast<void>(model.work(0));
  model.wait(1, 0);
  EXPECT_EQ(model.waited_for(1), 0u);
  model.record(0, 0);
  model.wait(1, 0);
  EXPECT_EQ(model.waited_for(1), verify::StreamsModel::bit(0));
}

std::int32_t injectable(std::string_view name) {
  const auto functions = verify::injectable_functions();
  return static_cast<std::int32_t>(std::find(functions.begin(), functions.end(), name) - functions.begin());
}

// Growing could neither give up the old memory nor the new one, and of giving both back the second half fails.
TEST(ScratchBuffers, AReleaseThatFailsLeavesTheBufferAsItWasWhateverElseItHolds) {
  const auto device = injectable("hipGetDevice"), free = injectable("hipFreeAsync");
  Machine machine(0, parts_of(0));
  EXPECT_EQ(run_all(machine, {{SystemVerb::kScratchReserve, {0, 1}},
                              {SystemVerb::kInject, {free, 1}},
                              {SystemVerb::kInject, {device, 3}},
                              {SystemVerb::kScratchPieces, {0, 1, 1}},
                              {SystemVerb::kInject, {device, 2}},
                              {SystemVerb::kScratchRelease, {0}},
                              {SystemVerb::kScratchRelease, {0}}}),
            "");
  EXPECT_EQ(machine.bench().failures_fired(), 3u);
}

// Freeing waits for the device where it succeeds; a command's order must not hang on that.
TEST(AddressStabilizers, AStepBehindAReleaseThatFailedIsOrderedBehindTheStepsBefore) {
  const auto free = injectable("hipFree");
  Machine machine(0, parts_of(0));
  EXPECT_EQ(run_all(machine, {{SystemVerb::kStableBuffer, {0, 3, 725, 0}},
                              {SystemVerb::kStableStep, {1, 0, 0}},
                              {SystemVerb::kInject, {free, 1}},
                              {SystemVerb::kStableRelease, {1}},
                              {SystemVerb::kStableStep, {1, 1, 0}}}),
            "");
  EXPECT_EQ(machine.bench().failures_fired(), 1u);
}

// ---- the form of scenarios

TEST(Scenarios, PrintAndParseToThemselves) {
  EXPECT_TRUE(rc::check([] {
    verify::RandomChoices choices{rc::Random(*rc::gen::arbitrary<std::uint64_t>())};
    const auto system = static_cast<System>(*rc::gen::inRange<std::size_t>(0, verify::kSystems));
    for (const SystemAction& action : verify::draw_scenario(choices, system, {})) {
      std::istringstream line(verify::print_action(action));
      std::vector<std::string> split;
      for (std::string word; line >> word;) split.push_back(word);
      const std::optional<SystemVerb> verb = verify::verb_of(split.at(0), split.at(1));
      RC_ASSERT(verb.has_value());
      const std::vector<std::string_view> fields(split.begin() + 2, split.end());
      std::string error;
      RC_ASSERT(verify::parse_action(*verb, fields, &error) == action);
    }
  }));
}

TEST(Scenarios, UseEveryVerb) {
  std::array<int, verify::kSystemVerbs> seen{};
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    verify::RandomChoices choices{rc::Random(seed)};
    for (const SystemAction& action :
         verify::draw_scenario(choices, static_cast<System>(seed % verify::kSystems), {})) {
      ++seen[static_cast<std::size_t>(action.verb)];
    }
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_GT(seen[i], 0) << verify::describe(static_cast<SystemVerb>(i)).words;
  }
}

TEST(Scenarios, AreValidWhereTheyAreDrawnAndRefusedWhereTheyCannotStand) {
  verify::SystemsState state;
  EXPECT_TRUE(state.check(SystemAction{SystemVerb::kCacheRelease, {0}}));
  EXPECT_FALSE(state.check(SystemAction{SystemVerb::kCacheAcquire, {0, 0, 0, 0}}));
  EXPECT_TRUE(state.check(SystemAction{SystemVerb::kCacheAcquire, {0, 0, 2, 0}}));
  state.apply(SystemAction{SystemVerb::kCacheAcquire, {0, 0, 0, 0}});
  EXPECT_TRUE(state.check(SystemAction{SystemVerb::kCacheAcquire, {0, 0, 0, 0}}));
  EXPECT_FALSE(state.check(SystemAction{SystemVerb::kCacheRelease, {0}}));
  EXPECT_TRUE(state.check(SystemAction{SystemVerb::kStreamLeave, {}}));
  EXPECT_TRUE(state.check(SystemAction{SystemVerb::kStreamWork, {1}}));
  EXPECT_FALSE(state.check(SystemAction{SystemVerb::kStreamWork, {0}}));
}

TEST(Scenarios, BadTextIsRefusedWithAReason) {
  std::string error;
  const std::array<std::string_view, 1> none{"x"};
  EXPECT_FALSE(verify::parse_action(SystemVerb::kCacheRelease, none, &error));
  EXPECT_NE(error.find("cache release"), std::string::npos);
  EXPECT_FALSE(verify::parse_action(SystemVerb::kCacheRelease, {}, &error));
  const std::array<std::string_view, 2> function{"hipNothing", "nth=1"};
  EXPECT_FALSE(verify::parse_action(SystemVerb::kInject, function, &error));
  EXPECT_FALSE(verify::verb_of("cache", "burn"));
}

}  // namespace
