// A subject and its baseline on the model, and a judge over them: the set-up of most tests of the executor.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "programs.h"
#include "verify/execute/model_platform.h"
#include "verify/generate/generator.h"
#include "verify/oracle/judge.h"
#include "verify/properties/property.h"
#include "verify/run/executor.h"

namespace verify {

struct Bench {
  explicit Bench(StrategyKind strategy = StrategyKind::kPatch, PatcherFactory patchers = graph_patcher_factory())
      : subject(subject_platform, strategy, std::move(patchers)),
        baseline(baseline_platform, StrategyKind::kRebuild),
        judge(subject, baseline) {}

  ModelPlatform subject_platform, baseline_platform;
  Executor subject, baseline;
  Judge judge;
};

// The model with its table changed: a runtime that is wrong in one thing. Systems run on the changed table too.
class OtherTable final : public ModelPlatform {
 public:
  explicit OtherTable(void (*change)(hip::Api&)) : api_(ModelPlatform::api()) { change(api_); }
  [[nodiscard]] const hip::Api& api() const override { return api_; }
  [[nodiscard]] std::uint64_t steps() const override { return 0; }  // the model's cost is not the changed runtime's
  [[nodiscard]] Platform& for_systems() override { return *this; }

 private:
  hip::Api api_;
};

// A subject on the changed model, and its baseline on the model as it is.
struct OtherBench {
  explicit OtherBench(void (*change)(hip::Api&), StrategyKind strategy = StrategyKind::kPatch)
      : subject_platform(change),
        subject(subject_platform, strategy),
        baseline(baseline_platform, StrategyKind::kRebuild),
        judge(subject, baseline) {}

  OtherTable subject_platform;
  ModelPlatform baseline_platform;
  Executor subject, baseline;
  Judge judge;
};

inline std::size_t index_of(PropertyId id) {
  return static_cast<std::size_t>(id);
}

// "A1 P3": the properties that a judgement calls broken, most specific first.
inline std::string broken_names(const Judgement& judgement) {
  std::string names;
  for (const PropertyId id : judgement.broken) {
    names += (names.empty() ? "" : " ") + std::string(property(id).name);
  }
  return names;
}

// All that a failing test needs to show.
inline std::string described(const Judgement& judgement) {
  std::string text = "verdict " + std::to_string(static_cast<int>(judgement.verdict)) + " " + judgement.reason +
                     "\nbroken: " + broken_names(judgement);
  for (const Violation& v : judgement.violations) {
    text += "\n" + std::string(property(v.property).name) + " step " + std::to_string(v.step) + " " + v.where +
            ": expected " + v.expected + ", observed " + v.observed;
  }
  for (const Difference& d : judgement.differences) {
    text += "\n" + d.where + " at '" + d.command + "': expected " + d.expected + ", observed " + d.observed;
  }
  return text;
}

inline testing::AssertionResult in_agreement(const Judgement& judgement) {
  if (judgement.verdict == VerdictKind::kAgree) return testing::AssertionSuccess();
  return testing::AssertionFailure() << described(judgement) << "\n";
}

// Judges the first programs of a campaign with the strategy: all of them have to agree.
inline void no_generated_program_can_tell_from_recording_again(StrategyKind strategy, std::uint64_t seed,
                                                               std::uint64_t programs,
                                                               const GeneratorOptions& options = {}) {
  Bench bench(strategy);
  for (std::uint64_t index = 0; index < programs; ++index) {
    const Program program = campaign_program(seed, index, options);
    ASSERT_TRUE(in_agreement(bench.judge.judge(program, {.schedule_seed = index % 3, .isolation = index % 8 == 0})))
        << print_program(program);
  }
}

inline constexpr std::span<const StrategyKind> kStrategies = kStrategyKinds;

// The strategies of a graph's user.
inline constexpr StrategyKind kUsersStrategies[] = {StrategyKind::kPatch, StrategyKind::kUpdate,
                                                    StrategyKind::kRebuild};

// The program is valid and agrees under each of the strategies.
inline void agrees_under_strategies(const Program& program, const JudgeOptions& options = {},
                                    std::span<const StrategyKind> strategies = kUsersStrategies) {
  ASSERT_EQ(flaw(program), "");
  for (const StrategyKind strategy : strategies) {
    EXPECT_TRUE(in_agreement(Bench(strategy).judge.judge(program, options)))
        << strategy_name(strategy) << " in order " << options.schedule_seed;
  }
}

// The program agrees under the strategies of a graph's user, built otherwise and with each call failing.
inline void agrees_whatever_fails(const Program& program) {
  agrees_under_strategies(program, {.every_call_fails = true, .however_built = true});
}

// A program in text agrees under each strategy, in every order, on its own, built otherwise and with each call failing.
inline void agrees_under_every_strategy_and_failure(const std::string& commands) {
  agrees_under_strategies(program_of(commands),
                          {.isolation = true, .every_call_fails = true, .however_built = true, .every_order = true},
                          kStrategies);
}

// Runs a program in text on the model, under the strategy that patches, and returns the observation.
inline Observation trace_of(std::string_view commands) {
  const Program program = program_of(commands);
  EXPECT_EQ(flaw(program), "");
  Bench bench;
  return bench.subject.run(program, {}).observation;
}

// Returns the status of the program's last command, with its other answers.
inline StepStatus last_status(std::string_view commands) {
  return trace_of(commands).statuses.back();
}

}  // namespace verify
