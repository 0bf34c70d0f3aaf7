// The commands of hgcheck: each takes its options and returns the exit status.
#pragma once

#include <iostream>
#include <string>
#include <vector>

#include "fuzz/campaign.h"

namespace fuzz {

// Scripts rely on these.
enum ExitStatus : int {
  kAgreed = 0,
  kDiverged = 1,     // with --fault: the fault was found
  kUsage = 2,        // usage, bad input, an unusable path, library, subject or report folder
  kHarness = 3,      // a harness error or a cap that was exceeded
  kCannotRun = 125,  // replay: the subject cannot run the program (git bisect run skips it)
  kInterrupted = 130,
};

struct CampaignCommand {
  CampaignOptions campaign;
  std::string json, accept, corpus, compare;
  bool quiet = false, verbose = false;
  bool every_cause = false;  // standard output is a log: each cause is printed when it is found, however many there are
};
// Writes the report folder of a campaign again, from its JSON.
struct ReportCommand {
  std::string file, compare, report = "report";
};
// Shows the database of a campaign's --db.
struct HistoryCommand {
  std::string db, json;
};
// Joins databases and reports of the shards of campaigns.
struct MergeCommand {
  std::vector<std::string> inputs;  // files, and folders that are searched
  std::string output, report, json;
  bool keep_going = false;  // leaves out what cannot be read
};
// Runs a command and records its calls of HIP.
struct RecordCommand {
  std::vector<std::string> command;
  std::string output = "recorded.program";
  std::string version;
};
// Runs one shard of a campaign and keeps a copy of its database where other machines see it.
struct FleetTask {
  CampaignCommand campaign;  // with the shard
  double hours = 0;
  std::string output = "fleet", local = "${TMPDIR:-/tmp}";
};
inline constexpr double kFewestHours = 0.25;
// Submits a campaign as an array of jobs, one for each shard.
struct FleetCommand {
  FleetTask task;
  std::string scheduler, gres;
  unsigned nodes = 1, jobs_per_node = 1;
  std::vector<std::string> sbatch;     // more options of sbatch
  std::vector<std::string> passed_on;  // options of the tasks, as they were given
  bool dry_run = false;
};
// Ranks that share a client's library (verify/execute/library_ranks.h).
struct LibraryRaceCommand {
  std::string library, json;
  std::uint32_t ranks = 2, bound = 2;
  std::uint64_t schedules = 0;
  double seconds = 0;
  bool quiet = false;
};
struct ReplayCommand {
  std::vector<std::string> files;
  SetupOptions setup;
  bool trace = false;
  std::string json, report;
  std::string version;
};
struct ShrinkCommand {
  std::string file;
  SetupOptions setup;
  std::string output;  // empty: standard output
};
struct ExportCommand {
  std::string file;
  SetupOptions setup;        // an empty subject: the one that the quirk with the file's name needs, else the default
  std::string form = "hip";  // or "catch2"
  std::string output;        // empty: standard output
  std::string version;
};

[[nodiscard]] int run(CampaignCommand command);
[[nodiscard]] int run(const ReplayCommand& command);
[[nodiscard]] int run(const LibraryRaceCommand& command);
[[nodiscard]] int run(const ShrinkCommand& command);
[[nodiscard]] int run(ExportCommand command);
[[nodiscard]] int run(const ReportCommand& command);
[[nodiscard]] int run(const HistoryCommand& command);
[[nodiscard]] int run(const MergeCommand& command);
[[nodiscard]] int run(const RecordCommand& command);
[[nodiscard]] int run(FleetCommand command);
[[nodiscard]] int run(FleetTask task);
// Checks the options that need no subject, and reads the files that they name.
[[nodiscard]] hip::Status prepare(CampaignCommand& command);
[[nodiscard]] int check(const std::string& file);
[[nodiscard]] int list_subjects(const std::string& json);
[[nodiscard]] int list_faults(const std::string& json);
[[nodiscard]] int list_properties(const std::string& json);
[[nodiscard]] int list_quirks(const std::string& json, std::uint64_t programs);
// Whether the file holds a schedule for hgcheck-race, not a program of HIP operations.
[[nodiscard]] bool is_race_file(const std::string& path);
// Replaces this process by hgcheck-race with these arguments; returns only if that fails.
[[nodiscard]] int run_race_program(const std::vector<std::string>& arguments);

// Says on standard error why a command cannot be carried out. Returns the exit status for that: kUsage.
inline int complain(const std::string& message) {
  std::cerr << "hgcheck: " << message << "\n";
  return kUsage;
}

}  // namespace fuzz
