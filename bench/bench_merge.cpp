// Makes databases of a campaign's shards and measures what merging them costs: time and memory of `hgcheck merge`.
//
// usage: bench_merge HGCHECK TEMPLATE.db FOLDER SHARDS FINDINGS
//
// TEMPLATE.db is a database of `hgcheck campaign --db` with at least one finding. Each database in FOLDER is a copy of
// its first shard as another shard, with FINDINGS / SHARDS causes and programs of its own, written by the code that
// hgcheck writes databases with. Half of the causes are common to all shards.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "fuzz/memory_content.h"

namespace {

int complain(const std::string& message) {
  std::cerr << "bench_merge: " << message << "\n";
  return 2;
}

// The template's shard as shard `number` of `shards`, with `causes` findings.
fuzz::MemoryContent shard_like(const fuzz::MemoryContent& pattern, std::int64_t number, std::int64_t shards,
                               std::int64_t causes) {
  fuzz::MemoryContent content;
  const auto& [identity, campaign] = *pattern.campaigns.begin();
  fuzz::CampaignContent& copy = content.campaigns[identity] = campaign;
  fuzz::ShardContent shard = campaign.shards.begin()->second;
  const fuzz::FindingContent finding = shard.findings.begin()->second;
  const fuzz::SessionContent session = shard.sessions.begin()->second;
  shard.sessions = {{fmt::format("{:019}", number), session}};
  shard.sessions.begin()->second.node = fmt::format("node{}", number / 8);
  shard.findings.clear();
  for (std::int64_t i = 0; i < causes; ++i) {
    const std::string cause = i % 2 == 0 ? fmt::format("cause {}", i) : fmt::format("cause {} of shard {}", i, number);
    fuzz::FindingContent& one = shard.findings[cause] = finding;
    one.index = number - 1 + i * shards;
    one.first.second = shard.sessions.begin()->first;
  }
  copy.shards.clear();
  copy.shards.emplace(fuzz::ShardNumber{shards, number}, std::move(shard));
  for (const auto& [program, entry] : pattern.corpus) {
    content.corpus.emplace(program + fmt::format("# of shard {}\n", number), entry);
  }
  return content;
}

hip::Status write(const fuzz::MemoryContent& content, const std::string& path) {
  hip::Result<fuzz::SqlDatabase> database = fuzz::SqlDatabase::make(path);
  if (!database) return database.error();
  return content.write(database.value());
}

int measure(const std::string& hgcheck, const std::string& folder) {
  const std::string output = folder + "/../merged.db";
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    execl(hgcheck.c_str(), "hgcheck", "merge", folder.c_str(), "-o", output.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return complain("hgcheck merge failed");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  std::cout << fmt::format("{:.1f} s, {} MiB at most, {} MiB written\n", took.count(), used.ru_maxrss / 1024,
                           std::filesystem::file_size(output) >> 20);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return complain("usage: bench_merge HGCHECK TEMPLATE.db FOLDER SHARDS FINDINGS");
  const std::string folder = argv[3];
  const std::int64_t shards = std::atoll(argv[4]), findings = std::atoll(argv[5]);
  hip::Result<fuzz::SqlDatabase> database = fuzz::copy_of_memory(argv[2]);
  if (!database) return complain(database.error().message);
  const hip::Result<fuzz::MemoryContent> pattern = fuzz::MemoryContent::read(database.value());
  if (!pattern) return complain(pattern.error().message);
  const fuzz::ShardContent& shard = pattern.value().campaigns.begin()->second.shards.begin()->second;
  if (shards < 1 || shard.findings.empty()) return complain("a template with a finding, and a number of shards");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (std::int64_t i = 1; i <= shards; ++i) {
    const std::string path = fmt::format("{}/shard-{:04}.db", folder, i);
    std::filesystem::remove(path, error);
    const hip::Status written = write(shard_like(pattern.value(), i, shards, findings / shards), path);
    if (!written) return complain(written.error().message);
  }
  return measure(argv[1], folder);
}
