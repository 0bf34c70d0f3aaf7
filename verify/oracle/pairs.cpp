// A program on both sides; the contract is in the header.
#include "verify/oracle/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <csignal>
#include <limits>

#include "hip/api/api.h"
#include "verify/program/state.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"

namespace verify {

namespace {

// A program never causes SIGKILL itself; an operator or a system out of memory does.
bool killed_from_outside(const Observation& observation) {
  const std::optional<Death>& death = observation.death;
  return death && death->kind == Death::Kind::kSignal && death->number == SIGKILL;
}

// The commands of a valid program succeed, except where State says that the refusal itself is the observation. Any
// other failure means that the reference refuses a command. The program then says nothing about the subject.
std::string refused_by_baseline(const Program& program, const Observation& baseline) {
  const auto succeeded = [](const StepStatus& status) { return status.code == 0; };
  if (std::all_of(baseline.statuses.begin(), baseline.statuses.end(), succeeded)) return {};
  const std::vector<bool> may_be_refused = refusable_steps(program);
  for (std::size_t i = 0; i < baseline.statuses.size(); ++i) {
    if (baseline.statuses[i].code == 0 || may_be_refused[i]) continue;
    return fmt::format("the baseline refuses '{}' with {}", command_word(program.steps[i].command),
                       hip::status_name(baseline.statuses[i].code));
  }
  return {};
}

RunOptions plain() {
  RunOptions options;
  options.poison = options.failures = options.inspect = options.isolation = false;
  return options;
}

}  // namespace

bool died(const Observation& observation) {
  return observation.death && observation.death->kind == Death::Kind::kSignal && !killed_from_outside(observation);
}

std::size_t first_step(const std::vector<Violation>& violations) {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  for (const Violation& violation : violations) first = std::min(first, violation.step);
  return first;
}

std::string divergence_text(const std::vector<Difference>& differences, const std::vector<Violation>& violations) {
  assert(!differences.empty() || !violations.empty());
  if (differences.empty()) {
    const Violation& first = violations.front();
    return fmt::format("{} of {}: {}, not {}", property(first.property).name, first.where, first.observed,
                       first.expected);
  }
  const Difference& first = differences.front();
  const bool words = first.place == Difference::Place::kProcess || first.place == Difference::Place::kStatus;
  return fmt::format("{} {} at '{}'", first.where, words ? first.observed : "differed", first.command);
}

RunPair PairRunner::run(const Program& program, const RunOptions& options) {
  RunPair pair;
  RunResult subject = subject_.run(program, options);
  faulted_ = faulted_ || !subject.observation.notes.fault.empty();
  RunOptions reference = plain();
  reference.fresh_addresses = options.fresh_addresses;
  const RunResult baseline = baseline_.run(program, reference, subject.script);
  faulted_ = faulted_ || !baseline.observation.notes.fault.empty();
  if (baseline.observation.notes.races != 0) pair.poisoned = "data race: " + baseline.observation.notes.first_race;
  if (!baseline.observation.notes.fault.empty())
    pair.poisoned = "fault in the baseline: " + baseline.observation.notes.fault;
  pair.discarded = refused_by_baseline(program, baseline.observation);
  pair.differences = compare(program, baseline.observation, subject.observation);
  pair.divergence = first_divergence(program, baseline.observation, subject.observation);
  pair.reverse = first_divergence(program, subject.observation, baseline.observation);
  if (!pair.divergence && !subject.observation.violations.empty()) {
    pair.divergence = Divergence{first_step(subject.observation.violations), Effect::kTeardown, 0};
  }
  pair.subject = std::move(subject.observation);
  pair.script = std::move(subject.script);
  diverged_ = diverged_ || !pair.clean();
  return pair;
}

void PairRunner::end_program(const Program& program) {
  // A fault of the device is sticky: it would be the next program's error as well.
  const bool may_be_spoiled = subject_.contained() && (diverged_ || !subject_.starts_slowly());
  if (faulted_ || (may_be_spoiled && is_corrupting(program))) {
    subject_.start_afresh();
    baseline_.start_afresh();
  }
}

const Quirk* PairRunner::explain(const Program& program, const std::optional<Divergence>& divergence,
                                 const std::optional<Divergence>& reverse) const {
  const Quirk* quirk = divergence ? known_.explain(program, *divergence) : nullptr;
  if (quirk != nullptr || !reverse) return quirk;
  return known_of_baseline_.explain(program, *reverse);
}

const Quirk* PairRunner::explain(const Program& program, const Observation& expected,
                                 const Observation& observed) const {
  return explain(program, first_divergence(program, expected, observed), first_divergence(program, observed, expected));
}

bool PairRunner::shows_again(const Program& program, const RunOptions& options, RunPair& pair) {
  int looked = 0, killed = 0;
  while (looked < kConfirmations && killed < kConfirmations) {
    RunPair again = run_afresh(program, options);
    const bool outside = killed_from_outside(again.subject);
    ++(outside ? killed : looked);
    if (outside || again.clean()) continue;
    pair = std::move(again);
    return true;
  }
  return false;
}

RunPair PairRunner::run_afresh(const Program& program, const RunOptions& options) {
  subject_.start_afresh();
  baseline_.start_afresh();
  return run(program, options);
}

unsigned PairRunner::deaths(const Program& program, const RunOptions& options, RunPair& pair) {
  if (!pair.died()) return 0;
  unsigned deaths = 0;
  for (unsigned k = 0; k < kRateRuns; ++k) {
    subject_.another_layout();  // many such deaths depend on the heap
    RunPair again = run_afresh(program, options);
    if (!again.died()) continue;
    ++deaths;
    pair = std::move(again);
  }
  return deaths;
}

// A runtime that chooses its own addresses chooses different ones in the next run, and frozen scalars show them.
Observation PairRunner::reference_for(const Program& program, const RunPair& pair, const RunResult& other) {
  if (other.script == pair.script) return pair.subject;
  return run_baseline(program, other.script);
}

Observation PairRunner::run_baseline(const Program& program, const AddressScript& script) {
  return baseline_.run(program, plain(), script).observation;
}

}  // namespace verify
