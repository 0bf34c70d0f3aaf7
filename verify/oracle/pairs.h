// verify::PairRunner: runs a program on a subject and on its baseline, compares, and explains a difference by a quirk
// that is known of either side. The judge decides on the verdict (judge.h).
//
// Both sides see the same addresses. The baseline runs in the order of addition, without poison, failures and checks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify/execute/runner.h"
#include "verify/oracle/oracle.h"
#include "verify/quirks/known_quirks.h"
#include "verify/result.h"

namespace verify {

// How often a divergence of a subject process is looked for again in a fresh process.
inline constexpr int kConfirmations = 2;
// The fresh processes that say how often a program ends its process.
inline constexpr unsigned kRateRuns = 8;
inline constexpr std::uint64_t kFirstRandomOrder = 101;  // campaigns begin with lower seeds

// Whether a signal ended the subject's process, and not one that came from outside.
[[nodiscard]] bool died(const Observation& observation);

struct RunPair {
  Observation subject;
  std::vector<Difference> differences;
  std::string poisoned;   // why the comparison means nothing, or empty
  std::string discarded;  // the command that the baseline refuses, or empty
  AddressScript script;
  std::optional<Divergence> divergence;  // the first one
  std::optional<Divergence> reverse;     // the first divergence of the baseline from the subject
  [[nodiscard]] bool clean() const { return differences.empty() && subject.violations.empty(); }
  [[nodiscard]] bool died() const { return verify::died(subject); }
};

// The step of the first violation; beyond every step where there is none.
[[nodiscard]] std::size_t first_step(const std::vector<Violation>& violations);
// Describes a divergence, for when it cannot be run again. There is a difference or a violation.
[[nodiscard]] std::string divergence_text(const std::vector<Difference>& differences,
                                          const std::vector<Violation>& violations = {});

class PairRunner {
 public:
  PairRunner(Runner& subject, Runner& baseline) : subject_(subject), baseline_(baseline) {}
  // As the functions of Judge.
  void know(KnownQuirks known) { known_ = std::move(known); }
  void know_of_baseline(KnownQuirks known) { known_of_baseline_ = std::move(known); }

  // Enclose all runs of one program. At the end both sides start afresh if the program may have spoiled one of them; a
  // subject that starts slowly only if the program diverged as well (every divergence is looked for again in a fresh
  // process, so a spoiled one costs time and no false report).
  void begin_program() { faulted_ = diverged_ = false; }
  void end_program(const Program& program);

  [[nodiscard]] RunPair run(const Program& program, const RunOptions& options);
  // Looks for a divergence again in fresh processes; `pair`: the pair in which it was found, and is found again.
  bool shows_again(const Program& program, const RunOptions& options, RunPair& pair);
  RunPair run_afresh(const Program& program, const RunOptions& options);
  // How many of kRateRuns fresh processes the program ends by a signal, where it did so in `pair`; `pair` becomes the
  // last of those runs.
  unsigned deaths(const Program& program, const RunOptions& options, RunPair& pair);
  // The expected observation at the addresses of `other`: the subject's own in `pair` where the addresses are the same,
  // else a run of the baseline.
  Observation reference_for(const Program& program, const RunPair& pair, const RunResult& other);
  Observation run_baseline(const Program& program, const AddressScript& script);
  // Runs the subject alone.
  RunResult run_subject(const Program& program, const RunOptions& options) { return subject_.run(program, options); }
  [[nodiscard]] Runner& subject() { return subject_; }

  // The quirk that explains a divergence of the subject, or (`reverse`) a divergence of the baseline.
  [[nodiscard]] const Quirk* explain(const Program& program, const std::optional<Divergence>& divergence,
                                     const std::optional<Divergence>& reverse) const;
  [[nodiscard]] const Quirk* explain(const Program& program, const Observation& expected,
                                     const Observation& observed) const;
  // Whether the command of that thread triggers a quirk of the subject in that state of a program.
  [[nodiscard]] bool is_known(const State& state, const Command& command, Id thread,
                              const Environment& environment) const {
    return known_.triggered(state, command, thread, environment);
  }

  // Whether the program holds a trigger of a quirk that damages the subject's process.
  [[nodiscard]] bool is_corrupting(const Program& program) const { return known_.corrupts(program); }

 private:
  Runner& subject_;
  Runner& baseline_;
  KnownQuirks known_, known_of_baseline_;
  // In one of the runs of the program that is being judged the device faulted; subject and baseline differed.
  bool faulted_ = false, diverged_ = false;
};

}  // namespace verify
