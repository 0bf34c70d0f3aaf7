// The family of commands about nodes: adding them to graphs and setting them in graphs and executable graphs.
#pragma once

#include "verify/program/node_params.h"

namespace verify {

// Which of HIP's functions a node is added or set through: that of its type; the one that takes any type
// (hipGraphAddNode, hipGraphNodeSetParams, hipGraphExecNodeSetParams); or the driver's (hipDrvGraph...).
enum class NodeForm : std::uint8_t { kTyped, kGeneric, kDriver };
struct AddNode {
  Id graph = 0;
  Id node = 0;
  NodeParams params;
  std::vector<Id> after;
  std::uint32_t fan = 1;  // that many unordered nodes; written pointers advance by what each writes
  NodeForm form = NodeForm::kTyped;
  bool operator==(const AddNode&) const = default;
};
struct SetNode {
  Target target = Target::kExec;
  Id id = 0;
  Id node = 0;
  NodeParams params;
  NodeForm form = NodeForm::kTyped;
  bool operator==(const SetNode&) const = default;
};
struct EnableNode {
  Id exec = 0;
  Id node = 0;
  bool enabled = false;
  bool operator==(const EnableNode&) const = default;
};
// Attributes of a kernel node of a graph (hipGraphKernelNodeSetAttribute); nothing: as the runtime gives them.
struct NodeAttributes {
  std::optional<std::int32_t> priority = {};
  std::optional<bool> cooperative = {};
  bool operator==(const NodeAttributes&) const = default;
};
// Sets those that are given; what the node has then is observed.
struct SetAttributes {
  Id graph = 0;
  Id node = 0;
  NodeAttributes attributes;
  bool operator==(const SetAttributes&) const = default;
};
// hipGraphKernelNodeCopyAttributes: `node` gets all that a node of `from` has; observed, too.
struct CopyAttributes {
  Id graph = 0;
  Id node = 0;
  Id from = 0;
  Id source = 0;
  bool operator==(const CopyAttributes&) const = default;
};

using NodesCommands = CommandList<AddNode, SetNode, EnableNode, SetAttributes, CopyAttributes>;

}  // namespace verify
