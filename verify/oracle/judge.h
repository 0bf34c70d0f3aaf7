// verify::Judge: runs a program on a subject and on its baseline and judges the two observations.
//
// The kinds of verdicts are in verify/result.h. A divergence gets a name (cause.h).
// A divergence of a subject process has to show again in a fresh process. Otherwise an earlier program may have caused
// it, and the program is Poisoned. A death that does not show again at once may be one that does not come every time:
// then kRateRuns fresh processes say how often it comes.
// A divergence that a known quirk of the subject's release explains ends the judgement as KnownQuirk.
//
// Checks that need many runs of one program (every call fails in turn, metamorphic pairs) are made when asked for; the
// campaign samples them at a stated rate.
#pragma once

#include <optional>

#include "verify/execute/runner.h"
#include "verify/oracle/judgement.h"
#include "verify/oracle/pairs.h"

namespace verify {

struct JudgeOptions {
  std::uint64_t schedule_seed = 1;  // of the subject; the baseline runs in order of addition
  bool isolation = true;            // P2, look at everything else around each exec operation
  bool every_call_fails = false;    // P4
  bool however_built = false;       // P9, and P6's eager pair
  bool every_order = false;         // P5
  bool poison = true;               // P1; off to find out whether a crash needs it
  bool failures = true;             // obey `fail` commands; off likewise
  bool cycles = false;              // P8, the program's commands again and again
  bool groups = false;              // P8, the program's end again and again
  bool costs = false;               // P10, of programs with wide enough fans
  bool signature = false;           // note what the runtime does, in the first run of the subject
  bool name_cause = true;           // of a divergence; off where a large program would only be run again for it
  // The most runs to find a divergence, for deaths that do not come every time. Each run but the first has a fresh
  // process.
  std::uint32_t tries = 1;
  bool confirm = true;  // look for a subject process's divergence in a fresh one; off while shrinking
};

class Judge {
 public:
  Judge(Runner& subject, Runner& baseline) : pairs_(subject, baseline) {}
  // Sets the known quirks of the subject, and of a baseline that is a runtime too; `strategy`: as for any_event(). The
  // catalogue that a set was made from must outlive this object.
  void know(QuirkSet quirks, StrategyKind strategy) { know(KnownQuirks{std::move(quirks), {strategy}}); }
  void know(KnownQuirks known) { pairs_.know(std::move(known)); }
  void know_of_baseline(KnownQuirks known) { pairs_.know_of_baseline(std::move(known)); }

  // `program` has to be valid.
  [[nodiscard]] Judgement judge(const Program& program, const JudgeOptions& options);
  // For a program that ended as KnownQuirk: the program in which the host waits for the device before each command that
  // may show a quirk while earlier work runs. Many quirks do not show there, so what still goes wrong may be another
  // defect. Nothing where no wait can be added, or where a quirk of the program corrupts its process.
  [[nodiscard]] std::optional<Program> waiting_for_quirks(const Program& program) const;

 private:
  Judgement judge_in_place(const Program& program, const JudgeOptions& options);

  PairRunner pairs_;
};

}  // namespace verify
