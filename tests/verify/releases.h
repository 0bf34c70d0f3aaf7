// Shared by tests on AMD's releases: the programs that they read from files, and a judge of a subject on a release.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "judging.h"
#include "verify/quirks/quirk.h"
#include "verify/subject/subject.h"

namespace verify {

inline std::string text_in(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The program that shows the quirk.
inline Program regression(const Quirk& quirk) {
  return parsed(text_in(std::filesystem::path(FINDINGS) / quirk.id / "finding.program"));
}

inline std::uint64_t launches_in(const Program& program) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      program.steps, [](const Step& step) { return std::holds_alternative<Launch>(step.command); }));
}

// A judge of a subject on AMD's runtime of a release, with a fault of the catalogue around it if one is named.
class ReleaseJudge {
 public:
  ReleaseJudge(std::string_view release, StrategyKind strategy, std::string_view fault = {})
      : subject_(Subject::make({"rocm-soft@" + std::string(release), strategy}, with(fault))) {
    if (!subject_.ok() || !subject_.value()->start()) {
      ADD_FAILURE() << "no subject on " << release << ": " << (subject_.ok() ? "" : subject_.error().message);
      return;
    }
    judge_.emplace(subject_.value()->runner(), baseline_);
  }
  [[nodiscard]] Subject& subject() { return *subject_.value(); }
  // Whether the subject started: tests assert it before they use the judge.
  [[nodiscard]] bool ready() const { return judge_.has_value(); }
  Judge* operator->() { return &*judge_; }

 private:
  static SubjectOptions with(std::string_view fault) {
    SubjectOptions options;
    options.layer_name = fault;
    return options;
  }

  ModelPlatform platform_;
  Executor baseline_{platform_, StrategyKind::kRebuild};
  decltype(Subject::make({})) subject_;
  std::optional<Judge> judge_;
};

inline std::string release_name(const testing::TestParamInfo<std::string_view>& release) {
  return "Release" + std::string(1, release.param[0]) + release.param[2];
}

}  // namespace verify
