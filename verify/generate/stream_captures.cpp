// Stream captures, each drawn as one episode (verify/generate/streams.h).
#include <algorithm>

#include "verify/generate/streams.h"

namespace verify {

std::vector<Id> StreamsDraft::capturing() const {
  std::vector<Id> streams;
  for (const Id stream : state_.live_streams()) {
    if (state_.capture_of(stream) != nullptr) streams.push_back(stream);
  }
  return streams;
}

std::optional<BeginCapture> StreamsDraft::begin() {
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
  if (!take(command) || state_.capture_of(command.stream) == nullptr) return {};
  return command;
}

void StreamsDraft::capture() {
  if (!swarm_.captures) return;
  const std::size_t streams = many_streams() ? swarm_.most_streams : 2;
  for (std::size_t there = state_.live_streams().size(); there < streams; ++there) declare_stream();
  if (state_.live_events().size() < 2) declare_event();
  if (choices_.percent(6)) take(ExchangeCaptureMode{static_cast<CaptureMode>(choices_.below(3)), other_thread()});
  const std::optional<BeginCapture> begun = begin();
  if (!begun) return;
  for (std::uint64_t turns = choices_.between(2, 10); turns > 0; --turns) act_during_capture();
  end_captures();
  if (choices_.percent(10)) capture_in_another_mode(*begun);
}

// Captures the stream of an earlier capture again, in another mode, in which an unsafe call is made.
void StreamsDraft::capture_in_another_mode(const BeginCapture& earlier) {
  constexpr std::uint64_t kModes = 3;
  const auto mode =
      static_cast<CaptureMode>((static_cast<std::uint64_t>(earlier.mode) + choices_.between(1, 2)) % kModes);
  if (!take(BeginCapture{earlier.stream, mode, {}, {}, earlier.thread})) return;
  if (choices_.percent(50) && state_.capture_of(earlier.stream) != nullptr) work(earlier.stream);
  call_beside();
  if (choices_.percent(50) && state_.capture_of(earlier.stream) != nullptr) work(earlier.stream);
  end_captures();
}

void StreamsDraft::act_during_capture() {
  const std::vector<Id> streams = capturing();
  if (streams.empty()) return;
  if (many_streams() && choices_.percent(15)) return ring(pick(streams));
  if (swarm_.mapped_memory && choices_.percent(10)) return map_during_capture();
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
    if (swarm_.children && choices_.percent(30)) {
      child_into(stream);
    } else {
      launch_into(stream);
    }
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
  const Id from = pick(capturing());
  pass(from, pick(state_.live_streams()));
}

void StreamsDraft::pass(Id from, Id to) {
  const std::optional<Id> event = event_for(from);
  if (!event) return;
  take(RecordEvent{*event, from});
  const WaitEvent wait{to, *event};
  if (state_.answer(wait).status == 0 || (swarm_.forbidden && choices_.percent(20))) take(wait);
}

// Forks a stream, forks the new one in turn, and so on; then the first of the new streams waits for the last of them.
void StreamsDraft::ring(Id from) {
  std::vector<Id> free = state_.live_streams();
  std::erase_if(free, [&](Id stream) { return stream == kNullStream || state_.capture_of(stream) != nullptr; });
  const std::size_t length = std::min<std::size_t>(free.size(), choices_.between(2, 4));
  if (length < 2) return join();
  std::ranges::rotate(free, free.begin() + static_cast<std::ptrdiff_t>(choices_.below(free.size())));
  const Id first = free.front();
  for (std::size_t i = 0; i < length; from = free[i++]) {
    pass(from, free[i]);
    if (state_.capture_of(free[i]) == nullptr) return;
    if (choices_.percent(70)) work(free[i]);
  }
  pass(from, first);
  work(first);
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

void StreamsDraft::child_into(Id stream) {
  const CaptureState* capture = state_.capture_of(stream);
  if (alive(state_.graphs()).empty() || capture == nullptr) return;
  Enqueue command{stream, any_child(), 0};
  command.by_hand = true;
  if (state_.check(command)) return;
  const std::vector<ByteRange> ranges = state_.ranges_of(command.params, 1);
  if (!state_.node_races(capture->graph, ranges, capture->behind.at(stream))) take(command);
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

}  // namespace verify
