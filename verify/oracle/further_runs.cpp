// Checks that need many runs of one program; the contract is in the header.
#include "verify/oracle/further_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "verify/oracle/metamorphic.h"
#include "verify/oracle/stream_variants.h"
#include "verify/program/state.h"
#include "verify/program/threads.h"
#include "verify/properties/cost.h"
#include "verify/properties/orders.h"

namespace verify {

namespace {

constexpr int kGrowths = 8;  // measurements that all have to show growth

}  // namespace

RunResult FurtherRuns::run(const Program& program, const RunOptions& options) {
  RunResult result = pairs_.run_subject(program, options);
  if (!result.observation.harness_error.empty()) harness_error_ = result.observation.harness_error;
  return result;
}

bool FurtherRuns::holds(const std::function<Look()>& attempt) {
  const auto harness_failed = [this] {
    if (harness_error_.empty()) return false;
    judgement_.verdict = VerdictKind::kHarnessError;
    judgement_.reason = "a further run: " + harness_error_;
    return true;
  };
  harness_error_.clear();
  Look look = attempt();
  if (harness_failed()) return false;
  if (look.clean) return true;
  const std::string seen = look.what;
  judgement_.verdict = VerdictKind::kDiverge;
  judgement_.reason.clear();  // of an earlier run
  if (look.quirk == nullptr && pairs_.subject().contained()) {
    const unsigned most = look.died ? kRateRuns : 1;
    for (unsigned k = 0; k < most && !look.quirk && (k == 0 || look.clean); ++k) {
      pairs_.subject().start_afresh();
      look = attempt();
      judgement_.sometimes = k != 0 && look.died;
    }
    if (harness_failed()) return false;
    if (look.clean) {
      judgement_.verdict = VerdictKind::kPoisoned;
      judgement_.reason =
          fmt::format("a divergence of a further run that did not show again in a fresh process ({})", seen);
    }
  }
  if (look.quirk != nullptr) {
    judgement_.verdict = VerdictKind::kKnownQuirk;
    judgement_.quirk = judgement_.reason = look.quirk->id;
  }
  return false;
}

// Runs the program once for every call of the graph API, with that call failing. Each run has to observe the same as
// the run without a failure.
void FurtherRuns::every_call_fails() {
  const std::uint64_t calls = pair_.subject.calls;
  const std::uint64_t most = kMaxCallsWhileFailing / std::max<std::uint64_t>(1, calls);
  const std::uint64_t stride = std::max<std::uint64_t>(1, calls / std::clamp(most, kLeastFailedCalls, kMaxFailedCalls));
  for (std::uint64_t nth = 1; nth <= calls; nth += stride) {
    RunOptions options;
    options.poison = options.isolation = options.failures = false;
    options.fail_graph_call = nth;
    RunResult failed;
    std::vector<Difference> differences;
    const auto fewer_calls = [&] { return failed.observation.failures_fired == 0 && !failed.observation.death; };
    const bool held = holds([&] {
      failed = run(program_, options);
      if (fewer_calls()) return Look{true, nullptr};
      const Observation expected = pairs_.reference_for(program_, pair_, failed);
      differences = compare(program_, expected, failed.observation);
      const bool clean = differences.empty() && failed.observation.violations.empty();
      if (clean) return Look{true, nullptr};
      return Look{false, pairs_.explain(program_, expected, failed.observation),
                  fmt::format("call {} of the graph API failing: {}", nth,
                              divergence_text(differences, failed.observation.violations)),
                  died(failed.observation)};
    });
    if (held && fewer_calls()) break;
    ++judgement_.exercised[static_cast<std::size_t>(PropertyId::kP4)];
    if (held) continue;
    if (judgement_.verdict != VerdictKind::kDiverge) return;
    judgement_.broken = {PropertyId::kP4};
    judgement_.violations = failed.observation.violations;
    judgement_.violations.push_back({PropertyId::kP4, program_.steps.size(),
                                     fmt::format("call {} of the graph API failing", nth), "as if nothing had failed",
                                     "something else"});
    judgement_.differences = std::move(differences);
    return;
  }
}

// Runs the program once for each of the first calls of each kind that the runtime makes below it from the first
// instantiation on, with that call failing.
void FurtherRuns::every_call_below_fails() {
  RunOptions options;
  options.poison = options.isolation = options.inspect = false;
  const std::size_t steps = program_.steps.size();
  const auto instantiates = [](const Step& step) { return std::holds_alternative<Instantiate>(step.command); };
  auto first = static_cast<std::size_t>(std::ranges::find_if(program_.steps, instantiates) - program_.steps.begin());
  // The free memory is stated before a call below the runtime fails.
  for (std::size_t i = first; i < steps; ++i) {
    if (std::holds_alternative<DeviceMemory>(program_.steps[i].command)) first = i + 1;
  }
  if (first == steps || !pairs_.subject().fails_below()) return;
  // No command is added to a block of threads.
  while (program_.steps[first].in.thread != 0 && !starts_threads(program_, first)) --first;
  for (std::size_t kind = 0; kind < kBelowWords.size(); ++kind) {
    for (std::uint32_t nth = 1; nth <= kMaxFailedCallsBelow; ++nth) {
      Derived failing;
      failing.program.setting = program_.setting;
      for (std::size_t i = 0; i < steps; ++i) {
        if (i == first) failing.add(FailBelow{nth, static_cast<Below>(kind)});
        failing.keep(program_.steps[i], i);
      }
      RunResult failed;
      std::vector<Difference> differences;
      bool known = false;
      const auto fewer_calls = [&] { return failed.observation.failures_fired == 0 && !failed.observation.death; };
      const std::string what = fmt::format("{} {} below the runtime failing", kBelowWords[kind], nth);
      const bool held = holds([&] {
        failed = run(failing.program, options);
        if (fewer_calls()) return Look{true, nullptr};
        const Observation expected = pairs_.run_baseline(failing.program, failed.script);
        differences =
            compare(program_, as_original(expected, failing, steps), as_original(failed.observation, failing, steps));
        if (differences.empty()) return Look{true, nullptr};
        // A program is not judged by a quirk that only a refusal added here shows: of such quirks most programs die.
        known = pairs_.explain(failing.program, expected, failed.observation) != nullptr;
        if (known) return Look{true, nullptr};
        return Look{false, nullptr, fmt::format("{}: {}", what, divergence_text(differences)),
                    died(failed.observation)};
      });
      if (held && (known || fewer_calls())) break;
      ++judgement_.exercised[static_cast<std::size_t>(PropertyId::kP4)];
      if (held) continue;
      if (judgement_.verdict != VerdictKind::kDiverge) return;
      judgement_.broken = {PropertyId::kP4};
      judgement_.violations = {{PropertyId::kP4, steps, what, "as if nothing had failed", "something else"}};
      judgement_.differences = std::move(differences);
      return;
    }
  }
}

// Runs every legal order where the orders can be counted, and some random ones: a subject that loses an edge has more
// orders than the legal ones. Each order has to observe the same as the order of addition.
void FurtherRuns::every_order() {
  const std::optional<std::uint64_t> counted = pairs_.subject().contained() ? std::nullopt : orders_to_count(program_);
  const std::uint64_t legal = counted.value_or(0);
  for (std::uint64_t number = 0; number < legal + kRandomOrders; ++number) {
    RunOptions options;
    options.isolation = options.inspect = false;
    const bool is_legal = number < legal;
    options.schedule_seed = is_legal ? kCountedOrder | number : kFirstRandomOrder + number - legal;
    std::vector<Difference> differences;
    const bool held = holds([&] {
      const RunResult other = run(program_, options);
      const Observation expected = pairs_.reference_for(program_, pair_, other);
      differences = compare(program_, expected, other.observation);
      if (differences.empty()) return Look{true, nullptr};
      return Look{false, pairs_.explain(program_, expected, other.observation),
                  fmt::format("schedule {}: {}", options.schedule_seed, divergence_text(differences)),
                  died(other.observation)};
    });
    ++judgement_.exercised[static_cast<std::size_t>(PropertyId::kP5)];
    if (held) continue;
    if (judgement_.verdict != VerdictKind::kDiverge) return;
    judgement_.broken = {PropertyId::kP5};
    judgement_.violations.push_back({PropertyId::kP5, program_.steps.size(),
                                     is_legal ? fmt::format("legal order {} of {}", number, legal)
                                              : fmt::format("schedule {}", options.schedule_seed),
                                     "no difference", "a difference"});
    judgement_.differences = std::move(differences);
    return;
  }
}

void FurtherRuns::however_built() {
  const std::size_t steps = program_.steps.size();
  const Avoid known = [this](const State& state, const Command& command, Id thread) {
    return pairs_.is_known(state, command, thread, program_.setting.environment);
  };
  for (const Variant& variant : equal_variants(program_, known)) {
    RunOptions options;
    options.isolation = options.inspect = false;
    const auto differences_of = [&](const RunResult& other) {
      const Observation expected =
          variant.reference
              ? as_original(pairs_.run_baseline(variant.reference->program, other.script), *variant.reference, steps)
              : as_original(pairs_.reference_for(program_, pair_, other), {program_, {}}, steps);
      return compare(program_, expected, as_original(other.observation, variant.derived, steps));
    };
    std::vector<Difference> differences;
    bool lacking = false;
    const bool held = holds([&] {
      const RunResult other = run(variant.derived.program, options);
      lacking = !other.observation.unsupported.empty();
      if (lacking) return Look{true, nullptr};
      differences = differences_of(other);
      if (differences.empty()) return Look{true, nullptr};
      // The quirk has to be found in the program that ran: its steps differ from the first program's.
      const Observation wanted = pairs_.run_baseline(variant.derived.program, other.script);
      return Look{false, pairs_.explain(variant.derived.program, wanted, other.observation),
                  fmt::format("{}: {}", variant.change, divergence_text(differences)), died(other.observation)};
    });
    if (lacking) continue;
    ++judgement_.exercised[static_cast<std::size_t>(PropertyId::kP9)];
    if (held) continue;
    if (judgement_.verdict != VerdictKind::kDiverge) return;
    judgement_.broken = {PropertyId::kP9};
    // If the difference disappears when the caller leaves its arguments alone, it does not come from how the graph is
    // built. A death that does not come every time may be absent by chance.
    options.poison = false;
    options.keep_passed = true;
    if (!judgement_.sometimes && differences_of(pairs_.run_subject(variant.derived.program, options)).empty())
      judgement_.broken.insert(judgement_.broken.begin(), PropertyId::kP1);
    if (variant.precisely) judgement_.broken.insert(judgement_.broken.begin(), *variant.precisely);
    judgement_.violations.push_back(
        {PropertyId::kP9, steps, std::string(variant.change), "no difference", "a difference"});
    judgement_.differences = std::move(differences);
    return;
  }
}

// Runs two variants of the program: its launches as eager work, and its captures recorded by hand.
void FurtherRuns::by_streams() {
  struct Change {
    PropertyId property;
    const char* name;
    std::optional<StreamVariant> (*make)(const Program&);
  };
  static constexpr Change kChanges[] = {{PropertyId::kP6, "launches replaced by eager work", launched_eagerly},
                                        {PropertyId::kP9, "captures recorded by hand", recorded_by_hand}};
  for (const Change& change : kChanges) {
    if (judgement_.verdict != VerdictKind::kAgree) return;
    const std::optional<StreamVariant> variant = change.make(program_);
    if (!variant) continue;
    RunOptions options;
    options.isolation = options.inspect = options.failures = false;
    std::vector<Difference> differences;
    bool supported = true;
    const bool held = holds([&] {
      const RunResult other = run(variant->program, options);
      supported = other.observation.unsupported.empty();
      if (!supported || other.observation.notes.races != 0) return Look{true, nullptr};
      const Observation expected = pairs_.reference_for(program_, pair_, other);
      const Observation observed = in_terms_of(program_, *variant, expected, other.observation);
      differences = compare(program_, expected, observed);
      if (differences.empty()) return Look{true, nullptr};
      return Look{
          false,
          pairs_.explain(variant->program, pairs_.run_baseline(variant->program, other.script), other.observation),
          fmt::format("{}: {}", change.name, divergence_text(differences)), died(other.observation)};
    });
    if (supported) ++judgement_.exercised[static_cast<std::size_t>(change.property)];
    if (held || judgement_.verdict != VerdictKind::kDiverge) continue;
    judgement_.broken = {change.property};
    judgement_.violations.push_back(
        {change.property, program_.steps.size(), change.name, "no difference", "a difference"});
    judgement_.differences = std::move(differences);
  }
}

// Runs the subject alone, at growing sizes. Its costs are not compared with the baseline's.
std::vector<CostMeasurement> FurtherRuns::measure_costs() {
  const std::uint32_t widest = widest_fan(program_);
  std::vector<std::uint32_t> sizes;
  std::vector<Observation> observations;
  RunOptions options;
  options.poison = options.failures = options.inspect = options.isolation = false;
  options.costs = true;
  for (const std::uint32_t size : kCostSizes) {
    if (size > widest) break;
    sizes.push_back(size);
    const Program narrow = narrowed(program_, size);
    // This run is not measured: a process loads kernels and makes pools only once, which is no cost of the size.
    if (observations.empty()) static_cast<void>(pairs_.run_subject(narrow, options));
    observations.push_back(pairs_.run_subject(narrow, options).observation);
  }
  return fit_costs(program_, sizes, observations);
}

void FurtherRuns::costs() {
  if (widest_fan(program_) < kLeastCostFan) return;
  const auto too_much = [](const CostMeasurement& cost) { return cost.exponent > cost.bound + kCostTolerance; };
  judgement_.costs = measure_costs();
  // A runtime's own threads allocate at any time. A cost that depends on the size shows in every measurement.
  if (std::any_of(judgement_.costs.begin(), judgement_.costs.end(), too_much)) {
    const std::vector<CostMeasurement> again = measure_costs();
    for (std::size_t i = 0; i < std::min(again.size(), judgement_.costs.size()); ++i) {
      if (again[i].exponent < judgement_.costs[i].exponent) judgement_.costs[i] = again[i];
    }
  }
  judgement_.exercised[static_cast<std::size_t>(PropertyId::kP10)] += judgement_.costs.size();
  for (const CostMeasurement& cost : judgement_.costs) {
    if (!too_much(cost)) continue;
    judgement_.verdict = VerdictKind::kDiverge;
    judgement_.broken = {PropertyId::kP10};
    judgement_.violations.push_back(
        {PropertyId::kP10, cost.step, fmt::format("{} of '{}'", cost.measure, cost.operation),
         fmt::format("growth with the nodes to the power of {:.1f} at most", cost.bound),
         fmt::format("{:.2f} ({} for {} nodes, {} for {})", cost.exponent, cost.values.front(), cost.sizes.front(),
                     cost.values.back(), cost.sizes.back())});
  }
}

// Whether the run came to its end with no error, but for commands that every round of a block is refused. The commands
// of threads run once.
static bool went_well(const Program& program, const Observation& observation) {
  if (observation.death || !observation.unsupported.empty() || !observation.notes.fault.empty()) return false;
  std::size_t begin = 0, end = 1;  // of the first round of a block
  for (std::size_t i = 0; i < observation.statuses.size(); ++i) {
    const InBlock& in = program.steps[i].in;
    const bool once = in.block == 0 || in.thread != 0;
    if (i == 0 || program.steps[i - 1].in.block != in.block) begin = i;
    if (in.round == 0 || begin == i) end = i + 1;
    if (observation.statuses[i].code != (once ? 0 : observation.statuses[begin + (i - begin) % (end - begin)].code))
      return false;
  }
  return true;
}

void FurtherRuns::cycles() {
  std::optional<Program> without_work;
  for (const bool works : {false, true}) {
    const std::optional<Program> many = cycled(program_, kRoundsOfCommands.many, works);
    if (works && many == without_work) return;
    Rounds rounds = kRoundsOfCommands;
    if (works) rounds.heap = kHeapOfWaitingWork;
    check_growth(cycled(program_, rounds.few, works), many, rounds);
    if (judgement_.verdict != VerdictKind::kAgree) return;
    without_work = many;
  }
}

void FurtherRuns::groups() {
  for (const std::size_t begin : groups_of(program_)) {
    if (judgement_.verdict != VerdictKind::kAgree) return;
    check_growth(grouped(program_, begin, kRoundsOfGroups.few), grouped(program_, begin, kRoundsOfGroups.many),
                 kRoundsOfGroups);
  }
}

// Runs the subject alone: many cycles to warm it up, then few and many in turns. A pool that grows because the device
// falls behind is no leak: a leak grows with the cycles in every measurement. Growth that a known quirk explains does
// not count as a leak either, and spoils nothing that the program observes: the program agrees.
void FurtherRuns::check_growth(const std::optional<Program>& few, const std::optional<Program>& many,
                               const Rounds& rounds) {
  if (!few || !many) return;
  RunOptions options;
  options.poison = options.failures = options.inspect = options.isolation = false;
  options.held = true;
  std::vector<Growth> growths;
  bool asked = true;
  const bool held = holds([&] {
    growths.clear();
    asked = went_well(*many, run(*many, options).observation);
    Observation before = run(*few, options).observation;
    for (int measured = 0; asked && measured < kGrowths; ++measured) {
      const Observation after = run(*many, options).observation;
      Observation again = run(*few, options).observation;
      asked = went_well(*few, before) && went_well(*many, after) && went_well(*few, again) && !before.held.empty();
      growths = asked ? grown(before.held, after.held, again.held, rounds) : std::vector<Growth>();
      if (growths.empty()) break;
      before = std::move(again);
    }
    const Divergence growth{many->steps.size(), Effect::kGrowth, 0};
    if (growths.empty()) return Look{true, nullptr};
    const Quirk* quirk = in_pieces(growths, rounds) ? pairs_.explain(*many, growth, std::nullopt) : nullptr;
    if (quirk != nullptr) {
      judgement_.quirk = quirk->id;
      return Look{true, nullptr};
    }
    return Look{false, nullptr, fmt::format("what is held after {} cycles: {}", rounds.many, described(growths))};
  });
  if (asked) ++judgement_.exercised[static_cast<std::size_t>(PropertyId::kP8)];
  if (held || judgement_.verdict != VerdictKind::kDiverge) return;
  judgement_.broken = {PropertyId::kP8};
  judgement_.violations.push_back({PropertyId::kP8, program_.steps.size(),
                                   fmt::format("what is held after {} cycles", rounds.many),
                                   fmt::format("no more than after {}", rounds.few), described(growths)});
}

}  // namespace verify
