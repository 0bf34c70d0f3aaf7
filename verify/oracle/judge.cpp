#include "verify/oracle/judge.h"

#include <fmt/format.h>

#include "verify/oracle/cause.h"
#include "verify/oracle/further_runs.h"
#include "verify/program/state.h"
#include "verify/properties/orders.h"

namespace verify {

namespace {

std::string unrepeated(const RunPair& pair) {
  const std::string text = "a divergence that did not show again in a fresh process";
  return pair.differences.empty() ? text : text + fmt::format(" ({})", divergence_text(pair.differences));
}

// Names a death that does not come every time. Runs with one thing changed would tell nothing about its cause, because
// they may be clean by chance. `deaths`: in kRateRuns runs; 0: not measured.
void name_sometimes(const Program& program, const RunPair& pair, unsigned deaths, Judgement& judgement) {
  judgement.sometimes = true;
  if (step_concerns_capture(program, pair.subject.death_step)) judgement.broken.push_back(PropertyId::kP7);
  judgement.broken.push_back(PropertyId::kP11);
  judgement.violations = pair.subject.violations;
  judgement.differences = pair.differences;
  for (Difference& difference : judgement.differences) {
    if (deaths != 0 && difference.place == Difference::Place::kProcess)
      difference.observed += fmt::format(", in {} of {} runs", deaths, kRateRuns);
  }
}

}  // namespace

std::optional<Program> Judge::waiting_for_quirks(const Program& program) const {
  constexpr std::uint32_t kMostApart = 16;  // repetitions that are written one by one, each with its own wait
  if (pairs_.is_corrupting(program)) return {};
  Program waiting = program;
  waiting.steps.clear();
  State state;
  bool waits = false;
  for (const Step& step : program.steps) {
    const bool alone = step.in.block == 0 && step.in.thread == 0;
    Step written = step;
    if (alone && step.repeat <= kMostApart) written.repeat = 1;
    for (std::uint32_t k = 0; k < step.repeat; k += written.repeat) {
      if (alone && !state.idle() && state.captures().empty() &&
          pairs_.is_known(state, step.command, 0, program.setting.environment)) {
        waiting.steps.push_back({.command = Synchronize{}});
        state.apply(Synchronize{});
        waits = true;
      }
      waiting.steps.push_back(written);
      for (std::uint32_t applied = 0; applied < repeats_that_matter(written); ++applied) state.apply(written.command);
    }
  }
  if (!waits || validate(waiting)) return {};
  return waiting;
}

Judgement Judge::judge(const Program& program, const JudgeOptions& options) {
  pairs_.begin_program();
  Judgement judgement = judge_in_place(program, options);
  pairs_.end_program(program);
  return judgement;
}

// The property that was seen to break first, which may be a consequence of another one.
static void name_what_showed(const RunPair& pair, Judgement& judgement) {
  const std::vector<Violation>& violations = pair.subject.violations;
  const PropertyId by_difference = pair.died() ? PropertyId::kP11 : PropertyId::kP3;
  judgement.broken.push_back(violations.empty() ? by_difference : violations.front().property);
  judgement.violations = violations;
  judgement.differences = pair.differences;
}

Judgement Judge::judge_in_place(const Program& program, const JudgeOptions& options) {
  RunOptions run;
  run.schedule_seed = options.schedule_seed;
  run.isolation = options.isolation;
  run.poison = options.poison;
  run.keep_passed = !options.poison;
  run.failures = options.failures;
  run.signature = options.signature;
  RunPair pair = pairs_.run(program, run);
  for (std::uint32_t k = 1; k < options.tries && pair.clean(); ++k) pair = pairs_.run_afresh(program, run);
  const Quirk* quirk = pairs_.explain(program, pair.divergence, pair.reverse);
  const bool could_run = pair.subject.unsupported.empty();
  bool sometimes = options.tries > 1 && pair.died();
  unsigned deaths = 0;
  if (quirk == nullptr && could_run && !pair.clean() && options.confirm && pairs_.subject().contained()) {
    if (sometimes || !pairs_.shows_again(program, run, pair)) {
      deaths = pairs_.deaths(program, run, pair);
      sometimes = deaths != 0;
      if (!sometimes) pair.poisoned = unrepeated(pair);
    }
    quirk = pairs_.explain(program, pair.divergence, pair.reverse);  // it may look different this time
  }
  if (quirk == nullptr && !pair.clean() && pair.poisoned.empty()) {
    if (const std::optional<std::string> race = host_race(program)) pair.poisoned = "data race: " + *race;
  }
  Judgement judgement;
  judgement.exercised = pair.subject.exercised;
  judgement.signature = pair.subject.signature;
  judgement.steps = pair.subject.steps;
  judgement.exercised[static_cast<std::size_t>(PropertyId::kP12)] += pair.subject.reads.size();
  ++judgement
        .exercised[static_cast<std::size_t>(PropertyId::kP11)];  // the program came to an end: the caller watches that
  FurtherRuns further(pairs_, program, pair, judgement);
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
    if (!options.name_cause) {
      name_what_showed(pair, judgement);
    } else if (sometimes) {
      name_sometimes(program, pair, deaths, judgement);
    } else {
      name_cause(pairs_, program, run, pair, judgement);
    }
  } else {
    if (options.every_call_fails) further.every_call_fails();
    if (options.every_call_fails && judgement.verdict == VerdictKind::kAgree) further.every_call_below_fails();
    if (options.however_built) further.however_built();
    if (options.every_order) further.every_order();
    if (options.however_built) further.by_streams();
    if (options.cycles && judgement.verdict == VerdictKind::kAgree) further.cycles();
    if (options.groups && judgement.verdict == VerdictKind::kAgree) further.groups();
  }
  if (options.costs && (judgement.verdict == VerdictKind::kAgree || judgement.verdict == VerdictKind::kKnownQuirk)) {
    further.costs();
  }
  return judgement;
}

}  // namespace verify
