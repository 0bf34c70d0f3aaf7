// What event nodes order; the contract is in the header.
#include "verify/program/state_events.h"

#include <fmt/format.h>

#include <algorithm>

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

// `from` and everything that it depends on.
Marks ancestors(const GraphState& graph, std::uint32_t from) {
  Marks marks(graph.nodes.size(), 0);
  std::vector<std::uint32_t> open = {from};
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (marks[node] != 0) continue;
    marks[node] = 1;
    open.insert(open.end(), graph.nodes[node].after.begin(), graph.nodes[node].after.end());
  }
  return marks;
}

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
    Marks marks = ancestors(graph, record.node);
    if (record.inner) marks[record.node] = 0;  // of the child itself nothing is known to come before
    for (std::size_t i = 0; i < count; ++i) {
      if (marks[i] != 0 && order.groups[i] == k + 1) order.groups[i] = k;
    }
    order.records_behind.insert(order.records_behind.begin(), order.behind[record.node]);
  }
  return order;
}

// ---- launches

namespace {

template <class Clock>
void merge(Clock& clock, const Clock& other) {
  for (const auto& [id, tick] : other) clock[id] = std::max(clock[id], tick);
}

// Whether what the clock is of comes behind the work.
template <class Clock, class Pending>
bool is_behind(const Clock& clock, const Pending& pending) {
  const auto known = clock.find(pending.stream);
  return known != clock.end() && known->second >= pending.tick;
}

}  // namespace

State::Clock State::clock_behind(const Clock& clock, const std::vector<Id>& events) const {
  Clock merged = clock;
  for (const Id event : events) merge(merged, events_.at(event).clock);
  return merged;
}

bool State::unordered_conflict(const std::vector<ByteRange>& ranges, const Clock& clock) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    return !is_behind(clock, pending) && conflict(pending.ranges, ranges);
  });
}

bool State::exec_runs_beside(Id exec, Id stream) const {
  const Clock clock = launch_clock(stream);
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    return pending.exec == exec && pending.stream != stream && !is_behind(clock, pending);
  });
}

// What an executable graph with auto_free frees, it frees when it is launched, before any of its waits. (Without the
// flag such a launch is refused.)
bool State::launch_with_events_races(const GraphState& graph, Id stream) const {
  const LaunchOrder order = launch_order(graph);
  const Clock clock = launch_clock(stream);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const auto* memory = std::get_if<MemoryAllocParams>(&graph.nodes[i].params);
    const bool freed = memory != nullptr && buffers_.at(memory->buffer).unfreed;
    if (freed && unordered_conflict(graph.nodes[i].ranges, clock)) return true;
    if (unordered_conflict(graph.nodes[i].ranges, clock_behind(clock, order.behind[i]))) return true;
  }
  return false;
}

// A launch takes one tick a group of nodes.
void State::launch_with_events(Id exec, Id stream) {
  const GraphState& graph = execs_.at(exec).graph;
  const LaunchOrder order = launch_order(graph);
  const Clock before = launch_clock(stream);
  const auto found = before.find(stream);
  const std::uint64_t first = (found == before.end() ? 0 : found->second) + 1;
  const std::size_t groups = order.records.size() + 1;
  std::vector<Pending> pending(groups);
  Clock after = before;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    std::vector<ByteRange>& ranges = pending[order.groups[i]].ranges;
    ranges.insert(ranges.end(), graph.nodes[i].ranges.begin(), graph.nodes[i].ranges.end());
    after = clock_behind(after, order.behind[i]);
  }
  std::vector<Clock> recorded;
  for (std::size_t k = 0; k + 1 < groups; ++k) {
    recorded.push_back(clock_behind(before, order.records_behind[k]));
    recorded.back()[stream] = first + k;
  }
  for (std::size_t k = 0; k < groups; ++k) {
    pending[k].stream = stream;
    pending[k].exec = exec;
    pending[k].tick = first + k;
    pending_.push_back(std::move(pending[k]));
  }
  for (std::size_t k = 0; k + 1 < groups; ++k) {
    EventState& event = events_.at(order.records[k].event);
    event.clock = recorded[k];
    event.recorded = event.busy = true;
    event.recorded_on = stream;
    event.external = false;
    event.capture = 0;
    event.captured.clear();
  }
  after[stream] = first + groups - 1;
  StreamState& state = streams_[stream];
  state.alive = state.busy = true;
  state.clock = std::move(after);
}

bool State::event_in_use(Id event) const {
  const auto names = [event](const GraphState& graph) {
    const std::vector<EventUse> uses = event_uses(graph);
    return std::any_of(uses.begin(), uses.end(), [event](const EventUse& use) { return use.event == event; });
  };
  return std::any_of(graphs_.begin(), graphs_.end(),
                     [&](const auto& g) { return g.second.alive && names(g.second); }) ||
         std::any_of(captures_.begin(), captures_.end(), [&](const auto& c) { return names(c.graph); }) ||
         std::any_of(execs_.begin(), execs_.end(),
                     [&](const auto& e) { return e.second.alive && names(e.second.graph); });
}

}  // namespace verify
