// Results of Google Benchmark (its JSON) as one HTML page, on their own or held against an earlier run.
//
// Promises: what html.h promises of a page; every benchmark of the run is on it, the median alone where there are
// repetitions, and one that failed with its message. Does not judge: a ratio of two clock readings is shown, not called
// better or worse, and the page says on what machine both were taken, as far as the files do.
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

// Whether this is what --benchmark_out writes, and not a campaign's result.
[[nodiscard]] bool holds_benchmarks(const nlohmann::ordered_json& json);

// An error names what is missing.
[[nodiscard]] hip::Result<BenchmarkResult> read_benchmarks(const nlohmann::ordered_json& json);

// `earlier`: to compare with, or null.
[[nodiscard]] std::string to_html(const BenchmarkResult& result, const BenchmarkResult* earlier = nullptr);

}  // namespace reports
