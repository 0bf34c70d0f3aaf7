// The rules of memory that graphs allocate: which commands may stand where such memory is, and in which order. Internal
// to verify/program.
//
// HIP gives an allocation node its address when it is added and memory when it is executed; what may be done to a graph
// that has such a node is CUDA's programming guide, "Graph Memory Nodes", where HIP's header has no words of its own:
// no clone, no child, no node or edge removed, one executable graph at a time, nothing freed twice. Those are
// preconditions here (what the runtime answers to them is in verify/errors/cases.inc). That launching again before the
// memory was freed is refused is an observation.
//
// New memory holds anything, so a memset of the whole comes before everything else that names it. Only the graph that
// allocates it names it, and the program's own work between a launch and the free. An executable graph is not patched
// or set while its memory is there: a strategy that records it again would leave that behind.
#pragma once

#include <optional>
#include <string>

#include "verify/program/state.h"

namespace verify {

[[nodiscard]] inline bool is_memory_node(const NodeParams& params) {
  return std::holds_alternative<MemoryAllocParams>(params) || std::holds_alternative<MemoryFreeParams>(params);
}
// A node of `graph` frees it.
[[nodiscard]] bool frees(const GraphState& graph, Id buffer);
// A memset of one row over all of that memory.
[[nodiscard]] bool fills(const NodeParams& params, Id buffer, std::uint64_t bytes);

// Why `command`, which the other rules allow, may not stand here; `any`: some graph has memory nodes already.
[[nodiscard]] std::optional<std::string> check_memory_nodes(const State& state, bool any, const Command& command);

}  // namespace verify
