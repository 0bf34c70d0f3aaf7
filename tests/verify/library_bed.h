// Command buffers of a user (version 2 of hip/patcher_abi.h) on the model, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "verify/execute/model_platform.h"
#include "verify/oracle/judge.h"
#include "verify/run/executor.h"
#include "verify/subject/subject.h"

namespace verify {

// A subject on the model with a library as its command buffer, and the baseline.
class LibraryBed {
 public:
  explicit LibraryBed(const std::string& library) {
    const hip::Result<SubjectName> name = parse_subject("model:lib=" + library);
    hip::Result<std::unique_ptr<Subject>> made = Subject::make(name.value(), {});
    if (!made) {
      ADD_FAILURE() << made.error().message;
      return;
    }
    subject_ = std::move(made).value();
    EXPECT_TRUE(subject_->start());
  }
  Judgement judge(const Program& program, const JudgeOptions& options = {}) {
    return Judge(subject_->runner(), baseline_).judge(program, options);
  }
  Observation run(const Program& program) { return subject_->runner().run(program, {}).observation; }

 private:
  ModelPlatform platform_;
  Executor baseline_{platform_, StrategyKind::kRebuild};
  std::unique_ptr<Subject> subject_;
};

using Steps = std::array<std::uint64_t, 5>;  // launched, set, updated, recorded, refused

}  // namespace verify
