#include "fuzz/isolate.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "fuzz/finding.h"
#include "fuzz/kernel_text.h"
#include "verify/execute/death.h"
#include "verify/execute/library_place.h"
#include "verify/oracle/cause.h"
#include "verify/subject/process.h"

namespace fuzz {

namespace {

using nlohmann::json;
using verify::Judgement;

std::string encode(const Judgement& judgement) {
  json broken = json::array(), violations = json::array(), differences = json::array();
  for (const verify::PropertyId id : judgement.broken) broken.push_back(static_cast<int>(id));
  for (const verify::Violation& v : judgement.violations) {
    violations.push_back({static_cast<int>(v.property), v.step, v.where, v.expected, v.observed});
  }
  for (const verify::Difference& d : judgement.differences) {
    differences.push_back({d.where, d.command, d.expected, d.observed, static_cast<int>(d.place), d.buffer});
  }
  return json{{"verdict", static_cast<int>(judgement.verdict)},
              {"reason", judgement.reason},
              {"broken", broken},
              {"violations", violations},
              {"differences", differences},
              {"steps", judgement.steps}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

Judgement decode(const json& data) {
  Judgement judgement;
  judgement.verdict = static_cast<verify::VerdictKind>(data.at("verdict").get<int>());
  judgement.reason = data.at("reason").get<std::string>();
  for (const json& id : data.at("broken")) judgement.broken.push_back(static_cast<verify::PropertyId>(id.get<int>()));
  for (const json& v : data.at("violations")) {
    judgement.violations.push_back({static_cast<verify::PropertyId>(v.at(0).get<int>()), v.at(1).get<std::size_t>(),
                                    v.at(2).get<std::string>(), v.at(3).get<std::string>(),
                                    v.at(4).get<std::string>()});
  }
  for (const json& d : data.at("differences")) {
    judgement.differences.push_back(
        {d.at(0).get<std::string>(), d.at(1).get<std::string>(), d.at(2).get<std::string>(), d.at(3).get<std::string>(),
         static_cast<verify::Difference::Place>(d.at(4).get<int>()), d.at(5).get<std::uint32_t>()});
  }
  judgement.steps = data.at("steps").get<verify::StepCounts>();
  return judgement;
}

// Reads everything until the other end closes; false when the time is up.
bool receive(int fd, double timeout_seconds, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_seconds);
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd poller{fd, POLLIN, 0};
    if (poll(&poller, 1, static_cast<int>(left.count())) <= 0) continue;
    char buffer[4096];
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

Judgement judge_here(Setup& setup, const verify::Program& program, const verify::JudgeOptions& options) {
  const KernelTextToErrors text;
  return setup.judge().judge(program, options);
}

struct ChildResult {
  std::optional<Judgement> judgement;
  verify::Death death;  // when there is no judgement
};

ChildResult judge_in_child(Setup& setup, const verify::Program& program, const verify::JudgeOptions& options,
                           double timeout_seconds) {
  verify::LibraryPlace::share();
  int ends[2];
  if (pipe(ends) != 0) return {{}, {.detail = fmt::format("no pipe: {}", std::strerror(errno))}};
  std::fflush(stdout);  // the child must not write what the parent has not written yet
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return {{}, {.detail = fmt::format("no process: {}", std::strerror(errno))}};
  }
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    const std::string answer = encode(judge_here(setup, program, options));
    _exit(verify::write_all(ends[1], answer) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  const bool answered = receive(ends[0], timeout_seconds, text);
  close(ends[0]);
  if (!answered) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (!answered)
    return {{}, {verify::Death::Kind::kHung, 0, fmt::format("no answer within {} seconds", timeout_seconds)}};
  const json data = json::parse(text, nullptr, false);
  if (data.is_discarded() || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return {{}, verify::death_of(status)};
  return {decode(data), {}};
}

// Whether capture has rules for the command in which the process dies. That command is the last one of the shortest
// beginning of the program that dies.
bool dies_in_capture(Setup& setup, const verify::Program& program, const verify::JudgeOptions& options,
                     double timeout_seconds) {
  const auto begins = [](const verify::Step& step) {
    return std::holds_alternative<verify::BeginCapture>(step.command);
  };
  if (std::ranges::none_of(program.steps, begins)) return false;
  std::size_t survives = 0, dies = program.steps.size();
  while (survives + 1 < dies) {
    const std::size_t middle = survives + (dies - survives) / 2;
    verify::Program beginning = program;
    beginning.steps.resize(middle);
    (judge_in_child(setup, beginning, options, timeout_seconds).judgement ? survives : dies) = middle;
  }
  return dies > 0 && verify::step_concerns_capture(program, dies - 1);
}

}  // namespace

verify::Judgement judge_isolated(Setup& setup, const verify::Program& program, const verify::JudgeOptions& options,
                                 double timeout_seconds) {
  // The subject is a process of its own already, and its death is part of the observation.
  if (setup.contained()) return judge_here(setup, program, options);
  ChildResult result = judge_in_child(setup, program, options, timeout_seconds);
  if (result.judgement) return std::move(*result.judgement);
  const auto survives = [&](bool verify::JudgeOptions::* without) {
    verify::JudgeOptions other = options;
    other.*without = false;
    const ChildResult again = judge_in_child(setup, program, other, timeout_seconds);
    return again.judgement && again.judgement->verdict != verify::VerdictKind::kDiverge;
  };
  const std::string death = result.death.text() + verify::LibraryPlace::text();
  Judgement judgement;
  judgement.verdict = verify::VerdictKind::kDiverge;
  if (survives(&verify::JudgeOptions::poison)) {
    judgement.broken.push_back(verify::PropertyId::kP1);
  } else if (survives(&verify::JudgeOptions::failures)) {
    judgement.broken.push_back(verify::PropertyId::kP4);
  }
  if (result.death.kind == verify::Death::Kind::kSignal && dies_in_capture(setup, program, options, timeout_seconds)) {
    judgement.broken.push_back(verify::PropertyId::kP7);
  }
  judgement.broken.push_back(verify::PropertyId::kP11);
  judgement.differences.push_back(end_of_program(death));
  return judgement;
}

}  // namespace fuzz
