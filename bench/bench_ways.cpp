// Which way when: the host's time for a step of 16 to 4,096 commands, each with an input and an output of its own, of
// which 1 %, 10 % and 100 % moved; buffers of 4 KiB to 64 MiB. The ways are those of bench/step_session.h that can be
// chosen for a graph: recorded again, updated, patched, run on stable addresses, remapped.
//
// The size of buffers matters to the last two alone: stable addresses copy them, and remapping has four calls for each
// however large it is. The others are measured with the smallest size. Of stable addresses the copies are the device's
// work; so `done`, until the device is idle, is measured, too.
//
// A size is left out where the buffers of a step have more bytes than the runtime can be asked to hold or to copy. Each
// way is checked and counted as in bench_steps, for each number of commands and share, with the smallest size.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/run.h"
#include "bench/step_runtimes.h"
#include "bench/step_timing.h"

namespace bench {

namespace {

constexpr StepWay kWays[] = {StepWay::kRecordNodes, StepWay::kUpdate, StepWay::kPatch, StepWay::kStabilise,
                             StepWay::kRemap};
constexpr std::uint32_t kCommands[] = {16, 64, 256, 1024, 4096};
constexpr std::uint32_t kPercents[] = {1, 10, 100};
constexpr std::uint64_t kBytes[] = {4096, 65536, std::uint64_t{1} << 20, std::uint64_t{64} << 20};
constexpr Timed kTimedHere[] = {Timed::kStep, Timed::kDone};

struct WayCase {
  StepRuntime* runtime = nullptr;
  StepWay way = StepWay::kPatch;
  StepPairs pairs;
  Timed timed = Timed::kStep;
};

// "step/model/remap/commands:256/moved:10/bytes:4096"
std::string name_of(const WayCase& what) {
  return fmt::format("{}/{}/{}/commands:{}/moved:{}/bytes:{}", name_of(what.timed), what.runtime->name,
                     name_of(what.way), what.pairs.commands, what.pairs.moved_percent, what.pairs.buffer_bytes);
}

bool sizes_matter(StepWay way) {
  return way == StepWay::kStabilise || way == StepWay::kRemap;
}

// Bytes of a step's buffers, each with its two places, and of those that move.
bool fits(const StepRuntime& runtime, const StepPairs& pairs) {
  const bool gpu = runtime.name != "model" && !runtime.name.starts_with("rocm-soft");
  const std::uint64_t all = std::uint64_t{4} * pairs.commands * pairs.buffer_bytes;
  const std::uint64_t moved = std::max<std::uint64_t>(all * pairs.moved_percent / 200, 2 * pairs.buffer_bytes);
  return gpu ? all <= std::uint64_t{64} << 30 : all <= std::uint64_t{1} << 30 && moved <= std::uint64_t{64} << 20;
}

std::vector<WayCase> all_cases(std::vector<StepRuntime>& runtimes) {
  std::vector<WayCase> cases;
  for (StepRuntime& runtime : runtimes) {
    for (const std::uint32_t commands : kCommands) {
      for (const std::uint32_t percent : kPercents) {
        for (const std::uint64_t bytes : kBytes) {
          const StepPairs pairs{commands, percent, bytes};
          for (const StepWay way : kWays) {
            if (bytes != kBytes[0] && (!sizes_matter(way) || !fits(runtime, pairs))) continue;
            for (const Timed timed : kTimedHere) cases.push_back({&runtime, way, pairs, timed});
          }
        }
      }
    }
  }
  return cases;
}

// The beds of the present workload: cases of one workload come one after the other, and large ones do not fit together.
class Beds {
 public:
  hip::Result<StepBed*> of(const WayCase& what) {
    const Key key{what.runtime, what.pairs};
    if (key_ != key) {
      beds_.clear();
      key_ = key;
    }
    std::unique_ptr<StepBed>& bed = beds_[needs_mapped(what.way)];
    if (!bed) {
      hip::Result<std::unique_ptr<StepBed>> made =
          StepBed::make(*what.runtime->platform, make_step_workload(what.pairs), needs_mapped(what.way));
      if (!made) return made.error();
      bed = std::move(made).value();
    }
    return bed.get();
  }
  // Checked first. Of a larger size the counts of the smallest hold, except for the bytes that are copied.
  const hip::Result<StepCounts>& counts(const WayCase& what, StepBed& bed) {
    const std::tuple key{what.runtime, what.way, what.pairs.commands, what.pairs.moved_percent};
    const auto found = counted_.find(key);
    if (found != counted_.end()) return found->second;
    const StepOptions options{.way = what.way};
    const hip::Status checked = check_steps(options, bed);
    hip::Result<StepCounts> counts = checked ? count_step(options, bed) : checked.error();
    return counted_.emplace(key, std::move(counts)).first->second;
  }

 private:
  using Key = std::pair<StepRuntime*, StepPairs>;
  Key key_{};
  std::map<bool, std::unique_ptr<StepBed>> beds_;  // by whether their places are mapped
  std::map<std::tuple<StepRuntime*, StepWay, std::uint32_t, std::uint32_t>, hip::Result<StepCounts>> counted_;
};

void run_case(benchmark::State& state, const WayCase& what, Beds& beds) {
  const hip::Result<StepBed*> bed = beds.of(what);
  if (!bed) return state.SkipWithError(bed.error().message.c_str());
  const hip::Result<StepCounts>& counts = beds.counts(what, *bed.value());
  if (!counts) return state.SkipWithError(counts.error().message.c_str());
  if (const hip::Status status = time_steps(state, what.timed, {.way = what.way}, *bed.value()); !status) {
    return state.SkipWithError(status.error().message.c_str());
  }
  StepCounts shown = counts.value();
  shown.bytes_copied = shown.bytes_copied / kBytes[0] * what.pairs.buffer_bytes;
  show(state, shown);
}

// Microseconds; 0 where the case has no time.
double time_of(const Times& times, WayCase what, StepWay way) {
  what.way = way;
  if (!sizes_matter(way)) what.pairs.buffer_bytes = kBytes[0];
  const auto found = times.find(name_of(what));
  return found == times.end() ? 0 : found->second / 1000;
}

std::string in_words(std::uint64_t bytes) {
  return bytes < std::uint64_t{1} << 20 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} MiB", bytes >> 20);
}

void print_table(std::ostream& out, const Times& times, const std::vector<WayCase>& cases) {
  out << fmt::format("\n{:14} {:5} {:>8} {:>6} {:>7}", "runtime", "timed", "commands", "moved", "size");
  for (const StepWay way : kWays) out << fmt::format(" {:>12}", name_of(way));
  out << "  least\n";
  for (const WayCase& what : cases) {
    if (what.way != StepWay::kRemap || time_of(times, what, StepWay::kRemap) == 0) continue;
    out << fmt::format("{:14} {:5} {:>8} {:>6} {:>7}", what.runtime->name, name_of(what.timed), what.pairs.commands,
                       fmt::format("{} %", what.pairs.moved_percent), in_words(what.pairs.buffer_bytes));
    StepWay least = StepWay::kRemap;
    for (const StepWay way : kWays) {
      const double time = time_of(times, what, way);
      out << (time == 0 ? fmt::format(" {:>12}", "") : fmt::format(" {:>12.1f}", time));
      if (time != 0 && time < time_of(times, what, least)) least = way;
    }
    out << "  " << name_of(least) << '\n';
  }
  out << "microseconds; step: of the host, with launches; done: until the device is idle, elapsed; moved: of the "
         "commands;\nsize: of each buffer\n";
}

int run_ways(int argc, char** argv) {
  std::vector<StepRuntime> runtimes = open_step_runtimes();
  Beds beds;
  const std::vector<WayCase> cases = all_cases(runtimes);
  register_cases(cases, [&beds](benchmark::State& state, const auto& what) { run_case(state, what, beds); });
  // Not interleaved, as bench_steps is: the beds of a workload make room for those of the next.
  return run(argc, argv,
             {"--benchmark_min_time=0.02", "--benchmark_repetitions=3", "--benchmark_display_aggregates_only=true"},
             [&](std::ostream& out, const Times& times) { print_table(out, times, cases); });
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_ways(argc, argv);
}
