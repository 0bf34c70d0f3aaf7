#include "verify/subject/process_runner.h"

#include <fmt/format.h>

#include <utility>

#include "verify/language/foreign_kernels.h"
#include "verify/program/state_devices.h"
#include "verify/program/text.h"

namespace verify {

namespace {

constexpr int kStartsAgain = 3;

}  // namespace

ProcessRunner::ProcessRunner(ProcessOptions options) : options_(std::move(options)) {}

std::unique_ptr<SubjectProcess> ProcessRunner::make(Id devices) const {
  std::vector<std::string> command = options_.command;
  // A subject that does not know the option `--devices` can still run programs of one device.
  if (devices > 1) command.insert(command.end(), {"--devices", fmt::format("{}", devices)});
  return std::make_unique<SubjectProcess>(std::move(command), options_.timeouts);
}

ProcessRunner::Line& ProcessRunner::with(Id devices) {
  Line& line = processes_[devices];
  if (line.empty()) line.push_back(make(devices));
  return line;
}

SubjectProcess& ProcessRunner::next_of(Line& line) {
  if (line.size() > 1 && !line.front()->is_there()) {
    starts_ += line.front()->starts();
    line.pop_front();
  }
  return *line.front();
}

void ProcessRunner::fill(Line& line, Id devices) {
  while (line.size() <= options_.spares) line.push_back(make(devices));
  // A spare that cannot be launched reports that when it is to run a program.
  for (std::size_t i = 1; i < line.size(); ++i) static_cast<void>(line[i]->launch());
}

void ProcessRunner::start_afresh() {
  for (auto& [devices, line] : processes_) {
    if (line.front()->runs() > 0) line.front()->stop();  // a process that has run nothing is fresh
  }
}

hip::Status ProcessRunner::start() {
  SubjectProcess& process = next_of(with(1));
  hip::Status status = process.start();
  if (status && !hello_) hello_ = process.hello();
  return status;
}

pid_t ProcessRunner::process(Id devices) {
  return with(devices).front()->pid();
}

std::uint64_t ProcessRunner::starts() const {
  std::uint64_t starts = starts_;
  for (const auto& [devices, line] : processes_) {
    for (const std::unique_ptr<SubjectProcess>& process : line) starts += process->starts();
  }
  return starts;
}

// A large graph is no hang: the agent sleeps before many of its packets where it draws a schedule.
static double seconds_for_nodes(const Program& program) {
  constexpr std::uint64_t kNodesASecond = 500;
  std::uint64_t nodes = 0;
  for (const Step& step : program.steps) {
    const auto* added = std::get_if<AddNode>(&step.command);
    nodes += added == nullptr ? 0 : added->fan;
  }
  return static_cast<double>(nodes / kNodesASecond);
}

RunResult ProcessRunner::run(const Program& program, const RunOptions& options, const AddressScript& script) {
  const Id devices = options_.own_devices ? 1 : devices_needed(program);
  Line& line = with(devices);
  if (line.front()->runs() >= options_.runs_a_process) line.front()->stop();
  SubjectProcess& process = next_of(line);
  hip::Status started = process.start();
  // A process of this subject has started before, so this one may have been killed during its start: try again.
  for (int again = 0; !started && hello_ && again < kStartsAgain; ++again) started = process.start();
  if (!started) {
    RunResult result;
    result.observation.harness_error = started.error().message;
    return result;
  }
  if (!hello_) hello_ = process.hello();
  fill(line, devices);
  Request request{options_.strategy, options_.patcher, options_.layer, print_program(program), options, script, {}};
  for (const KernelSpec* kernel : foreign_kernels_of(program)) {
    request.code_objects[kernel->object->id] = kernel->object->elf;
  }
  RunResult result = process.run(request, seconds_for_nodes(program));
  // After a fault the device's answers mean nothing: the next program gets another process.
  if (!result.observation.notes.fault.empty()) process.stop();
  return result;
}

}  // namespace verify
