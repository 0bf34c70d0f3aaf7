// verify::Judge: runs a program on a subject and on its baseline and says what to make of it.
//
// The verdict's kinds are those of verify/result.h. A divergence is named after the most specific property that it
// breaks among those that its first bad command breaks: later commands work on what that one left behind, so what they
// break is listed after. Detectors see symptoms; some causes are told apart by running again with one thing changed:
//   without poisoning      clean: the subject kept the caller's memory (P1)
//   without failures       clean: a failure was not handled (P4)
//   in the other order     clean: an edge was not honoured (P5)
//   without redundant edges  clean: how a graph was built made a difference (P9, where nothing else is known)
//   looking at the others  what nobody asked to be changed was changed by the first bad command (P2)
//   graphs not patched     likewise, where the other object held the same already
//   at fresh addresses     clean: addresses that repeat were confused (A3, where A2 was seen)
// A command that the reference refuses and the subject says it has done is a failure that was not reported (P4).
// What a subject process showed has to show again in a fresh one: else it may be what an earlier program left behind,
// and the program is Poisoned.
// A divergence that a known quirk of the subject's release explains ends the judgement as KnownQuirk.
//
// Checks that need many runs of one program (every call fails in turn, metamorphic pairs) are made when asked for; the
// campaign samples them at a stated rate.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "verify/execute/runner.h"
#include "verify/oracle/oracle.h"
#include "verify/oracle/stream_variants.h"
#include "verify/result.h"

namespace verify {

struct JudgeOptions {
  std::uint64_t schedule_seed = 1;  // of the subject; the baseline runs in order of addition
  bool isolation = true;            // P2, look at everything else around each exec operation
  bool every_call_fails = false;    // P4
  bool however_built = false;       // P9, and P6's eager pair
  bool every_order = false;         // P5
  bool poison = true;               // P1; off to tell whether a crash needs it
  bool failures = true;             // obey `fail`; off likewise
  bool cycles = false;              // P8, the program's commands again and again
  bool costs = false;               // P10, of programs whose fans are wide enough
};

struct Judgement {
  VerdictKind verdict = VerdictKind::kAgree;
  std::string quirk;               // its id, of kKnownQuirk
  std::string reason;              // of a poisoned, unsupported, discarded or harness verdict
  std::vector<PropertyId> broken;  // the name first, the others after; empty unless kDiverge
  std::vector<Violation> violations;
  std::vector<Difference> differences;
  std::vector<CostMeasurement> costs;  // where they were asked for
  std::array<std::uint64_t, kProperties> exercised{};
};

class Judge {
 public:
  Judge(Runner& subject, Runner& baseline) : subject_(subject), baseline_(baseline) {}
  // What is known to differ on the subject, and on a baseline that is a runtime too; `strategy` as Event's. The
  // catalogue that a set was made of must outlive this.
  void know(QuirkSet quirks, StrategyKind strategy) { known_ = {std::move(quirks), strategy}; }
  void know_of_baseline(QuirkSet quirks, StrategyKind strategy) { known_of_baseline_ = {std::move(quirks), strategy}; }

  // `program` has to be valid.
  [[nodiscard]] Judgement judge(const Program& program, const JudgeOptions& options);

 private:
  struct Pair {
    Observation subject;
    std::vector<Difference> differences;
    std::string poisoned;   // why the comparison means nothing, or empty
    std::string discarded;  // what the baseline refuses, or empty
    AddressScript script;
    std::optional<Deviation> deviation;  // the first one
    std::optional<Deviation> reverse;    // the same with the parts exchanged
    [[nodiscard]] bool clean() const { return differences.empty() && subject.violations.empty(); }
  };
  // The quirk that explains a deviation of the subject, or, seen the other way, of the baseline.
  [[nodiscard]] const Quirk* explain(const Program& program, const std::optional<Deviation>& deviation,
                                     const std::optional<Deviation>& reverse) const;
  [[nodiscard]] const Quirk* explain(const Program& program, const Observation& expected,
                                     const Observation& observed) const;
  Judgement judge_in_place(const Program& program, const JudgeOptions& options);
  Pair run_pair(const Program& program, const RunOptions& options);
  static std::string unrepeated(const Pair& pair);
  bool shows_again(const Program& program, const RunOptions& options, Pair& pair);
  static bool says_done_where_refused(const Program& program, const Pair& pair);
  static const Pair& or_else(const Pair& pair, const Pair& other);  // the first one that shows something
  bool clean_without_redundant_edges(const Program& program, const RunOptions& options);
  bool clean_without_frees(const Program& program, const RunOptions& options);
  bool clean_in_another_order(const Program& program, const RunOptions& options);
  bool hits_the_graph_instead(const Program& program, const RunOptions& options);
  bool setters_change_other_nodes(const Program& program, const RunOptions& options);
  bool needs_repeats(const Program& program, const RunOptions& options, const Pair& pair);
  // What `program` observes at the addresses of `other`: the pair's own run where those are the same.
  Observation reference_for(const Program& program, const Pair& pair, const RunResult& other);
  Observation run_baseline(const Program& program, const AddressScript& script);
  void name_cause(const Program& program, const RunOptions& options, const Pair& pair, Judgement& judgement);
  struct Look {
    bool clean = false;
    const Quirk* quirk = nullptr;  // that explains why it is not
    std::string what = {};         // which run it was, and what differed
  };
  bool further_run_holds(Judgement& judgement, const std::function<Look()>& attempt);
  void every_call_fails(const Program& program, const Pair& pair, Judgement& judgement);
  void every_order(const Program& program, const Pair& pair, Judgement& judgement);
  void however_built(const Program& program, const Pair& pair, Judgement& judgement);
  void by_streams(const Program& program, const Pair& pair, Judgement& judgement);
  const Quirk* explain_variant(const StreamVariant& variant, const RunResult& other);
  [[nodiscard]] std::vector<CostMeasurement> measure_costs(const Program& program);
  void costs(const Program& program, Judgement& judgement);
  void cycles(const Program& program, Judgement& judgement);

  Runner& subject_;
  Runner& baseline_;
  struct Known {
    QuirkSet quirks;
    StrategyKind strategy = StrategyKind::kPatch;
  };
  Known known_, known_of_baseline_;
  bool faulted_ = false;  // the device, in one of the runs of the program that is being judged
};

// Whether the command at `step` is one that capture has rules for: a death in it breaks P7, and P11 with it.
[[nodiscard]] bool step_concerns_capture(const Program& program, std::size_t step);

// At most that many calls of one program are made to fail in turn; longer programs are sampled evenly.
inline constexpr std::uint64_t kMaxFailedCalls = 32;
// A divergence of a subject process is looked for that many times in fresh ones.
inline constexpr int kConfirmations = 2;

}  // namespace verify
