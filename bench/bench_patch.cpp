// The cost of a patch, against scanning by value and against rebuilding: 16 to 16,384 kernel nodes with 1 %, 10 % and
// 100 % of the buffers moved, on a table that does nothing and on the model's.
//
// Prints ratios of one run on one machine and asserts none of them, because times vary from run to run. The number of
// HIP calls is shown here and asserted in tests/hip/patch_cost_test.cpp.
//
// Every turn moves the buffers away or back again, so a turn always has work to do and a session never grows. Options
// are Google Benchmark's.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "bench/patch_session.h"
#include "bench/run.h"

namespace bench {

namespace {

constexpr std::uint32_t kSizes[] = {16, 64, 256, 1024, 4096, 16384};
constexpr std::uint32_t kPercents[] = {1, 10, 100};

// "patch/model/4096/1". A rebuild is the same whatever moved.
std::string name_of(const PatchCase& what) {
  std::string name = fmt::format("{}/{}/{}", name_of(what.algorithm), name_of(what.runtime), what.nodes);
  if (what.algorithm != Algorithm::kRebuild) name += fmt::format("/{}", what.percent);
  return name;
}

std::vector<PatchCase> all_cases() {
  std::vector<PatchCase> cases;
  for (const RuntimeKind runtime : kRuntimeKinds) {
    for (const std::uint32_t nodes : kSizes) {
      for (const Algorithm algorithm : kAlgorithms) {
        for (const std::uint32_t percent : kPercents) {
          if (algorithm == Algorithm::kRebuild && percent != kPercents[0]) continue;
          cases.push_back({runtime, algorithm, nodes, percent});
        }
      }
    }
  }
  return cases;
}

using CountedCases = std::map<std::string, Counted>;

// Counts a case once, outside of the timed loop. Google Benchmark runs a case several times to find its iterations.
const Counted& count(const PatchCase& what, CountedCases& counted) {
  const auto [at, fresh] = counted.try_emplace(name_of(what));
  if (fresh) at->second = counts_of_one_turn(what);
  return at->second;
}

void run_turns(benchmark::State& state, const PatchCase& what, CountedCases& counted) {
  const Counted& counts = count(what, counted);
  const std::unique_ptr<Runtime> runtime = make_runtime(what.runtime);
  PatchSession session(what, *runtime, runtime->api());
  const char* failed = nullptr;
  for (auto turn : state) {
    static_cast<void>(turn);
    if (const char* failure = session.turn()) failed = failure;
  }
  if (failed != nullptr) state.SkipWithError(failed);
  state.counters["calls"] = static_cast<double>(counts.calls);
  state.counters["nodes"] = static_cast<double>(counts.nodes_that_change);
}

std::string times_the_patch(const PatchCase& patch, Algorithm algorithm, const Times& times) {
  PatchCase other = patch;
  other.algorithm = algorithm;
  const auto found = times.find(name_of(other));
  return found == times.end() ? "" : fmt::format("{:.1f}", found->second / times.at(name_of(patch)));
}

void print_ratios(std::ostream& out, const Times& times, const CountedCases& counted) {
  constexpr const char* kRow = "{:8} {:>6} {:>6} {:>7} {:>6} {:>11} {:>8} {:>11} {:>8}\n";
  out << "\nHow many times the patch's processor time the others take:\n"
      << fmt::format(kRow, "table", "nodes", "moved", "changed", "calls", "patch (us)", "scan", "tight scan",
                     "rebuild");
  for (const PatchCase& patch : all_cases()) {
    const auto time = times.find(name_of(patch));
    if (patch.algorithm != Algorithm::kPatch || time == times.end()) continue;
    const Counted& counts = counted.at(name_of(patch));
    out << fmt::format(
        kRow, name_of(patch.runtime), patch.nodes, fmt::format("{} %", patch.percent), counts.nodes_that_change,
        counts.calls, fmt::format("{:.2f}", time->second / 1000), times_the_patch(patch, Algorithm::kScan, times),
        times_the_patch(patch, Algorithm::kTightScan, times), times_the_patch(patch, Algorithm::kRebuild, times));
  }
  out << "moved: of the buffers; changed: nodes with a relocation of a moved buffer; calls: of HIP, by the patch\n"
         "scan: by value, as F02 of the catalogue does it; tight scan: the least that a scan by value can cost\n";
}

int run_patch(int argc, char** argv) {
  CountedCases counted;
  for (const PatchCase& what : all_cases()) {
    const auto turns = [what, &counted](benchmark::State& state) { run_turns(state, what, counted); };
    benchmark::RegisterBenchmark(name_of(what).c_str(), turns)->Unit(benchmark::kMicrosecond);
  }
  // Cases are interleaved, so that other load on the machine affects all of them alike.
  return run(argc, argv,
             {"--benchmark_min_time=0.02", "--benchmark_repetitions=5", "--benchmark_display_aggregates_only=true",
              "--benchmark_enable_random_interleaving=true"},
             [&](std::ostream& out, const Times& times) { print_ratios(out, times, counted); });
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_patch(argc, argv);
}
