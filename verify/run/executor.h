// verify::Executor: runs a program over a platform with a strategy and notes the results that a client of HIP sees.
//
// Deterministic: the same program, platform, strategy and options give the same trace. Takes valid programs only
// (verify/program/state.h). At the program's end the executor reads every buffer, notes every graph's topology and
// destroys everything; any object that remains is a leak.
//
// `fail` commands arm the interposer. A command in which a failure fires has to report an error; it is then run once
// more and has to succeed, as if nothing had happened (P4). After a failure below the runtime (`fail_below`) a command
// that succeeds is right, too. A baseline ignores both.
#pragma once

#include <memory>

#include "hip/sync/sync.h"
#include "verify/execute/interposer.h"
#include "verify/execute/observation.h"
#include "verify/execute/placement.h"
#include "verify/execute/platform.h"
#include "verify/execute/runner.h"
#include "verify/execute/strategy.h"
#include "verify/systems/parts.h"

namespace verify {

class Executor final : public Runner {
 public:
  Executor(Platform& platform, StrategyKind strategy, PatcherFactory patchers = graph_patcher_factory());
  Executor(Platform& platform, std::unique_ptr<Strategy> strategy);

  using Runner::run;
  [[nodiscard]] RunResult run(const Program& program, const RunOptions& options, const AddressScript& script) override;
  // Replaces the real systems, which a program's actions drive by default.
  void use(Parts parts) { parts_ = std::move(parts); }
  // Keeps the index of the running step in `step` (at the program's end: its length); null: nowhere.
  void watch(hip::sync::Atomic<std::size_t>* step) { watch_ = step; }

 private:
  Platform& platform_;
  hip::sync::Atomic<std::size_t>* watch_ = nullptr;
  std::unique_ptr<Strategy> strategy_;
  PatcherFactory patchers_ = graph_patcher_factory();
  Parts parts_ = real_parts();
  Interposer interposer_;
};

}  // namespace verify
