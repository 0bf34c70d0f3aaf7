// Facts about graphs that events are described by: numbers of nodes that have something in common.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "verify/program/program.h"
#include "verify/program/state.h"
#include "verify/quirks/event.h"

namespace verify {

// Fans counted; children are not looked into.
[[nodiscard]] std::uint64_t nodes_of(const GraphState& graph);
[[nodiscard]] std::uint64_t roots_of(const GraphState& graph);
[[nodiscard]] std::uint64_t leaves_of(const GraphState& graph);
// Whether each node has as many dependencies in both graphs, whichever nodes these are.
[[nodiscard]] bool same_counts(const GraphState& a, const GraphState& b);
[[nodiscard]] std::uint64_t most_dependents_of(const GraphState& graph);
// The same of nodes of which a dependent depends on another node, too.
[[nodiscard]] std::uint64_t most_joined_dependents_of(const GraphState& graph);
// See hip/spread/stream_spread.h; only for graphs that 7.2 spreads over streams.
[[nodiscard]] bool leaves_stream_out(const GraphState& graph);
// At any depth.
[[nodiscard]] std::uint64_t host_nodes_in(const GraphState& graph);
// The graph's node that allocates the buffer, or null.
[[nodiscard]] const NodeState* allocation_of(const GraphState& graph, Id buffer);
// Whether it frees memory that another graph allocated.
[[nodiscard]] bool frees_for_another(const GraphState& graph);
// Allocation and free nodes of the graph.
[[nodiscard]] std::int64_t memory_nodes_in(const GraphState& graph);
[[nodiscard]] std::int64_t allocation_nodes_in(const GraphState& graph);
// The most that the memory of a copy moved, and the number of copies to pageable memory, at any depth.
[[nodiscard]] std::uint32_t copies_moved_in(const State& state, const GraphState& graph);
[[nodiscard]] std::uint64_t copies_to_pageable_in(const State& state, const GraphState& graph);
// Allocations of the graph that the program freed itself.
[[nodiscard]] std::int64_t freed_by_program_in(const State& state, const GraphState& graph);
// Nodes for which the runtime records no packet when the graph is instantiated.
[[nodiscard]] std::uint64_t nodes_without_packets_in(const State& state, const GraphState& graph);
// Copies of rows to, from or within a device other than the first, at any depth, in graphs with branches or children.
[[nodiscard]] std::uint64_t rows_off_first_device_in(const State& state, const GraphState& graph);
// Copies of rows to or from the memory of a device other than `device`, at any depth.
[[nodiscard]] std::uint64_t rows_off_stream_device_in(const State& state, const GraphState& graph, Id device);
// Nodes at any depth that need another device than `device`, on which they are launched; graph_facts.cpp says which.
[[nodiscard]] std::uint64_t nodes_off_device_in(const State& state, const GraphState& graph, Id device, Id home,
                                                bool stabilised);
// Copies of rows within a device that has no kernel or memset of the graph and that was not current.
[[nodiscard]] std::uint64_t rows_off_current_device_in(const GraphState& whole, Id home);
// Nodes at any depth that are of another device than the first.
[[nodiscard]] std::uint64_t nodes_off_first_device_in(const GraphState& graph);

// The numbers about one graph that an event has. Each takes a walk over the nodes, so that a program that adds many
// nodes would take their square: a number is counted once, when somebody asks for it.
class FactsOfGraph {
 public:
  FactsOfGraph() = default;
  FactsOfGraph(const FactsOfGraph&) = delete;
  FactsOfGraph& operator=(const FactsOfGraph&) = delete;

  [[nodiscard]] static std::span<const Attribute> attributes();
  // The numbers are those of `graph` in `state` from now on. Both outlive the questions.
  void begin(const State& state, const GraphState& graph);
  // One of attributes().
  [[nodiscard]] std::int64_t count(Attribute attribute);

 private:
  const State* state_ = nullptr;
  const GraphState* graph_ = nullptr;
  std::array<std::int64_t, kAttributes> known_ = {};
};

// Whether an end of a copy is memory of a device.
[[nodiscard]] bool on_device(const State& state, const CopyEnd& end);

}  // namespace verify
