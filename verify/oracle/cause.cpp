// Runs a program that diverged again, with one thing changed each time; the contract is in the header.
#include "verify/oracle/cause.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "verify/oracle/metamorphic.h"
#include "verify/program/state.h"
#include "verify/properties/captures.h"
#include "verify/properties/causes.h"
#include "verify/properties/orders.h"
#include "verify/shrink/shrinker.h"

namespace verify {

namespace {

bool has_failures(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const Step& step) { return arms_failure(step.command); });
}

// Returns the properties that the first bad command broke. Violations of later commands may follow from these.
std::set<PropertyId> broken_first(const std::vector<Violation>& violations) {
  const std::size_t first = first_step(violations);
  std::set<PropertyId> broken;
  for (const Violation& violation : violations) {
    if (violation.step == first) broken.insert(violation.property);
  }
  return broken;
}

bool sets_wrong_bytes(const std::set<PropertyId>& broken) {
  return std::ranges::any_of(std::array{PropertyId::kA1, PropertyId::kA2, PropertyId::kA3, PropertyId::kA4},
                             [&](PropertyId id) { return broken.contains(id); });
}

bool holds(const std::vector<Violation>& violations, PropertyId id) {
  return std::any_of(violations.begin(), violations.end(), [id](const Violation& v) { return v.property == id; });
}

bool differs_in_bad_call(const Program& program, const std::optional<Divergence>& divergence) {
  return divergence && divergence->step < program.steps.size() &&
         std::holds_alternative<BadCall>(program.steps[divergence->step].command);
}

// Whether the first difference is a read of memory that exists, which the subject refuses as no memory.
bool hides_memory(const Program& program, const RunPair& pair) {
  return pair.divergence && pair.divergence->effect == Effect::kStatus &&
         pair.divergence->status == hipErrorInvalidValue && pair.divergence->step < program.steps.size() &&
         std::holds_alternative<Read>(program.steps[pair.divergence->step].command);
}

// A bench (of actions on systems) names the property that breaks on it itself, and no other part of the program can be
// the cause.
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

// Whether the first difference is a command that the reference refuses and that succeeds on the subject.
bool says_done_where_refused(const Program& program, const RunPair& pair) {
  if (!pair.divergence || pair.divergence->effect != Effect::kStatus) return false;
  const std::size_t step = pair.divergence->step;
  return step < pair.subject.statuses.size() && pair.subject.statuses[step].code == 0 &&
         !arms_failure(program.steps[step].command) && step <= first_step(pair.subject.violations);
}

const RunPair& or_else(const RunPair& pair, const RunPair& other) {
  return pair.clean() ? other : pair;
}

// One divergence, and the further runs of its program that find its cause.
class Cause {
 public:
  Cause(PairRunner& pairs, const Program& program, const RunOptions& options)
      : pairs_(pairs), program_(program), options_(options) {}
  void name(const RunPair& first, Judgement& judgement);

 private:
  bool clean_without_redundant_edges();
  bool clean_without_frees();
  bool clean_in_another_order();
  bool depends_on_order(const RunPair& pair);
  bool runs_differ_by_order(const RunPair& pair);
  bool clean_in_a_chain();
  bool hits_the_graph_instead();
  bool setters_change_other_nodes();
  bool needs_repeats(const RunPair& pair);

  PairRunner& pairs_;
  const Program& program_;
  const RunOptions& options_;
  std::optional<bool> depends_on_order_;  // the first answer
};

// Whether the first bad patch is right at addresses that never repeat. The patch has to be made in place in that run,
// too: a buffer that comes back to its old address has not moved, and a buffer that cannot come back may force a
// refusal.
bool Cause::needs_repeats(const RunPair& pair) {
  RunOptions fresh = options_;
  fresh.fresh_addresses = true;
  const Observation again = pairs_.run(program_, fresh).subject;
  const std::size_t step = first_step(pair.subject.violations);
  return std::count(again.patched_in_place.begin(), again.patched_in_place.end(), step) != 0 &&
         !holds(again.violations, PropertyId::kA2) && !holds(again.violations, PropertyId::kA3);
}

// A patch that leaves a pointer stale may have written the new address to another object. That is not visible when the
// other object holds the address already. Without patches of graphs' definitions, the graph does not hold it.
bool Cause::hits_the_graph_instead() {
  if (pairs_.subject().contained()) return false;
  Program fewer = program_;
  std::erase_if(fewer.steps, [](const Step& step) {
    const auto* patch = std::get_if<Patch>(&step.command);
    return patch != nullptr && patch->target == Target::kGraph;
  });
  if (fewer.steps.size() == program_.steps.size()) return false;
  fewer = drop_invalid(fewer);
  RunOptions closer = options_;
  closer.isolation = true;
  return holds(pairs_.run(fewer, closer).subject.violations, PropertyId::kP2);
}

// A field may hold a value that the patch never wrote there. When setters of single nodes change other nodes too, the
// runtime writes that value.
bool Cause::setters_change_other_nodes() {
  if (pairs_.subject().contained()) return false;
  const std::optional<Program> sets = with_setters_for_patches(program_);
  if (!sets) return false;
  RunOptions closer = options_;
  closer.isolation = true;
  return holds(pairs_.run(*sets, closer).subject.violations, PropertyId::kP2);
}

bool Cause::clean_without_redundant_edges() {
  const std::optional<Program> fewer = without_redundant_edges(program_);
  return fewer && pairs_.run(*fewer, options_).clean();
}

// Looks at other orders, too: with fewer commands the same seed gives another order.
bool Cause::clean_without_frees() {
  const std::optional<Program> keeping = without_stream_ordered_frees(program_);
  if (!keeping || !pairs_.run(*keeping, options_).clean()) return false;
  RunOptions other = options_;
  for (std::uint64_t order = 0; order < kRandomOrders; ++order) {
    other.schedule_seed = kFirstRandomOrder + order;
    if (!pairs_.run(*keeping, other).clean()) return false;
  }
  return true;
}

// A runtime that keeps every edge gives the same observation in every legal order: when one order is wrong and another
// is right, an edge was lost.
bool Cause::clean_in_another_order() {
  RunOptions other = options_;
  for (std::uint64_t order = 0; order < kRandomOrders; ++order) {
    other.schedule_seed = kFirstRandomOrder + order;
    if (pairs_.run(program_, other).clean()) return true;
  }
  return false;
}

// A chain of a graph's nodes asks for the same bytes and leaves a runtime no choice of order: where it is right and the
// graph as it is stays wrong, the runtime honoured the chain's edges and not all of the graph's. This finds a lost edge
// of a runtime that takes the same wrong order each time.
bool Cause::clean_in_a_chain() {
  const std::optional<Program> chained = with_nodes_in_a_chain(program_);
  if (!chained) return false;
  for (int time = 0; time < kConfirmations; ++time) {
    if (!pairs_.run(*chained, options_).clean() || pairs_.run(program_, options_).clean()) return false;
  }
  return true;
}

// The order that a runtime of another process usually takes may be a wrong one, too.
bool Cause::runs_differ_by_order(const RunPair& pair) {
  if (options_.schedule_seed != 0 && pairs_.run(program_, in_the_usual_order(options_)).clean()) return true;
  if (options_.schedule_seed != 0 && !pairs_.subject().contained()) return false;
  return pair.subject.violations.empty() && !pair.subject.death && clean_in_another_order();
}

// A runtime that diverges now and then may answer differently when it is asked again.
bool Cause::depends_on_order(const RunPair& pair) {
  if (!depends_on_order_) depends_on_order_ = runs_differ_by_order(pair);
  return *depends_on_order_;
}

void Cause::name(const RunPair& first, Judgement& judgement) {
  // A run without isolation checks may miss that an earlier command, or the same command in another object, did wrong.
  RunOptions closer = options_;
  closer.isolation = true;
  const RunPair pair =
      options_.isolation || pairs_.subject().contained() ? first : or_else(pairs_.run(program_, closer), first);
  std::set<PropertyId> broken = broken_first(pair.subject.violations);
  std::set<PropertyId> later;
  for (const Violation& violation : pair.subject.violations) later.insert(violation.property);
  const bool died = pair.subject.death.has_value();
  if (!pair.differences.empty()) {
    (broken.empty() ? broken : later).insert(died ? PropertyId::kP11 : PropertyId::kP3);
    if (died && step_concerns_capture(program_, pair.subject.death_step)) broken.insert(PropertyId::kP7);
  }

  const auto clean_with = [&](const RunOptions& other) { return pairs_.run(program_, other).clean(); };
  std::optional<PropertyId> cause;
  if (shows_on_a_bench(program_, pair.subject.violations)) {
    cause.reset();
  } else if (differs_in_bad_call(program_, pair.divergence)) {
    cause = PropertyId::kP11;
  } else if (clean_with(keeping_what_was_passed(options_)) &&
             (!pairs_.subject().contained() || !depends_on_order(pair))) {  // another process may take another order
    cause = PropertyId::kP1;
  } else if (has_failures(program_) && clean_with(without_failures(options_))) {
    cause = PropertyId::kP4;
  } else if (!pair.differences.empty() && !died && clean_without_frees()) {
    cause = PropertyId::kS1;
  } else if (depends_on_order(pair)) {
    cause = PropertyId::kP5;
  } else if (says_done_where_refused(program_, pair) && !broken.contains(PropertyId::kP7)) {
    cause = PropertyId::kP4;
  } else if (broken.contains(PropertyId::kP2) || (broken.contains(PropertyId::kA2) && hits_the_graph_instead()) ||
             (sets_wrong_bytes(broken) && setters_change_other_nodes())) {
    cause = PropertyId::kP2;
  } else if (pair.subject.violations.empty() && !died && clean_without_redundant_edges()) {
    cause = PropertyId::kP9;
  } else if (broken.contains(PropertyId::kA3) || (broken.contains(PropertyId::kA2) && needs_repeats(pair))) {
    // Buffers were confused (A3), and a field that came back to its old address (A2) is part of that.
    broken.erase(PropertyId::kA2);
    later.erase(PropertyId::kA2);
    broken.insert(PropertyId::kA3);
  } else if (hides_memory(program_, pair)) {
    cause = PropertyId::kP12;
  } else if (pair.divergence && pair.divergence->effect == Effect::kBytes && pair.subject.violations.empty() && !died &&
             clean_in_a_chain()) {
    cause = PropertyId::kP5;
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

}  // namespace

void name_cause(PairRunner& pairs, const Program& program, const RunOptions& options, const RunPair& first,
                Judgement& judgement) {
  Cause(pairs, program, options).name(first, judgement);
}

bool step_concerns_capture(const Program& program, std::size_t step) {
  if (step >= program.steps.size()) return false;
  State state;
  for (std::size_t i = 0; i < step; ++i) state.apply(program.steps[i].command);
  return concerns_capture(state, program.steps[step].command);
}

}  // namespace verify
