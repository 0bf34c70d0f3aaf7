#include "verify/oracle/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <set>

#include "hip/api/api.h"
#include "verify/oracle/metamorphic.h"
#include "verify/oracle/stream_variants.h"
#include "verify/program/state.h"
#include "verify/program/text.h"
#include "verify/properties/captures.h"
#include "verify/properties/causes.h"
#include "verify/properties/cost.h"
#include "verify/properties/cycles.h"
#include "verify/properties/orders.h"
#include "verify/properties/property.h"
#include "verify/shrink/shrinker.h"

namespace verify {

namespace {

// SIGKILL: no program does that to itself; an operator or a system out of memory does.
constexpr std::string_view kKilledFromOutside = "killed by signal 9 ";

constexpr std::uint64_t kFirstRandomOrder = 101;  // campaigns begin with lower seeds
constexpr int kGrowths = 8;                       // measurements that all have to show that what is held grows

bool has_failures(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const Step& step) { return std::holds_alternative<Fail>(step.command); });
}

// A valid program's commands succeed, except where State says that being refused is what is to be observed. Anything
// else means that the program asks for something that the reference refuses: it says nothing about the subject.
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

bool differs_in_bad_call(const Program& program, const std::optional<Deviation>& deviation) {
  return deviation && deviation->step < program.steps.size() &&
         std::holds_alternative<BadCall>(program.steps[deviation->step].command);
}

// A bench names what breaks on it itself, and nothing of the program around it can be the cause.
bool shows_on_a_bench(const Program& program, const std::vector<Violation>& violations) {
  const auto is_action = [](const Step& step) { return std::holds_alternative<SystemAction>(step.command); };
  if (violations.empty()) return false;
  const std::size_t step = first_step(violations);
  return step < program.steps.size() ? is_action(program.steps[step])
                                     : std::all_of(program.steps.begin(), program.steps.end(), is_action);
}

RunOptions in_the_usual_order(RunOptions options) {
  options.schedule_seed = 0;
  return options;
}

// Of a divergence that cannot be looked at any more.
std::string told(const std::vector<Difference>& differences, const Violations& violations = {}) {
  assert(!differences.empty() || !violations.empty());
  if (differences.empty()) {
    const Violation& first = violations.front();
    return fmt::format("{} of {}: {}, not {}", property(first.property).name, first.where, first.observed,
                       first.expected);
  }
  const Difference& first = differences.front();
  return fmt::format("{} {} at '{}'", first.where,
                     first.where == "process" || first.where == "status" ? first.observed : "differed", first.command);
}

}  // namespace

Judge::Pair Judge::run_pair(const Program& program, const RunOptions& options) {
  Pair pair;
  RunResult subject = subject_.run(program, options);
  faulted_ = faulted_ || !subject.observation.notes.fault.empty();
  RunOptions reference;
  reference.poison = reference.failures = reference.inspect = reference.isolation = false;
  reference.fresh_addresses = options.fresh_addresses;
  const RunResult baseline = baseline_.run(program, reference, subject.script);
  faulted_ = faulted_ || !baseline.observation.notes.fault.empty();
  if (baseline.observation.notes.races != 0) pair.poisoned = "data race: " + baseline.observation.notes.first_race;
  if (!baseline.observation.notes.fault.empty())
    pair.poisoned = "fault in the baseline: " + baseline.observation.notes.fault;
  pair.discarded = refused_by_baseline(program, baseline.observation);
  pair.differences = compare(program, baseline.observation, subject.observation);
  pair.deviation = first_deviation(program, baseline.observation, subject.observation);
  pair.reverse = first_deviation(program, subject.observation, baseline.observation);
  if (!pair.deviation && !subject.observation.violations.empty()) {
    pair.deviation = Deviation{first_step(subject.observation.violations), Effect::kTeardown, 0};
  }
  pair.subject = std::move(subject.observation);
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
  run.keep_passed = !options.poison;
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
    if (options.every_order) every_order(program, pair, judgement);
    if (options.however_built) by_streams(program, pair, judgement);
    if (options.cycles && judgement.verdict == VerdictKind::kAgree) cycles(program, judgement);
  }
  if (options.costs && (judgement.verdict == VerdictKind::kAgree || judgement.verdict == VerdictKind::kKnownQuirk)) {
    costs(program, judgement);
  }
  return judgement;
}

const Quirk* Judge::explain(const Program& program, const std::optional<Deviation>& deviation,
                            const std::optional<Deviation>& reverse) const {
  const Quirk* quirk = deviation ? known_.quirks.explain(program, known_.strategy, *deviation) : nullptr;
  if (quirk != nullptr || !reverse) return quirk;
  return known_of_baseline_.quirks.explain(program, known_of_baseline_.strategy, *reverse);
}

const Quirk* Judge::explain(const Program& program, const Observation& expected, const Observation& observed) const {
  return explain(program, first_deviation(program, expected, observed), first_deviation(program, observed, expected));
}

std::string Judge::unrepeated(const Pair& pair) {
  const std::string text = "a divergence that did not show again in a fresh process";
  return pair.differences.empty() ? text : text + fmt::format(" ({})", told(pair.differences));
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
  const Observation again = run_pair(program, fresh).subject;
  const std::size_t step = first_step(pair.subject.violations);
  return std::count(again.patched_in_place.begin(), again.patched_in_place.end(), step) != 0 &&
         !holds(again.violations, PropertyId::kA2) && !holds(again.violations, PropertyId::kA3);
}

// The reference refuses the first command that ends otherwise, and the subject says that it is done.
bool Judge::says_done_where_refused(const Program& program, const Pair& pair) {
  if (!pair.deviation || pair.deviation->effect != Effect::kStatus) return false;
  const std::size_t step = pair.deviation->step;
  return step < pair.subject.statuses.size() && pair.subject.statuses[step].code == 0 &&
         !std::holds_alternative<Fail>(program.steps[step].command) && step <= first_step(pair.subject.violations);
}

// A pointer that stayed stale may have been written to another object, where it does not show when that one held it
// already: graphs that are not patched themselves do not.
bool Judge::hits_the_graph_instead(const Program& program, const RunOptions& options) {
  if (subject_.contained()) return false;
  Program fewer = program;
  std::erase_if(fewer.steps, [](const Step& step) {
    const auto* patch = std::get_if<Patch>(&step.command);
    return patch != nullptr && patch->target == Target::kGraph;
  });
  if (fewer.steps.size() == program.steps.size()) return false;
  fewer = drop_invalid(fewer);
  RunOptions closer = options;
  closer.isolation = true;
  return holds(run_pair(fewer, closer).subject.violations, PropertyId::kP2);
}

// A field may hold what the patch never wrote there: where setting the nodes one at a time changes others, too, the
// runtime does.
bool Judge::setters_change_other_nodes(const Program& program, const RunOptions& options) {
  if (subject_.contained()) return false;
  const std::optional<Program> sets = with_setters_for_patches(program);
  if (!sets) return false;
  RunOptions closer = options;
  closer.isolation = true;
  return holds(run_pair(*sets, closer).subject.violations, PropertyId::kP2);
}

const Judge::Pair& Judge::or_else(const Pair& pair, const Pair& other) {
  return pair.clean() ? other : pair;
}

bool Judge::clean_without_redundant_edges(const Program& program, const RunOptions& options) {
  const std::optional<Program> fewer = without_redundant_edges(program);
  return fewer && run_pair(*fewer, options).clean();
}

// In other orders, too: fewer commands are ordered otherwise by the same seed.
bool Judge::clean_without_frees(const Program& program, const RunOptions& options) {
  const std::optional<Program> keeping = without_stream_ordered_frees(program);
  if (!keeping || !run_pair(*keeping, options).clean()) return false;
  RunOptions other = options;
  for (std::uint64_t order = 0; order < kRandomOrders; ++order) {
    other.schedule_seed = kFirstRandomOrder + order;
    if (!run_pair(*keeping, other).clean()) return false;
  }
  return true;
}

// Who keeps every edge observes the same in every legal order: what is wrong in one and right in another lost an edge.
bool Judge::clean_in_another_order(const Program& program, const RunOptions& options) {
  RunOptions other = options;
  for (std::uint64_t order = 0; order < kRandomOrders; ++order) {
    other.schedule_seed = kFirstRandomOrder + order;
    if (run_pair(program, other).clean()) return true;
  }
  return false;
}

void Judge::name_cause(const Program& program, const RunOptions& options, const Pair& first, Judgement& judgement) {
  // The first bad command may have done something earlier, or to something else, than a run shows that does not look.
  RunOptions closer = options;
  closer.isolation = true;
  const Pair pair = options.isolation || subject_.contained() ? first : or_else(run_pair(program, closer), first);
  std::set<PropertyId> broken = broken_first(pair.subject.violations);
  std::set<PropertyId> later;
  for (const Violation& violation : pair.subject.violations) later.insert(violation.property);
  const bool died = !pair.subject.death.empty();
  if (!pair.differences.empty()) {
    (broken.empty() ? broken : later).insert(died ? PropertyId::kP11 : PropertyId::kP3);
    if (died && step_concerns_capture(program, pair.subject.death_step)) broken.insert(PropertyId::kP7);
  }

  const auto clean_with = [&](const RunOptions& other) { return run_pair(program, other).clean(); };
  std::optional<PropertyId> cause;
  if (shows_on_a_bench(program, pair.subject.violations)) {
    cause.reset();
  } else if (differs_in_bad_call(program, pair.deviation)) {
    cause = PropertyId::kP11;
  } else if (clean_with(keeping_what_was_passed(options))) {
    cause = PropertyId::kP1;
  } else if (has_failures(program) && clean_with(without_failures(options))) {
    cause = PropertyId::kP4;
  } else if (!pair.differences.empty() && !died && clean_without_frees(program, options)) {
    cause = PropertyId::kS1;
  } else if (options.schedule_seed != 0
                 ? clean_with(in_the_usual_order(options))
                 : pair.subject.violations.empty() && !died && clean_in_another_order(program, options)) {
    cause = PropertyId::kP5;
  } else if (says_done_where_refused(program, pair) && !broken.contains(PropertyId::kP7)) {
    cause = PropertyId::kP4;
  } else if (broken.contains(PropertyId::kP2) ||
             (broken.contains(PropertyId::kA2) && hits_the_graph_instead(program, options)) ||
             ((broken.contains(PropertyId::kA2) || broken.contains(PropertyId::kA3)) &&
              setters_change_other_nodes(program, options))) {
    cause = PropertyId::kP2;
  } else if (pair.subject.violations.empty() && !died && clean_without_redundant_edges(program, options)) {
    cause = PropertyId::kP9;
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
Observation Judge::reference_for(const Program& program, const Pair& pair, const RunResult& other) {
  if (other.script == pair.script) return pair.subject;
  return run_baseline(program, other.script);
}

Observation Judge::run_baseline(const Program& program, const AddressScript& script) {
  RunOptions reference;
  reference.poison = reference.failures = reference.inspect = reference.isolation = false;
  return baseline_.run(program, reference, script).observation;
}

// A further run of a program: whether it holds. What a quirk explains, or a fresh process does not show again, is the
// program's verdict and no less counted than in its first run.
bool Judge::further_run_holds(Judgement& judgement, const std::function<Look()>& attempt) {
  Look look = attempt();
  if (look.clean) return true;
  const std::string seen = look.what;
  judgement.verdict = VerdictKind::kDiverge;
  judgement.reason.clear();  // of an earlier run
  if (look.quirk == nullptr && subject_.contained()) {
    subject_.start_afresh();
    look = attempt();
    if (look.clean) {
      judgement.verdict = VerdictKind::kPoisoned;
      judgement.reason =
          fmt::format("a divergence of a further run that did not show again in a fresh process ({})", seen);
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
    const auto fewer_calls = [&] { return failed.observation.failures_fired == 0 && failed.observation.death.empty(); };
    const bool held = further_run_holds(judgement, [&] {
      failed = subject_.run(program, options);
      if (fewer_calls()) return Look{true, nullptr};
      const Observation expected = reference_for(program, pair, failed);
      differences = compare(program, expected, failed.observation);
      const bool clean = differences.empty() && failed.observation.violations.empty();
      if (clean) return Look{true, nullptr};
      return Look{
          false, explain(program, expected, failed.observation),
          fmt::format("call {} of the graph API failing: {}", nth, told(differences, failed.observation.violations))};
    });
    if (held && fewer_calls()) break;
    ++judgement.exercised[static_cast<std::size_t>(PropertyId::kP4)];
    if (held) continue;
    if (judgement.verdict != VerdictKind::kDiverge) return;
    judgement.broken = {PropertyId::kP4};
    judgement.violations = failed.observation.violations;
    judgement.violations.push_back({PropertyId::kP4, program.steps.size(),
                                    fmt::format("call {} of the graph API failing", nth), "as if nothing had failed",
                                    "something else"});
    judgement.differences = std::move(differences);
    return;
  }
}

// Every legal order where they can be counted, and some more: who loses an edge has more orders than there are legal
// ones. Each has to observe what the order of addition does.
void Judge::every_order(const Program& program, const Pair& pair, Judgement& judgement) {
  const std::optional<std::uint64_t> counted = subject_.contained() ? std::nullopt : orders_to_count(program);
  const std::uint64_t legal = counted.value_or(0);
  for (std::uint64_t number = 0; number < legal + kRandomOrders; ++number) {
    RunOptions options;
    options.isolation = options.inspect = false;
    const bool is_legal = number < legal;
    options.schedule_seed = is_legal ? kCountedOrder | number : kFirstRandomOrder + number - legal;
    std::vector<Difference> differences;
    const bool held = further_run_holds(judgement, [&] {
      const RunResult other = subject_.run(program, options);
      const Observation expected = reference_for(program, pair, other);
      differences = compare(program, expected, other.observation);
      if (differences.empty()) return Look{true, nullptr};
      return Look{false, explain(program, expected, other.observation),
                  fmt::format("schedule {}: {}", options.schedule_seed, told(differences))};
    });
    ++judgement.exercised[static_cast<std::size_t>(PropertyId::kP5)];
    if (held) continue;
    if (judgement.verdict != VerdictKind::kDiverge) return;
    judgement.broken = {PropertyId::kP5};
    judgement.violations.push_back({PropertyId::kP5, program.steps.size(),
                                    is_legal ? fmt::format("legal order {} of {}", number, legal)
                                             : fmt::format("schedule {}", options.schedule_seed),
                                    "no difference", "a difference"});
    judgement.differences = std::move(differences);
    return;
  }
}

// The program by its streams: what it launches as eager work, what it captures recorded by hand.
void Judge::by_streams(const Program& program, const Pair& pair, Judgement& judgement) {
  struct Change {
    PropertyId property;
    const char* name;
    std::optional<StreamVariant> (*make)(const Program&);
  };
  static constexpr Change kChanges[] = {{PropertyId::kP6, "launches replaced by eager work", launched_eagerly},
                                        {PropertyId::kP9, "captures recorded by hand", recorded_by_hand}};
  for (const Change& change : kChanges) {
    if (judgement.verdict != VerdictKind::kAgree) return;
    const std::optional<StreamVariant> variant = change.make(program);
    if (!variant) continue;
    RunOptions options;
    options.isolation = options.inspect = options.failures = false;
    std::vector<Difference> differences;
    bool supported = true;
    const bool held = further_run_holds(judgement, [&] {
      const RunResult other = subject_.run(variant->program, options);
      supported = other.observation.unsupported.empty();
      if (!supported || other.observation.notes.races != 0) return Look{true, nullptr};
      const Observation expected = reference_for(program, pair, other);
      const Observation observed = in_terms_of(program, *variant, expected, other.observation);
      differences = compare(program, expected, observed);
      if (differences.empty()) return Look{true, nullptr};
      return Look{false, explain_variant(*variant, other), fmt::format("{}: {}", change.name, told(differences))};
    });
    if (supported) ++judgement.exercised[static_cast<std::size_t>(change.property)];
    if (held || judgement.verdict != VerdictKind::kDiverge) continue;
    judgement.broken = {change.property};
    judgement.violations.push_back(
        {change.property, program.steps.size(), change.name, "no difference", "a difference"});
    judgement.differences = std::move(differences);
  }
}

// Quirks are about commands, so they are asked about the variant's own, against the variant's own baseline.
const Quirk* Judge::explain_variant(const StreamVariant& variant, const RunResult& other) {
  RunOptions reference;
  reference.poison = reference.failures = reference.inspect = reference.isolation = false;
  return explain(variant.program, baseline_.run(variant.program, reference, other.script).observation,
                 other.observation);
}

// The subject alone, at growing sizes: what it costs is its own matter.
std::vector<CostMeasurement> Judge::measure_costs(const Program& program) {
  const std::uint32_t widest = widest_fan(program);
  std::vector<std::uint32_t> sizes;
  std::vector<Observation> observations;
  RunOptions options;
  options.poison = options.failures = options.inspect = options.isolation = false;
  options.costs = true;
  for (const std::uint32_t size : kCostSizes) {
    if (size > widest) break;
    sizes.push_back(size);
    const Program narrow = narrowed(program, size);
    // What comes for the first time in a process (a kernel is loaded, a pool is made) is no cost of the size.
    if (observations.empty()) static_cast<void>(subject_.run(narrow, options));
    observations.push_back(subject_.run(narrow, options).observation);
  }
  return fit_costs(program, sizes, observations);
}

void Judge::costs(const Program& program, Judgement& judgement) {
  if (widest_fan(program) < kLeastCostFan) return;
  const auto too_much = [](const CostMeasurement& cost) { return cost.exponent > cost.bound + kCostTolerance; };
  judgement.costs = measure_costs(program);
  // A runtime's own threads allocate when they like; what the size costs it costs each time.
  if (std::any_of(judgement.costs.begin(), judgement.costs.end(), too_much)) {
    const std::vector<CostMeasurement> again = measure_costs(program);
    for (std::size_t i = 0; i < std::min(again.size(), judgement.costs.size()); ++i) {
      if (again[i].exponent < judgement.costs[i].exponent) judgement.costs[i] = again[i];
    }
  }
  judgement.exercised[static_cast<std::size_t>(PropertyId::kP10)] += judgement.costs.size();
  for (const CostMeasurement& cost : judgement.costs) {
    if (!too_much(cost)) continue;
    judgement.verdict = VerdictKind::kDiverge;
    judgement.broken = {PropertyId::kP10};
    judgement.violations.push_back(
        {PropertyId::kP10, cost.step, fmt::format("{} of '{}'", cost.measure, cost.operation),
         fmt::format("growth with the nodes to the power of {:.1f} at most", cost.bound),
         fmt::format("{:.2f} ({} for {} nodes, {} for {})", cost.exponent, cost.values.front(), cost.sizes.front(),
                     cost.values.back(), cost.sizes.back())});
  }
}

// The subject alone: many cycles to warm it up, then few and many in turns. A pool that grew because the device fell
// behind says nothing: only what grows with the cycles each time is kept for every one of them. A program that a quirk
// is known of says nothing either.
void Judge::cycles(const Program& program, Judgement& judgement) {
  const std::optional<Program> few = cycled(program, kFewCycles), many = cycled(program, kManyCycles);
  if (!few || !many) return;
  RunOptions options;
  options.poison = options.failures = options.inspect = options.isolation = false;
  options.held = true;
  std::string text;
  bool asked = true;
  const bool held = further_run_holds(judgement, [&] {
    const auto went_well = [](const Observation& observation) {
      return observation.death.empty() && observation.unsupported.empty() && observation.notes.fault.empty() &&
             std::all_of(observation.statuses.begin(), observation.statuses.end(),
                         [](const StepStatus& s) { return s.code == 0; });
    };
    text.clear();
    asked = went_well(subject_.run(*many, options).observation);
    Observation before = subject_.run(*few, options).observation;
    for (int measured = 0; asked && measured < kGrowths; ++measured) {
      const Observation after = subject_.run(*many, options).observation;
      Observation again = subject_.run(*few, options).observation;
      asked = went_well(before) && went_well(after) && went_well(again) && !before.held.empty();
      text = asked ? grown(before.held, after.held, again.held) : std::string();
      if (text.empty()) break;
      before = std::move(again);
    }
    const Deviation growth{many->steps.size(), Effect::kGrowth, 0};
    if (text.empty()) return Look{true, nullptr};
    return Look{false, known_.quirks.explain(*many, known_.strategy, growth),
                fmt::format("what is held after {} cycles: {}", kManyCycles, text)};
  });
  if (asked) ++judgement.exercised[static_cast<std::size_t>(PropertyId::kP8)];
  if (held || judgement.verdict != VerdictKind::kDiverge) return;
  judgement.broken = {PropertyId::kP8};
  judgement.violations.push_back({PropertyId::kP8, program.steps.size(),
                                  fmt::format("what is held after {} cycles", kManyCycles),
                                  fmt::format("no more than after {}", kFewCycles), text});
}

void Judge::however_built(const Program& program, const Pair& pair, Judgement& judgement) {
  const std::size_t steps = program.steps.size();
  const Avoid known = [this](const State& state, const Command& command) {
    return known_.quirks.triggered(state, command, known_.strategy) != nullptr;
  };
  for (const Variant& variant : equal_variants(program, known)) {
    RunOptions options;
    options.isolation = options.inspect = false;
    const auto differences_of = [&](const RunResult& other) {
      const Observation expected =
          variant.reference
              ? as_original(run_baseline(variant.reference->program, other.script), *variant.reference, steps)
              : as_original(reference_for(program, pair, other), {program, {}}, steps);
      return compare(program, expected, as_original(other.observation, variant.derived, steps));
    };
    std::vector<Difference> differences;
    bool lacking = false;
    const bool held = further_run_holds(judgement, [&] {
      const RunResult other = subject_.run(variant.derived.program, options);
      lacking = !other.observation.unsupported.empty();
      if (lacking) return Look{true, nullptr};
      differences = differences_of(other);
      if (differences.empty()) return Look{true, nullptr};
      // A quirk is looked for in the program that ran, whose steps are others.
      const Observation wanted = run_baseline(variant.derived.program, other.script);
      return Look{false, explain(variant.derived.program, wanted, other.observation),
                  fmt::format("{}: {}", variant.change, told(differences))};
    });
    if (lacking) continue;
    ++judgement.exercised[static_cast<std::size_t>(PropertyId::kP9)];
    if (held) continue;
    if (judgement.verdict != VerdictKind::kDiverge) return;
    judgement.broken = {PropertyId::kP9};
    // Where it goes as soon as the caller leaves alone what it passed, it is no matter of how the graph was built.
    options.poison = false;
    options.keep_passed = true;
    const bool passed = differences_of(subject_.run(variant.derived.program, options)).empty();
    if (passed) judgement.broken.insert(judgement.broken.begin(), PropertyId::kP1);
    if (variant.precisely) judgement.broken.insert(judgement.broken.begin(), *variant.precisely);
    judgement.violations.push_back(
        {PropertyId::kP9, steps, std::string(variant.change), "no difference", "a difference"});
    judgement.differences = std::move(differences);
    return;
  }
}

bool step_concerns_capture(const Program& program, std::size_t step) {
  if (step >= program.steps.size()) return false;
  State state;
  for (std::size_t i = 0; i < step; ++i) state.apply(program.steps[i].command);
  return concerns_capture(state, program.steps[step].command);
}

}  // namespace verify
