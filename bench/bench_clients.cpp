// The host's time for a client's life with a stream cache and without: 4,500 clients, one after the other, each of 112
// streams, on the host model and on AMD's runtime.
//
// An iteration is a life, and there are 4,500 of them unless `--lives=N` says otherwise: the numbers are of all. One
// more life comes first and is not timed. The cost of making a stream on real hardware cannot be measured here. On
// AMD's runtime over the software gfx942, a stream costs the runtime's work on the host. Figures with `create_us` add
// that many microseconds to each stream that is made, and are synthetic. Times are this thread's processor time. The
// counts are of the last life.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/client_lives.h"
#include "bench/counting_api.h"
#include "bench/run.h"
#include "bench/step_runtimes.h"
#include "bench/synthetic.h"

namespace bench {

namespace {

constexpr std::int64_t kLives = 4500;
constexpr std::int64_t kSyntheticLives = 100;  // at most: they take long, and one is like the other
constexpr std::string_view kLivesOption = "--lives=";
constexpr std::uint32_t kSyntheticCreateUs = 100;

struct LifeCase {
  StepRuntime* runtime = nullptr;
  std::int64_t lives = kLives;
  bool cached = false;
  std::uint32_t create_us = 0;
};

std::string name_of(const LifeCase& what) {
  std::string name = fmt::format("{}/{}", what.cached ? "cached" : "made", what.runtime->name);
  if (what.create_us != 0) name += fmt::format("/create_us:{}", what.create_us);
  return name;
}

std::vector<LifeCase> all_cases(std::vector<StepRuntime>& runtimes, std::int64_t lives) {
  std::vector<LifeCase> cases;
  for (StepRuntime& runtime : runtimes) {
    for (const std::uint32_t create_us : {0U, kSyntheticCreateUs}) {
      const std::int64_t count = create_us == 0 ? lives : std::min(lives, kSyntheticLives);
      for (const bool cached : {false, true}) cases.push_back({&runtime, count, cached, create_us});
    }
  }
  return cases;
}

// HIP calls of a life, when there has been one before.
hip::Result<std::uint64_t> calls_of_a_life(const LifeCase& what) {
  CountingApi counting(what.runtime->platform->api());
  ClientLives lives(counting.table(), what.cached);
  if (const hip::Status status = lives.live(); !status) return status.error();
  const std::uint64_t before = counting.counts().calls;
  if (const hip::Status status = lives.live(); !status) return status.error();
  return counting.counts().calls - before;
}

void run_case(benchmark::State& state, const LifeCase& what) {
  const hip::Result<std::uint64_t> calls = calls_of_a_life(what);
  if (!calls) return state.SkipWithError(calls.error().message.c_str());
  const hip::Api table = what.create_us == 0 ? what.runtime->platform->api()
                                             : with_slow_streams(what.runtime->platform->api(), what.create_us);
  ClientLives lives(table, what.cached);
  hip::Status status = lives.live();  // the first one's streams are made either way
  for (auto turn : state) {
    static_cast<void>(turn);
    if (status) status = lives.live();
  }
  if (!status) return state.SkipWithError(status.error().message.c_str());
  state.counters["streams"] = static_cast<double>(kStreamsOfClient);
  state.counters["calls"] = static_cast<double>(calls.value());
  state.counters["made"] = static_cast<double>(what.cached ? lives.counts().misses
                                                           : static_cast<std::uint64_t>(what.lives) * kStreamsOfClient);
}

double time_of(const Times& times, const LifeCase& what) {
  const auto found = times.find(name_of(what));
  return found == times.end() ? 0 : found->second / 1000;
}

void print_ratios(std::ostream& out, const Times& times, const std::vector<LifeCase>& cases) {
  out << "\nA client's life of " << kStreamsOfClient << " streams, in microseconds of processor time:\n"
      << fmt::format("{:14} {:>10} {:>10} {:>10} {:>8}\n", "runtime", "create us", "made", "cached", "times");
  for (LifeCase what : cases) {
    if (what.cached) continue;
    const double made = time_of(times, what);
    what.cached = true;
    const double cached = time_of(times, what);
    if (made == 0 || cached == 0) continue;
    out << fmt::format("{:14} {:>10} {:>10.1f} {:>10.1f} {:>8.1f}\n", what.runtime->name, what.create_us, made, cached,
                       made / cached);
  }
  out << "create us: what making a stream is made to cost on top; a row where it is not 0 is synthetic\n";
}

// The number behind --lives=, which is taken out of the arguments.
std::int64_t take_lives(int& argc, char** argv) {
  std::int64_t lives = kLives;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kLivesOption)) {
      lives = std::max<std::int64_t>(1, std::atoll(argument.substr(kLivesOption.size()).data()));
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return lives;
}

int run_clients(int argc, char** argv) {
  const std::int64_t lives = take_lives(argc, argv);
  std::vector<StepRuntime> runtimes = open_step_runtimes();
  const std::vector<LifeCase> cases = all_cases(runtimes, lives);
  for (const LifeCase& what : cases) {
    benchmark::RegisterBenchmark(name_of(what).c_str(), [what](benchmark::State& state) { run_case(state, what); })
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(what.lives);
  }
  return run(argc, argv, {}, [&](std::ostream& out, const Times& times) { print_ratios(out, times, cases); });
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  return bench::run_clients(argc, argv);
}
