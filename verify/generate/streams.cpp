#include "verify/generate/streams.h"

#include <algorithm>

namespace verify {

namespace {

constexpr int kWorkAttempts = 4;
constexpr std::size_t kMaxEvents = 4;

}  // namespace

void StreamsDraft::declare_stream() {
  if (state_.live_streams().size() >= swarm_.most_streams) return;
  DeclareStream command;
  command.stream = next_.stream;
  command.non_blocking = choices_.percent(40);
  if (choices_.percent(15)) command.priority = static_cast<std::int32_t>(choices_.below(5)) - 2;
  if (swarm_.devices && choices_.percent(60)) command.device = 1;
  if (swarm_.captures && choices_.percent(8)) command = {next_.stream, false, 0, true, 0};
  if (take(command)) ++next_.stream;
}

void StreamsDraft::declare_event() {
  if (state_.live_events().size() >= kMaxEvents) return;
  const Id device = swarm_.devices && choices_.percent(50) ? 1 : 0;
  DeclareEvent command{next_.event, choices_.percent(25), choices_.percent(15)};
  if (choices_.percent(15)) command.release = choices_.percent(50) ? EventRelease::kDevice : EventRelease::kSystem;
  command.device = device;
  if (take(command)) ++next_.event;
}

// An event of the stream's device.
std::optional<Id> StreamsDraft::event_for(Id stream) {
  const Id device = state_.device_of_stream(stream);
  std::vector<Id> events = state_.live_events();
  std::erase_if(events, [&](Id event) { return state_.device_of_event(event) != device; });
  if (!events.empty()) return pick(events);
  if (device == 0 || !take(DeclareEvent{next_.event, false, false, EventRelease::kDefault, device})) return {};
  return next_.event++;
}

// Mostly records the event on a stream of its device: on a stream of another device recording is refused.
void StreamsDraft::record(Id event) {
  std::vector<Id> streams = state_.live_streams();
  if (!choices_.percent(20))
    std::erase_if(streams, [&](Id s) { return state_.device_of_stream(s) != state_.device_of_event(event); });
  if (!streams.empty()) take(RecordEvent{event, pick(streams)});
}

void StreamsDraft::stream_or_event() {
  const std::vector<Id> streams = state_.live_streams(), events = state_.live_events();
  if (streams.size() + 1 < swarm_.most_streams && choices_.percent(50)) {
    declare_stream();
  } else if (events.empty()) {
    declare_event();
  } else {
    const Id event = pick(events);
    // HIP: waiting for an event that was never recorded does not wait.
    if (!choices_.percent(8)) record(event);
    if (choices_.percent(15)) record(event);
    take(WaitEvent{pick(streams), event});
  }
}

void StreamsDraft::destroy_stream_or_event() {
  const std::vector<Id> streams = state_.live_streams(), events = state_.live_events();
  if (choices_.percent(50) && streams.size() > 1) {
    take(Destroy{Target::kStream, streams[choices_.between(1, streams.size() - 1)]});
  } else if (!events.empty()) {
    take(Destroy{Target::kEvent, pick(events)});
  }
}

void StreamsDraft::synchronize() {
  const std::vector<Id> events = state_.live_events();
  if (!events.empty() && choices_.percent(30)) {
    take(Synchronize{Target::kEvent, pick(events)});
  } else if (choices_.percent(50)) {
    take(Synchronize{Target::kStream, pick(state_.live_streams())});
  } else {
    take(Synchronize{Target::kDevice, 0});
  }
}

void StreamsDraft::peers() {
  const Id device = static_cast<Id>(choices_.below(2)), peer = choices_.percent(90) ? 1 - device : device;
  take(Synchronize{Target::kDevice, 0});
  const std::uint64_t draw = choices_.below(100);
  if (draw < 15) {
    take(PeerAccess{PeerVerb::kCan, device, peer});
  } else if (draw < 65) {
    take(PeerAccess{PeerVerb::kEnable, device, peer});
  } else if (draw < 80) {
    take(PeerAccess{PeerVerb::kDisable, device, peer});
  } else {
    ParamsGenerator generator(choices_, swarm_, state_, usable_on_streams(nullptr));
    std::optional<NodeParams> params = generator.peer_copy(PeerCopy::kBlocking);
    if (params && !state_.check(Enqueue{kNullStream, *params, 0})) take(Enqueue{kNullStream, *params, 0});
  }
}

std::vector<Id> StreamsDraft::usable_on_streams(const GraphState* graph) const {
  std::vector<Id> ids;
  for (const auto& [id, buffer] : state_.buffers()) {
    if (!buffer.alive) continue;
    if (buffer.graph && (graph != nullptr || !buffer.unfreed)) continue;
    if (buffer.of_stream && !buffer.filled && !buffer.capture) continue;
    if (graph != nullptr) {
      const auto known = graph->addresses.find(id);
      if (known != graph->addresses.end() && known->second != buffer.version) continue;
    }
    ids.push_back(id);
  }
  return ids;
}

// Whether the host waits for the work: seldom where a capture forbids it.
bool StreamsDraft::waits(Enqueue work) {
  work.wait = true;
  if (!choices_.percent(work.stream == kNullStream ? 30 : 8) || state_.check(work)) return false;
  return state_.answer(work).status == 0 || (swarm_.forbidden && choices_.percent(25));
}

// Draws work for a stream. Avoids races by waiting, or, during a capture, by leaving the work out.
bool StreamsDraft::work(Id stream) {
  const CaptureState* capture = state_.capture_of(stream);
  for (int attempt = 0; attempt < kWorkAttempts; ++attempt) {
    const std::vector<Id> usable = usable_on_streams(capture == nullptr ? nullptr : &capture->graph);
    if (usable.empty()) return false;
    ParamsGenerator generator(choices_, swarm_, state_, usable);
    if (swarm_.devices) generator.run_on(state_.device_of_stream(stream));
    const bool to_a_peer = swarm_.devices && choices_.percent(12);
    std::optional<NodeParams> params = to_a_peer ? generator.peer_copy(PeerCopy::kAsync) : generator.any();
    if (!params) continue;
    const Enqueue command{stream, std::move(*params), 0};
    if (state_.check(command)) continue;
    const std::vector<ByteRange> ranges = state_.ranges_of(command.params, 1);
    if (capture != nullptr) {
      if (state_.node_races(capture->graph, ranges, capture->behind.at(stream))) continue;
    } else if (state_.work_races(ranges, stream)) {
      if (!state_.captures().empty() || !take(Synchronize{Target::kDevice, 0})) continue;
    }
    Enqueue placed = command;
    if (!state_.per_thread(stream)) placed.thread = other_thread();
    placed.wait = waits(placed);
    Enqueue by_hand = placed;
    by_hand.by_hand = true;
    if (choices_.percent(15) && !state_.check(by_hand)) placed = by_hand;
    Enqueue cooperative = placed;
    cooperative.cooperative = true;
    if (swarm_.cooperative && choices_.percent(50) && !state_.check(cooperative)) placed = cooperative;
    if (take(placed)) return true;
  }
  return false;
}

void StreamsDraft::modules() {
  if (!swarm_.modules) return;
  const std::vector<Id> loaded = state_.live_modules();
  if (loaded.size() < 2 && choices_.percent(70)) {
    if (take(LoadModule{next_.module, other_thread()})) ++next_.module;
  } else if (!loaded.empty()) {
    take(UnloadModule{pick(loaded), other_thread()});
  }
}

void StreamsDraft::eager_work() {
  if (!swarm_.eager) return;
  const Id stream = pick(state_.live_streams());
  for (std::uint64_t i = choices_.between(1, 3); i > 0; --i) work(stream);
}

// Waits for a stream, or for something that may settle whether it has work left: the null stream, or its last event.
void StreamsDraft::wait_for_some(Id stream) {
  const std::uint64_t draw = choices_.below(100);
  const auto& events = state_.parts().events.known;
  const auto on_stream = std::ranges::find_if(
      events, [&](const auto& event) { return event.second.alive && event.second.recorded_on == stream; });
  if (draw < 30) {
    take(Synchronize{Target::kStream, kNullStream});
  } else if (draw < 50 && on_stream != events.end()) {
    take(Synchronize{Target::kEvent, on_stream->first});
  } else {
    take(Synchronize{Target::kStream, stream});
  }
}

void StreamsDraft::query() {
  if (!swarm_.eager) return;
  const std::vector<Id> events = state_.live_events();
  const std::uint64_t draw = choices_.below(100);
  if (draw < 40 || events.empty()) {
    const Id stream = pick(state_.live_streams());
    if (choices_.percent(60)) wait_for_some(stream);
    take(Query{Target::kStream, stream, 0});
  } else if (draw < 75) {
    const Id event = pick(events);
    const EventState& state = *state_.parts().events.find(event);
    if (choices_.percent(30) && state.recorded) {
      wait_for_some(state.recorded_on);
    } else if (choices_.percent(60)) {
      take(Synchronize{Target::kEvent, event});
    }
    take(Query{Target::kEvent, event, 0});
  } else {
    const Elapsed command{pick(events), pick(events)};
    if (choices_.percent(70)) {
      record(command.from);
      record(command.to);
      take(Synchronize{Target::kDevice, 0});
    }
    take(command);
  }
}

// ---- graphs that are recorded anew

void StreamsDraft::instantiate(const Instantiate& command) {
  if (!take(command)) return;
  ++next_.exec;
  if (swarm_.anew && choices_.percent(60)) take(Destroy{Target::kGraph, command.graph});
}

void StreamsDraft::update_anew() {
  const std::vector<Id> execs = alive(state_.execs());
  if (execs.empty() || alive(state_.graphs()).size() >= kMaxGraphs || !state_.captures().empty()) return;
  const Id exec = pick(execs), graph = next_.graph;
  const GraphState like = state_.exec(exec)->graph;
  if (like.has_memory) return;
  if (state_.live_streams().size() < 2) declare_stream();
  if (!choices_.percent(60) || !capture_anew(like, graph)) record_anew(like, graph);
  if (state_.graph(graph) == nullptr) return;  // options.avoid refused it
  ++next_.graph;
  if (choices_.percent(40)) set_node(Target::kGraph, graph);
  take(Update{exec, graph});
  if (choices_.percent(85)) take(Destroy{Target::kGraph, graph});
}

// A stream gets the work in order, so only a chain comes out as it was.
bool StreamsDraft::capture_anew(const GraphState& like, Id graph) {
  for (std::uint32_t i = 0; i < like.nodes.size(); ++i) {
    const NodeState& node = like.nodes[i];
    const std::vector<std::uint32_t> before = i == 0 ? std::vector<std::uint32_t>() : std::vector{i - 1};
    if (node.after != before || node.fan != 1 || node.child) return false;
  }
  const Id stream = pick(state_.live_streams());
  if (stream == kNullStream || state_.per_thread(stream)) return false;
  if (!take(BeginCapture{stream, static_cast<CaptureMode>(choices_.below(3)), {}, {}, 0})) return false;
  for (const NodeState& node : like.nodes) take(Enqueue{stream, node.params, 0});
  take(EndCapture{stream, graph, 0});
  return state_.graph(graph) != nullptr;
}

void StreamsDraft::record_anew(const GraphState& like, Id graph) {
  take(DeclareGraph{graph});
  for (Id i = 0; i < like.nodes.size(); ++i) {
    const NodeState& node = like.nodes[i];
    const AddNode command{graph, i, node.params, {node.after.begin(), node.after.end()}, node.fan, node.form};
    if (state_.check(command)) continue;
    const GraphState& anew = *state_.graph(graph);
    std::vector<std::uint32_t> after;
    for (const Id before : command.after) after.push_back(static_cast<std::uint32_t>(anew.index_of(before)));
    // The graph of a child may have been changed since, and touch other memory.
    if (!state_.node_races(anew, state_.ranges_of(node.params, node.fan), after)) take(command);
  }
}

}  // namespace verify
