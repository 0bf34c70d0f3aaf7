// verify::ProcessRunner: subject processes as a runner.
//
// A process (a subject through a loader, ssh, srun, ...) is started when the first program comes, and again when it
// died, hung, or sent something that is no frame: each of these is part of that program's observation
// (Observation::death) and never ends the caller. A subject that cannot be started at all is an error of the harness
// (Observation::harness_error). A process in which the device faulted (Observation::notes) is replaced: the runtime's
// answers after a fault mean nothing, and a context that CUDA has lost never comes back.
//
// Programs with another number of devices or other environment variables run in another process, which stays beside the
// first: a program meets the same state whatever ran before it, and a start costs as much as tens of programs. A
// machine's own GPUs are a fixed number, so one process runs programs with any number of devices. start_afresh() and
// the destructor end processes; of those with environment variables the oldest ends when there are too many.
//
// A GPU takes two seconds to give a process its first context (docs/real-gpu.md), longer than a hundred programs take.
// Spare processes are launched ahead, so that a process that replaces another has its context already.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "verify/subject/fork_server.h"
#include "verify/subject/subject_process.h"

namespace verify {

struct ProcessOptions {
  std::vector<std::string> command;  // argv; found on PATH
  StrategyKind strategy = StrategyKind::kPatch;
  SubjectTimeouts timeouts{};
  // Runs after which a process is replaced: 6.4 keeps signals alive that it should destroy and becomes slower and
  // larger with each program (docs/agent.md).
  std::uint64_t runs_a_process = 4000;
  std::string patcher{};     // as SubjectName::patcher
  std::string layer{};       // a runtime fault by id, or empty
  bool own_devices = false;  // the subject has the machine's devices, however many a program uses
  std::size_t spares = 0;    // processes launched ahead beside each that runs programs
  bool forks = false;        // the command knows verify/subject/fork_server.h
};

class ProcessRunner final : public Runner {
 public:
  explicit ProcessRunner(ProcessOptions options);

  using Runner::run;
  [[nodiscard]] RunResult run(const Program& program, const RunOptions& options, const AddressScript& script) override;
  [[nodiscard]] bool contained() const override { return true; }
  [[nodiscard]] bool fails_below() const override { return hello_ && hello_->schedulable; }
  [[nodiscard]] bool starts_slowly() const override { return options_.spares > 0; }
  void start_afresh() override;
  void another_layout() override;

  // Starts the process for programs of one device if there is none. An error gives the reason.
  hip::Status start();
  // The greeting of the first process that started; there has to be one.
  [[nodiscard]] const Hello& hello() const { return hello_.value(); }
  // For programs with so many devices and these variables; -1 when there is none.
  [[nodiscard]] pid_t process(Id devices = 1, const Environment& environment = {});
  [[nodiscard]] std::uint64_t starts() const;  // of all processes

 private:
  // What a process is started with.
  struct Start {
    Id devices = 1;
    Environment environment{};
    auto operator<=>(const Start&) const = default;
  };
  // The first runs programs, the others are spares.
  using Line = std::deque<std::unique_ptr<SubjectProcess>>;
  Line& with(const Start& start);
  void end_oldest();  // of those with environment variables
  // Launches the missing spares.
  void fill(Line& line, const Start& start);
  // The process that runs the next program: a spare where the process that ran the last program is gone.
  SubjectProcess& next_of(Line& line);
  [[nodiscard]] std::unique_ptr<SubjectProcess> make(const Start& start) const;

  const ProcessOptions options_;
  std::map<Start, Line> processes_;
  std::deque<Start> with_environment_;  // those of processes_ that have variables, the oldest first
  std::optional<Hello> hello_;          // of the first that started
  std::uint64_t starts_ = 0;            // of processes that are dropped
};

}  // namespace verify
