#include "verify/subject/process_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "verify/program/foreign_kernels.h"
#include "verify/program/state_devices.h"
#include "verify/program/text.h"

namespace verify {

namespace {

constexpr int kStartsAgain = 3;

}  // namespace

ProcessRunner::ProcessRunner(ProcessOptions options) : options_(std::move(options)) {}

SubjectProcess& ProcessRunner::with(Id devices) {
  const auto found = processes_.find(devices);
  if (found != processes_.end()) return found->second;
  std::vector<std::string> command = options_.command;
  // A subject that knows nothing of devices is asked for one.
  if (devices > 1) command.insert(command.end(), {"--devices", fmt::format("{}", devices)});
  return processes_.try_emplace(devices, std::move(command), options_.timeouts).first->second;
}

void ProcessRunner::start_afresh() {
  for (auto& [devices, process] : processes_) {
    if (process.runs() > 0) process.stop();  // one that has run nothing is as fresh as its successor
  }
}

hip::Status ProcessRunner::start() {
  return with(1).start();
}

const Hello& ProcessRunner::hello() const {
  return processes_.at(1).hello().value();
}

pid_t ProcessRunner::process(Id devices) {
  return with(devices).pid();
}

std::uint64_t ProcessRunner::starts() const {
  std::uint64_t starts = 0;
  for (const auto& [devices, process] : processes_) starts += process.starts();
  return starts;
}

bool ProcessRunner::has_started() const {
  return std::ranges::any_of(processes_, [](const auto& process) { return process.second.hello().has_value(); });
}

RunResult ProcessRunner::run(const Program& program, const RunOptions& options, const AddressScript& script) {
  SubjectProcess& process = with(devices_needed(program));
  if (process.runs() >= options_.runs_a_process) process.stop();
  hip::Status started = process.start();
  // What has started before may have been killed on its way up.
  for (int again = 0; !started && has_started() && again < kStartsAgain; ++again) started = process.start();
  if (!started) {
    RunResult result;
    result.observation.harness_error = started.error().message;
    return result;
  }
  Request request{options_.strategy, options_.patcher, options_.layer, print_program(program), options, script, {}};
  for (const KernelSpec* kernel : foreign_kernels_of(program)) {
    request.code_objects[kernel->object->id] = kernel->object->elf;
  }
  RunResult result = process.run(request);
  // A device that faulted answers nothing right any more: the next program gets another process.
  if (!result.observation.notes.fault.empty()) process.stop();
  return result;
}

}  // namespace verify
