// The results of campaigns in databases, as if one process had done all shards of each.
//
// Promises: a result names the shards that are missing or were cut off, the work of each node, and of each finding when
// and where it was seen first. The same content gives the same results.
// Does not know: the growth of a campaign of several shards over time, and findings that --accept named.
#pragma once

#include <string>
#include <vector>

#include "fuzz/memory_content.h"
#include "verify/result.h"

namespace fuzz {

inline constexpr std::int64_t kMaxListedShards = 10000;  // of a campaign, in its report

// One result for each campaign, and for each number of shards into which it was cut.
[[nodiscard]] std::vector<verify::CampaignResult> results_of(const MemoryContent& content);

// A result's report folder, with the programs of its findings. Several results have folders of their own in `folder`:
// "1", "2". The pages are listed on standard output.
[[nodiscard]] hip::Status write_reports(std::vector<verify::CampaignResult>& results, const std::string& folder,
                                        const verify::CampaignResult* earlier);

// Whether the file begins like a database of SQLite.
[[nodiscard]] bool is_database(const std::string& path);

}  // namespace fuzz
