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

// An event node at any depth.
struct EventUse {
  Id event = 0;
  std::uint32_t node = 0;  // index at the top level: of the event node itself, or of the child graph node around it
  bool record = false;
  bool inner = false;
};
[[nodiscard]] std::vector<EventUse> event_uses(const GraphState& graph);

// Why a node with these parameters (for a child graph node, with the graph `child`) conflicts with the event nodes of
// `graph`, or nothing. The node `replaced` (-1: none) does not count. At most one node of a graph records an event, and
// no node of the same graph waits for that event.
[[nodiscard]] std::optional<std::string> event_conflict(const GraphState& graph, const NodeParams& params,
                                                        const GraphState* child, int replaced);

// How the event nodes of a graph order its nodes with work outside of a launch.
struct LaunchOrder {
  std::vector<EventUse> records;
  std::vector<std::uint64_t> groups;            // by node: the first k such that all records from k on come after it
  std::vector<std::vector<Id>> behind;          // by node: the events that it comes after
  std::vector<std::vector<Id>> records_behind;  // by record: the events that it comes after
};
[[nodiscard]] LaunchOrder launch_order(const GraphState& graph);

}  // namespace verify
