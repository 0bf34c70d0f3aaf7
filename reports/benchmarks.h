// Results of Google Benchmark (its JSON) as one HTML page, on their own or compared with an earlier run.
//
// Promises: the promises of html.h for a page; every benchmark of the run is on it, and curves of those that have sizes
// in their names (benchmark_curves.h). The page shows only the median of repetitions, and the message of a failed
// benchmark. It does not judge: it shows the ratio of two clock readings but does not call it better or worse. It names
// the machine of each reading as far as the files name it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "hip/result/result.h"

namespace reports {

struct BenchmarkRun {
  std::string name;
  std::string label;
  std::string error;     // why it failed, or empty
  double real = 0;       // nanoseconds of one iteration
  double processor = 0;  // likewise, of processor time
  std::map<std::string, double> counters;
};

struct BenchmarkResult {
  std::string program;  // "bench_patch"
  std::string date;
  std::uint64_t processors = 0;
  double mhz = 0;
  std::vector<BenchmarkRun> runs;
};

// Whether `json` is the output of --benchmark_out, and not the result of a campaign.
[[nodiscard]] bool holds_benchmarks(const nlohmann::ordered_json& json);

// An error names the missing part.
[[nodiscard]] hip::Result<BenchmarkResult> read_benchmarks(const nlohmann::ordered_json& json);

// `earlier`: to compare with, or null.
[[nodiscard]] std::string to_html(const BenchmarkResult& result, const BenchmarkResult* earlier = nullptr);

}  // namespace reports
