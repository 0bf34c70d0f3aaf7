// The order of event nodes; the contract is in the header.
#include "verify/program/graph_events.h"

#include <fmt/format.h>

namespace verify {

namespace {

void append_uses(const GraphState& graph, std::optional<std::uint32_t> top, std::vector<EventUse>& uses) {
  if (!graph.has_events) return;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeState& node = graph.nodes[i];
    const std::uint32_t at = top.value_or(i);
    if (const auto* record = std::get_if<EventRecordParams>(&node.params)) {
      uses.push_back({record->event, at, true, top.has_value()});
    } else if (const auto* wait = std::get_if<EventWaitParams>(&node.params)) {
      uses.push_back({wait->event, at, false, top.has_value()});
    } else if (node.child) {
      append_uses(*node.child, at, uses);
    }
  }
}

using Marks = std::vector<char>;

// `from` and everything that depends on it.
Marks descendants(const GraphState& graph, const std::vector<std::vector<std::uint32_t>>& dependents,
                  std::uint32_t from) {
  Marks marks(graph.nodes.size(), 0);
  std::vector<std::uint32_t> open = {from};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (marks[node] != 0) continue;
    marks[node] = 1;
    open.insert(open.end(), dependents[node].begin(), dependents[node].end());
  }
  return marks;
}

}  // namespace

std::vector<EventUse> event_uses(const GraphState& graph) {
  std::vector<EventUse> uses;
  append_uses(graph, {}, uses);
  return uses;
}

std::optional<std::string> event_conflict(const GraphState& graph, const NodeParams& params, const GraphState* child,
                                          int replaced) {
  std::vector<EventUse> fresh;
  if (const auto* record = std::get_if<EventRecordParams>(&params)) fresh.push_back({record->event, 0, true, false});
  if (const auto* wait = std::get_if<EventWaitParams>(&params)) fresh.push_back({wait->event, 0, false, false});
  if (child != nullptr) append_uses(*child, 0, fresh);
  if (fresh.empty()) return {};
  for (const EventUse& old : event_uses(graph)) {
    if (static_cast<int>(old.node) == replaced) continue;
    for (const EventUse& use : fresh) {
      if (use.event != old.event || (!use.record && !old.record)) continue;
      return fmt::format("another node of the graph {} v{}", old.record ? "records" : "waits for", use.event);
    }
  }
  return {};
}

LaunchOrder launch_order(const GraphState& graph) {
  LaunchOrder order;
  std::vector<EventUse> waits;
  for (const EventUse& use : event_uses(graph)) {
    if (use.record) order.records.push_back(use);
    if (!use.record && !use.inner) waits.push_back(use);
  }
  const std::size_t count = graph.nodes.size();
  std::vector<std::vector<std::uint32_t>> dependents(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    for (const std::uint32_t before : graph.nodes[i].after) dependents[before].push_back(i);
  }
  order.behind.resize(count);
  for (const EventUse& wait : waits) {
    const Marks marks = descendants(graph, dependents, wait.node);
    for (std::size_t i = 0; i < count; ++i) {
      if (marks[i] != 0) order.behind[i].push_back(wait.event);
    }
  }
  order.groups.assign(count, order.records.size());
  for (std::size_t k = order.records.size(); k-- > 0;) {
    const EventUse& record = order.records[k];
    Marks marks = mark_ancestors(graph, {record.node});
    if (record.inner) marks[record.node] = 0;  // nothing of the child graph itself is known to come before
    for (std::size_t i = 0; i < count; ++i) {
      if (marks[i] != 0 && order.groups[i] == k + 1) order.groups[i] = k;
    }
    order.records_behind.insert(order.records_behind.begin(), order.behind[record.node]);
  }
  return order;
}

}  // namespace verify
