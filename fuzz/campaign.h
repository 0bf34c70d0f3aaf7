// fuzz::run_campaign: judges generated programs in worker processes, and shrinks and writes findings as they come.
//
// The campaign itself runs no program. It starts the workers, reads their reports, and restarts a worker that died or
// hung (its program is a finding). It hands one finding for each cause to a shrinking process, one at a time. It writes
// a finding's program before it shrinks it, so that killing the campaign loses no finding. The same seed, size and
// version give the same programs whatever `jobs` and `shard` are, unless a corpus is shared.
//
// With a database a campaign continues where it stopped, however it stopped (fuzz/campaign_memory.h), and its outcome
// covers all its sessions.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fuzz/corpus.h"
#include "fuzz/setup.h"
#include "verify/result.h"

namespace fuzz {

class CampaignMemory;

struct CampaignOptions {
  SetupOptions setup;
  std::uint64_t programs = 0;  // 0: until the time is up
  double seconds = 0;          // 0: until the programs are done
  std::uint64_t seed = 1;
  std::uint32_t size = 30;
  unsigned jobs = 1;
  std::uint64_t shard = 1, shards = 1;
  std::vector<std::string> properties;  // findings of other properties are not reported; empty: all
  double shrink_seconds = 60;           // for one finding, and for all findings that still wait after the last program
  std::set<std::string> accepted;       // known causes, which are no findings
  std::string report;                   // folder, or empty
  Corpus corpus;                        // every second program is a mutant of its programs; empty: no mutants
  // A folder for programs that tasks exchange while they run (fuzz/shared_corpus.h), or empty. With it, programs depend
  // on the times of exchanges.
  std::string shared_corpus;
  bool guided_by_runtime = false;  // the shared corpus keeps what made the runtime do something new, where that is seen
  std::string db;  // the database that the campaign is kept in and continues from, with a corpus of its own
  std::function<void(const verify::Finding&)> found;  // called for each cause, once it is kept; or empty
  // With a database: copies it to where it outlives this machine, every `copy_every` seconds, before `found` is called,
  // and at the end. A copy that fails is tried again. Or empty.
  std::function<hip::Status(CampaignMemory&)> copy;
  double copy_every = 60;
  std::string version;
};

// A campaign fails when its shares exceed these limits: it tested less than it seems to.
inline constexpr double kMaxPoisonedShare = 0.01;
inline constexpr double kMaxDiscardedShare = 0.01;
inline constexpr std::size_t kMaxFindings = 1000;  // causes that are kept; further causes are only counted
inline constexpr unsigned kMaxUnclear = 20;        // programs of each other verdict that are written beside findings

struct Progress {
  double seconds = 0;
  std::uint64_t programs = 0;
  std::size_t findings = 0, shrinking = 0, features_seen = 0, features = 0;
};

struct CampaignOutcome {
  verify::CampaignResult result;
  std::set<std::string> causes;  // the causes of result.findings
  bool cap_exceeded = false;
  bool interrupted = false;
  bool resumed = false;        // the outcome includes an earlier session
  bool memory_failed = false;  // findings may be missing from the database; a message says why
};

// `interrupted` is polled; `progress` is called a few times a second. An error is an operating error: no
// processes, no report folder.
[[nodiscard]] hip::Result<CampaignOutcome> run_campaign(const CampaignOptions& options,
                                                        const std::function<bool()>& interrupted,
                                                        const std::function<void(const Progress&)>& progress);

}  // namespace fuzz
