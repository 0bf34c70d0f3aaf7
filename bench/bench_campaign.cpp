// A campaign's time for one program of size 30: generating it, running it on the subject and on the baseline, and
// judging both observations; and the number of programs that one core handles in a second.
//
// The programs and the checks are a campaign's own (seed 1, indices from 0, fuzz::campaign_checks). Detectors that look
// inside the subject do so while it runs, so the time of `run_subject` includes them; `run_subject_unwatched` is the
// same run without poisoning and without looking at isolation. `judge` is the comparison after the runs. `whole` is a
// worker's loop, which includes the extra runs that a campaign samples (every call fails in turn, built differently).
//
// `chain_500` and `chain_4000`: all checks of a replay on a chain of so many kernels. Their ratio, by node, is 1 where
// the time grows with the size.
//
// Measures the model as subject and baseline, in this process; a campaign's workers also write to a pipe and a shared
// page. Asserts nothing about time.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cassert>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/run.h"
#include "fuzz/finding.h"
#include "verify/generate/generator.h"
#include "verify/oracle/judge.h"
#include "verify/oracle/oracle.h"
#include "verify/program/text.h"
#include "verify/subject/subject.h"

namespace bench {

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::uint64_t kPrograms = 2000;  // taken in turn

struct Sample {
  verify::Program program;
  verify::RunOptions options;  // of the subject
  verify::RunResult subject, baseline;
};

std::unique_ptr<verify::Subject> make_subject(verify::StrategyKind strategy) {
  hip::Result<std::unique_ptr<verify::Subject>> subject = verify::Subject::make({"model", strategy});
  assert(subject && "the model is part of every build");
  return std::move(subject).value();
}

class Bench {
 public:
  Bench() {
    samples_.reserve(kPrograms);
    for (std::uint64_t index = 0; index < kPrograms; ++index) {
      Sample& sample = samples_.emplace_back();
      sample.program = generate(index);
      sample.options.schedule_seed = fuzz::campaign_checks(index).schedule_seed;
      sample.options.isolation = fuzz::campaign_checks(index).isolation;
      sample.subject = run_subject(sample);
      sample.baseline = run_baseline(sample);
    }
  }

  [[nodiscard]] const Sample& sample(std::uint64_t index) const { return samples_[index % kPrograms]; }

  [[nodiscard]] static verify::Program generate(std::uint64_t index) {
    return verify::campaign_program(kSeed, index % kPrograms, verify::GeneratorOptions{});
  }
  [[nodiscard]] verify::RunResult run_subject(const Sample& sample) {
    return subject_->runner().run(sample.program, sample.options);
  }
  [[nodiscard]] verify::RunResult run_unwatched(const Sample& sample) {
    verify::RunOptions options = sample.options;
    options.poison = options.isolation = options.inspect = false;
    return subject_->runner().run(sample.program, options);
  }
  // As verify::Judge runs it.
  [[nodiscard]] verify::RunResult run_baseline(const Sample& sample) {
    verify::RunOptions options;
    options.poison = options.failures = options.inspect = options.isolation = false;
    return baseline_->runner().run(sample.program, options, sample.subject.script);
  }
  [[nodiscard]] static std::vector<verify::Difference> judge(const Sample& sample) {
    return verify::compare(sample.program, sample.baseline.observation, sample.subject.observation);
  }
  // A chain of kernels that is launched, brought to where its buffer has moved, and launched again.
  [[nodiscard]] static verify::Program chain_of(std::uint32_t nodes) {
    std::string text = "hgcheck-program 1\nplacement native\nbuffer b0 4096\nbuffer b1 64\ngraph g0\n";
    for (std::uint32_t i = 0; i < nodes; ++i) {
      text += fmt::format("kernel g0.n{} scale_u8 s=3 out=b0+{} n=4 in=b1+0", i, i % 64 * 64);
      text += i == 0 ? std::string("\n") : fmt::format(" after=n{}\n", i - 1);
    }
    text += "instantiate e0 g0\nlaunch e0 s0\nsync device\nmove b0\npatch e0\nlaunch e0 s0\nsync device\n";
    return std::get<verify::Program>(verify::parse_program(text));
  }
  [[nodiscard]] verify::Judgement judge_all_of(const verify::Program& program) {
    return judge_.judge(program, fuzz::all_checks(1));
  }
  [[nodiscard]] verify::Judgement whole(std::uint64_t index) {
    return judge_.judge(generate(index), fuzz::campaign_checks(index % kPrograms));
  }

 private:
  std::unique_ptr<verify::Subject> subject_ = make_subject(verify::StrategyKind::kPatch);
  std::unique_ptr<verify::Subject> baseline_ = make_subject(verify::StrategyKind::kRebuild);
  verify::Judge judge_{subject_->runner(), baseline_->runner()};
  std::vector<Sample> samples_;
};

template <class Phase>
void add_phase(const char* name, Phase phase) {
  benchmark::RegisterBenchmark(name, [phase](benchmark::State& state) {
    std::uint64_t index = 0;
    for (auto turn : state) {
      static_cast<void>(turn);
      benchmark::DoNotOptimize(phase(index++));
    }
  })->Unit(benchmark::kMicrosecond);
}

void print_split(std::ostream& out, const Times& times) {
  out << "\nMicroseconds of processor time a program of size 30, over the same " << kPrograms << " programs:\n";
  for (const char* name : {"generate", "run_subject", "run_subject_unwatched", "run_baseline", "judge", "whole"}) {
    if (const auto time = times.find(name); time != times.end()) {
      out << fmt::format("{:22} {:8.1f}\n", name, time->second / 1000);
    }
  }
  if (const auto whole = times.find("whole"); whole != times.end()) {
    out << fmt::format("{:.0f} programs a second on one core\n", 1e9 / whole->second);
  }
  const auto small = times.find("chain_500"), large = times.find("chain_4000");
  if (small != times.end() && large != times.end()) {
    out << fmt::format("a chain of 4000 nodes: {:.0f} ms, {:.2f} times as much a node as a chain of 500\n",
                       large->second / 1e6, large->second / small->second / 8);
  }
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  using bench::Bench;
  Bench bench;
  bench::add_phase("generate", [](std::uint64_t i) { return Bench::generate(i); });
  bench::add_phase("run_subject", [&](std::uint64_t i) { return bench.run_subject(bench.sample(i)); });
  bench::add_phase("run_subject_unwatched", [&](std::uint64_t i) { return bench.run_unwatched(bench.sample(i)); });
  bench::add_phase("run_baseline", [&](std::uint64_t i) { return bench.run_baseline(bench.sample(i)); });
  bench::add_phase("judge", [&](std::uint64_t i) { return Bench::judge(bench.sample(i)); });
  bench::add_phase("whole", [&](std::uint64_t i) { return bench.whole(i); });
  const verify::Program small = Bench::chain_of(500), large = Bench::chain_of(4000);
  bench::add_phase("chain_500", [&](std::uint64_t) { return bench.judge_all_of(small); });
  bench::add_phase("chain_4000", [&](std::uint64_t) { return bench.judge_all_of(large); });
  return bench::run(argc, argv,
                    {"--benchmark_min_time=0.5", "--benchmark_repetitions=3",
                     "--benchmark_display_aggregates_only=true", "--benchmark_enable_random_interleaving=true"},
                    bench::print_split);
}
