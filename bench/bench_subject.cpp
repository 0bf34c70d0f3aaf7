// The cost of judging AMD's runtime in a process of its own, side by side with the model in this one: a program of
// size 30, with everything that a campaign does to it, and the start of a subject process.
//
// The programs are a campaign's (seed 1, indices from 0, steered around the release's quirks). `model` is the model
// against the model; `soft72`, `soft64` are the releases on the software gfx942. A release that this machine
// lacks is reported as an error of its benchmark. Asserts nothing about time.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "fuzz/finding.h"
#include "fuzz/setup.h"
#include "verify/generate/generator.h"

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::uint64_t kPrograms = 2000;  // taken in turn
constexpr std::uint32_t kSize = 30;

std::unique_ptr<fuzz::Setup> setup_of(const std::string& subject, benchmark::State& state) {
  fuzz::SetupOptions options;
  options.subject = subject;
  hip::Result<std::unique_ptr<fuzz::Setup>> setup = fuzz::Setup::make(options);
  if (!setup) {
    state.SkipWithError(setup.error().message.c_str());
    return nullptr;
  }
  return std::move(setup).value();
}

void judge(benchmark::State& state, const std::string& subject) {
  const std::unique_ptr<fuzz::Setup> setup = setup_of(subject, state);
  if (!setup) return;
  std::uint64_t index = 0;
  for (auto _ : state) {
    const verify::Program program = verify::campaign_program(kSeed, index, setup->generator(kSize, kSeed, index));
    benchmark::DoNotOptimize(setup->judge().judge(program, fuzz::campaign_checks(index)));
    index = (index + 1) % kPrograms;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

void start(benchmark::State& state, const std::string& subject) {
  const hip::Result<verify::SubjectName> name = verify::parse_subject(subject);
  for (auto _ : state) {
    hip::Result<std::unique_ptr<verify::Subject>> made = verify::Subject::make(name.value());
    hip::Status started = made ? made.value()->start() : hip::Status(made.error());
    if (!started) {
      state.SkipWithError(started.error().message.c_str());
      break;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (const auto& [label, subject] :
       {std::pair{"model", "model:patch"}, {"soft72", "rocm-soft@7.2:patch"}, {"soft64", "rocm-soft@6.4:patch"}}) {
    benchmark::RegisterBenchmark((std::string("judge/") + label).c_str(), judge, subject)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->MinTime(5);
    if (std::string(label) == "model") continue;
    benchmark::RegisterBenchmark((std::string("start/") + label).c_str(), start, subject)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime()
        ->Iterations(10);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
