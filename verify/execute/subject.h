// verify::Subject: what is under test, named RUNTIME:STRATEGY as on the command line.
//
// A last ":WORD" is a strategy only if it is a known one, so paths and commands may hold colons. A runtime or a
// strategy that this build or this machine cannot run is listed with the reason and the remedy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hip/result/result.h"
#include "verify/execute/executor.h"

namespace verify {

struct SubjectName {
  std::string runtime = "model";
  StrategyKind strategy = StrategyKind::kPatch;
  [[nodiscard]] std::string text() const;
};

// An error names what is wrong and lists what there is.
[[nodiscard]] hip::Result<SubjectName> parse_subject(std::string_view text);

// A platform and an executor over it. `patchers`, if given, replaces the real patcher (strategy patch only).
class Subject {
 public:
  static hip::Result<std::unique_ptr<Subject>> make(const SubjectName& name,
                                                    std::optional<PatcherFactory> patchers = {});
  [[nodiscard]] Executor& executor() { return executor_; }
  [[nodiscard]] const SubjectName& name() const { return name_; }
  // Whether a program can bring the runtime down for those that follow in this process.
  [[nodiscard]] bool fragile() const { return name_.runtime != "model"; }

 private:
  Subject(const SubjectName& name, std::unique_ptr<Platform> platform, PatcherFactory patchers)
      : name_(name), platform_(std::move(platform)), executor_(*platform_, name.strategy, std::move(patchers)) {}
  SubjectName name_;
  std::unique_ptr<Platform> platform_;
  Executor executor_;
};

struct SubjectListing {
  std::string name;  // "model:patch"
  std::string description;
  std::string unavailable;  // why this machine cannot run it and what to do, or empty
};
[[nodiscard]] std::vector<SubjectListing> list_subjects();

}  // namespace verify
