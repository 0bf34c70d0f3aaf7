// fuzz::Found: the findings of a campaign, from the first divergence of a cause to its shrunk program.
//
// Each cause has one finding. Its program is written before it is shrunk, so that killing the campaign loses nothing
// that was found; causes that --accept names are counted and are no findings. With a memory, each step is kept there.
// Programs run only in the process that shrinks a finding; there is one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuzz/campaign.h"
#include "fuzz/campaign_memory.h"
#include "fuzz/child.h"

namespace fuzz {

// A cause that was seen, and the first program that showed it.
struct Cause {
  std::uint64_t index = 0;
  std::string property;
  std::string cause;
  std::uint64_t seen = 1;
  std::string death;    // how the worker died, if the finding showed that way
  std::string program;  // the program's text, where the index does not tell it; else empty
};

// Joins the findings that shrank to one program, because different first symptoms may do that. `folded` hears of each
// finding that went into an earlier one.
[[nodiscard]] std::vector<verify::Finding> fold_equal(
    std::vector<verify::Finding> findings,
    const std::function<void(const verify::Finding& into, const verify::Finding& folded)>& folded);

class Found {
 public:
  // The arguments outlive this object. Findings, reasons and messages go into the outcome.
  Found(const CampaignOptions& options, Setup& setup, const Corpus& corpus, CampaignOutcome& outcome)
      : options_(options), setup_(setup), corpus_(corpus), outcome_(outcome) {}
  Found(const Found&) = delete;
  Found& operator=(const Found&) = delete;
  ~Found() = default;

  // Keeps findings in `memory` from here on; null: keeps nothing.
  void remember_in(CampaignMemory* memory) { memory_ = memory; }
  // Reports the first failure of the memory only: later failures say the same.
  void note_failure(const hip::Status& status);
  // For a forked child, which must not use the memory.
  void leave_memory() const;

  void note(const Cause& cause);
  // Calls CampaignOptions::found for the causes that are new since the last call.
  void announce();
  [[nodiscard]] bool has_news() const { return !news_.empty(); }
  // Keeps the program of a verdict that is neither good nor bad, so that a person can look at it.
  // `program`: as of a cause.
  void keep_unclear(const std::string& kind, const std::string& reason, std::uint64_t index,
                    const std::string& program);
  // Continues with a finding of an earlier session.
  void take_up(KeptFinding kept);
  // All findings, the accepted ones included.
  [[nodiscard]] std::vector<KeptFinding> kept() const;

  // The findings to be shrunk, the one that is being shrunk included.
  [[nodiscard]] std::size_t waiting() const { return waiting_.size() + (shrinking_.is_running() ? 1 : 0); }
  // The process that shrinks a finding.
  [[nodiscard]] Child& shrinking() { return shrinking_; }
  // Starts to shrink the next finding, where none is being shrunk.
  void shrink_next();
  void read_shrunk();
  void reap();
  // Ends a process that takes too long.
  void watch() const;
  // Whether --fault was given and the fault is found: the rest of the queue would show nothing new.
  [[nodiscard]] bool fault_found() const { return fault_found_; }

  // Called once, at the end: joins findings that shrank to one program, and lists the causes of each in the result's
  // session. The memory has kept all of them before.
  void settle();

 private:
  struct Entry {
    std::uint64_t index = 0;  // of the program in the campaign
    std::string death;        // of the worker, or empty
    bool shrunk = false;
  };
  [[nodiscard]] bool wanted(const std::string& property) const;
  void note_accepted(const Cause& cause);
  [[nodiscard]] verify::Program program_of(std::uint64_t index, const std::string& text) const;
  [[nodiscard]] verify::Finding unshrunk(const Cause& cause);
  void name_files(verify::Finding& finding) const;
  void write_program(const verify::Finding& finding);
  void write_program(const std::string& path, const std::string& text);
  [[noreturn]] void shrink(std::size_t finding, int fd);
  void take_shrunk(const nlohmann::json& line);
  [[nodiscard]] KeptFinding kept(std::size_t finding) const;
  void keep(std::size_t finding);
  void drop_unshrunk();
  void merge_equal_findings();
  void list_causes();

  const CampaignOptions& options_;
  Setup& setup_;
  const Corpus& corpus_;
  CampaignOutcome& outcome_;
  CampaignMemory* memory_ = nullptr;
  std::map<std::string, std::size_t> causes_;    // cause -> finding
  std::vector<Entry> entries_;                   // of outcome_.result.findings
  std::map<std::string, KeptFinding> accepted_;  // by cause
  std::deque<std::size_t> waiting_;              // findings to be shrunk
  std::vector<std::size_t> news_;                // findings to be announced
  Child shrinking_;
  std::size_t shrunk_finding_ = 0;           // the finding that `shrinking_` shrinks
  std::map<std::string, unsigned> unclear_;  // by verdict: programs without a finding that asked to be written
  bool fault_found_ = false;
};

}  // namespace fuzz
