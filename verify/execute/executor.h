// verify::Executor: runs a program over a platform with a strategy and notes what a client of HIP sees.
//
// Deterministic: the same program, platform, strategy and options give the same trace. Takes valid programs only
// (verify/program/state.h). At the program's end every buffer is read, every graph's topology is noted, everything is
// destroyed, and what is left over is a leak.
//
// `fail` commands arm the interposer. A command in which a failure fires has to report an error; it is then run once
// more and has to succeed, as if nothing had happened (P4). A baseline ignores them.
#pragma once

#include <memory>

#include "verify/execute/interposer.h"
#include "verify/execute/observation.h"
#include "verify/execute/placement.h"
#include "verify/execute/platform.h"
#include "verify/execute/strategy.h"

namespace verify {

struct RunOptions {
  bool poison = true;            // overwrite what was passed after each call (P1)
  bool failures = true;          // obey `fail`
  bool fresh_addresses = false;  // no address is ever used twice
  bool inspect = true;           // look inside a model after each patch (A1-A5)
  bool isolation = true;         // compare everything else before and after each exec operation (P2)
  std::uint64_t schedule_seed = 0;
  std::uint64_t fail_graph_call = 0;  // the nth call of the graph API fails (0: none)
};

// The subject's layout, for its baseline.
struct RunResult {
  Trace trace;
  AddressScript script;
};

class Executor {
 public:
  Executor(Platform& platform, StrategyKind strategy, PatcherFactory patchers = graph_patcher_factory());

  // `script`: lay memory out like the run that it came from; empty: choose.
  [[nodiscard]] RunResult run(const Program& program, const RunOptions& options, const AddressScript& script = {});

 private:
  Platform& platform_;
  std::unique_ptr<Strategy> strategy_;
  PatcherFactory patchers_;
  Interposer interposer_;
};

}  // namespace verify
