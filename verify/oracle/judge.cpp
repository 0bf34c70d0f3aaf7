#include "verify/oracle/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "hip/api/api.h"
#include "verify/oracle/metamorphic.h"
#include "verify/program/state.h"
#include "verify/program/text.h"
#include "verify/properties/property.h"

namespace verify {

namespace {

// SIGKILL: no program does that to itself; an operator or a system out of memory does.
constexpr std::string_view kKilledFromOutside = "killed by signal 9 ";

bool has_failures(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const Step& step) { return std::holds_alternative<Fail>(step.command); });
}

// A valid program's commands succeed; only an update may be refused, for the documented reasons. Anything else means
// that the program asks for something that the reference refuses: it says nothing about the subject.
std::string refused_by_baseline(const Program& program, const Trace& baseline) {
  for (std::size_t i = 0; i < baseline.statuses.size(); ++i) {
    if (baseline.statuses[i].code == 0 || std::holds_alternative<Update>(program.steps[i].command)) continue;
    return fmt::format("the baseline refuses '{}' with {}", command_word(program.steps[i].command),
                       hip::status_name(baseline.statuses[i].code));
  }
  return {};
}

std::size_t first_step(const std::vector<Violation>& violations) {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  for (const Violation& violation : violations) first = std::min(first, violation.step);
  return first;
}

// What the first command that went wrong broke. What later ones break may follow from that.
std::set<PropertyId> broken_first(const std::vector<Violation>& violations) {
  const std::size_t first = first_step(violations);
  std::set<PropertyId> broken;
  for (const Violation& violation : violations) {
    if (violation.step == first) broken.insert(violation.property);
  }
  return broken;
}

bool holds(const std::vector<Violation>& violations, PropertyId id) {
  return std::any_of(violations.begin(), violations.end(), [id](const Violation& v) { return v.property == id; });
}

}  // namespace

Judge::Pair Judge::run_pair(const Program& program, const RunOptions& options) {
  Pair pair;
  RunResult subject = subject_.run(program, options);
  faulted_ = faulted_ || !subject.trace.notes.fault.empty();
  RunOptions reference;
  reference.poison = reference.failures = reference.inspect = reference.isolation = false;
  reference.fresh_addresses = options.fresh_addresses;
  const RunResult baseline = baseline_.run(program, reference, subject.script);
  faulted_ = faulted_ || !baseline.trace.notes.fault.empty();
  if (baseline.trace.notes.races != 0) pair.poisoned = "data race: " + baseline.trace.notes.first_race;
  if (!baseline.trace.notes.fault.empty()) pair.poisoned = "fault in the baseline: " + baseline.trace.notes.fault;
  pair.discarded = refused_by_baseline(program, baseline.trace);
  pair.differences = compare(program, baseline.trace, subject.trace);
  pair.deviation = first_deviation(program, baseline.trace, subject.trace);
  pair.reverse = first_deviation(program, subject.trace, baseline.trace);
  if (!pair.deviation && !subject.trace.violations.empty()) {
    pair.deviation = Deviation{first_step(subject.trace.violations), Effect::kTeardown, 0};
  }
  pair.subject = std::move(subject.trace);
  pair.script = std::move(subject.script);
  return pair;
}

Judgement Judge::judge(const Program& program, const JudgeOptions& options) {
  faulted_ = false;
  Judgement judgement = judge_in_place(program, options);
  // A fault of the device is sticky: it would be the next program's error as well.
  if (faulted_ || (subject_.contained() && known_.quirks.corrupts(program, known_.strategy))) {
    subject_.start_afresh();
    baseline_.start_afresh();
  }
  return judgement;
}

Judgement Judge::judge_in_place(const Program& program, const JudgeOptions& options) {
  RunOptions run;
  run.schedule_seed = options.schedule_seed;
  run.isolation = options.isolation;
  run.poison = options.poison;
  run.failures = options.failures;
  Pair pair = run_pair(program, run);
  const Quirk* quirk = explain(program, pair.deviation, pair.reverse);
  if (quirk == nullptr && !pair.clean() && subject_.contained()) {
    if (!shows_again(program, run, pair)) pair.poisoned = unrepeated(pair);
    quirk = explain(program, pair.deviation, pair.reverse);  // it may have shown itself in another way
  }
  if (quirk == nullptr && !pair.clean() && pair.poisoned.empty()) {
    if (const std::optional<std::string> race = host_race(program)) pair.poisoned = "data race: " + *race;
  }
  Judgement judgement;
  judgement.exercised = pair.subject.exercised;
  judgement.exercised[static_cast<std::size_t>(PropertyId::kP12)] += pair.subject.reads.size();
  ++judgement
        .exercised[static_cast<std::size_t>(PropertyId::kP11)];  // it came to an end: whoever runs us watches for that
  if (!pair.subject.unsupported.empty()) {
    judgement.verdict = VerdictKind::kUnsupported;
    judgement.reason = pair.subject.unsupported;
  } else if (!pair.subject.harness_error.empty()) {
    judgement.verdict = VerdictKind::kHarnessError;
    judgement.reason = pair.subject.harness_error;
  } else if (!pair.poisoned.empty()) {
    judgement.verdict = VerdictKind::kPoisoned;
    judgement.reason = pair.poisoned;
  } else if (quirk != nullptr) {
    judgement.verdict = VerdictKind::kKnownQuirk;
    judgement.quirk = quirk->id;
    judgement.reason = quirk->id;
    judgement.differences = pair.differences;
  } else if (!pair.discarded.empty()) {
    judgement.verdict = VerdictKind::kDiscarded;
    judgement.reason = pair.discarded;
  } else if (!pair.clean()) {
    judgement.verdict = VerdictKind::kDiverge;
    name_cause(program, run, pair, judgement);
  } else {
    if (options.every_call_fails) every_call_fails(program, pair, judgement);
    if (options.however_built) however_built(program, pair, judgement);
  }
  return judgement;
}

const Quirk* Judge::explain(const Program& program, const std::optional<Deviation>& deviation,
                            const std::optional<Deviation>& reverse) const {
  const Quirk* quirk = deviation ? known_.quirks.explain(program, known_.strategy, *deviation) : nullptr;
  if (quirk != nullptr || !reverse) return quirk;
  return known_of_baseline_.quirks.explain(program, known_of_baseline_.strategy, *reverse);
}

const Quirk* Judge::explain(const Program& program, const Trace& expected, const Trace& observed) const {
  return explain(program, first_deviation(program, expected, observed), first_deviation(program, observed, expected));
}

std::string Judge::unrepeated(const Pair& pair) {
  std::string text = "a divergence that did not show again in a fresh process";
  if (pair.differences.empty()) return text;
  const Difference& first = pair.differences.front();
  return text + fmt::format(" ({} {} at '{}')", first.where,
                            first.where == "process" || first.where == "status" ? first.observed : "differed",
                            first.command);
}

bool Judge::shows_again(const Program& program, const RunOptions& options, Pair& pair) {
  int looked = 0, killed = 0;
  while (looked < kConfirmations && killed < kConfirmations) {
    subject_.start_afresh();
    baseline_.start_afresh();
    Pair again = run_pair(program, options);
    const bool outside = again.subject.death.starts_with(kKilledFromOutside);
    ++(outside ? killed : looked);
    if (outside || again.clean()) continue;
    pair = std::move(again);
    return true;
  }
  return false;
}

// Whether the first bad patch goes right at addresses that never repeat. It has to be done in place there too: a buffer
// that comes back to where it was has not moved, and one that cannot come back may force a refusal.
bool Judge::needs_repeats(const Program& program, const RunOptions& options, const Pair& pair) {
  RunOptions fresh = options;
  fresh.fresh_addresses = true;
  const Trace again = run_pair(program, fresh).subject;
  const std::size_t step = first_step(pair.subject.violations);
  return std::count(again.patched_in_place.begin(), again.patched_in_place.end(), step) != 0 &&
         !holds(again.violations, PropertyId::kA2) && !holds(again.violations, PropertyId::kA3);
}

void Judge::name_cause(const Program& program, const RunOptions& options, const Pair& pair, Judgement& judgement) {
  std::set<PropertyId> broken = broken_first(pair.subject.violations);
  std::set<PropertyId> later;
  for (const Violation& violation : pair.subject.violations) later.insert(violation.property);
  const bool died = !pair.subject.death.empty();
  if (!pair.differences.empty()) {
    (broken.empty() ? broken : later).insert(died ? PropertyId::kP11 : PropertyId::kP3);
  }

  const auto clean_with = [&](auto change) {
    RunOptions other = options;
    change(other);
    return run_pair(program, other).clean();
  };
  std::optional<PropertyId> cause;
  if (clean_with([](RunOptions& o) { o.poison = false; })) {
    cause = PropertyId::kP1;
  } else if (has_failures(program) && clean_with([](RunOptions& o) { o.failures = false; })) {
    cause = PropertyId::kP4;
  } else if (options.schedule_seed != 0 && clean_with([](RunOptions& o) { o.schedule_seed = 0; })) {
    cause = PropertyId::kP5;
  } else if (broken.contains(PropertyId::kA3) ||
             (broken.contains(PropertyId::kA2) && needs_repeats(program, options, pair))) {
    // Buffers were confused, and a field that came back to where it was is part of that.
    broken.erase(PropertyId::kA2);
    later.erase(PropertyId::kA2);
    broken.insert(PropertyId::kA3);
  }
  if (cause) judgement.broken.push_back(*cause);
  for (const std::set<PropertyId>& ids : {broken, later}) {
    for (const PropertyId id : ids) {
      if (std::find(judgement.broken.begin(), judgement.broken.end(), id) == judgement.broken.end())
        judgement.broken.push_back(id);
    }
  }
  judgement.violations = pair.subject.violations;
  judgement.differences = pair.differences;
}

// A runtime that chooses its own addresses chooses others the next time, and frozen scalars see that.
Trace Judge::reference_for(const Program& program, const Pair& pair, const RunResult& other) {
  if (other.script == pair.script) return pair.subject;
  RunOptions reference;
  reference.poison = reference.failures = reference.inspect = reference.isolation = false;
  return baseline_.run(program, reference, other.script).trace;
}

// A further run of a program: whether it holds. What a quirk explains, or a fresh process does not show again, is the
// program's verdict and no less counted than in its first run.
bool Judge::further_run_holds(Judgement& judgement, const std::function<Look()>& attempt) {
  Look look = attempt();
  if (look.clean) return true;
  judgement.verdict = VerdictKind::kDiverge;
  if (look.quirk == nullptr && subject_.contained()) {
    subject_.start_afresh();
    look = attempt();
    if (look.clean) {
      judgement.verdict = VerdictKind::kPoisoned;
      judgement.reason = "a divergence of a further run that did not show again in a fresh process";
    }
  }
  if (look.quirk != nullptr) {
    judgement.verdict = VerdictKind::kKnownQuirk;
    judgement.quirk = judgement.reason = look.quirk->id;
  }
  return false;
}

// The program runs once for every call of the graph API, with that call failing; each time it has to observe what it
// does when nothing fails.
void Judge::every_call_fails(const Program& program, const Pair& pair, Judgement& judgement) {
  const std::uint64_t calls = pair.subject.calls;
  const std::uint64_t stride = std::max<std::uint64_t>(1, calls / kMaxFailedCalls);
  for (std::uint64_t nth = 1; nth <= calls; nth += stride) {
    RunOptions options;
    options.poison = options.isolation = options.failures = false;
    options.fail_graph_call = nth;
    RunResult failed;
    std::vector<Difference> differences;
    const auto fewer_calls = [&] { return failed.trace.failures_fired == 0 && failed.trace.death.empty(); };
    const bool held = further_run_holds(judgement, [&] {
      failed = subject_.run(program, options);
      if (fewer_calls()) return Look{true, nullptr};
      const Trace expected = reference_for(program, pair, failed);
      differences = compare(program, expected, failed.trace);
      const bool clean = differences.empty() && failed.trace.violations.empty();
      return Look{clean, clean ? nullptr : explain(program, expected, failed.trace)};
    });
    if (held && fewer_calls()) break;
    ++judgement.exercised[static_cast<std::size_t>(PropertyId::kP4)];
    if (held) continue;
    if (judgement.verdict != VerdictKind::kDiverge) return;
    judgement.broken = {PropertyId::kP4};
    judgement.violations = failed.trace.violations;
    judgement.violations.push_back({PropertyId::kP4, program.steps.size(),
                                    fmt::format("call {} of the graph API failing", nth), "as if nothing had failed",
                                    "something else"});
    judgement.differences = std::move(differences);
    return;
  }
}

void Judge::however_built(const Program& program, const Pair& pair, Judgement& judgement) {
  for (const Variant& variant : equal_variants(program)) {
    RunOptions options;
    options.isolation = options.inspect = false;
    std::vector<Difference> differences;
    const bool held = further_run_holds(judgement, [&] {
      const RunResult other = subject_.run(variant.program, options);
      // Only what a client sees of memory: the graphs themselves were built differently on purpose.
      Trace expected = reference_for(program, pair, other), observed = other.trace;
      expected.topology.clear();
      observed.topology.clear();
      differences = compare(program, expected, observed);
      return Look{differences.empty(), differences.empty() ? nullptr : explain(variant.program, expected, observed)};
    });
    ++judgement.exercised[static_cast<std::size_t>(PropertyId::kP9)];
    if (held) continue;
    if (judgement.verdict != VerdictKind::kDiverge) return;
    judgement.broken = {PropertyId::kP9};
    judgement.violations.push_back(
        {PropertyId::kP9, program.steps.size(), std::string(variant.change), "no difference", "a difference"});
    judgement.differences = std::move(differences);
    return;
  }
}

}  // namespace verify
