// How graphs and executable graphs are made of recordings, made anew at other addresses or in another shape, switched
// node by node, and destroyed. Strategies choose among these (strategy.h).
//
// Where making or switching fails, the object is as it was before. An object that was destroyed is gone either way.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "hip/flatten.h"
#include "hip/result/result.h"
#include "verify/execute/objects.h"
#include "verify/execute/runner.h"

namespace verify {

// Notes that the program switched the node.
void note_enabled(ExecObject& exec, hip::NodeIndex index, bool on);
// Switches a node, or all that stand for it, and notes it. Returns the answer of hipGraphNodeGetEnabled then.
[[nodiscard]] hip::Result<unsigned> switch_node(StrategyContext& context, ExecObject& exec, hip::NodeIndex index,
                                                bool on);
// The recording with empty nodes in the place of these.
[[nodiscard]] hip::Recording emptied(const hip::Recording& recording, const std::set<hip::NodeIndex>& indices);

// hipGraphInstantiate in one of its forms. `said`, if given, receives the result in hipGraphInstantiateParams.
[[nodiscard]] hip::Result<hipGraphExec_t> instantiate(StrategyContext& context, hipGraph_t graph, InstantiateForm form,
                                                      std::uint32_t flags, std::string* said = nullptr);

// The recording that is recorded in place of another one, and the places of the other's nodes in it (no place: the node
// is left out, or is a child that was expanded).
struct Shaped {
  ExecShape shape = ExecShape::kAsItIs;
  hip::Recording recording;
  hip::Places places;

  // Whether nodes of the node's own type stand for it, which can be switched off as it could.
  [[nodiscard]] bool keeps_type(const hip::RecordedNode& node, hip::NodeIndex index) const;
};

// Records `recording` at the current addresses into a new executable graph and replaces exec's with it. Disabled nodes
// are disabled again.
[[nodiscard]] hip::Status rebuild(StrategyContext& context, ExecObject& exec, const hip::Recording& recording);
// The same at other addresses, or (`as`) in another shape.
[[nodiscard]] hip::Status rebuild(StrategyContext& context, ExecObject& exec, const hip::Recording& recording,
                                  const hip::AddressTable& addresses, const Shaped* as = nullptr);
// The first time: exec has none yet. `said`: as instantiate's.
[[nodiscard]] hip::Status build(StrategyContext& context, ExecObject& exec, const hip::Recording& recording,
                                const Shaped& as, std::string* said);
[[nodiscard]] hip::Status rebuild(StrategyContext& context, GraphObject& graph, const hip::Recording& recording);
[[nodiscard]] hip::Status destroy(StrategyContext& context, ExecObject& exec);
[[nodiscard]] hip::Status destroy(StrategyContext& context, GraphObject& graph);

}  // namespace verify
