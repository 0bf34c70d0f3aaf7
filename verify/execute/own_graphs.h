// Graphs that a strategy records and launches in the place of an executable graph of the program.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hip/flatten.h"
#include "hip/result/result.h"
#include "verify/execute/objects.h"
#include "verify/execute/strategy.h"

namespace verify {

// The buffers that the recording's nodes name, those of children too: ascending, each once.
[[nodiscard]] std::vector<hip::BufferIndex> named_buffers(const hip::Recording& recording);

// A strategy that launches something of its own in the place of executable graphs: exec.stable, which it makes when it
// instantiates. A patch only notes the addresses, because the next launch looks at them. Changes go to the program's
// own executable graph by the other strategy. Recording that again would destroy exec.stable; it is kept, and told that
// the nodes have changed.
class StrategyWithStandIns : public StrategyForExecs {
 public:
  using StrategyForExecs::patch;
  using StrategyForExecs::set;
  PatchOutcome patch(StrategyContext& context, ExecObject& exec, std::span<const hip::Move> moves) final;
  hip::Status set(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                  const hip::RecordedNode& node) final;
  UpdateStatus update(StrategyContext& context, ExecObject& exec, const GraphObject& graph) final;
  hip::Status instantiate(StrategyContext& context, const GraphObject& graph, ExecObject& exec,
                          std::string* said) final;
  hip::Status record_again(StrategyContext& context, ExecObject& exec) final;
  hip::Result<unsigned> enable(StrategyContext& context, ExecObject& exec, hip::NodeIndex index, bool on) final;

 protected:
  using StrategyForExecs::StrategyForExecs;
  // Null: the executable graph itself is launched.
  virtual std::unique_ptr<ExecPatcher> stand_in(StrategyContext& context, const ExecObject& exec) = 0;
};

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
