#include "verify/subject/process_runner.h"

#include <fmt/format.h>

#include <utility>

#include "verify/language/foreign_kernels.h"
#include "verify/program/state_devices.h"
#include "verify/program/text.h"

namespace verify {

namespace {

constexpr int kStartsAgain = 3;
constexpr std::size_t kMostWithEnvironment = 4;  // starts; a process of AMD's has 200 MB

}  // namespace

ProcessRunner::ProcessRunner(ProcessOptions options) : options_(std::move(options)) {}

std::unique_ptr<SubjectProcess> ProcessRunner::make(const Start& start) const {
  std::vector<std::string> command = options_.command;
  // A subject that does not know these options can still run programs of one device without variables.
  if (start.devices > 1) command.insert(command.end(), {"--devices", fmt::format("{}", start.devices)});
  for (const auto& [name, value] : start.environment) {
    command.insert(command.end(), {"--environment", fmt::format("{}={}", name, value)});
  }
  std::shared_ptr<ForkServer> forks;
  if (options_.forks) forks = ForkServer::shared(command);
  return std::make_unique<SubjectProcess>(std::move(command), options_.timeouts, std::move(forks));
}

void ProcessRunner::end_oldest() {
  const auto line = processes_.find(with_environment_.front());
  for (const std::unique_ptr<SubjectProcess>& process : line->second) starts_ += process->starts();
  processes_.erase(line);
  with_environment_.pop_front();
}

ProcessRunner::Line& ProcessRunner::with(const Start& start) {
  const auto found = processes_.find(start);
  if (found != processes_.end()) return found->second;
  if (!start.environment.empty()) {
    if (with_environment_.size() == kMostWithEnvironment) end_oldest();
    with_environment_.push_back(start);
  }
  Line& line = processes_[start];
  line.push_back(make(start));
  return line;
}

SubjectProcess& ProcessRunner::next_of(Line& line) {
  if (line.size() > 1 && !line.front()->is_there()) {
    starts_ += line.front()->starts();
    line.pop_front();
  }
  return *line.front();
}

void ProcessRunner::fill(Line& line, const Start& start) {
  while (line.size() <= options_.spares) line.push_back(make(start));
  // A spare that cannot be launched reports that when it is to run a program.
  for (std::size_t i = 1; i < line.size(); ++i) static_cast<void>(line[i]->launch());
}

void ProcessRunner::start_afresh() {
  for (auto& [start, line] : processes_) {
    if (line.front()->runs() > 0) line.front()->stop();  // a process that has run nothing is fresh
  }
}

void ProcessRunner::another_layout() {
  for (auto& [start, line] : processes_) line.front()->another_layout();
}

hip::Status ProcessRunner::start() {
  SubjectProcess& process = next_of(with({}));
  hip::Status status = process.start();
  if (status && !hello_) hello_ = process.hello();
  return status;
}

pid_t ProcessRunner::process(Id devices, const Environment& environment) {
  return with({devices, environment}).front()->pid();
}

std::uint64_t ProcessRunner::starts() const {
  std::uint64_t starts = starts_;
  for (const auto& [start, line] : processes_) {
    for (const std::unique_ptr<SubjectProcess>& process : line) starts += process->starts();
  }
  return starts;
}

// A large graph is no hang. Nodes inside of children count once, however often the child is used.
static double seconds_for_nodes(const Program& program) {
  constexpr std::uint64_t kNodesASecond = 500;
  std::uint64_t nodes = 0;
  for (const Step& step : program.steps) {
    if (const auto* added = std::get_if<AddNode>(&step.command)) nodes += added->fan;
    nodes += std::holds_alternative<Enqueue>(step.command) ? step.repeat : 0;
  }
  return static_cast<double>(nodes / kNodesASecond);
}

RunResult ProcessRunner::run(const Program& program, const RunOptions& options, const AddressScript& script) {
  const Start start{options_.own_devices ? 1 : devices_needed(program), program.setting.environment};
  Line& line = with(start);
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
  fill(line, start);
  Request request{options_.strategy, options_.patcher, options_.layer, print_program(program), options, script, {}};
  for (const CodeObject* object : code_objects_of(program)) request.code_objects[object->id] = object->elf;
  RunResult result = process.run(request, seconds_for_nodes(program));
  // After a fault the device's answers mean nothing: the next program gets another process.
  if (!result.observation.notes.fault.empty() || result.observation.spoils_process) process.stop();
  return result;
}

}  // namespace verify
