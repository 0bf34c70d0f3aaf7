#include "verify/generate/streams.h"

#include <algorithm>

namespace verify {

namespace {

constexpr int kWorkAttempts = 4;
constexpr std::size_t kMaxStreams = 4, kMaxEvents = 4;

}  // namespace

void StreamsDraft::declare_stream() {
  if (state_.live_streams().size() >= kMaxStreams) return;
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
  if (streams.size() < 3 && choices_.percent(50)) {
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
    std::vector<ByteRange> ranges;
    append_ranges(command.params, 1, ranges);
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

// ---- captures

std::vector<Id> StreamsDraft::capturing() const {
  std::vector<Id> streams;
  for (const Id stream : state_.live_streams()) {
    if (state_.capture_of(stream) != nullptr) streams.push_back(stream);
  }
  return streams;
}

bool StreamsDraft::begin() {
  const std::vector<Id> streams = state_.live_streams();
  BeginCapture command;
  command.stream = pick(streams);
  command.mode = static_cast<CaptureMode>(choices_.below(3));
  if (!state_.per_thread(command.stream)) command.thread = other_thread();
  if (choices_.percent(15)) {
    std::vector<Id> graphs;
    for (const auto& [id, graph] : state_.graphs()) {
      if (graph.alive && state_.current(graph)) graphs.push_back(id);
    }
    if (!graphs.empty()) {
      command.into = pick(graphs);
      const GraphState& graph = *state_.graph(*command.into);
      for (const NodeState& node : graph.nodes) command.after.push_back(node.id);
    }
  }
  return take(command) && state_.capture_of(command.stream) != nullptr;
}

void StreamsDraft::capture() {
  if (!swarm_.captures) return;
  if (state_.live_streams().size() < 2) declare_stream();
  if (state_.live_events().size() < 2) declare_event();
  if (choices_.percent(6)) take(ExchangeCaptureMode{static_cast<CaptureMode>(choices_.below(3)), other_thread()});
  if (!begin()) return;
  for (std::uint64_t turns = choices_.between(2, 10); turns > 0; --turns) act_during_capture();
  end_captures();
}

void StreamsDraft::act_during_capture() {
  const std::vector<Id> streams = capturing();
  if (streams.empty()) return;
  const Id stream = pick(streams);
  const std::uint64_t draw = choices_.below(104);
  if (swarm_.stream_memory && choices_.percent(25)) {
    in_capture(stream);
  } else if (draw < 52) {
    work(stream);
  } else if (draw < 66) {
    fork();
  } else if (draw < 76) {
    join();
  } else if (draw < 82) {
    launch_into(stream);
  } else if (draw < 88) {
    by_fields(Topic::kCaptures);
  } else if (draw < 91) {
    change_dependencies(stream);
  } else if (draw < 92) {
    destroy_beside();
  } else if (draw < 95) {
    const Id other = pick(state_.live_streams());
    if (state_.capture_of(other) == nullptr && state_.answer(Enqueue{other, EmptyParams{}, 0}).status == 0) work(other);
  } else if (draw < 99) {
    call_beside();
  } else if (swarm_.forbidden) {
    forbidden();
    // Memory of a capture that became invalid is freed there now: by chance alone it would hardly ever be.
    const CaptureState* capture = state_.capture_of(stream);
    if (swarm_.stream_memory && capture != nullptr && !capture->valid) in_capture(stream);
  }
}

void StreamsDraft::fork() {
  const Id stream = pick(capturing());
  const std::optional<Id> event = event_for(stream);
  if (!event) return;
  take(RecordEvent{*event, stream});
  const WaitEvent wait{pick(state_.live_streams()), *event};
  if (state_.answer(wait).status == 0 || (swarm_.forbidden && choices_.percent(20))) take(wait);
}

void StreamsDraft::join() {
  const std::vector<CaptureState>& captures = state_.captures();
  if (!captures.empty()) join_everything(captures[choices_.below(captures.size())]);
}

// The origin waits for everything that the capture's other streams have.
void StreamsDraft::join_everything(const CaptureState& capture) {
  if (!capture.valid) return;
  const Id origin = capture.origin;
  std::vector<Id> others;
  for (const auto& [stream, behind] : capture.behind) {
    if (stream != origin) others.push_back(stream);
  }
  for (const Id stream : others) {
    const std::optional<Id> event = event_for(stream);
    if (event && take(RecordEvent{*event, stream})) take(WaitEvent{origin, *event});
  }
}

void StreamsDraft::launch_into(Id stream) {
  std::vector<Id> execs;
  for (const auto& [id, exec] : state_.execs()) {
    if (exec.alive && !state_.check(Launch{id, stream})) execs.push_back(id);
  }
  const CaptureState* capture = state_.capture_of(stream);
  if (execs.empty() || capture == nullptr) return;
  const Id exec = pick(execs);
  const std::vector<ByteRange> ranges = state_.exec(exec)->graph.ranges();
  if (!state_.node_races(capture->graph, ranges, capture->behind.at(stream))) take(Launch{exec, stream});
}

void StreamsDraft::call_beside() {
  const UnsafeCall call{static_cast<BesideCall>(choices_.below(kBesideCalls.size())), other_thread()};
  if (swarm_.forbidden || state_.answer(call).status == 0) take(call);
}

// Destroys an object that is none of a capture.
void StreamsDraft::destroy_beside() {
  const auto destroy = [&](Target target, std::vector<Id> ids) {
    std::erase_if(ids, [&](Id id) { return state_.check(Destroy{target, id}).has_value(); });
    if (!ids.empty()) take(Destroy{target, pick(ids)});
  };
  std::vector<Id> streams = state_.live_streams();
  std::erase_if(streams, [&](Id stream) { return state_.capture_of(stream) != nullptr; });
  const std::uint64_t draw = choices_.below(100);
  if (draw < 40) {
    destroy(Target::kExec, alive(state_.execs()));
  } else if (draw < 70) {
    destroy(Target::kGraph, alive(state_.graphs()));
  } else if (draw < 85) {
    destroy(Target::kEvent, state_.live_events());
  } else {
    destroy(Target::kStream, std::move(streams));
  }
}

// Mostly adds to the present dependencies. Replaced dependencies let later work race, which work() avoids.
void StreamsDraft::change_dependencies(Id stream) {
  const CaptureState* capture = state_.capture_of(stream);
  CaptureAfter command{stream, {}, choices_.percent(60)};
  for (const NodeState& node : capture->graph.nodes) {
    if (choices_.percent(35)) command.nodes.push_back(node.id);
  }
  take(command);
  if (choices_.percent(20)) take(Enqueue{stream, EmptyParams{}, 0, false, true});
}

// Draws a call that HIP refuses during a capture. The refusal and the effect on the capture are observed.
void StreamsDraft::forbidden() {
  const Id stream = pick(state_.live_streams());
  const std::vector<Id> events = state_.live_events();
  switch (choices_.below(12)) {
    case 0:
      take(Synchronize{Target::kStream, stream, state_.per_thread(stream) ? 0 : other_thread()});
      break;
    case 1:
      take(Synchronize{Target::kDevice, 0, other_thread()});
      break;
    case 2:
      take(Query{Target::kStream, stream, 0});
      break;
    case 3:
      if (!events.empty()) take(Query{Target::kEvent, pick(events), 0});
      break;
    case 4:
      if (!events.empty()) take(Synchronize{Target::kEvent, pick(events)});
      break;
    case 5:
    case 6:
    case 7:
    case 8:
      by_fields(Topic::kForbidden);
      break;
    case 9:
      work(kNullStream);
      break;
    case 10:
      take(BeginCapture{choices_.percent(60) && !capturing().empty() ? pick(capturing()) : stream,
                        static_cast<CaptureMode>(choices_.below(3)),
                        {},
                        {},
                        0});
      break;
    default:
      if (choices_.percent(50)) take(Destroy{Target::kStream, stream});
      break;
  }
}

void StreamsDraft::end_captures() {
  while (!state_.captures().empty()) {
    const std::size_t open = state_.captures().size();
    end(state_.captures().back().serial);
    if (state_.captures().size() == open) break;  // the generator has to avoid this command
  }
}

void StreamsDraft::end(std::uint64_t serial) {
  const auto find = [&]() -> const CaptureState* {
    const auto& all = state_.captures();
    const auto found = std::ranges::find(all, serial, &CaptureState::serial);
    return found == all.end() ? nullptr : &*found;
  };
  const bool careless = swarm_.forbidden && choices_.percent(25);
  if (careless && choices_.percent(15)) take(BeginCapture{find()->origin, CaptureMode::kGlobal, {}, {}, 0});
  if (!careless) join_everything(*find());
  const CaptureState& capture = *find();
  const Id graph = capture.into ? *capture.into : next_.graph;
  const bool into = capture.into.has_value();
  EndCapture command{capture.origin, graph, capture.thread};
  if (careless && choices_.percent(30)) {
    EndCapture wrong = command;
    if (choices_.percent(50)) {
      wrong.thread = capture.thread == 0 ? 1 : 0;
    } else {
      wrong.stream = pick(state_.live_streams());
    }
    // Only an end that succeeds uses up the graph's name.
    if (state_.answer(wrong).status != 0) take(wrong);
  }
  if (careless && choices_.percent(10) && take(Destroy{Target::kStream, command.stream})) return;
  if (find() == nullptr || !take(command)) return;
  const GraphState* made = state_.graph(graph);
  if (made == nullptr || !made->alive) return;
  if (!into) ++next_.graph;
  if (choices_.percent(80)) instantiate({next_.exec, graph});
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
