// verify::FurtherRuns: the checks that need many runs of one program, after a first pair of runs that is clean. Each
// check adds to the judgement the properties that were exercised, and the first run that does not hold.
//
// A divergence that a quirk explains, or that does not show again in a fresh process, becomes the program's verdict, as
// it does in the first pair of runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "verify/oracle/judgement.h"
#include "verify/oracle/pairs.h"
#include "verify/properties/cycles.h"

namespace verify {

// At most that many calls of one program are made to fail in turn; longer programs are sampled evenly.
inline constexpr std::uint64_t kMaxFailedCalls = 32;
// With many calls, fewer of them fail: so many that all runs together make at most this many calls, and never fewer
// than kLeastFailedCalls.
inline constexpr std::uint64_t kMaxCallsWhileFailing = 1 << 16;
inline constexpr std::uint64_t kLeastFailedCalls = 4;

// As many calls of each kind below the runtime fail in turn.
inline constexpr std::uint32_t kMaxFailedCallsBelow = 6;

class FurtherRuns {
 public:
  // All arguments have to outlive this object.
  FurtherRuns(PairRunner& pairs, const Program& program, const RunPair& pair, Judgement& judgement)
      : pairs_(pairs), program_(program), pair_(pair), judgement_(judgement) {}

  void every_call_fails();
  void every_call_below_fails();
  void every_order();
  void however_built();
  void by_streams();
  void cycles();
  void groups();
  void costs();

 private:
  struct Look {
    bool clean = false;
    const Quirk* quirk = nullptr;  // the quirk that explains the difference
    std::string what = {};         // the run and its differences
    bool died = false;             // as died() says
  };
  // Makes a further run and returns whether it holds. If not, sets the verdict. The difference has to show again in a
  // fresh process: a death in one of up to kRateRuns, any other difference in the first.
  bool holds(const std::function<Look()>& attempt);
  // Runs the subject in an attempt: holds() makes an error of the harness the verdict.
  RunResult run(const Program& program, const RunOptions& options);
  [[nodiscard]] std::vector<CostMeasurement> measure_costs();
  // The same program with few rounds and with many (P8).
  void check_growth(const std::optional<Program>& few, const std::optional<Program>& many, const Rounds& rounds);

  PairRunner& pairs_;
  const Program& program_;
  const RunPair& pair_;
  Judgement& judgement_;
  std::string harness_error_;
};

}  // namespace verify
