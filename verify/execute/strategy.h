// Strategies: how an executable graph is brought to new addresses and new parameters.
//
//   rebuild  records a fresh graph and instantiates it: the meaning that the others are held against
//   patch    changes the executable graph in place through an ExecPatcher; setters are HIP's exec setters
//   update   records a fresh graph and hands it to hipGraphExecUpdate, for setters too
//
// Every operation either succeeds or reports an error and leaves its object as it was, so that it can be tried again.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "hip/result/result.h"
#include "verify/execute/objects.h"
#include "verify/execute/runner.h"

namespace verify {

struct PatchOutcome {
  hip::Status status;
  hip::PatchReport report;
  std::optional<hip::PatchFailure> failure;  // what the patcher said when it did not patch
};

struct UpdateStatus {
  int code = 0;    // hipError_t
  int result = 0;  // hipGraphExecUpdateResult
};

class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  // `moves` may be empty. On success the object's addresses are those of machine.addresses.
  virtual PatchOutcome patch(Machine& machine, ExecObject& exec, std::span<const hip::Move> moves) = 0;
  virtual PatchOutcome patch(Machine& machine, GraphObject& graph, std::span<const hip::Move> moves) = 0;
  // `node` is relocated at machine.addresses; the buffers it names are there in the object as well.
  virtual hip::Status set(Machine& machine, ExecObject& exec, hip::NodeIndex index, const hip::RecordedNode& node) = 0;
  virtual hip::Status set(Machine& machine, GraphObject& graph, hip::NodeIndex index,
                          const hip::RecordedNode& node) = 0;
  virtual UpdateStatus update(Machine& machine, ExecObject& exec, const GraphObject& graph) = 0;
};

[[nodiscard]] std::unique_ptr<Strategy> make_strategy(StrategyKind kind);

// Records `recording` at the current addresses into a new executable graph and replaces exec's with it.
[[nodiscard]] hip::Status rebuild(Machine& machine, ExecObject& exec, const hip::Recording& recording);
[[nodiscard]] hip::Status rebuild(Machine& machine, GraphObject& graph, const hip::Recording& recording);
[[nodiscard]] hip::Status destroy(Machine& machine, ExecObject& exec);
[[nodiscard]] hip::Status destroy(Machine& machine, GraphObject& graph);

}  // namespace verify
