// The rules for the parameters of a node, for the commands that add, set or enqueue a node.
//
// A node's parameters lie within buffers that live and that its type can reach, fit the addresses at which its graph
// has buffers, and fit the devices of the program. Memory that the runtime places has rules of its own
// (verify/commands/stream_memory/placed_memory.h).
#pragma once

#include "verify/program/state.h"

namespace verify {

// Each function gives the reason for a refusal, or nothing.

// The parameters of a node with `fan` instances.
[[nodiscard]] Reason flaw_of_params(const State& state, const NodeParams& params, std::uint32_t fan);
[[nodiscard]] Reason flaw_of_fan(const NodeParams& params, std::uint32_t fan);
// A graph has one address for each buffer: the node, which replaces the node at index `replaced` (-1: none),
// may not bring a newer address.
[[nodiscard]] Reason newer_address(const State& state, const GraphState& graph, const NodeParams& params, int replaced);
[[nodiscard]] Reason too_many_instances(const State& state, const GraphState& graph, const NodeParams& params,
                                        std::uint32_t fan);
// Notes a node that is added to the graph: its instances, those of its child, and the events that it names.
void count_node(GraphState& graph, const NodeState& node);
[[nodiscard]] bool is_child(const NodeParams& params);
// Refuses a child graph whose home is another device.
[[nodiscard]] Reason child_elsewhere(const State& state, const NodeParams& params, Id device);
// Refuses a child graph that a stream captures into.
[[nodiscard]] Reason child_captured_into(const State& state, const NodeParams& params);
// The graph that a child graph node names; null for any other node.
[[nodiscard]] const GraphState* child_named(const State& state, const NodeParams& params);

// The devices of a node that is added or set.
[[nodiscard]] Reason flaw_of_devices(const State& state, const NodeParams& params);
// Refuses event nodes for other devices than device 0: HIP's documentation of event nodes does not mention devices.
[[nodiscard]] Reason event_of_other_device(const State& state, const NodeParams& params);
// CUDA, stream-ordered allocation: access to a pool's memory is granted by hipMemPoolSetAccess, and not by enabling
// peers. Programs grant none. `device` is where the work is done.
[[nodiscard]] Reason pool_of_other_device(const State& state, const NodeParams& params, Id device);

// Refuses graphs with user objects: a strategy that records the graph again would lose the references to them.
[[nodiscard]] Reason holds_objects(const GraphState& graph);
[[nodiscard]] Reason names_freed_buffer(const State& state, const GraphState& graph);

}  // namespace verify
