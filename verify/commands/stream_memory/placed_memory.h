// Memory that the runtime places: which commands may name it, and in which order.
//
// HIP gives an allocation node its address when it is added and memory when it is executed. Where HIP's header has no
// rule for a graph with such a node, CUDA's programming guide, "Graph Memory Nodes", gives the rule:
// no clone, no child, no node or edge removed, one executable graph at a time, nothing freed twice. These rules are
// preconditions here (verify/errors/cases.inc has the runtime's answers to violations). The refusal of a second launch
// before the memory is freed is an observation.
//
// Memory that no node of its graph frees outlives the graph and the executable graph (the same guide: "Graph
// destruction does not automatically free any live graph-allocated memory"). A free node of another graph may free it;
// it is added while the memory is there. The graphs then stay as they were recorded (recorded again, they would not
// name the same memory) until the freeing graph and its executable graph are destroyed. Then another node may free it.
//
// New memory has undefined contents, so a memset of all of it comes before every other use. Only nodes of the graph
// that allocates it name it, and the program's own work between launch and free. An executable graph is not patched
// or set while its memory is allocated: a strategy that records the graph again would leave that memory behind.
//
// Memory of hipMallocAsync is valid for work that is ordered behind the allocation, until the free in stream order
// (HIP's header, hipMallocAsync and hipFreeAsync). Unordered work races. A race does not make a program invalid: the
// model finds it. The first command that names the memory is a write, or a memset on a stream of one row over all of
// it. The memory never moves. In a capture it belongs to the graph, from the allocation to the free in the same
// capture: HIP requires that a free in a capture gets memory of a graph.
//
// Memory of `malloc` has the same rules as that of hipMallocAsync outside of captures, with these exceptions: it is
// valid for all work from the call on, other devices reach it as they reach a buffer, and while anything captures no
// stream frees it.
#pragma once

#include "verify/program/state.h"

namespace verify {

// Behind device_memory: runtimes reserve memory for each pool, and for graphs.
inline constexpr const char* kNoMemoryOfItsOwn = "behind device_memory there are no more pools and no memory of graphs";
inline constexpr const char* kMemoryInCapture = "memory stays as it is while a stream captures";
inline constexpr const char* kFreedFirst = "memory that it allocated is still there: free it first";

// The buffer, where it is memory of a graph or of an open capture; null for any other buffer.
[[nodiscard]] const BufferState* graph_memory(const State& state, Id buffer);

// The place of a node that exists or is about to be added.
struct NodePlace {
  const GraphState& graph;
  std::optional<Id> id;              // the name of the graph; none: the graph is being captured
  std::vector<std::uint32_t> after;  // indices of nodes of the graph
  int self;                          // the index of the node, or -1
  std::optional<std::uint64_t> capture = {};
};
// Why a node with these parameters may not be there, or nothing.
[[nodiscard]] Reason names_memory(const State& state, const NodeParams& params, const NodePlace& place);

// Refuses a frozen scalar that takes the address of memory that the runtime places.
[[nodiscard]] Reason frozen_placed(const State& state, const NodeParams& params);
// Refuses memory of a stream that has not been written yet.
[[nodiscard]] Reason holds_anything(const State& state, Id buffer);
// Refuses memory of a graph that no launch has allocated, or that has been freed since.
[[nodiscard]] Reason not_there(const State& state, Id buffer);
// Refuses to record a graph again that allocates memory which another graph frees, or frees it.
[[nodiscard]] Reason freed_elsewhere(const State& state, const GraphState& graph);
// Refuses a free behind the nodes `after` that does not come behind every node that names the buffer.
[[nodiscard]] Reason freed_early(const GraphState& graph, const std::vector<std::uint32_t>& after, Id buffer);
// Refuses to replace a node that fills memory of its graph by `instead` (null: by nothing), which does not fill it.
[[nodiscard]] Reason fills_memory(const State& state, const NodeState& node, const NodeParams* instead);

}  // namespace verify
