// The questions that generators, executors and quirks ask verify::State about races, work that may still be running,
// streams and events.
#include <algorithm>

#include "verify/program/graph_events.h"
#include "verify/program/state.h"

namespace verify {

// ---- races and work that may still be running

bool State::node_races(const GraphState& graph, const std::vector<ByteRange>& ranges,
                       const std::vector<std::uint32_t>& after, int replaced) const {
  std::vector<char> ordered = mark_ancestors(graph, after);
  if (replaced >= 0) mark_descendants(graph, static_cast<std::uint32_t>(replaced), ordered);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (ordered[i] == 0 && conflict(ranges, graph.nodes[i].ranges)) return true;
  }
  return false;
}

bool State::set_races(const SetNode& command) const {
  const GraphState& graph = parts_.graphs.of(command.target, command.id);
  const int index = graph.index_of(command.node);
  const NodeState& node = graph.nodes[static_cast<std::size_t>(index)];
  return node_races(graph, ranges_of(command.params, node.fan), node.after, index);
}

// An executable graph with auto_free frees memory when it is launched, before any of its waits. (Without
// auto_free, a launch is refused while that memory is not freed.)
static bool launch_with_events_races(const StateParts& parts, const GraphState& graph, Id stream) {
  const LaunchOrder order = launch_order(graph);
  const Clock clock = parts.streams.launch_clock(stream);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::vector<ByteRange>& ranges = graph.nodes[i].ranges;
    const auto* memory = std::get_if<MemoryAllocParams>(&graph.nodes[i].params);
    const bool freed = memory != nullptr && parts.memory.buffers.at(memory->buffer).unfreed;
    if (freed && parts.streams.unordered_conflict(ranges, clock)) return true;
    if (parts.streams.unordered_conflict(ranges, parts.events.behind(clock, order.behind[i]))) return true;
  }
  return false;
}

bool State::launch_races(Id exec_id, Id stream) const {
  if (idle() || capture_of(stream) != nullptr) return false;
  const GraphState& graph = exec(exec_id)->graph;
  if (graph.has_events) return launch_with_events_races(parts_, graph, stream);
  return work_races(graph.ranges(), stream);
}

bool State::work_races(const std::vector<ByteRange>& ranges, Id stream) const {
  if (idle() || capture_of(stream) != nullptr) return false;
  return parts_.streams.unordered_conflict(ranges, parts_.streams.launch_clock(stream));
}

bool State::exec_running(Id exec) const {
  const std::vector<Pending>& pending = parts_.streams.pending;
  return std::ranges::any_of(pending, [&](const Pending& work) { return work.exec == exec; });
}

bool State::exec_runs_beside(Id exec, Id stream) const {
  const Clock clock = parts_.streams.launch_clock(stream);
  const std::vector<Pending>& pending = parts_.streams.pending;
  return std::ranges::any_of(
      pending, [&](const Pending& work) { return work.exec == exec && work.stream != stream && !work.before(clock); });
}

bool State::stream_busy(Id stream) const {
  const std::vector<Pending>& pending = parts_.streams.pending;
  return std::ranges::any_of(pending, [&](const Pending& work) { return work.stream == stream; });
}

bool State::buffer_in_use(Id buffer) const {
  const std::vector<Pending>& pending = parts_.streams.pending;
  return std::ranges::any_of(pending, [&](const Pending& work) {
    return std::ranges::any_of(work.ranges, [&](const ByteRange& range) { return range.buffer == buffer; });
  });
}

// ---- events and streams

bool State::event_captured(Id event) const {
  const EventState* found = parts_.events.find(event);
  return found != nullptr && found->capture != 0;
}

bool State::event_captured_on(Id event, Id stream) const {
  return event_captured(event) && parts_.events.find(event)->captured_on == stream;
}

bool State::event_had_nodes(Id event) const {
  const EventState* found = parts_.events.find(event);
  return event_captured(event) && found->had_nodes && found->captured.empty();
}

bool State::event_external(Id event) const {
  const EventState* found = parts_.events.find(event);
  return found != nullptr && found->external;
}

bool State::event_over(Id event) const {
  const EventState* found = parts_.events.find(event);
  return found == nullptr || found->waited_for || parts_.streams.is_over(found->recorded_on, found->over_at);
}

bool State::event_stream_gone(Id event) const {
  const EventState* found = parts_.events.find(event);
  return found != nullptr && found->recorded && !parts_.streams.alive(found->recorded_on);
}

bool State::event_stream_captures(Id event) const {
  const EventState* found = parts_.events.find(event);
  return found != nullptr && found->recorded && found->capture == 0 && capture_of(found->recorded_on) != nullptr;
}

// Whether `names` is true of a live graph, of a live executable graph or of a capture.
template <class Names>
static bool any_graph(const State& state, const Names& names) {
  return std::ranges::any_of(state.graphs(), [&](const auto& g) { return g.second.alive && names(g.second); }) ||
         std::ranges::any_of(state.captures(), [&](const auto& c) { return names(c.graph); }) ||
         std::ranges::any_of(state.execs(), [&](const auto& e) { return e.second.alive && names(e.second.graph); });
}

bool State::event_in_use(Id event) const {
  return any_graph(*this, [event](const GraphState& graph) {
    const std::vector<EventUse> uses = event_uses(graph);
    return std::ranges::any_of(uses, [event](const EventUse& use) { return use.event == event; });
  });
}

static bool has_kernel_of(const GraphState& graph, Id module) {
  return std::ranges::any_of(graph.nodes, [module](const NodeState& node) {
    const auto* kernel = std::get_if<KernelParams>(&node.params);
    return (kernel != nullptr && kernel->module == module) || (node.child && has_kernel_of(*node.child, module));
  });
}

bool State::module_in_use(Id module) const {
  return any_graph(*this, [module](const GraphState& graph) { return has_kernel_of(graph, module); });
}

bool State::per_thread(Id stream) const {
  const StreamState* found = parts_.streams.find(stream);
  return found != nullptr && found->per_thread;
}

std::vector<Id> State::live_streams() const {
  std::vector<Id> ids = {kNullStream};
  for (const auto& [id, stream] : parts_.streams.known) {
    if (stream.alive && id != kNullStream) ids.push_back(id);
  }
  return ids;
}

std::vector<Id> State::live_events() const {
  std::vector<Id> ids;
  for (const auto& [id, event] : parts_.events.known) {
    if (event.alive) ids.push_back(id);
  }
  return ids;
}

std::vector<Id> State::live_modules() const {
  std::vector<Id> ids;
  for (const auto& [id, loaded] : parts_.modules) {
    if (loaded) ids.push_back(id);
  }
  return ids;
}

bool State::frees_in_another(std::optional<Id> graph, Id buffer) const {
  const auto in_graph = [&](const auto& entry) {
    return entry.second.alive && entry.first != graph && entry.second.frees(buffer);
  };
  const auto in_exec = [&](const auto& entry) {
    return entry.second.alive && entry.second.origin != graph && entry.second.graph.frees(buffer);
  };
  return std::ranges::any_of(graphs(), in_graph) || std::ranges::any_of(execs(), in_exec) ||
         std::ranges::any_of(captures(), [buffer](const CaptureState& capture) { return capture.graph.frees(buffer); });
}

bool State::has_free_node_elsewhere(Id id) const {
  const std::optional<Id> allocates = buffer(id)->graph;
  return allocates && frees_in_another(allocates, id);
}

bool gives_captured_work(const State& state, const Command& command, std::optional<Id> origin) {
  const auto captured = [&](Id stream) {
    const CaptureState* capture = state.capture_of(stream);
    return capture != nullptr && capture->origin == origin.value_or(capture->origin);
  };
  if (const auto* work = std::get_if<Enqueue>(&command)) return captured(work->stream);
  if (const auto* launch = std::get_if<Launch>(&command)) return captured(launch->stream);
  if (const auto* memory = std::get_if<MallocAsync>(&command)) return captured(memory->stream);
  if (const auto* freed = std::get_if<FreeAsync>(&command)) return captured(freed->stream);
  if (const auto* record = std::get_if<RecordEvent>(&command)) return captured(record->stream);
  const auto* wait = std::get_if<WaitEvent>(&command);
  return wait != nullptr && (captured(wait->stream) || state.event_captured(wait->event));
}

}  // namespace verify
