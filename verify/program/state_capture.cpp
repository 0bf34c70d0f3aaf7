// Stream capture in State: the rules, what may stand where, and the effects; contracts in capture_state.h and
// state_capture.h.
#include "verify/program/state_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>

namespace verify {

namespace {

using Reason = std::optional<std::string>;

Reason no(std::string reason) {
  return reason;
}

const CaptureState* with_serial(const std::vector<CaptureState>& captures, std::uint64_t serial) {
  const auto found =
      std::find_if(captures.begin(), captures.end(), [serial](const CaptureState& c) { return c.serial == serial; });
  return serial == 0 || found == captures.end() ? nullptr : &*found;
}

// Everything that other streams captured is among what the origin's last nodes come behind, or was taken out.
bool all_joined(const CaptureState& capture) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> open = capture.taken_out;
  const auto origin = capture.behind.find(capture.origin);
  if (origin != capture.behind.end()) open.insert(open.end(), origin->second.begin(), origin->second.end());
  while (!open.empty()) {
    const std::uint32_t index = open.back();
    open.pop_back();
    if (!seen.insert(index).second) continue;
    const std::vector<std::uint32_t>& after = capture.graph.nodes[index].after;
    open.insert(open.end(), after.begin(), after.end());
  }
  for (const auto& [stream, nodes] : capture.behind) {
    for (const std::uint32_t index : nodes) {
      if (!seen.contains(index)) return false;
    }
  }
  return true;
}

Id next_name(const GraphState& graph) {
  Id next = 0;
  for (const NodeState& node : graph.nodes) next = std::max(next, node.id + 1);
  return next;
}

void add_sorted(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& more) {
  into.insert(into.end(), more.begin(), more.end());
  std::sort(into.begin(), into.end());
  into.erase(std::unique(into.begin(), into.end()), into.end());
}

}  // namespace

// ---- what HIP answers

struct CaptureRules {
  const State& state;

  static CaptureAnswer refuse(int status) { return {status, {}}; }
  static CaptureAnswer invalidate(int status, const CaptureState& capture) { return {status, {capture.serial}}; }

  // The legacy null stream would have to wait for what is only being recorded.
  [[nodiscard]] bool endangered(const CaptureState& capture) const {
    return std::any_of(capture.behind.begin(), capture.behind.end(), [this](const auto& entry) {
      const auto* stream = State::find(state.streams_, entry.first);
      return stream != nullptr && stream->alive && !stream->non_blocking && stream->device == 0;
    });
  }
  [[nodiscard]] CaptureAnswer null_stream(Id stream) const {
    CaptureAnswer answer;
    if (stream != kNullStream) return answer;
    for (const CaptureState& capture : state.captures_) {
      if (!endangered(capture)) continue;
      answer.status = kAnswerImplicit;
      answer.invalidates.push_back(capture.serial);
    }
    return answer;
  }
  // Work for a stream: of its capture, while that is valid.
  [[nodiscard]] CaptureAnswer work(Id stream) const {
    const CaptureState* capture = state.capture_of(stream);
    if (capture == nullptr) return null_stream(stream);
    return capture->valid ? CaptureAnswer{} : refuse(kAnswerInvalidated);
  }
  [[nodiscard]] CaptureAnswer never_captured(Id stream) const {
    const CaptureState* capture = state.capture_of(stream);
    return capture == nullptr ? null_stream(stream) : invalidate(kAnswerUnsupported, *capture);
  }
  [[nodiscard]] CaptureAnswer unsafe(Id thread) const {
    CaptureAnswer answer;
    const auto chosen = state.modes_.find(thread);
    const CaptureMode caller = chosen == state.modes_.end() ? CaptureMode::kGlobal : chosen->second;
    for (const CaptureState& capture : state.captures_) {
      const bool own = capture.thread == thread && capture.mode != CaptureMode::kRelaxed;
      const bool global = capture.mode == CaptureMode::kGlobal && caller == CaptureMode::kGlobal;
      if (caller == CaptureMode::kRelaxed || !(own || global)) continue;
      answer.status = kAnswerUnsupported;
      answer.invalidates.push_back(capture.serial);
    }
    return answer;
  }
  [[nodiscard]] CaptureAnswer host_meets(Id event, Id thread) const {
    const auto* found = State::find(state.events_, event);
    if (found == nullptr || found->capture == 0) return unsafe(thread);
    const CaptureState* capture = with_serial(state.captures_, found->capture);
    return capture == nullptr ? refuse(kAnswerCapturedEvent) : invalidate(kAnswerCapturedEvent, *capture);
  }

  [[nodiscard]] CaptureAnswer host_asks(Id stream, Id thread) const {
    // What meets a capture invalidates that one; only what meets none is an unsafe call, which every capture forbids.
    if (stream == kNullStream || state.capture_of(stream) != nullptr) return never_captured(stream);
    const CaptureAnswer refused = unsafe(thread);
    return refused.status != 0 ? refused : never_captured(stream);
  }

  CaptureAnswer operator()(const Enqueue& c) const { return work(c.stream); }
  CaptureAnswer operator()(const Launch& c) const { return work(c.stream); }
  CaptureAnswer operator()(const MallocAsync& c) const { return work(c.stream); }
  CaptureAnswer operator()(const FreeAsync& c) const { return work(c.stream); }
  // HIP, multi-device management: an event is recorded on streams of its own device.
  CaptureAnswer operator()(const RecordEvent& c) const {
    CaptureAnswer answer = work(c.stream);
    const bool strange = state.device_of_event(c.event) != state.device_of_stream(c.stream);
    return answer.status == 0 && strange ? refuse(kAnswerInvalidHandle) : answer;
  }
  CaptureAnswer operator()(const WaitEvent& c) const {
    const CaptureState* capture = state.capture_of(c.stream);
    if (capture == nullptr) {
      if (CaptureAnswer refused = null_stream(c.stream); refused.status != 0) return refused;
    }
    const auto* event = State::find(state.events_, c.event);
    if (event == nullptr || (event->capture == 0 && (capture == nullptr || !event->recorded))) return {};
    const CaptureState* of_event = with_serial(state.captures_, event->capture);
    if (of_event == nullptr) {
      const int status = event->capture != 0 ? kAnswerCapturedEvent : kAnswerIsolation;
      return capture == nullptr ? refuse(status) : invalidate(status, *capture);
    }
    if (capture != nullptr && capture != of_event) return {kAnswerMerge, {capture->serial, of_event->serial}};
    if (!of_event->valid) return refuse(kAnswerInvalidated);
    return c.stream == kNullStream ? invalidate(kAnswerImplicit, *of_event) : CaptureAnswer{};
  }
  CaptureAnswer operator()(const Synchronize& c) const {
    if (c.target == Target::kEvent) return host_meets(c.id, c.thread);
    if (c.target == Target::kStream) return host_asks(c.id, c.thread);
    CaptureAnswer answer;
    for (const CaptureState& capture : state.captures_) answer.invalidates.push_back(capture.serial);
    if (!state.captures_.empty()) answer.status = kAnswerUnsupported;
    return answer;
  }
  CaptureAnswer operator()(const Query& c) const {
    return c.target == Target::kEvent ? host_meets(c.id, c.thread) : host_asks(c.id, c.thread);
  }
  CaptureAnswer operator()(const Elapsed& c) const {
    for (const Id id : {c.from, c.to}) {
      const auto* event = State::find(state.events_, id);
      if (event != nullptr && (!event->timing || !event->recorded)) return refuse(kAnswerInvalidHandle);
    }
    if (state.device_of_event(c.from) != state.device_of_event(c.to)) return refuse(kAnswerInvalidHandle);
    return {};
  }
  CaptureAnswer operator()(const BeginCapture& c) const {
    if (c.stream == kNullStream) return refuse(kAnswerUnsupported);
    return refuse(state.capture_of(c.stream) != nullptr ? kAnswerIllegalState : kAnswerSuccess);
  }
  CaptureAnswer operator()(const EndCapture& c) const {
    const CaptureState* capture = state.capture_of(c.stream);
    if (capture == nullptr) return refuse(kAnswerIllegalState);
    if (capture->origin != c.stream) return refuse(kAnswerUnmatched);
    if (capture->mode != CaptureMode::kRelaxed && capture->thread != c.thread) return refuse(kAnswerWrongThread);
    if (!capture->valid) return refuse(kAnswerInvalidated);
    return refuse(all_joined(*capture) ? kAnswerSuccess : kAnswerUnjoined);
  }
  // Asking changes nothing.
  CaptureAnswer operator()(const CaptureInfo& c) const { return refuse(null_stream(c.stream).status); }
  CaptureAnswer operator()(const CaptureAfter& c) const {
    return refuse(state.capture_of(c.stream) == nullptr ? kAnswerIllegalState : kAnswerSuccess);
  }
  CaptureAnswer operator()(const UnsafeCall& c) const { return unsafe(c.thread); }
  // A stream that goes takes its capture with it when it is the origin; what another one leaves behind unjoined can
  // never be joined.
  CaptureAnswer operator()(const Destroy& c) const {
    const CaptureState* capture = c.target == Target::kStream ? state.capture_of(c.id) : nullptr;
    if (capture == nullptr || capture->origin == c.id || all_joined(*capture)) return {};
    return invalidate(kAnswerSuccess, *capture);
  }
  template <class Other>
  CaptureAnswer operator()(const Other&) const {
    return {};
  }
};

CaptureAnswer State::answer(const Command& command) const {
  return std::visit(CaptureRules{*this}, command);
}

const CaptureState* State::capture_of(Id stream) const {
  const auto found = std::find_if(captures_.begin(), captures_.end(),
                                  [stream](const CaptureState& c) { return c.behind.contains(stream); });
  return found == captures_.end() ? nullptr : &*found;
}

bool State::event_captured(Id event) const {
  const EventState* found = find(events_, event);
  return found != nullptr && found->capture != 0;
}

bool State::event_captured_on(Id event, Id stream) const {
  return event_captured(event) && find(events_, event)->captured_on == stream;
}

bool State::event_external(Id event) const {
  const EventState* found = find(events_, event);
  return found != nullptr && found->external;
}

bool State::event_stream_gone(Id event) const {
  const EventState* found = find(events_, event);
  return found != nullptr && found->recorded && !stream_alive(found->recorded_on);
}

bool State::event_stream_captures(Id event) const {
  const EventState* found = find(events_, event);
  return found != nullptr && found->recorded && found->capture == 0 && capture_of(found->recorded_on) != nullptr;
}

bool State::per_thread(Id stream) const {
  const StreamState* found = find(streams_, stream);
  return found != nullptr && found->per_thread;
}

std::string State::seen(const Command& command) const {
  if (answer(command).status != 0) return {};
  if (const auto* exchange = std::get_if<ExchangeCaptureMode>(&command)) {
    static constexpr const char* kNames[] = {"global", "thread", "relaxed"};
    const auto chosen = modes_.find(exchange->thread);
    return kNames[static_cast<int>(chosen == modes_.end() ? CaptureMode::kGlobal : chosen->second)];
  }
  const auto* info = std::get_if<CaptureInfo>(&command);
  if (info == nullptr) return {};
  const CaptureState* capture = capture_of(info->stream);
  if (capture == nullptr) return "none";
  if (!capture->valid) return "invalidated";
  std::string text = capture->into ? fmt::format("active in g{} after", *capture->into) : "active after";
  for (const std::uint32_t index : capture->behind.at(info->stream)) {
    const NodeState& node = capture->graph.nodes[index];
    for (std::uint32_t k = 0; k < node.fan; ++k) text += fmt::format(" n{}", node.id);
  }
  return text;
}

// ---- what may stand where

struct CaptureChecker {
  const State& state;

  Reason live_stream(Id id) const {
    if (state.stream_alive(id)) return {};
    return no(fmt::format("s{} is not declared or was destroyed", id));
  }
  Reason live_event(Id id) const {
    const auto* event = State::find(state.events_, id);
    if (event != nullptr && event->alive) return {};
    return no(fmt::format("v{} is not declared or was destroyed", id));
  }
  Reason live_target(Target target, Id id) const { return target == Target::kEvent ? live_event(id) : live_stream(id); }
  // hipStreamPerThread is another stream on every thread.
  Reason same_thread(Id stream, Id thread) const {
    if (thread > kMaxThread) return no(fmt::format("threads are numbered to {}", kMaxThread));
    if (thread == 0 || !state.per_thread(stream)) return {};
    return no(fmt::format("s{} is the per-thread stream of the first thread", stream));
  }
  Reason free_target(Id graph) const {
    for (const CaptureState& capture : state.captures_) {
      if (capture.into == graph) return no(fmt::format("g{} is being captured into", graph));
    }
    return {};
  }

  Reason operator()(const BeginCapture& c) const {
    if (Reason reason = live_stream(c.stream)) return reason;
    if (Reason reason = same_thread(c.stream, c.thread)) return reason;
    if (!c.into) return c.after.empty() ? Reason{} : no("dependencies are nodes of a graph that is captured into");
    const GraphState* graph = state.graph(*c.into);
    if (graph == nullptr || !graph->alive) return no(fmt::format("g{} is not there to be captured into", *c.into));
    if (Reason reason = free_target(*c.into)) return reason;
    std::set<Id> named;
    for (const Id node : c.after) {
      if (graph->find(node) == nullptr) return no(fmt::format("g{} has no node n{}", *c.into, node));
      if (!named.insert(node).second) return no(fmt::format("n{} is named twice", node));
    }
    return {};
  }
  Reason operator()(const EndCapture& c) const {
    if (Reason reason = live_stream(c.stream)) return reason;
    if (Reason reason = same_thread(c.stream, c.thread)) return reason;
    const CaptureState* capture = state.capture_of(c.stream);
    if (capture != nullptr && capture->into && capture->origin == c.stream) {
      if (c.graph == *capture->into) return {};
      return no(fmt::format("the capture goes into g{}", *capture->into));
    }
    if (state.graph(c.graph) == nullptr) return {};
    return no(fmt::format("g{} is declared already", c.graph));
  }
  Reason operator()(const CaptureInfo& c) const { return live_stream(c.stream); }
  Reason operator()(const CaptureAfter& c) const {
    if (Reason reason = live_stream(c.stream)) return reason;
    if (c.stream == kNullStream) return no("the null stream takes part in no capture");
    const CaptureState* capture = state.capture_of(c.stream);
    if (capture == nullptr) return c.nodes.empty() ? Reason{} : no(fmt::format("s{} does not capture", c.stream));
    if (!capture->valid) return no("what the dependencies of an invalid capture are is not documented");
    std::set<Id> named;
    for (const Id node : c.nodes) {
      const NodeState* found = capture->graph.find(node);
      if (found == nullptr) return no(fmt::format("nothing was captured as n{}", node));
      if (!named.insert(node).second) return no(fmt::format("n{} is named twice", node));
    }
    return {};
  }
  Reason operator()(const ExchangeCaptureMode& c) const { return same_thread(kNullStream, c.thread); }
  Reason operator()(const UnsafeCall& c) const { return same_thread(kNullStream, c.thread); }
  // Whether work is over is a matter of time, except where somebody has waited or the rules refuse.
  Reason operator()(const Query& c) const {
    if (c.target != Target::kEvent && c.target != Target::kStream) return no("streams and events can be queried");
    if (Reason reason = live_target(c.target, c.id)) return reason;
    if (Reason reason = same_thread(c.target == Target::kStream ? c.id : kNullStream, c.thread)) return reason;
    if (state.answer(c).status != 0) return {};
    const auto* event = c.target == Target::kEvent ? State::find(state.events_, c.id) : nullptr;
    bool busy = event != nullptr && event->busy;
    for (const auto& [id, stream] : state.streams_) {
      if (c.target == Target::kStream && (id == c.id || c.id == kNullStream)) busy = busy || stream.busy;
    }
    return busy ? no("whether it is ready is a matter of time: synchronise first") : Reason{};
  }
  Reason operator()(const Elapsed& c) const {
    for (const Id id : {c.from, c.to}) {
      if (Reason reason = live_event(id)) return reason;
      const auto& event = state.events_.at(id);
      if (event.capture != 0) return no(fmt::format("v{} was recorded in a capture last", id));
      if (event.busy) return no(fmt::format("whether v{} is over is a matter of time: synchronise first", id));
    }
    return {};
  }
};

std::optional<std::string> check_capture_command(const State& state, const Command& command) {
  return std::visit(
      [&](const auto& c) -> Reason {
        if constexpr (requires(const CaptureChecker& checker) { checker(c); }) {
          return CaptureChecker{state}(c);
        } else {
          return {};
        }
      },
      command);
}

namespace {

// Whether a command of this kind goes well with a capture that is open somewhere.
struct DuringCapture {
  const State& state;

  // What a graph holds while something is captured into it is for the capture's end to say.
  Reason operator()(const CloneGraph& c) const { return CaptureChecker{state}.free_target(c.from); }

  Reason operator()(const AddNode& c) const {
    const auto* child = std::get_if<ChildParams>(&c.params);
    if (child != nullptr) {
      if (Reason reason = CaptureChecker{state}.free_target(child->graph)) return reason;
    }
    return CaptureChecker{state}.free_target(c.graph);
  }
  Reason operator()(const Instantiate& c) const { return CaptureChecker{state}.free_target(c.graph); }
  Reason operator()(const Destroy& c) const {
    if (c.target == Target::kStream && !state.answer(c).invalidates.empty())
      return no("what becomes of the capture when a stream goes whose work is not joined is not documented");
    if (c.target == Target::kStream || c.target == Target::kEvent) return {};
    return no("a graph is not destroyed while a stream captures");
  }
  Reason operator()(const SetAttributes& c) const { return CaptureChecker{state}.free_target(c.graph); }
  Reason operator()(const CopyAttributes& c) const {
    if (Reason reason = CaptureChecker{state}.free_target(c.graph)) return reason;
    return CaptureChecker{state}.free_target(c.from);
  }
  Reason operator()(const DeclareBuffer&) const { return memory(); }
  Reason operator()(const MoveBuffers&) const { return memory(); }
  Reason operator()(const Read&) const { return memory(); }
  Reason operator()(const Write&) const { return memory(); }
  Reason operator()(const Free&) const { return memory(); }
  Reason operator()(const DeclarePool&) const { return memory(); }
  Reason operator()(const AskPool&) const { return memory(); }
  Reason operator()(const TrimPool&) const { return memory(); }
  Reason operator()(const AccessPool&) const { return memory(); }
  Reason operator()(const UsePool&) const { return memory(); }
  Reason operator()(const DestroyPool&) const { return memory(); }
  Reason operator()(const Patch&) const { return change(); }
  Reason operator()(const SetNode&) const { return change(); }
  Reason operator()(const Update&) const { return change(); }
  template <class Other>
  Reason operator()(const Other&) const {
    return {};
  }
  static Reason memory() { return no("memory stays as it is while a stream captures: its calls are 'unsafe'"); }
  // What a strategy does about these may wait for the device.
  static Reason change() { return no("graphs are not changed while a stream captures"); }
};

}  // namespace

std::optional<std::string> check_during_capture(const State& state, const Command& command) {
  return state.captures().empty() ? Reason{} : std::visit(DuringCapture{state}, command);
}

// ---- effects

struct CaptureApplier {
  State& state;
  int status = 0;

  CaptureState& capture_of(Id stream) const { return const_cast<CaptureState&>(*state.capture_of(stream)); }
  void drop(const CaptureState& capture) const {
    const std::uint64_t serial = capture.serial;
    ++state.captures_failed_;
    // What a failed capture has left in somebody's graph is not documented: nothing is done with it any more.
    if (capture.into) state.graphs_.at(*capture.into).alive = false;
    for (auto& [id, buffer] : state.buffers_) {
      if (buffer.capture == serial) buffer.alive = false;
    }
    std::erase_if(state.captures_, [serial](const CaptureState& c) { return c.serial == serial; });
  }

  void operator()(const BeginCapture& c) const {
    if (status != 0) return;
    CaptureState capture;
    capture.serial = ++state.captures_made_;
    capture.origin = c.stream;
    capture.mode = c.mode;
    capture.thread = c.thread;
    capture.into = c.into;
    if (c.into) capture.graph = state.graphs_.at(*c.into);
    std::vector<std::uint32_t>& behind = capture.behind[c.stream];
    for (const Id node : c.after) behind.push_back(static_cast<std::uint32_t>(capture.graph.index_of(node)));
    std::sort(behind.begin(), behind.end());
    state.captures_.push_back(std::move(capture));
  }
  void operator()(const EndCapture& c) const {
    const bool over = status == 0 || status == kAnswerInvalidated || status == kAnswerUnjoined;
    if (!over) return;
    CaptureState& capture = capture_of(c.stream);
    if (status != 0) return drop(capture);
    GraphState& graph = state.graphs_[c.graph];
    graph = std::move(capture.graph);
    graph.alive = true;
    const std::uint64_t serial = capture.serial;
    for (auto& [id, buffer] : state.buffers_) {  // what it allocates is the graph's
      if (buffer.capture != serial) continue;
      buffer.capture.reset();
      buffer.of_stream = false;
      buffer.graph = c.graph;
    }
    std::erase_if(state.captures_, [serial](const CaptureState& other) { return other.serial == serial; });
  }
  void operator()(const CaptureAfter& c) const {
    if (status != 0) return;
    CaptureState& capture = capture_of(c.stream);
    std::vector<std::uint32_t>& behind = capture.behind.at(c.stream);
    if (!c.add) {
      add_sorted(capture.taken_out, behind);
      capture.taken_from_side = capture.taken_from_side || (c.stream != capture.origin && !behind.empty());
      behind.clear();
    }
    std::vector<std::uint32_t> more;
    for (const Id node : c.nodes) more.push_back(static_cast<std::uint32_t>(capture.graph.index_of(node)));
    add_sorted(behind, more);
  }
  void operator()(const ExchangeCaptureMode& c) const { state.modes_[c.thread] = c.mode; }
  // True: the command went into a capture, or nowhere.
  bool operator()(const RecordEvent& c) const {
    state.events_.at(c.event).told_on = c.stream;
    const CaptureState* capture = state.capture_of(c.stream);
    if (status != 0 || capture == nullptr) return status != 0;
    auto& event = state.events_.at(c.event);
    event.capture = capture->serial;
    event.captured = capture->behind.at(c.stream);
    event.captured_on = c.stream;
    event.external = false;
    return true;
  }
  bool operator()(const WaitEvent& c) const {
    const auto& event = state.events_.at(c.event);
    if (status != 0) return true;
    const CaptureState* capture = with_serial(state.captures_, event.capture);
    if (capture == nullptr) return state.capture_of(c.stream) != nullptr;  // nothing to wait for
    add_sorted(const_cast<CaptureState*>(capture)->behind[c.stream], event.captured);
    return true;
  }
  void leave(Id stream) const {
    const CaptureState* capture = state.capture_of(stream);
    if (capture == nullptr) return;
    if (capture->origin == stream) return drop(*capture);
    capture_of(stream).behind.erase(stream);
  }
};

CaptureState* push_captured_node(std::vector<CaptureState>& captures, Id stream, Id device) {
  const auto found = std::find_if(captures.begin(), captures.end(),
                                  [stream](const CaptureState& c) { return c.behind.contains(stream); });
  if (found == captures.end()) return nullptr;
  NodeState node;
  node.id = next_name(found->graph);
  node.captured = true;
  node.added_on = device;
  node.after = found->behind.at(stream);
  found->behind.at(stream) = {static_cast<std::uint32_t>(found->graph.nodes.size())};
  found->graph.nodes.push_back(std::move(node));
  return &*found;
}

void invalidate_captures(std::vector<CaptureState>& captures, const CaptureAnswer& answer) {
  for (CaptureState& capture : captures) {
    if (std::find(answer.invalidates.begin(), answer.invalidates.end(), capture.serial) != answer.invalidates.end())
      capture.valid = false;
  }
}

bool apply_capture(State& state, const Command& command, int status) {
  const CaptureApplier applier{state, status};
  if (const auto* c = std::get_if<BeginCapture>(&command)) return applier(*c), true;
  if (const auto* c = std::get_if<EndCapture>(&command)) return applier(*c), true;
  if (const auto* c = std::get_if<CaptureAfter>(&command)) return applier(*c), true;
  if (const auto* c = std::get_if<ExchangeCaptureMode>(&command)) return applier(*c), true;
  if (const auto* c = std::get_if<RecordEvent>(&command)) return applier(*c);
  if (const auto* c = std::get_if<WaitEvent>(&command)) return applier(*c);
  if (const auto* c = std::get_if<Destroy>(&command); c != nullptr && c->target == Target::kStream)
    applier.leave(c->id);
  return status != 0;
}

}  // namespace verify
