// A subject and its baseline on the model, and a judge over them; what most tests of the executor begin with.
#pragma once

#include <string>
#include <vector>

#include "programs.h"
#include "verify/execute/model_platform.h"
#include "verify/oracle/judge.h"
#include "verify/properties/property.h"

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

inline std::size_t index_of(PropertyId id) {
  return static_cast<std::size_t>(id);
}

// "A1 P3": what a judgement says is broken, most specific first.
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

}  // namespace verify
