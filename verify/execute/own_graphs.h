// Graphs that a strategy records and launches in the place of an executable graph of the program.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "hip/flatten.h"
#include "hip/result/result.h"
#include "verify/execute/objects.h"

namespace verify {

// The buffers that the recording's nodes name, those of children too: ascending, each once.
[[nodiscard]] std::vector<hip::BufferIndex> named_buffers(const hip::Recording& recording);

// Makes a change that records exec's own executable graph again. Keeps exec.stable, which that would destroy, and tells
// it that the nodes have changed.
template <class Change>
auto keeping_stable(ExecObject& exec, const Change& change) {
  std::unique_ptr<ExecPatcher> stable = std::move(exec.stable);
  auto result = change();
  if (stable != nullptr) stable->replace_all(exec.recording, exec.addresses);
  exec.stable = std::move(stable);
  return result;
}

// Whether a device other than 0 is current, on which device 0's streams are of no use.
[[nodiscard]] hip::Result<bool> is_elsewhere(const StrategyContext& context);

// Records exec's recording at these addresses on its own device, whichever is current, and disables the nodes that exec
// has disabled. On an error nothing is left.
[[nodiscard]] hip::Result<OwnGraph> make_own_graph(StrategyContext& context, const ExecObject& exec,
                                                   const hip::AddressTable& addresses);
// No device may be running it. Errors are left to the check for leaks.
void destroy_own_graph(const StrategyContext& context, const OwnGraph& graph);

// Launches a graph that is recorded for this launch alone, at exec's addresses: while a stream captures, because a
// capture keeps the launched graph; in a block of threads; and on a device on which the strategy has no streams. The
// graph is kept in the context, because releases of AMD's runtime run it instead of capturing it.
[[nodiscard]] hip::Status launch_once(StrategyContext& context, const ExecObject& exec, hipStream_t stream);
// Destroys the graphs of such launches. No device may be running them, unless it has faulted, and no stream may
// capture.
void destroy_launched(StrategyContext& context);

}  // namespace verify
