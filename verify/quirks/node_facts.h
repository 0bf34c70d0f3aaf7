// Facts about single nodes that events are described by.
#pragma once

#include "verify/program/program.h"
#include "verify/program/state.h"
#include "verify/quirks/event.h"

namespace verify {

// The device of a buffer; the first device where there is no such buffer.
[[nodiscard]] Id device_of(const State& state, const BufferRef& ref);
// Whether the node names memory of a graph that the program freed itself.
[[nodiscard]] bool names_freed_memory(const State& state, const NodeParams& params);
// Whether the node names memory that is at another address than the graph has for it.
[[nodiscard]] bool names_moved_memory(const State& state, const GraphState& graph, const NodeParams& params);

// Whether a library of commands gets a node with these parameters as a graph (hip/patcher_abi.h).
[[nodiscard]] bool may_be_traced(const NodeParams& params);
// Sets the attributes of `event` for a child graph of one node with these parameters.
void describe_traced(const NodeParams& params, Event& event);

// Sets the attributes of `event` for a node with these parameters. `child`: the graph of a child node. `before`: the
// node that it replaces, or null.
void describe_node(const State& state, const NodeParams& params, const GraphState* child, const NodeState* before,
                   Event& event);

}  // namespace verify
