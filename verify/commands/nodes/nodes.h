// The family of commands about nodes: adding them to graphs and setting them in graphs and executable graphs.
#pragma once

#include "hip/node_form/node_form.h"
#include "verify/commands/fields.h"

namespace verify {

using hip::NodeForm;
inline constexpr std::array<std::string_view, 3> kFormWords = {"plain", "generic", "driver"};
struct AddNode {
  Id graph = 0;
  Id node = 0;
  NodeParams params;
  std::vector<Id> after;
  std::uint32_t fan = 1;  // number of unordered nodes; pointers that they write through advance from node to node
  NodeForm form = NodeForm::kTyped;
  static constexpr auto spec() {
    return describe_command(
        WordOfNode{&AddNode::params},
        "Adds a node to a graph. `after=n0,n1` names the nodes that it waits for. `fan=N` makes N unordered "
        "nodes of one command; pointers that they write through advance by the bytes that each writes. "
        "`form=generic` adds through `hipGraphAddNode`, which takes any type but linear copies and opaque "
        "kernels. `form=driver` uses the driver's functions (`hipDrvGraph...`) for "
        "`memcpy3d`, `memset` and `free`.",
        kDrawnByHand, kDescribedByHand,
        NodeNameField{&AddNode::graph, &AddNode::node, 'g', met_by_word(Leaves::kGraphChanged)},
        field::params_of_own_type(&AddNode::params), field::fan_key(&AddNode::fan),
        ChoiceKey{"form", &AddNode::form, kFormWords, "form", {}}, NodesKey{"after", &AddNode::after, false});
  }
  bool operator==(const AddNode&) const = default;
};
bool describe_events(EventEmitter& out, const AddNode& c);
struct SetNode {
  Target target = Target::kExec;
  Id id = 0;
  Id node = 0;
  NodeParams params;
  NodeForm form = NodeForm::kTyped;
  static constexpr auto spec() {
    return describe_command(
        "set",
        "HIP's setters: complete new parameters of the same type; on an executable graph also of the same "
        "direction and shape. `form` as for adding a node: `hipGraphNodeSetParams`, "
        "`hipGraphExecNodeSetParams`, or the driver's setters of an executable graph.",
        kDrawnByHand, kDescribedByHand,
        NodeOfTargetField{&SetNode::target, &SetNode::id, &SetNode::node, &SetNode::params},
        field::params(&SetNode::params), ChoiceKey{"form", &SetNode::form, kFormWords, "form", {}});
  }
  bool operator==(const SetNode&) const = default;
};
bool describe_events(EventEmitter& out, const SetNode& c);
struct EnableNode {
  Id exec = 0;
  Id node = 0;
  bool enabled = false;
  static constexpr auto spec() {
    return describe_command(
        WordByFlag{&EnableNode::enabled, "enable", "disable", "enabled"},
        "Enables or disables a kernel, copy or memset node of an executable graph. A disabled node counts as "
        "an empty one, through patches, setters and updates.",
        kDrawnByHand, kDescribedByFields,
        NodeNameField{&EnableNode::exec, &EnableNode::node, 'e', met_by_word(Leaves::kNothing)});
  }
  bool operator==(const EnableNode&) const = default;
};
// Attributes of a kernel node of a graph (hipGraphKernelNodeSetAttribute); none: the value that the runtime gives.
struct NodeAttributes {
  std::optional<std::int32_t> priority = {};
  std::optional<bool> cooperative = {};
  std::optional<std::uint32_t> window = {};  // of accesses, with no bytes: the percentage that is said to hit
  bool operator==(const NodeAttributes&) const = default;
};
// Sets the given attributes. The attributes that the node has after the call are an observation.
struct SetAttributes {
  Id graph = 0;
  Id node = 0;
  NodeAttributes attributes;
  static constexpr auto spec() {
    return describe_command(
        "attribute",
        "`hipGraphKernelNodeSetAttribute` on a kernel node of a graph, of each attribute that is given. The "
        "values that the node has then (`hipGraphKernelNodeGetAttribute`) are an observation, and part of "
        "`inspect g0` from then on. Setters keep attributes; an executable graph has those that its graph "
        "had.",
        drawn(Topic::kAttributes, 65), kDescribedByFields,
        NodeNameField{&SetAttributes::graph, &SetAttributes::node, 'g', meets("set attributes in", Leaves::kNothing)},
        NodeAttributesKey{&SetAttributes::attributes});
  }
  bool operator==(const SetAttributes&) const = default;
};
// hipGraphKernelNodeCopyAttributes: `node` gets all attributes of `source`, a node of `from`. They are an observation.
struct CopyAttributes {
  Id graph = 0;
  Id node = 0;
  Id from = 0;
  Id source = 0;
  static constexpr auto spec() {
    return describe_command("copy_attributes",
                            "`hipGraphKernelNodeCopyAttributes`: the first node gets all attributes of the second.",
                            drawn(Topic::kAttributes, 35), kDescribedByHand,
                            NodeNameField{&CopyAttributes::graph, &CopyAttributes::node, 'g', kNotCovered},
                            NodeNameField{&CopyAttributes::from, &CopyAttributes::source, 'g',
                                          meets("copy attributes from", Leaves::kNothing)});
  }
  bool operator==(const CopyAttributes&) const = default;
};
bool describe_events(EventEmitter& out, const CopyAttributes& c);

using NodesCommands = CommandList<AddNode, SetNode, EnableNode, SetAttributes, CopyAttributes>;

}  // namespace verify
