// The graphs of a program: nodes, graphs, executable graphs and user objects; and questions that concern one graph
// only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "verify/commands/nodes/nodes.h"
#include "verify/program/ranges.h"

namespace verify {

struct GraphState;

struct NodeState {
  Id id = 0;
  NodeParams params;
  std::vector<std::uint32_t> after;  // indices of nodes of the same graph, mostly of earlier ones
  std::uint32_t fan = 1;
  std::shared_ptr<const GraphState> child;  // the child graph as it was when the node was added or set
  std::vector<ByteRange> ranges;            // bytes that all instances touch, children included
  bool enabled = true;                      // for a node of an executable graph
  bool set_disabled = false;                // its last setter or update came while it was disabled
  NodeForm form = NodeForm::kTyped;         // the form of the function that added it
  NodeAttributes attributes = {};           // for a kernel node
  std::vector<Id> devices = {};             // State::devices_of its parameters
  bool captured = false;                    // this node, or the node that it was cloned from, was captured
  Id added_on = 0;                          // the device current at the call, or of the stream that captured it
};

struct GraphState {
  bool alive = false;
  std::vector<NodeState> nodes;
  std::map<Id, std::uint32_t> addresses;  // buffer -> version of its place that this graph holds
  std::uint32_t depth = 1;                // levels of child graphs, this graph counted
  std::uint64_t instances = 0;            // number of nodes, fans and children counted
  bool has_events = false;                // event nodes, at any depth
  bool has_memory = false;                // memory allocation or free nodes
  std::set<Id> removed;                   // nodes that were removed; their names are not used again
  bool cloned = false;                    // by hipGraphClone
  bool cyclic = false;                    // it cannot be instantiated
  std::map<Id, std::uint32_t> objects;    // user objects, and how many references to each it holds
  std::uint64_t edges_taken = 0;          // edges that were removed, whether they were added again or not
  Id above = 0;                           // above the names of all nodes that it ever had
  Id device = 0;                          // of the stream that captured it; else the device that was current: the first
  bool edited = false;                    // its own nodes were set or patched: a strategy may have recorded it again

  void add(NodeState node);
  [[nodiscard]] const NodeState* find(Id node) const;
  [[nodiscard]] int index_of(Id node) const;            // -1 when there is none
  [[nodiscard]] NodeState& at(Id node);                 // a node that it has
  [[nodiscard]] std::vector<ByteRange> ranges() const;  // of all its nodes
  [[nodiscard]] bool frees(Id buffer) const;            // a node frees the buffer
  [[nodiscard]] std::set<Id> disabled() const;          // its nodes that are disabled
};

struct ExecState {
  bool alive = false;
  Id origin = 0;  // the graph whose node handles name its nodes
  GraphState graph;
  std::uint32_t flags = 0;
  std::set<Id> gone;  // nodes with handles that are not valid any more: they were removed from the origin
  std::set<std::set<Id>> launched_without;  // the nodes that were disabled when it was launched, where any were
};

struct GraphsState {
  std::map<Id, GraphState> graphs;
  std::map<Id, ExecState> execs;
  std::map<Id, std::uint32_t> objects;  // user objects, and how many references to each the program holds

  // The graph, or the contents of the executable graph of that name.
  [[nodiscard]] const GraphState& of(Target target, Id id) const;
  [[nodiscard]] GraphState& of(Target target, Id id);
};

// Whether an executable graph's batch `a` may become `b`. CUDA, cuGraphExecBatchMemOpNodeSetParams: addresses, values
// and comparisons may change, the number and the types of operations may not.
[[nodiscard]] bool same_operations(const BatchParams& a, const BatchParams& b);
// Marks node `index` and every node that waits for it, directly or through other nodes.
void mark_descendants(const GraphState& graph, std::uint32_t index, std::vector<char>& marked);
// Marks the nodes in `from` and every node that they wait for, directly or through other nodes.
[[nodiscard]] std::vector<char> mark_ancestors(const GraphState& graph, std::vector<std::uint32_t> from);
// Whether node `from` waits for node `to`, directly or through other nodes.
[[nodiscard]] bool waits_for(const GraphState& graph, std::uint32_t from, std::uint32_t to);
[[nodiscard]] bool has_cycle(const GraphState& graph);
// Whether nodes of the same type at the same index belong to the same devices, children included.
[[nodiscard]] bool same_devices(const GraphState& a, const GraphState& b);

// Whether HIP has a function of that form for a node with these parameters.
[[nodiscard]] bool has_form(const NodeParams& params, NodeForm form);
[[nodiscard]] inline bool is_memory_node(const NodeParams& params) {
  return std::holds_alternative<MemoryAllocParams>(params) || std::holds_alternative<MemoryFreeParams>(params);
}
// Whether the node is a memset of one row over all `bytes` of `buffer`.
[[nodiscard]] bool fills(const NodeParams& params, Id buffer, std::uint64_t bytes);

// The outcome of hipGraphExecUpdate for a pair of graphs. kUndefinedHere: no documentation gives the outcome, or
// several nodes differ in different ways and no documentation says which difference is reported.
enum class UpdateOutcome : std::uint8_t {
  kSuccess,
  kTopologyChanged,
  kNodeTypeChanged,
  kUndefinedHere,
  kParametersChanged
};
[[nodiscard]] UpdateOutcome update_outcome(const GraphState& exec, const GraphState& graph);

}  // namespace verify
