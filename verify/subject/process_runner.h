// verify::ProcessRunner: a subject process as a runner.
//
// Starts a command (a subject through a loader, ssh, srun, ...) when the first program comes, speaks
// verify/subject/protocol.h with it, and starts it again when it died, hung, or sent something that is no frame: each
// of these is part of that program's trace (Trace::death), never the end of whoever runs programs. A subject that
// cannot be started at all is an error of the harness (Trace::harness_error), with the last lines of its standard
// error.
//
// Owns the process: it is killed, with its process group, by the destructor and by start_afresh(). After a fork each
// side has a process of its own: the child forgets the parent's and starts another when it first needs one. Standard
// error of the subject goes to an unnamed file that is cut when it passes kMaxErrorText.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "verify/subject/protocol.h"

namespace verify {

struct ProcessOptions {
  std::vector<std::string> command;  // argv; found on PATH
  StrategyKind strategy = StrategyKind::kPatch;
  double program_timeout = 10;  // seconds for one run of a program
  // Runs after which the process is replaced: 5.7 keeps signals alive that it should destroy and becomes slower and
  // larger with each program (docs/agent.md).
  std::uint64_t runs_a_process = 4000;
  double start_timeout = 60;  // seconds until the greeting; the first start on a machine may compile AMD's own kernels
  std::string patcher{};      // as SubjectName's
  std::string layer{};        // a runtime fault by id, or empty
};

inline constexpr std::size_t kMaxErrorText = std::size_t{1} << 20;

class ProcessRunner final : public Runner {
 public:
  explicit ProcessRunner(ProcessOptions options);
  ~ProcessRunner() override;

  using Runner::run;
  [[nodiscard]] RunResult run(const Program& program, const RunOptions& options, const AddressScript& script) override;
  [[nodiscard]] bool contained() const override { return true; }
  void start_afresh() override { stop(); }

  // Starts the process if there is none. An error says what became of it.
  hip::Status start();
  [[nodiscard]] const std::optional<Hello>& hello() const { return hello_; }
  // Starts the process if there is none, for programs with that many devices; another one where it has fewer or more:
  // what a program meets is the same whatever was run before it.
  hip::Status start_with(Id devices);
  [[nodiscard]] pid_t process() const { return pid_; }  // -1 when there is none
  [[nodiscard]] std::uint64_t starts() const { return starts_; }

 private:
  struct Received {
    std::string body;
    std::string death;  // instead of a body
    Throe throe;
  };
  [[nodiscard]] std::vector<std::string> command_line() const;
  hip::Status spawn();
  Received receive(double timeout_seconds);
  std::string ended(const std::string& how);
  [[nodiscard]] std::string last_errors() const;
  void cut_errors() const;
  void stop();
  void forget();

  ProcessOptions options_;
  pid_t pid_ = -1;
  pid_t owner_ = -1;  // the process that started it
  int to_ = -1, from_ = -1, errors_ = -1;
  FrameReader reader_;
  std::optional<Hello> hello_;
  std::uint64_t starts_ = 0, runs_ = 0;
  Id devices_ = 1;  // that the process was started with
};

}  // namespace verify
