#include "fuzz/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "fuzz/faults/catalogue.h"
#include "fuzz/files.h"
#include "fuzz/isolate.h"
#include "reports/bugs.h"
#include "verify/program/picture.h"
#include "verify/program/state.h"
#include "verify/program/text.h"
#include "verify/properties/cost.h"
#include "verify/properties/property.h"
#include "verify/quirks/quirk.h"
#include "verify/shrink/shrinker.h"

namespace fuzz {

namespace {

constexpr unsigned kScheduleSeeds = 4;
constexpr std::size_t kMaxRelated = 3;  // so many quirks, and so many faults

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

bool writes(const verify::NodeParams& params, verify::Id buffer) {
  if (const auto* copy = std::get_if<verify::CopyParams>(&params)) return copy->dst.ref.buffer == buffer;
  if (const auto* fill = std::get_if<verify::MemsetParams>(&params)) return fill->dst.buffer == buffer;
  const auto* kernel = std::get_if<verify::KernelParams>(&params);
  if (kernel == nullptr) return false;
  for (std::size_t i = 0; i < kernel->arguments.size(); ++i) {
    const verify::Touch touch = kernel->kernel->fields[i].touch;
    const bool written = touch == verify::Touch::kWrite || touch == verify::Touch::kReadWrite;
    const verify::ArgumentValue& value = kernel->arguments[i];
    if (written && value.kind == verify::ArgumentValue::Kind::kPointer && value.ref.buffer == buffer) return true;
  }
  return false;
}

// The node that a detector names ("g0.n3" of "g0.n3/n1 argument at 8"); else the node that the first command with
// another status adds or sets; else the nodes that write the first buffer that differs.
std::vector<std::string> nodes_at_fault(const verify::Program& program, const verify::Judgement& judgement) {
  std::vector<std::string> names;
  for (const verify::Violation& violation : judgement.violations) {
    names.push_back(violation.where.substr(0, violation.where.find_first_of(" /[")));
  }
  if (judgement.differences.empty()) return names;
  const verify::Difference& first = judgement.differences.front();
  std::optional<verify::Id> buffer;
  if (first.place == verify::Difference::Place::kBuffer) buffer = first.buffer;
  std::map<verify::Id, verify::Id> graphs;  // the graph of each executable graph
  for (const verify::Step& step : program.steps) {
    const auto here = [&] { return verify::print_command(step.command) == first.command; };
    if (const auto* made = std::get_if<verify::Instantiate>(&step.command)) graphs[made->exec] = made->graph;
    if (const auto* add = std::get_if<verify::AddNode>(&step.command)) {
      if (buffer ? writes(add->params, *buffer) : here())
        names.push_back(fmt::format("g{}.n{}", add->graph, add->node));
    }
    const auto* set = std::get_if<verify::SetNode>(&step.command);
    if (set == nullptr || (buffer ? !writes(set->params, *buffer) : !here())) continue;
    const verify::Id graph = set->target == verify::Target::kGraph ? set->id : graphs[set->id];
    names.push_back(fmt::format("g{}.n{}", graph, set->node));
  }
  return names;
}

bool meets(const verify::Program& program, const verify::QuirkSet& quirk, verify::StrategyKind strategy) {
  verify::State state;
  for (const verify::Step& step : program.steps) {
    const verify::Environment& environment = program.setting.environment;
    if (quirk.triggered(state, step.command, strategy, step.in.thread, environment) != nullptr) return true;
    state.apply(step.command);
  }
  return false;
}

// Known quirks and faults to compare the finding with: quirks of the release that the program meets, and faults of the
// catalogue that break the same sentence, unless a fault was switched on.
std::vector<verify::Related> related_to(const Setup& setup, const verify::Program& program,
                                        const std::string& property) {
  std::vector<verify::Related> related;
  const verify::StrategyKind strategy = setup.strategy();
  for (const verify::Quirk& quirk : verify::quirks()) {
    if (related.size() == kMaxRelated || setup.release().empty()) break;
    if (!quirk.releases.has(setup.release())) continue;
    if (meets(program, verify::QuirkSet(setup.release(), {&quirk, 1}), strategy)) {
      related.push_back({"quirk", std::string(quirk.id), std::string(quirk.title)});
    }
  }
  const std::size_t most = related.size() + kMaxRelated;
  for (const Fault& fault : faults()) {
    if (related.size() == most || !setup.options().fault.empty()) break;
    if (fault.properties.empty() || verify::property(fault.properties.front()).name != property) continue;
    related.push_back({"fault", std::string(fault.id), std::string(fault.summary)});
  }
  return related;
}

}  // namespace

std::string cause_of(const verify::Judgement& judgement) {
  std::string cause = judgement.broken.empty() ? "?" : std::string(verify::property(judgement.broken.front()).name);
  if (const verify::Violation* violation = first_violation(judgement))
    return cause + " " + reports::without_numbers(violation->where);
  if (judgement.differences.empty()) return cause;
  const verify::Difference& difference = judgement.differences.front();
  const std::string word = difference.command.substr(0, difference.command.find(' '));
  cause += fmt::format(" {} after {}", reports::without_numbers(difference.where), word);
  if (difference.place == verify::Difference::Place::kProcess)
    cause += " " + reports::without_numbers(difference.observed);
  return cause;
}

verify::Difference end_of_program(const std::string& death) {
  return {"process", "the program", "an end", death, verify::Difference::Place::kProcess};
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
  if (index >= kFirstCostProgram) {
    options.costs = true;
    return options;
  }
  options.schedule_seed = 1 + index % kScheduleSeeds;
  options.isolation = index % kIsolationEvery == 0;
  options.every_call_fails = index % kEveryCallFailsEvery == 0;
  options.however_built = index % kHoweverBuiltEvery == 0;
  options.every_order = index % kEveryOrderEvery == 1;  // never together with the other costly checks
  options.cycles = index % kCyclesEvery == 2;
  options.groups = index % kGroupsEvery == 3;
  return options;
}

verify::JudgeOptions all_checks(std::uint64_t schedule_seed) {
  verify::JudgeOptions options;
  options.schedule_seed = schedule_seed;
  options.isolation = options.every_call_fails = options.however_built = true;
  options.every_order = options.cycles = options.groups = options.costs = true;
  return options;
}

static std::string name_of_cost_program(std::uint64_t index) {
  const std::uint64_t which = index - kFirstCostProgram, fixed = verify::cost_programs().size();
  return which < fixed ? std::string(verify::cost_programs()[which].name) : fmt::format("wide-{}", which - fixed);
}

verify::Finding make_finding(const Setup& setup, const verify::Program& shrunk, const verify::Judgement& judgement,
                             std::uint64_t index, std::uint64_t original_commands) {
  verify::Finding finding;
  finding.property = judgement.broken.empty() ? "?" : std::string(verify::property(judgement.broken.front()).name);
  for (std::size_t i = 1; i < judgement.broken.size(); ++i) {
    finding.also.emplace_back(verify::property(judgement.broken[i]).name);
  }
  finding.id = index < kFirstCostProgram ? fmt::format("{}-{:06}", finding.property, index)
                                         : fmt::format("{}-{}", finding.property, name_of_cost_program(index));
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
  finding.related = related_to(setup, shrunk, finding.property);
  finding.graphs = verify::draw_graphs(shrunk, nodes_at_fault(shrunk, judgement));
  return finding;
}

Shrunk shrink_finding(Setup& setup, const verify::Program& program, verify::JudgeOptions checks, double program_timeout,
                      double budget_seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(budget_seconds);
  const auto judge = [&](const verify::Program& candidate, const verify::JudgeOptions& options) {
    return judge_isolated(setup, candidate, options, program_timeout * options.tries);
  };
  Shrunk shrunk{program, judge(program, checks), false};
  if (shrunk.judgement.verdict == verify::VerdictKind::kAgree && setup.contained()) {
    checks.tries = verify::kRateRuns;  // it may be a death that does not come every time
    shrunk.judgement = judge(program, checks);
  }
  if (shrunk.judgement.verdict != verify::VerdictKind::kDiverge) return shrunk;
  shrunk.reproduced = true;
  const verify::PropertyId property = shrunk.judgement.broken.front();
  // A smaller program has other schedules, and the schedule that showed the divergence may not be tried again.
  checks.every_order = checks.every_order || property == verify::PropertyId::kP5;
  // A difference that a client could see must stay visible: a detector's report alone is weak evidence.
  const bool observable = !shrunk.judgement.differences.empty();
  const auto shows_it = [&](const verify::Judgement& judgement) {
    return judgement.verdict == verify::VerdictKind::kDiverge && judgement.broken.front() == property &&
           (!observable || !judgement.differences.empty());
  };
  const auto shrink = [&](const verify::JudgeOptions& options) {
    const verify::ShrinkResult result = verify::Shrinker().shrink(program, [&](const verify::Program& candidate) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      verify::Judgement judgement = judge(candidate, options);
      const bool still_fails = shows_it(judgement);
      // Kept, and not judged again at the end: a race that showed once may not show then.
      if (still_fails) shrunk.judgement = std::move(judgement);
      return still_fails;
    });
    return result.program;
  };
  if (shrunk.judgement.sometimes) {
    const Shrunk whole = shrunk;
    checks.tries = verify::kRateRuns;
    verify::JudgeOptions quick = checks;
    quick.confirm = false;
    shrunk.program = shrink(quick);
    shrunk.judgement = judge(shrunk.program, checks);  // how often the smaller program dies
    return shows_it(shrunk.judgement) ? shrunk : whole;
  }
  if (setup.starts_slowly()) {
    verify::JudgeOptions quick = checks;
    quick.confirm = false;
    shrunk.program = shrink(quick);
    shrunk.judgement = judge(shrunk.program, checks);
    if (shows_it(shrunk.judgement)) return shrunk;  // else state that an earlier candidate left made it fail
  }
  shrunk.program = shrink(checks);
  return shrunk;
}

void name_files(verify::Finding& finding, const std::string& folder, const SetupOptions& setup) {
  finding.program_path = (std::filesystem::path(folder) / (finding.id + ".program")).string();
  finding.replay = fmt::format("{} replay {}{}", this_program(), finding.program_path, setup.arguments());
}

hip::Status write_program(const verify::Finding& finding) {
  const hip::Status written = write_text(
      finding.program_path,
      fmt::format("# {}: {}\n# replay: {}\n{}", finding.id, finding.summary, finding.replay, finding.program_text));
  return written ? write_code_objects(finding.program_path, finding.program_text) : written;
}

}  // namespace fuzz
