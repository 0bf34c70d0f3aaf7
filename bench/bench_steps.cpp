// The host's time for a training step whose buffers move: eleven ways of running it, on three models of a step, on the
// host model and on AMD's runtime, side by side in one run.
//
//   bring   the graph to where the buffers are; launches of graphs answer at once. The device does nothing, except the
//           copies of the way with stable addresses.
//   step    the whole step with its launches. The wait for the device is not timed.
//   done    the same until the device is idle: elapsed time, end to end.
//
// Moving buffers alternate between two places from step to step. Before a case is timed, the bytes that its steps leave
// are compared with the bytes that the commands leave without a graph. A way that leaves other bytes reports an error
// and has no number. Calls, setters, launches and allocations of a step are counted too. Times of bring and step are
// this thread's processor time. Figures with `capture_us` are synthetic: see StepOptions::collective_capture_us.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/run.h"
#include "bench/step_runtimes.h"
#include "bench/step_session.h"
#include "bench/step_timing.h"

namespace bench {

namespace {

constexpr std::uint32_t kSyntheticCaptureUs = 1000;

struct StepCase {
  StepRuntime* runtime = nullptr;
  StepModel model = StepModel::kMlp;
  StepOptions options;
  Timed timed = Timed::kBring;
};

std::string name_of(const StepCase& what) {
  std::string name = fmt::format("{}/{}/{}/{}", name_of(what.timed), what.runtime->name, name_of(what.model),
                                 name_of(what.options.way));
  if (what.options.collective_capture_us != 0)
    name += fmt::format("/capture_us:{}", what.options.collective_capture_us);
  return name;
}

bool makes_sense(const StepCase& what) {
  const StepWay way = what.options.way;
  const bool collectives = what.model != StepModel::kMlp;
  if (way == StepWay::kEager && what.timed == Timed::kBring) return false;  // there is nothing but launching
  if (what.options.collective_capture_us == 0)
    return collectives || (way != StepWay::kCapture && way != StepWay::kCache);
  return what.model == StepModel::kMlpCollectives && what.timed != Timed::kBring &&
         (way == StepWay::kRecord || way == StepWay::kCapture || way == StepWay::kCache);
}

std::vector<StepCase> all_cases(std::vector<StepRuntime>& runtimes) {
  std::vector<StepCase> cases;
  for (StepRuntime& runtime : runtimes) {
    for (const StepModel model : kStepModels) {
      for (const StepWay way : kStepWays) {
        for (const Timed timed : kTimed) {
          for (const std::uint32_t capture_us : {0U, kSyntheticCaptureUs}) {
            const StepCase what{&runtime, model, {way, capture_us}, timed};
            if (makes_sense(what)) cases.push_back(what);
          }
        }
      }
    }
  }
  return cases;
}

// Keeps one bed for all cases of a runtime and a model, and the result of each case's check and count.
class Beds {
 public:
  hip::Result<StepBed*> of(const StepCase& what) {
    const bool mapped = needs_mapped(what.options.way);
    std::unique_ptr<StepBed>& bed = beds_[{what.runtime, what.model, mapped}];
    if (!bed) {
      hip::Result<std::unique_ptr<StepBed>> made =
          StepBed::make(*what.runtime->platform, make_step_workload(what.model), mapped);
      if (!made) return made.error();
      bed = std::move(made).value();
    }
    return bed.get();
  }
  // Checked first; once a case.
  const hip::Result<StepCounts>& counts(const StepCase& what, StepBed& bed) {
    const auto found = counted_.find(name_of(what));
    if (found != counted_.end()) return found->second;
    const hip::Status checked = check_steps(what.options, bed);
    hip::Result<StepCounts> counts = checked ? count_step(what.options, bed) : checked.error();
    return counted_.emplace(name_of(what), std::move(counts)).first->second;
  }

 private:
  std::map<std::tuple<StepRuntime*, StepModel, bool>, std::unique_ptr<StepBed>> beds_;
  std::map<std::string, hip::Result<StepCounts>> counted_;
};

void run_case(benchmark::State& state, const StepCase& what, Beds& beds) {
  const hip::Result<StepBed*> bed = beds.of(what);
  if (!bed) return state.SkipWithError(bed.error().message.c_str());
  const hip::Result<StepCounts>& counts = beds.counts(what, *bed.value());
  if (!counts) return state.SkipWithError(counts.error().message.c_str());
  if (const hip::Status status = time_steps(state, what.timed, what.options, *bed.value()); !status) {
    return state.SkipWithError(status.error().message.c_str());
  }
  show(state, counts.value());
}

// ---- the summary

double time_of(const Times& times, StepCase what, Timed timed) {
  what.timed = timed;
  const auto found = times.find(name_of(what));
  return found == times.end() ? 0 : found->second / 1000;
}

std::string in_words(double microseconds) {
  return microseconds == 0 ? "" : fmt::format("{:.1f}", microseconds);
}

std::string ratio(double one, double other) {
  return one == 0 || other == 0 ? "" : fmt::format("{:.1f}", one / other);
}

void print_table(std::ostream& out, const Times& times, const std::vector<StepCase>& cases, Beds& beds) {
  constexpr const char* kRow =
      "{:14} {:16} {:13} {:>10} {:>6} {:>8} {:>8} {:>7} {:>7} {:>11} {:>8} {:>11} {:>8} {:>11}\n";
  out << '\n'
      << fmt::format(kRow, "runtime", "model", "way", "capture us", "calls", "setters", "launches", "allocs", "copied",
                     "bring (us)", "x patch", "step (us)", "x patch", "done (us)");
  for (const StepCase& what : cases) {
    const bool only_step = what.options.way == StepWay::kEager || what.options.collective_capture_us != 0;
    if (what.timed == Timed::kDone || (what.timed == Timed::kStep && !only_step)) continue;
    const double bring = time_of(times, what, Timed::kBring), step = time_of(times, what, Timed::kStep);
    if (bring == 0 && step == 0) continue;
    StepCase patch = what, counted = what;
    patch.options = {StepWay::kPatch, 0};
    if (bring == 0) counted.timed = Timed::kStep;
    const hip::Result<StepCounts>& counts = beds.counts(counted, *beds.of(counted).value());
    if (!counts) continue;
    const StepCounts& of = counts.value();
    out << fmt::format(kRow, what.runtime->name, name_of(what.model), name_of(what.options.way),
                       what.options.collective_capture_us, of.calls, of.setters, of.launches, of.allocations,
                       of.bytes_copied, in_words(bring), ratio(bring, time_of(times, patch, Timed::kBring)),
                       in_words(step), ratio(step, time_of(times, patch, Timed::kStep)),
                       in_words(time_of(times, what, Timed::kDone)));
  }
  out << "bring: without launches; step: with them; done: until the device is idle, elapsed; capture us: what a\n"
         "collective's capture is made to cost (0: its real nodes alone; otherwise synthetic); allocs: of operator "
         "new,\n"
         "outside of the runtime; copied: bytes\n";
}

struct Claim {
  const char* what;
  StepModel model;
  Timed timed;
  StepOptions slow, fast;
};
constexpr Claim kClaims[] = {
    {"per-node setters against tracing child graphs again",
     StepModel::kMlp,
     Timed::kBring,
     {StepWay::kRetrace, 0},
     {StepWay::kPatch, 0}},
    {"collectives cached against captured",
     StepModel::kMlpCollectives,
     Timed::kStep,
     {StepWay::kCapture, 0},
     {StepWay::kCache, 0}},
    {"collectives cached against captured (synthetic)",
     StepModel::kMlpCollectives,
     Timed::kStep,
     {StepWay::kCapture, kSyntheticCaptureUs},
     {StepWay::kCache, kSyntheticCaptureUs}},
    {"stable addresses against no graph",
     StepModel::kMlp,
     Timed::kStep,
     {StepWay::kEager, 0},
     {StepWay::kStabilise, 0}},
    {"a graph recorded at every step against no graph",
     StepModel::kMlp,
     Timed::kStep,
     {StepWay::kRecord, 0},
     {StepWay::kEager, 0}},
    {"728 commands, 10 % moved: captured again against patched",
     StepModel::kFsdp,
     Timed::kBring,
     {StepWay::kRecord, 0},
     {StepWay::kPatch, 0}},
    {"728 commands, 10 % moved: recorded again from known nodes against patched",
     StepModel::kFsdp,
     Timed::kBring,
     {StepWay::kRecordNodes, 0},
     {StepWay::kPatch, 0}},
    {"728 commands, 10 % moved: patched with the release's quirks against without",
     StepModel::kFsdp,
     Timed::kBring,
     {StepWay::kCareful, 0},
     {StepWay::kPatch, 0}},
};

void print_claims(std::ostream& out, const Times& times, std::vector<StepRuntime>& runtimes) {
  out << '\n';
  for (StepRuntime& runtime : runtimes) {
    for (const Claim& claim : kClaims) {
      const double slow = time_of(times, {&runtime, claim.model, claim.slow, claim.timed}, claim.timed);
      const double fast = time_of(times, {&runtime, claim.model, claim.fast, claim.timed}, claim.timed);
      if (slow == 0 || fast == 0) continue;
      out << fmt::format("{:14} {:76} {:>8.1f} us {:>8.1f} us {:>7.2f} times\n", runtime.name, claim.what, slow, fast,
                         slow / fast);
    }
  }
}

int run_steps(int argc, char** argv) {
  std::vector<StepRuntime> runtimes = open_step_runtimes();
  Beds beds;
  const std::vector<StepCase> cases = all_cases(runtimes);
  register_cases(cases, [&beds](benchmark::State& state, const auto& what) { run_case(state, what, beds); });
  // Cases are interleaved, so that other load on the machine affects all of them alike.
  return run(argc, argv,
             {"--benchmark_min_time=0.02", "--benchmark_repetitions=5", "--benchmark_display_aggregates_only=true",
              "--benchmark_enable_random_interleaving=true"},
             [&](std::ostream& out, const Times& times) {
               print_table(out, times, cases, beds);
               print_claims(out, times, runtimes);
             });
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_steps(argc, argv);
}
