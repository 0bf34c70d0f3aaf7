#include "bench/run.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>

namespace bench {

namespace {

// Hands everything on to the reporter of the format that was asked for.
class CollectingReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override { return inner_->ReportContext(context); }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.error_occurred || (run.run_type == Run::RT_Aggregate && run.aggregate_name != "median")) continue;
      const double time = run.run_name.time_type == "real_time" ? run.GetAdjustedRealTime() : run.GetAdjustedCPUTime();
      times_[run.run_name.function_name] = time * 1e9 / benchmark::GetTimeUnitMultiplier(run.time_unit);
    }
    inner_->ReportRuns(runs);
  }
  void Finalize() override { inner_->Finalize(); }
  [[nodiscard]] const Times& times() const { return times_; }

 private:
  std::unique_ptr<benchmark::BenchmarkReporter> inner_{benchmark::CreateDefaultDisplayReporter()};
  Times times_;
};

bool takes_standard_output(std::string_view option) {
  return option.starts_with("--benchmark_format=") && option != "--benchmark_format=console";
}

}  // namespace

int run(int argc, char** argv, std::vector<std::string> defaults,
        const std::function<void(std::ostream&, const Times&)>& summarise) {
  const bool taken = std::any_of(argv + 1, argv + argc, takes_standard_output);
  std::vector<char*> arguments = {argv[0]};
  for (std::string& option : defaults) arguments.push_back(option.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  CollectingReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  if (!reporter.times().empty()) summarise(taken ? std::cerr : std::cout, reporter.times());
  return 0;
}

}  // namespace bench
