// The content of campaigns' databases and reports, without the row numbers of a database, so that contents can be
// joined.
//
// Promises: join() gives the same content in whatever order contents are joined, however they are grouped, and however
// often one of them is joined. A later state of a shard takes the place of an earlier one. A finding keeps its first
// and its last time, and the shortest of its programs. The corpus keeps an entry that meets something which no shorter
// entry meets. Different campaigns are kept apart.
// Not joined: one shard that began from two different corpora, because its programs differ.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/memory_tables.h"

namespace fuzz {

// How many shards, and which of them.
using ShardNumber = std::pair<std::int64_t, std::int64_t>;

struct SessionContent {
  std::string node, begun, last, ended;
  std::int64_t programs = 0, programs_before = 0;  // of the shard, at the session's end and begin
  double seconds = 0, seconds_before = 0;

  void join(const SessionContent& other);
};

struct FindingContent {
  std::string bug, property, death;
  std::int64_t index = 0, seen = 0;
  bool shrunk = false, accepted = false;
  std::string finding;  // as a report with one finding
  std::string last;
  std::pair<std::string, std::string> first;  // time and name of the session

  void join(const FindingContent& other);
};

struct ShardContent {
  std::string source;  // the file that it was read from
  std::int64_t next = 0;
  verify::CampaignResult counts;                         // without findings
  std::string counts_text;                               // as it is stored; empty before the first progress
  std::shared_ptr<const std::vector<std::string>> base;  // the programs that it mutates; null: not known
  std::map<std::string, SessionContent> sessions;        // by name
  std::map<std::string, FindingContent> findings;        // by cause

  void join(ShardContent&& other);
};

struct CampaignContent {
  std::string version, subject, baseline, fault, begun;
  std::int64_t seed = 0, size = 0;
  std::map<ShardNumber, ShardContent> shards;
};

// The session that added an entry of the corpus.
struct Adder {
  std::string added;  // time
  std::string campaign;
  ShardNumber shard;
  std::string session;
  auto operator<=>(const Adder&) const = default;
};

struct EntryContent {
  Adder adder;
  std::vector<std::uint16_t> meets;  // numbers of features and pairs; empty when this version cannot read the program
};

struct ShorterFirst {
  bool operator()(const std::string& left, const std::string& right) const {
    return left.size() != right.size() ? left.size() < right.size() : left < right;
  }
};

struct MemoryContent {
  std::map<std::string, CampaignContent> campaigns;  // by text_of() of the identity
  std::map<std::string, EntryContent, ShorterFirst> corpus;

  // An error names the file and the remedy.
  [[nodiscard]] static hip::Result<MemoryContent> read(SqlDatabase& database);
  [[nodiscard]] static hip::Result<MemoryContent> of(const verify::CampaignResult& report, const std::string& path);
  // On an error nothing is joined.
  [[nodiscard]] hip::Status join(MemoryContent&& other);
  // Into a new database.
  [[nodiscard]] hip::Status write(SqlDatabase& database) const;
  // Leaves out entries of the corpus that cover nothing new.
  void reduce();
};

}  // namespace fuzz
