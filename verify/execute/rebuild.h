// Functions that make graphs and executable graphs from recordings, make them again at other addresses or in another
// shape, enable and disable nodes, and destroy graphs. Strategies choose among these functions (strategy.h).
//
// If making or switching fails, the object stays as it was. An object counts as destroyed even if destroying it fails.
#pragma once

#include <set>
#include <string>

#include "hip/flatten.h"
#include "hip/result/result.h"
#include "verify/execute/objects.h"
#include "verify/execute/runner.h"

namespace verify {

// Notes that the program enabled or disabled the node.
void note_enabled(ExecObject& exec, hip::NodeIndex index, bool on);
// Enables or disables a node, or all that stand for it, and notes it. Returns what hipGraphNodeGetEnabled says then.
[[nodiscard]] hip::Result<unsigned> switch_node(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                                                bool on);
// The recording with empty nodes in the place of the nodes at `indices`.
[[nodiscard]] hip::Recording emptied(const hip::Recording& recording, const std::set<hip::NodeIndex>& indices);

// hipGraphInstantiate in one of its forms. `said`, if given, receives the result in hipGraphInstantiateParams.
[[nodiscard]] hip::Result<hipGraphExec_t> instantiate(StrategyContext& context, hipGraph_t graph, InstantiateForm form,
                                                      std::uint32_t flags, std::string* said = nullptr);

// A recording that is recorded in place of another one, and the places of the other one's nodes in it (no place: the
// node is left out, or is a child that was expanded).
struct Shaped {
  ExecShape shape = ExecShape::kAsItIs;
  hip::Recording recording;
  hip::Places places;

  // Whether nodes of the same type stand for `node`: they can be disabled as `node` could.
  [[nodiscard]] bool keeps_type(const hip::RecordedNode& node, hip::NodeIndex index) const;
};

// Records `recording` at the current addresses into a new executable graph, which replaces the one of `exec`. Disabled
// nodes are disabled again.
[[nodiscard]] hip::Status rebuild(StrategyContext& context, ExecObject& exec, const hip::Recording& recording);
// The same at other addresses, or (`as`) in another shape.
[[nodiscard]] hip::Status rebuild(StrategyContext& context, ExecObject& exec, const hip::Recording& recording,
                                  const hip::AddressTable& addresses, const Shaped* as = nullptr);
// Makes the first executable graph of `exec`. `said`: as for instantiate().
[[nodiscard]] hip::Status build(StrategyContext& context, ExecObject& exec, const hip::Recording& recording,
                                const Shaped& as, std::string* said);
[[nodiscard]] hip::Status rebuild(StrategyContext& context, GraphObject& graph, const hip::Recording& recording);
[[nodiscard]] hip::Status destroy(StrategyContext& context, ExecObject& exec);
[[nodiscard]] hip::Status destroy(StrategyContext& context, GraphObject& graph);

}  // namespace verify
