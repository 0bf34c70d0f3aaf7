// verify::Subject: a runtime with a strategy under test, named RUNTIME:STRATEGY as on the command line.
//
// A last ":WORD" is a strategy only if it is a known one, so paths and commands may hold colons; a last ":lib=PATH" is
// the strategy of a third-party patcher (hip/patcher_abi.h). A runtime or a strategy that this build or this machine
// cannot run is listed with the reason and the remedy. The model and lib=PATH run in the caller's process; all other
// runtimes run in subject processes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hip/api/layer.h"
#include "hip/result/result.h"
#include "verify/execute/patcher.h"
#include "verify/execute/platform.h"
#include "verify/subject/process_runner.h"
#include "verify/systems/parts.h"

namespace verify {

struct SubjectName {
  std::string runtime = "model";
  StrategyKind strategy = StrategyKind::kPatch;
  std::string patcher{};  // the path of a library that stands in for the real patcher, or empty
  [[nodiscard]] std::string text() const;
};

// Whether the runtime needs a GPU of this machine.
[[nodiscard]] bool is_hardware(std::string_view runtime);
// An error names the unknown word and the valid ones.
[[nodiscard]] hip::Result<SubjectName> parse_subject(std::string_view text);

struct SubjectOptions {
  // Replaces the real patcher (strategy patch, and runtimes of this process, only).
  std::optional<PatcherFactory> patchers;
  // A layer around the table of any runtime. A subject process knows the layer by `layer_name` (docs/subjects.md).
  hip::ApiLayerFactory layer{};
  std::string layer_name{};
  double program_timeout = 10;  // seconds for one run in a subject process
  // Replaces the real systems that a program's actions drive (runtimes of this process only).
  std::optional<Parts> parts{};
};

class Subject {
 public:
  // Starts no process: start() does, and the first program does.
  static hip::Result<std::unique_ptr<Subject>> make(const SubjectName& name, const SubjectOptions& options = {});
  [[nodiscard]] Runner& runner() { return *runner_; }
  [[nodiscard]] const SubjectName& name() const { return name_; }
  // Whether its patcher is a library of commands (hip/patcher_abi.h, version 2).
  [[nodiscard]] bool takes_commands() const { return takes_commands_; }
  // Whether a program can bring the runtime down for the programs that follow in this process.
  [[nodiscard]] bool fragile() const { return platform_ != nullptr && name_.runtime != "model"; }
  // Whether starting its process takes as long as many programs, because the process waits for a GPU.
  [[nodiscard]] bool starts_slowly() const;
  // Starts the subject's process, if it has one, and learns the runtime's release. An error says why it cannot start.
  hip::Status start();
  // "7.2" of a runtime of AMD's, "nvidia-13.0" of NVIDIA's; empty for the model, and before start().
  [[nodiscard]] const std::string& release() const { return release_; }
  // The number of devices that a scenario of the systems may name, at most two. One where it is not known: for a
  // library in this process, and before start().
  [[nodiscard]] int system_devices() const;

 private:
  explicit Subject(const SubjectName& name) : name_(name) {}
  SubjectName name_;
  std::unique_ptr<Platform> platform_;  // of a runtime in this process
  std::unique_ptr<Platform> layered_;   // the same with a layer, if there is one
  std::unique_ptr<Runner> runner_;
  ProcessRunner* process_ = nullptr;  // the runner, when it is a ProcessRunner
  std::string release_;
  bool takes_commands_ = false;
  int devices_ = 1;  // of the process
};

struct SubjectListing {
  std::string name;  // "model:patch"
  std::string description;
  std::string unavailable;  // the reason why this machine cannot run it and the remedy, or empty
};
[[nodiscard]] std::vector<SubjectListing> list_subjects();

}  // namespace verify
