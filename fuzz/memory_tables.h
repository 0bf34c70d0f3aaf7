// The tables of a campaigns' database, and how they spell programs, findings and identities. For the files that read or
// write the tables: fuzz/campaign_memory.h, fuzz/memory_content.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuzz/sqlite.h"
#include "verify/program/program.h"
#include "verify/result.h"

namespace fuzz {

// The options that decide a campaign's programs and findings.
struct CampaignIdentity {
  std::string version, subject, baseline, fault;
  std::uint64_t seed = 1, size = 30;
  bool quirks = true;
  std::vector<std::string> properties;
  std::uint64_t shard = 1, shards = 1;
  std::vector<std::string> environment{};  // as SetupOptions::environment
  bool draws_environment = false;
};

// The same for two identities that differ in their shards only.
[[nodiscard]] std::string text_of(const CampaignIdentity& identity);
// The time in UTC: "2026-11-28T05:04:40Z".
[[nodiscard]] std::string now();
[[nodiscard]] std::int64_t sql(std::uint64_t number);

// A finding is stored as a report with one finding.
[[nodiscard]] std::string json_of(const verify::Finding& finding);
[[nodiscard]] hip::Result<verify::CampaignResult> parse_result(const std::string& text);

// Nothing when this version cannot read the program.
[[nodiscard]] std::optional<verify::Program> parse_valid(const std::string& text);
// Names of the features and of the pairs of operation and state that the program meets, as a list in JSON.
[[nodiscard]] std::string covers(const verify::Program& program);

// Makes the tables of a new database, and brings those of an earlier hgcheck up to date.
[[nodiscard]] hip::Status make_tables(SqlDatabase& database);
// Opens the database at `path`, and makes the tables of a new one. An error names the file and the remedy.
[[nodiscard]] hip::Result<SqlDatabase> open_memory(const std::string& path);
// A copy in memory of the database at `path`, with up-to-date tables; the file is only read. An error names the file
// and the remedy.
[[nodiscard]] hip::Result<SqlDatabase> copy_of_memory(const std::string& path);

}  // namespace fuzz
