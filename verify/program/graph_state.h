// The graphs of a program: nodes, graphs, executable graphs and user objects; and questions that one graph answers
// alone.
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
  std::shared_ptr<const GraphState> child;  // as it was when the child node was added or set
  std::vector<ByteRange> ranges;            // of all instances, children included
  bool enabled = true;                      // of an executable graph's
  NodeForm form = NodeForm::kTyped;         // that it was added through
  NodeAttributes attributes = {};           // of a kernel's
  std::vector<Id> devices = {};             // State::devices_of its parameters
  bool captured = false;                    // it, or the node that it was cloned from, was captured
  Id added_on = 0;                          // the device that was current then, or of the stream that captured it
};

struct GraphState {
  bool alive = false;
  std::vector<NodeState> nodes;
  std::map<Id, std::uint32_t> addresses;  // buffer -> version at which this graph has it
  std::uint32_t depth = 1;                // graphs within graphs, this one counted
  std::uint64_t instances = 0;            // nodes, fans and children counted
  bool has_events = false;                // event nodes, at any depth
  bool has_memory = false;                // memory allocation or free nodes
  std::set<Id> removed;                   // nodes that it had; their names are not used again
  bool cloned = false;                    // by hipGraphClone
  bool cyclic = false;                    // it cannot be instantiated
  std::map<Id, std::uint32_t> objects;    // user objects, and how many references to each it holds
  std::uint64_t edges_taken = 0;          // that it had, whether they were added again or not
  bool edited = false;                    // its own nodes were set or patched: a strategy may have recorded it again

  [[nodiscard]] const NodeState* find(Id node) const;
  [[nodiscard]] int index_of(Id node) const;            // -1 when there is none
  [[nodiscard]] NodeState& at(Id node);                 // a node that it has
  [[nodiscard]] std::vector<ByteRange> ranges() const;  // of all its nodes
};

struct ExecState {
  bool alive = false;
  Id origin = 0;  // the graph whose node handles name its nodes
  GraphState graph;
  std::uint32_t flags = 0;
  std::set<Id> gone;  // nodes with handles that are not valid any more: they were removed from the origin
};

struct GraphsState {
  std::map<Id, GraphState> graphs;
  std::map<Id, ExecState> execs;
  std::map<Id, std::uint32_t> objects;  // user objects, and how many references to each the program holds

  // The graph, or the contents of the executable graph of that name.
  [[nodiscard]] const GraphState& of(Target target, Id id) const;
  [[nodiscard]] GraphState& of(Target target, Id id);
};

// Marks every node that waits for node `index`, directly or not, and the node itself.
void mark_descendants(const GraphState& graph, std::uint32_t index, std::vector<char>& marked);
// Marks the nodes in `from` and every node that they wait for, directly or not.
[[nodiscard]] std::vector<char> mark_ancestors(const GraphState& graph, std::vector<std::uint32_t> from);
// Whether node `from` waits for node `to`, directly or not.
[[nodiscard]] bool waits_for(const GraphState& graph, std::uint32_t from, std::uint32_t to);
[[nodiscard]] bool has_cycle(const GraphState& graph);
// Whether nodes of one type at the same index are of the same devices, children included.
[[nodiscard]] bool same_devices(const GraphState& a, const GraphState& b);

// Whether HIP has a function of that form for such a node.
[[nodiscard]] bool has_form(const NodeParams& params, NodeForm form);
[[nodiscard]] inline bool is_memory_node(const NodeParams& params) {
  return std::holds_alternative<MemoryAllocParams>(params) || std::holds_alternative<MemoryFreeParams>(params);
}
// A memset of one row over all of that memory.
[[nodiscard]] bool fills(const NodeParams& params, Id buffer, std::uint64_t bytes);

// The outcome of hipGraphExecUpdate for a pair of graphs. kUndefinedHere: no documentation says it, or several nodes
// differ in different ways and none says which one is found first.
enum class UpdateOutcome : std::uint8_t {
  kSuccess,
  kTopologyChanged,
  kNodeTypeChanged,
  kUndefinedHere,
  kParametersChanged
};
[[nodiscard]] UpdateOutcome update_outcome(const GraphState& exec, const GraphState& graph);

}  // namespace verify
