#include "fuzz/finding.h"

#include <fmt/format.h>

#include <cctype>
#include <chrono>

#include "fuzz/isolate.h"
#include "verify/program/picture.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"
#include "verify/shrink/shrinker.h"

namespace fuzz {

namespace {

constexpr unsigned kScheduleSeeds = 4;

// Numbers and what follows the first parenthesis differ from program to program.
std::string without_numbers(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '(') break;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

const verify::Violation* first_violation(const verify::Judgement& judgement) {
  for (const verify::Violation& violation : judgement.violations) {
    if (!judgement.broken.empty() && violation.property == judgement.broken.front()) return &violation;
  }
  return nullptr;
}

std::string summary_of(const verify::Judgement& judgement) {
  if (const verify::Violation* violation = first_violation(judgement)) {
    return fmt::format("{}: expected {}, observed {}", violation->where, violation->expected, violation->observed);
  }
  if (judgement.differences.empty()) return "the subject differs from the baseline";
  const verify::Difference& difference = judgement.differences.front();
  return fmt::format("{} at '{}': expected {}, observed {}", difference.where, difference.command, difference.expected,
                     difference.observed);
}

// "g0.n3" of "g0.n3/n1 argument at 8".
std::vector<std::string> nodes_at_fault(const verify::Judgement& judgement) {
  std::vector<std::string> names;
  for (const verify::Violation& violation : judgement.violations) {
    names.push_back(violation.where.substr(0, violation.where.find_first_of(" /[")));
  }
  return names;
}

}  // namespace

std::string cause_of(const verify::Judgement& judgement) {
  std::string cause = judgement.broken.empty() ? "?" : std::string(verify::property(judgement.broken.front()).name);
  if (const verify::Violation* violation = first_violation(judgement))
    return cause + " " + without_numbers(violation->where);
  if (judgement.differences.empty()) return cause;
  const verify::Difference& difference = judgement.differences.front();
  const std::string word = difference.command.substr(0, difference.command.find(' '));
  cause += fmt::format(" {} after {}", without_numbers(difference.where), word);
  if (difference.where == "process") cause += " " + without_numbers(difference.observed);
  return cause;
}

const char* verdict_name(verify::VerdictKind kind) {
  switch (kind) {
    case verify::VerdictKind::kAgree:
      return "agree";
    case verify::VerdictKind::kDiverge:
      return "diverge";
    case verify::VerdictKind::kKnownQuirk:
      return "known_quirk";
    case verify::VerdictKind::kPoisoned:
      return "poisoned";
    case verify::VerdictKind::kUnsupported:
      return "unsupported";
    case verify::VerdictKind::kDiscarded:
      return "discarded";
    case verify::VerdictKind::kHarnessError:
      break;
  }
  return "harness_error";
}

verify::JudgeOptions campaign_checks(std::uint64_t index) {
  verify::JudgeOptions options;
  options.schedule_seed = 1 + index % kScheduleSeeds;
  options.isolation = index % kIsolationEvery == 0;
  options.every_call_fails = index % kEveryCallFailsEvery == 0;
  options.however_built = index % kHoweverBuiltEvery == 0;
  return options;
}

verify::JudgeOptions all_checks(std::uint64_t schedule_seed) {
  verify::JudgeOptions options;
  options.schedule_seed = schedule_seed;
  options.isolation = options.every_call_fails = options.however_built = true;
  return options;
}

verify::Finding make_finding(const Setup& setup, const verify::Program& shrunk, const verify::Judgement& judgement,
                             std::uint64_t index, std::uint64_t original_commands) {
  verify::Finding finding;
  finding.property = judgement.broken.empty() ? "?" : std::string(verify::property(judgement.broken.front()).name);
  for (std::size_t i = 1; i < judgement.broken.size(); ++i) {
    finding.also.emplace_back(verify::property(judgement.broken[i]).name);
  }
  finding.id = fmt::format("{}-{:06}", finding.property, index);
  finding.fault = setup.options().fault;
  finding.program_text = verify::print_program(shrunk);
  finding.commands = verify::counted_commands(shrunk);
  finding.original_commands = original_commands;
  finding.summary = summary_of(judgement);
  finding.differences = judgement.differences;
  for (const verify::Violation& v : judgement.violations) {
    if (finding.differences.size() >= 2 * verify::kMaxDifferences) break;
    finding.differences.push_back(
        {v.where, fmt::format("detector of {}", verify::property(v.property).name), v.expected, v.observed});
  }
  finding.graphs = verify::draw_graphs(shrunk, nodes_at_fault(judgement));
  return finding;
}

Shrunk shrink_finding(Setup& setup, const verify::Program& program, const verify::JudgeOptions& checks,
                      double program_timeout, double budget_seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(budget_seconds);
  const auto judge = [&](const verify::Program& candidate) {
    return judge_isolated(setup, candidate, checks, program_timeout);
  };
  Shrunk shrunk{program, judge(program), false};
  if (shrunk.judgement.verdict != verify::VerdictKind::kDiverge) return shrunk;
  shrunk.reproduced = true;
  const verify::PropertyId property = shrunk.judgement.broken.front();
  // What a client could see has to stay to be seen: a detector's word alone persuades nobody.
  const bool observable = !shrunk.judgement.differences.empty();
  const verify::ShrinkResult result = verify::Shrinker().shrink(program, [&](const verify::Program& candidate) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    const verify::Judgement judgement = judge(candidate);
    return judgement.verdict == verify::VerdictKind::kDiverge && judgement.broken.front() == property &&
           (!observable || !judgement.differences.empty());
  });
  shrunk.program = result.program;
  shrunk.judgement = judge(result.program);
  return shrunk;
}

}  // namespace fuzz
