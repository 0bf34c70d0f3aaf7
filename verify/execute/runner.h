// verify::Runner: the interface that runs a program and returns its observation: an executor in this process, or a
// subject process.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "hip/relocation.h"
#include "verify/execute/observation.h"
#include "verify/program/program.h"
#include "verify/program/strategy_kind.h"

namespace verify {

// In the order in which they are listed.
inline constexpr std::array kStrategyKinds = {
    StrategyKind::kPatch, StrategyKind::kRebuild, StrategyKind::kUpdate,       StrategyKind::kStabilise,
    StrategyKind::kRemap, StrategyKind::kCareful, StrategyKind::kCommandBuffer};
static_assert(kStrategyKinds.size() == static_cast<std::size_t>(StrategyKind::kRemap) + 1, "every strategy is listed");
[[nodiscard]] std::string_view strategy_name(StrategyKind kind);
[[nodiscard]] std::optional<StrategyKind> find_strategy(std::string_view name);

// Every address that a runtime gave out, in order.
using AddressScript = std::vector<hip::DeviceAddress>;

// A schedule seed with this bit set is the number of a legal order: on the model, counting up from 0 makes every legal
// order (model::Random::kCounting). To other runtimes it is a seed like any other.
inline constexpr std::uint64_t kCountedOrder = std::uint64_t{1} << 63;

struct RunOptions {
  bool poison = true;            // overwrite the passed arguments after each call (P1)
  bool keep_passed = false;      // without poison: passed arguments stay as they were until the program's end
  bool failures = true;          // obey `fail` and `fail_below`
  bool fresh_addresses = false;  // no address is ever used twice
  bool inspect = true;           // look inside a model after each patch (A1-A5), around refused calls (P4, P11)
  bool isolation = true;         // compare everything else before and after each exec operation (P2)
  bool costs = false;            // count the cost of each command (P10)
  bool held = false;             // count the resources that the runtime holds after the last command (P8)
  bool signature = false;        // note what the runtime does
  std::uint64_t schedule_seed = 0;
  std::uint64_t fail_graph_call = 0;  // the nth call of the graph API fails (0: none)
};

// The observation of a run, and its memory layout (`script`), which the baseline has to repeat.
struct RunResult {
  Observation observation;
  AddressScript script;
};

class Runner {
 public:
  virtual ~Runner() = default;

  // `script`: the memory layout of an earlier run to repeat; empty: choose a layout.
  [[nodiscard]] virtual RunResult run(const Program& program, const RunOptions& options,
                                      const AddressScript& script) = 0;
  [[nodiscard]] RunResult run(const Program& program, const RunOptions& options) { return run(program, options, {}); }

  // Whether this process survives a program that crashes or hangs there: the death is then part of the observation.
  [[nodiscard]] virtual bool contained() const { return false; }
  // Whether calls below the runtime can be made to fail (`fail_below`).
  [[nodiscard]] virtual bool fails_below() const { return false; }
  // Whether a start takes as long as hundreds of programs, as that of a process on a GPU.
  [[nodiscard]] virtual bool starts_slowly() const { return false; }
  // Makes the next run start from nothing, where possible: earlier programs leave nothing behind in the runtime.
  virtual void start_afresh() {}
  // The processes of the next start_afresh() have other layouts of addresses than those before.
  virtual void another_layout() {}
};

}  // namespace verify
