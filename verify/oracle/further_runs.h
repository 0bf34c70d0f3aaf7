// verify::FurtherRuns: the checks that need many runs of one program. The first pair of runs of the program is clean.
// Each check adds to the judgement the properties that were exercised, and the first run that does not hold.
//
// A divergence that a quirk explains, or that a fresh process does not show again, becomes the program's verdict and
// counts as in its first run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "verify/oracle/judgement.h"
#include "verify/oracle/pairs.h"

namespace verify {

// At most that many calls of one program are made to fail in turn; longer programs are sampled evenly.
inline constexpr std::uint64_t kMaxFailedCalls = 32;

class FurtherRuns {
 public:
  // All of them have to outlive this.
  FurtherRuns(PairRunner& pairs, const Program& program, const RunPair& pair, Judgement& judgement)
      : pairs_(pairs), program_(program), pair_(pair), judgement_(judgement) {}

  void every_call_fails();
  void every_order();
  void however_built();
  void by_streams();
  void cycles();
  void costs();

 private:
  struct Look {
    bool clean = false;
    const Quirk* quirk = nullptr;  // the quirk that explains the difference
    std::string what = {};         // the run and its differences
  };
  // Whether a further run holds.
  bool holds(const std::function<Look()>& attempt);
  [[nodiscard]] std::vector<CostMeasurement> measure_costs();

  PairRunner& pairs_;
  const Program& program_;
  const RunPair& pair_;
  Judgement& judgement_;
};

}  // namespace verify
