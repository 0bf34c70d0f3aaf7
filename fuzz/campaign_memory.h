// The memory of campaigns in a database (--db): the progress of each campaign, its findings by cause, and a corpus with
// the coverage of each entry.
//
// A campaign is identified by the options that decide its programs and its findings: version, subject, baseline, fault,
// seed, size, quirks and properties. Each of its shards continues where it stopped. Several processes may share a
// database, one process for each shard. Programs with a database are mutants of its corpus as with --corpus, of the
// entries that existed when the campaign began: all its shards and sessions in a database use the same entries.
//
// Promises: keep_finding() returns when the finding is on the disk, so a finding printed after that survives a kill at
// any moment. `next` of a shard never runs ahead of the findings: a killed campaign tries its unsettled programs again,
// and no program is left out. Programs that ran side by side with an unsettled program are then counted twice.
// Not for a database on a network file system: SQLite's locks are not reliable there.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/campaign.h"
#include "fuzz/corpus.h"
#include "fuzz/memory_tables.h"
#include "verify/result.h"

namespace fuzz {

[[nodiscard]] CampaignIdentity identity_of(const CampaignOptions& options);

// A finding as the database holds it: the data that a campaign needs to continue with it.
struct KeptFinding {
  verify::Finding finding;
  std::uint64_t index = 0;  // of the program that showed it
  std::string death;        // how the worker died, if the finding showed that way
  bool shrunk = false;
  bool accepted = false;  // by --accept: it is counted and is no failure
};

struct Remembered {
  std::uint64_t next = 0;          // how many of the shard's programs are settled
  bool begun_before = false;       // `counts` holds the counts of earlier sessions
  verify::CampaignResult counts;   // without findings
  std::vector<KeptFinding> found;  // in the order in which they were found
};

class CampaignMemory {
 public:
  [[nodiscard]] static hip::Result<std::unique_ptr<CampaignMemory>> open(const std::string& path);
  CampaignMemory(const CampaignMemory&) = delete;
  CampaignMemory& operator=(const CampaignMemory&) = delete;
  ~CampaignMemory() = default;

  // Begins the campaign's shard or continues it. An error when another process works on the shard.
  [[nodiscard]] hip::Result<Remembered> begin(const CampaignIdentity& identity, const std::string& session);
  // The programs that the campaign mutates. Entries that this version cannot read are left out.
  [[nodiscard]] hip::Result<Corpus> corpus();
  [[nodiscard]] hip::Status keep_program(const std::string& text);
  [[nodiscard]] hip::Status keep_finding(const KeptFinding& finding);
  // `found`: every finding so far; keeps how often each was seen.
  [[nodiscard]] hip::Status keep_progress(std::uint64_t next, const verify::CampaignResult& counts,
                                          const std::vector<KeptFinding>& found);
  [[nodiscard]] hip::Status end(const char* how);
  // Writes all that is committed into a new database of one file.
  [[nodiscard]] hip::Status copy_to(const std::string& path);
  // For a forked child: closes its copy of the parent's lock. The child must not use the memory otherwise.
  void leave_to_parent() const;

 private:
  explicit CampaignMemory(SqlDatabase database) : database_(std::move(database)) {}
  [[nodiscard]] hip::Status begin_session(const CampaignIdentity& identity);
  [[nodiscard]] hip::Status take_shard();

  // A descriptor of the database's file, for the lock on this shard. Closed after the database, because closing any
  // descriptor of a file gives up the locks that SQLite has on the file.
  struct Lock {
    int fd = -1;
    Lock() = default;
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
    ~Lock() {
      if (fd >= 0) close(fd);
    }
  };
  Lock lock_;
  SqlDatabase database_;
  std::int64_t campaign_ = 0, shard_ = 0, session_ = 0;
  CoverageSeen seen_;
};

}  // namespace fuzz
