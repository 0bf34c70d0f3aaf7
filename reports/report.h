// The report folder: index.html, report.json, junit.xml, report.sarif and summary.md of one campaign.
//
// Promises: each file appears whole or not at all (written beside its place, then renamed), so a reader or a killed
// campaign never leaves half a file; the folder is made when it is missing; other files in it are left alone.
// Does not promise that all files are replaced together. After a crash between two renames each file is whole, but the
// files come from two runs; each file names its seed and version.
#pragma once

#include <filesystem>

#include "hip/result/result.h"
#include "reports/benchmarks.h"
#include "verify/race_result.h"
#include "verify/result.h"

namespace reports {

// An error names the path and what to do about it.
// `earlier`: a campaign to compare with, or null.
[[nodiscard]] hip::Status write_report(const verify::CampaignResult& result, const std::filesystem::path& folder,
                                       const verify::CampaignResult* earlier = nullptr);
// The page of one run of Google Benchmark, named after its program: bench_patch.html. `page`: where it was written.
[[nodiscard]] hip::Status write_report(const BenchmarkResult& result, const std::filesystem::path& folder,
                                       const BenchmarkResult* earlier, std::filesystem::path& page);
// races.html of one exploration. A campaign's page that is written into the same folder later links to it.
[[nodiscard]] hip::Status write_report(const verify::RaceResult& result, const std::filesystem::path& folder);

}  // namespace reports
