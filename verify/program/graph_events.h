// The event nodes of a graph, and the order that they give.
//
// The order of a launch with event nodes follows model/event_order.h, kept at the top level of a graph: a record in a
// child graph counts as recorded when the child begins, and a wait in a child graph orders nothing. So launches may
// seem less ordered than they are, never more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/program/graph_state.h"

namespace verify {

// One event node, at any depth.
struct EventUse {
  Id event = 0;
  std::uint32_t node = 0;  // of the top level: the node itself, or the child graph node that it is inside of
  bool record = false;
  bool inner = false;
};
[[nodiscard]] std::vector<EventUse> event_uses(const GraphState& graph);

// Why a node with these parameters (and, of a child graph node, that child) does not go together with the event nodes
// of `graph`, the node `replaced` (-1: none) left out: an event is recorded by one node of a graph at most, and not
// waited for in the same graph.
[[nodiscard]] std::optional<std::string> event_conflict(const GraphState& graph, const NodeParams& params,
                                                        const GraphState* child, int replaced);

// How the event nodes of a graph order its nodes with work outside of a launch.
struct LaunchOrder {
  std::vector<EventUse> records;
  std::vector<std::uint64_t> groups;            // by node: the first record from which on all come after it
  std::vector<std::vector<Id>> behind;          // by node: the events that it comes after
  std::vector<std::vector<Id>> records_behind;  // by record: the events that it comes after
};
[[nodiscard]] LaunchOrder launch_order(const GraphState& graph);

}  // namespace verify
