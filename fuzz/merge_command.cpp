// `hgcheck merge`: joins databases and reports of campaigns' shards into one database, and says what is missing.
//
// Promises: inputs are only read. The output is written beside its place and renamed, so that nothing is broken
// whenever the command is killed, and an input that cannot be read leaves the output as it was.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "fuzz/commands.h"
#include "fuzz/files.h"
#include "fuzz/memory_report.h"
#include "reports/json.h"

namespace fuzz {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kMaxShownCauses = 10;  // of a campaign; --json and --report have all
constexpr std::size_t kMaxShownNodes = 10;

struct LeftOut {
  std::string file, reason;
};

bool is_report_of_merge(const std::string& path) {
  std::ifstream file(path);
  const ordered_json json = ordered_json::parse(file, nullptr, false);
  return json.is_object() && json.contains("shards") && json["shards"].is_array() && !json["shards"].empty();
}

// A merge's own report is no input: its database has all of it.
hip::Status add_folder(const std::string& folder, std::set<std::string>& files) {
  const std::size_t before = files.size();
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    const std::string path = entry->path().string();
    if (entry->path().extension() == ".db") files.insert(path);
    if (entry->path().filename() == "report.json" && !is_report_of_merge(path)) files.insert(path);
  }
  if (error) return hip::Error{1, fmt::format("{} cannot be read: {}; name another folder", folder, error.message())};
  if (files.size() != before) return {};
  return hip::Error{1, fmt::format("{} holds no *.db and no report.json of a shard; name another folder", folder)};
}

// Every file once, in the order of their names, whatever the order on the command line.
hip::Result<std::set<std::string>> files_of(const MergeCommand& command, std::vector<LeftOut>& left_out) {
  std::set<std::string> files;
  for (const std::string& input : command.inputs) {
    std::error_code error;
    hip::Status added;
    if (fs::is_directory(input, error)) {
      added = add_folder(input, files);
    } else if (fs::is_regular_file(input, error)) {
      files.insert(fs::path(input).lexically_normal().string());
    } else {
      added = hip::Error{1, fmt::format("there is no file or folder {} (remedy: name a database or a report)", input)};
    }
    if (added) continue;
    if (!command.keep_going) return added.error();
    left_out.push_back({input, added.error().message});
  }
  return files;
}

hip::Result<MemoryContent> read_report(const std::string& path) {
  std::ifstream file(path);
  const hip::Result<verify::CampaignResult> report = reports::from_json(ordered_json::parse(file, nullptr, false));
  if (!report) return hip::Error{1, fmt::format("{}: {}", path, report.error().message)};
  return MemoryContent::of(report.value(), path);
}

bool is_json(const std::string& path) {
  std::ifstream file(path);
  char first = 0;
  return file >> first && first == '{';
}

hip::Result<MemoryContent> read_input(const std::string& path) {
  if (is_json(path)) return read_report(path);
  hip::Result<SqlDatabase> database = copy_of_memory(path);
  if (!database) return database.error();
  return MemoryContent::read(database.value());
}

// A file at the output's place is replaced only if hgcheck made it.
hip::Status may_replace(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return writable("-o", path);
  if (!fs::is_regular_file(path, error)) return hip::Error{1, fmt::format("-o: {} is no file; name another", path)};
  const hip::Result<SqlDatabase> database = copy_of_memory(path);
  if (!database) return hip::Error{1, fmt::format("-o: {}; name another file to write", database.error().message)};
  return writable("-o", path);
}

// A log beside the old file would be taken for a log of the new one: SQLite removes it when its last user closes.
hip::Status close_log(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  {
    hip::Result<SqlDatabase> old = SqlDatabase::open(path);
    if (!old) return old.error();
    if (hip::Status done = old.value().run("PRAGMA wal_checkpoint(TRUNCATE)"); !done) return done;
  }
  if (!fs::exists(path + "-wal", error)) return {};
  return hip::Error{1, fmt::format("{}: another process has it open (remedy: wait until that process ends)", path)};
}

hip::Status write_database(const MemoryContent& content, const std::string& path) {
  const std::string temporary = fmt::format("{}.{}.new", path, getpid());
  std::error_code error;
  fs::remove(temporary, error);
  hip::Status done;
  {
    hip::Result<SqlDatabase> database = SqlDatabase::make(temporary);
    done = database ? content.write(database.value()) : hip::Status(database.error());
  }
  if (done) done = close_log(path);
  if (done) {
    fs::rename(temporary, path, error);
    if (!error) return {};
    done = hip::Error{1, fmt::format("{} cannot be written: {}; name another file", path, error.message())};
  }
  fs::remove(temporary, error);
  return hip::Error{1, "-o: " + done.error().message};
}

void print_nodes(const verify::CampaignResult& result) {
  for (std::size_t i = 0; i < std::min(result.nodes.size(), kMaxShownNodes); ++i) {
    const verify::NodeWork& work = result.nodes[i];
    std::cout << fmt::format("  node {}: {} sessions, {} programs in {:.1f} s ({:.0f} programs/s)\n", work.node,
                             work.sessions, work.programs, work.seconds,
                             work.seconds > 0 ? static_cast<double>(work.programs) / work.seconds : 0);
  }
  if (result.nodes.size() > kMaxShownNodes) {
    std::cout << fmt::format("  and {} more nodes\n", result.nodes.size() - kMaxShownNodes);
  }
}

void print_result(const verify::CampaignResult& result) {
  const auto seen = std::ranges::count_if(result.shards, [](const auto& shard) { return shard.state != "missing"; });
  std::cout << fmt::format("{} on {}, seed {}{}: {} of {} shards, {} programs, {} findings\n", result.version,
                           result.subject, result.seed, result.fault.empty() ? "" : ", fault " + result.fault, seen,
                           result.session.shards, result.programs, result.findings.size());
  for (const std::string& message : result.messages) std::cout << "  " << message << "\n";
  print_nodes(result);
  for (std::size_t i = 0; i < std::min(result.findings.size(), kMaxShownCauses); ++i) {
    const verify::Finding& finding = result.findings[i];
    std::cout << fmt::format("  {}: {}\n    first {} in shard {}/{} on {}, session {}\n", finding.id, finding.cause,
                             finding.first.time, finding.first.shard, finding.first.shards, finding.first.node,
                             finding.first.session);
  }
  if (result.findings.size() > kMaxShownCauses) {
    std::cout << fmt::format("  and {} more findings: --report and --json have them\n",
                             result.findings.size() - kMaxShownCauses);
  }
}

ordered_json json_of_merge(const std::set<std::string>& files, const std::vector<LeftOut>& left_out,
                           const MemoryContent& content, const std::vector<verify::CampaignResult>& results) {
  ordered_json json = {{"inputs", files}, {"left_out", ordered_json::array()}, {"campaigns", ordered_json::array()}};
  for (const LeftOut& one : left_out) json["left_out"].push_back({{"file", one.file}, {"reason", one.reason}});
  for (const verify::CampaignResult& result : results) json["campaigns"].push_back(reports::to_json(result));
  json["corpus"] = content.corpus.size();
  return json;
}

}  // namespace

int run(const MergeCommand& command) {
  for (const hip::Status& status :
       {usable_folder("--report", command.report), writable("--json", command.json), may_replace(command.output)}) {
    if (!status) return complain(status.error().message);
  }
  std::vector<LeftOut> left_out;
  hip::Result<std::set<std::string>> files = files_of(command, left_out);
  if (!files) return complain("merge: " + files.error().message);
  MemoryContent content;
  for (const std::string& file : files.value()) {
    hip::Result<MemoryContent> input = read_input(file);
    const hip::Status joined = input ? content.join(std::move(input).value()) : hip::Status(input.error());
    if (joined) continue;
    if (!command.keep_going) {
      return complain(fmt::format("merge: {}; --keep-going leaves it out", joined.error().message));
    }
    left_out.push_back({file, joined.error().message});
  }
  for (const LeftOut& one : left_out) {
    files.value().erase(one.file);
    std::cerr << "hgcheck: merge: left out: " << one.reason << "\n";
  }
  if (content.campaigns.empty()) return complain("merge: no input holds a campaign: name other files");
  if (const hip::Status written = write_database(content, command.output); !written) {
    return complain(written.error().message);
  }
  std::vector<verify::CampaignResult> results = results_of(content);
  if (command.json != "-") {
    std::cout << fmt::format("{}: {} inputs, {} left out, {} campaigns, corpus of {} programs\n", command.output,
                             files.value().size(), left_out.size(), results.size(), content.corpus.size());
    for (const verify::CampaignResult& result : results) print_result(result);
  }
  if (!command.report.empty()) {
    if (const hip::Status written = write_reports(results, command.report, nullptr); !written) {
      return complain(written.error().message);
    }
  }
  if (command.json.empty()) return kAgreed;
  const hip::Status written =
      write_text(command.json, json_of_merge(files.value(), left_out, content, results).dump(2) + "\n");
  return written ? static_cast<int>(kAgreed) : complain(written.error().message);
}

}  // namespace fuzz
