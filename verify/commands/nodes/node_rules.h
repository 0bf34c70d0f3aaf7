// The rules for the parameters of a node, for the commands that add, set or enqueue one.
//
// A node's parameters lie within buffers that live and that its type can reach, fit the addresses at which its graph
// has buffers, and fit the devices of the program. Memory that the runtime places has rules of its own
// (verify/commands/stream_memory/placed_memory.h).
#pragma once

#include "verify/program/state.h"

namespace verify {

// Each says why not, or nothing.

// The parameters of a node with `fan` instances.
[[nodiscard]] Reason flaw_of_params(const State& state, const NodeParams& params, std::uint32_t fan);
[[nodiscard]] Reason flaw_of_fan(const NodeParams& params, std::uint32_t fan);
// A graph has one address for each buffer: the node, which replaces the one of that index (-1: none), may not bring a
// newer one.
[[nodiscard]] Reason newer_address(const State& state, const GraphState& graph, const NodeParams& params, int replaced);
// The graph that a child node names; null where the node is no child.
[[nodiscard]] const GraphState* child_named(const State& state, const NodeParams& params);

// The devices of a node that is added or set.
[[nodiscard]] Reason flaw_of_devices(const State& state, const NodeParams& params);
// HIP's documentation of graphs with event nodes says nothing of other devices.
[[nodiscard]] Reason event_of_other_device(const State& state, const NodeParams& params);
// CUDA, stream-ordered allocation: access to a pool's memory is granted by hipMemPoolSetAccess, and not by enabling
// peers. Programs grant none. `device` is where the work is done.
[[nodiscard]] Reason pool_of_other_device(const State& state, const NodeParams& params, Id device);

// A strategy that records the graph again would leave the references to user objects behind.
[[nodiscard]] Reason holds_objects(const GraphState& graph);
[[nodiscard]] Reason names_freed_buffer(const State& state, const GraphState& graph);

}  // namespace verify
