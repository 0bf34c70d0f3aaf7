// The rules of the commands about stream capture.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "verify/commands/captures/answers.h"
#include "verify/commands/define_rules.h"

namespace verify {

// ---- BeginCapture

template <>
constexpr Traits kTraits<BeginCapture>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen,
                                       kNoDevice,       kTwice,   kOnce};

template <>
CaptureAnswer answer(const State& state, const BeginCapture& c) {
  if (c.stream == kNullStream) return refuse(kAnswerUnsupported);
  return refuse(state.capture_of(c.stream) != nullptr ? kAnswerIllegalState : kAnswerSuccess);
}

template <>
Reason check(const State& state, const BeginCapture& c) {
  if (Reason reason = state.missing_stream(c.stream)) return reason;
  if (Reason reason = unknown_thread(state, c.stream, c.thread)) return reason;
  if (!c.into) return c.after.empty() ? Reason{} : "dependencies are nodes of a graph that is captured into";
  const GraphState* graph = state.graph(*c.into);
  if (graph == nullptr || !graph->alive) return fmt::format("g{} is not there to be captured into", *c.into);
  if (Reason reason = captured_into(state, *c.into)) return reason;
  std::set<Id> named;
  for (const Id node : c.after) {
    if (graph->find(node) == nullptr) return fmt::format("g{} has no node n{}", *c.into, node);
    if (!named.insert(node).second) return fmt::format("n{} is named twice", node);
  }
  return graph->has_memory ? fmt::format("g{} has memory nodes", *c.into) : Reason{};
}

template <>
void apply(State& state, const BeginCapture& c) {
  StateParts& parts = state.change();
  CaptureState capture;
  capture.serial = ++parts.captures.begun;
  capture.origin = c.stream;
  capture.mode = c.mode;
  capture.thread = c.thread;
  capture.into = c.into;
  capture.graph.device = state.device_of_stream(c.stream);
  if (c.into) capture.graph = parts.graphs.graphs.at(*c.into);
  std::vector<std::uint32_t>& behind = capture.behind[c.stream];
  for (const Id node : c.after) behind.push_back(static_cast<std::uint32_t>(capture.graph.index_of(node)));
  std::ranges::sort(behind);
  parts.captures.open.push_back(std::move(capture));
}

// ---- EndCapture

template <>
constexpr Traits kTraits<EndCapture>{kLegalInCapture, kNotesRefusal, kNeverRefused, kNothingSeen,
                                     kNoDevice,       kTwice,        kOnce};

template <>
CaptureAnswer answer(const State& state, const EndCapture& c) {
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr) return refuse(kAnswerIllegalState);
  if (capture->origin != c.stream) return refuse(kAnswerUnmatched);
  if (capture->mode != CaptureMode::kRelaxed && capture->thread != c.thread) return refuse(kAnswerWrongThread);
  if (!capture->valid) return refuse(kAnswerInvalidated);
  return refuse(capture->all_joined() ? kAnswerSuccess : kAnswerUnjoined);
}

template <>
Reason check(const State& state, const EndCapture& c) {
  if (Reason reason = state.missing_stream(c.stream)) return reason;
  if (Reason reason = unknown_thread(state, c.stream, c.thread)) return reason;
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture != nullptr && capture->into && capture->origin == c.stream) {
    if (c.graph == *capture->into) return {};
    return fmt::format("the capture goes into g{}", *capture->into);
  }
  if (state.graph(c.graph) == nullptr) return {};
  return fmt::format("g{} is declared already", c.graph);
}

template <>
void apply(State& state, const EndCapture& c) {
  StateParts& parts = state.change();
  CaptureState& capture = *parts.captures.of_stream(c.stream);
  GraphState& graph = parts.graphs.graphs[c.graph];
  graph = std::move(capture.graph);
  graph.alive = true;
  const std::uint64_t serial = capture.serial;
  for (auto& [id, buffer] : parts.memory.buffers) {  // memory that the capture allocates belongs to the graph
    if (buffer.capture != serial) continue;
    buffer.capture.reset();
    buffer.of_stream = false;
    buffer.graph = c.graph;
  }
  parts.captures.close(serial);
}

// The call ends a capture that is invalid or not joined. After any other refusal the capture stays open.
template <>
void apply_refused(State& state, const EndCapture& c, int status) {
  if (status != kAnswerInvalidated && status != kAnswerUnjoined) return;
  state.change().drop_capture(state.capture_of(c.stream)->serial);
}

// ---- CaptureInfo

template <>
constexpr Traits kTraits<CaptureInfo>{kLegalInCapture, kAnswers, kNeverRefused, kSeen, kNoDevice, kTwice, kOnce};

// The query invalidates no capture.
template <>
CaptureAnswer answer(const State& state, const CaptureInfo& c) {
  return refuse(answer_to_null_stream(state, c.stream).status);
}

template <>
Reason check(const State& state, const CaptureInfo& c) {
  return state.missing_stream(c.stream);
}

template <>
std::string seen(const State& state, const CaptureInfo& c) {
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr) return "none";
  if (!capture->valid) return "invalidated";
  std::string text = capture->into ? fmt::format("active in g{} after", *capture->into) : "active after";
  for (const std::uint32_t index : capture->behind.at(c.stream)) {
    const NodeState& node = capture->graph.nodes[index];
    for (std::uint32_t k = 0; k < node.fan; ++k) text += fmt::format(" n{}", node.id);
  }
  return text;
}

template <>
void apply(State&, const CaptureInfo&) {}

// ---- CaptureAfter

template <>
constexpr Traits kTraits<CaptureAfter>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen,
                                       kNoDevice,       kTwice,   kOnce};

template <>
CaptureAnswer answer(const State& state, const CaptureAfter& c) {
  return refuse(state.capture_of(c.stream) == nullptr ? kAnswerIllegalState : kAnswerSuccess);
}

template <>
Reason check(const State& state, const CaptureAfter& c) {
  if (Reason reason = state.missing_stream(c.stream)) return reason;
  if (c.stream == kNullStream) return "the null stream takes part in no capture";
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr) return c.nodes.empty() ? Reason{} : fmt::format("s{} does not capture", c.stream);
  if (!capture->valid) return "what the dependencies of an invalid capture are is not documented";
  std::set<Id> named;
  for (const Id node : c.nodes) {
    if (capture->graph.find(node) == nullptr) return fmt::format("nothing was captured as n{}", node);
    if (!named.insert(node).second) return fmt::format("n{} is named twice", node);
  }
  return {};
}

template <>
void apply(State& state, const CaptureAfter& c) {
  CaptureState& capture = *state.change().captures.of_stream(c.stream);
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

// ---- ExchangeCaptureMode

template <>
constexpr Traits kTraits<ExchangeCaptureMode>{kLegalInCapture, kSucceeds, kNeverRefused, kSeen,
                                              kNoDevice,       kTwice,    kOnce};

template <>
Reason check(const State& state, const ExchangeCaptureMode& c) {
  return unknown_thread(state, kNullStream, c.thread);
}

template <>
std::string seen(const State& state, const ExchangeCaptureMode& c) {
  static constexpr const char* kNames[] = {"global", "thread", "relaxed"};
  return kNames[static_cast<int>(state.parts().captures.mode_of(c.thread))];
}

template <>
void apply(State& state, const ExchangeCaptureMode& c) {
  state.change().captures.modes[c.thread] = c.mode;
}

// ---- UnsafeCall

template <>
constexpr Traits kTraits<UnsafeCall>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
CaptureAnswer answer(const State& state, const UnsafeCall& c) {
  return c.call < BesideCall::kMemoryInfo ? answer_to_unsafe(state, c.thread) : refuse(kAnswerSuccess);
}

template <>
Reason check(const State& state, const UnsafeCall& c) {
  return unknown_thread(state, kNullStream, c.thread);
}

template <>
void apply(State&, const UnsafeCall&) {}

template struct Rules<BeginCapture>;
template struct Rules<EndCapture>;
template struct Rules<CaptureInfo>;
template struct Rules<CaptureAfter>;
template struct Rules<ExchangeCaptureMode>;
template struct Rules<UnsafeCall>;

}  // namespace verify
