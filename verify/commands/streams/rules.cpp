// The rules of the commands about streams.
#include <fmt/format.h>

#include <algorithm>

#include "verify/commands/captures/answers.h"
#include "verify/commands/define_rules.h"
#include "verify/commands/nodes/node_rules.h"
#include "verify/commands/stream_memory/placed_memory.h"
#include "verify/program/graph_events.h"

namespace verify {

// ---- DeclareStream

template <>
constexpr Traits kTraits<DeclareStream>{kLegalInCapture, kSucceeds, kNeverRefused, kNothingSeen,
                                        kNamesDevices,   kTwice,    kOnce};

static Reason check_per_thread(const State& state, const DeclareStream& c) {
  if (c.non_blocking || c.priority != 0) return "the per-thread stream is as HIP makes it";
  for (const auto& [id, stream] : state.parts().streams.known) {
    if (stream.per_thread) return fmt::format("s{} is the per-thread stream already", id);
  }
  return c.device != 0 ? Reason("the per-thread stream is that of device 0") : Reason();
}

template <>
Reason check(const State& state, const DeclareStream& c) {
  if (c.stream == kNullStream) return "s0 is the null stream and needs no declaration";
  if (state.parts().streams.find(c.stream) != nullptr) return fmt::format("s{} is declared already", c.stream);
  if (c.per_thread) {
    if (Reason reason = check_per_thread(state, c)) return reason;
  }
  return unknown_device(c.device);
}

template <>
Id highest_device(const DeclareStream& c) {
  return c.device;
}

template <>
void apply(State& state, const DeclareStream& c) {
  StreamState stream;
  stream.alive = true;
  stream.non_blocking = c.non_blocking;
  stream.per_thread = c.per_thread;
  stream.device = c.device;
  state.change().streams.known[c.stream] = std::move(stream);
}

// ---- Synchronize

template <>
constexpr Traits kTraits<Synchronize>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen,
                                      kNoDevice,       kTwice,   kAgain};

template <>
CaptureAnswer answer(const State& state, const Synchronize& c) {
  if (c.target == Target::kEvent) return answer_to_host_on_event(state, c.id, c.thread);
  if (c.target == Target::kStream) return answer_to_host_on_stream(state, c.id, c.thread);
  CaptureAnswer answer;
  for (const CaptureState& capture : state.captures()) answer.invalidates.push_back(capture.serial);
  if (!state.captures().empty()) answer.status = kAnswerUnsupported;
  return answer;
}

template <>
Reason check(const State& state, const Synchronize& c) {
  if (c.thread > kMaxThread) return fmt::format("threads are numbered to {}", kMaxThread);
  if (c.thread != 0 && c.target == Target::kStream && state.per_thread(c.id))
    return "the per-thread stream is that of the first thread";
  if (c.target == Target::kStream) return state.missing_stream(c.id);
  if (c.target == Target::kEvent) return state.missing_event(c.id);
  return {};
}

template <>
void apply(State& state, const Synchronize& c) {
  StateParts& parts = state.change();
  parts.failing_below.reset();
  if (c.target == Target::kDevice) return parts.finish_all();
  if (c.target == Target::kStream) return parts.streams.wait_for(c.id);
  EventState& event = parts.events.known.at(c.id);
  event.waited_for = true;
  parts.streams.finish(event.clock);
}

// ---- Enqueue

template <>
constexpr Traits kTraits<Enqueue>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen,
                                  kNamesDevices,   kTwice,   kAgain};

// CUDA's programming guide, prohibited operations: a synchronous call enqueues work to the legacy stream and
// synchronises it. On the null stream the answer depends on no mode (7.2 documents so for hipMemcpyWithStream on a
// stream that captures); on any other stream the calling thread's mode may forbid it.
template <>
CaptureAnswer answer(const State& state, const Enqueue& c) {
  return c.wait ? answer_to_host_on_stream(state, c.stream, c.thread) : answer_to_work(state, c.stream);
}

namespace {

bool streams_take(const NodeParams& params) {
  return std::holds_alternative<KernelParams>(params) || std::holds_alternative<CopyParams>(params) ||
         std::holds_alternative<MemsetParams>(params) || std::holds_alternative<HostParams>(params);
}

// An external record or wait (hipEventRecordExternal, hipEventWaitExternal) is captured as a node, which acts
// in later launches. The documentation of HIP's flags says nothing of streams that do not capture, and CUDA's
// documentation forbids the flags there.
Reason check_external_event(const State& state, const Enqueue& c) {
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr) return "only a stream that captures takes event nodes: record and wait are for the others";
  const auto* record = std::get_if<EventRecordParams>(&c.params);
  const Id event = record != nullptr ? record->event : std::get<EventWaitParams>(c.params).event;
  if (state.event_captured(event)) return fmt::format("v{} stands for nodes of a capture", event);
  return {};
}

// CUDA's "API synchronization behavior": pageable memory may be staged when the call is made, before earlier work of
// the stream has written it.
Reason check_pageable_source(const State& state, const Enqueue& c) {
  const auto* copy = std::get_if<CopyParams>(&c.params);
  if (copy == nullptr || state.buffer(copy->src.ref.buffer)->memory != MemoryKind::kPageable) return {};
  if (!state.buffer_in_use(copy->src.ref.buffer)) return {};
  return "a copy from pageable memory may read it at once: synchronise first";
}

Reason check_work(const State& state, const Enqueue& c) {
  if (Reason reason = state.missing_stream(c.stream)) return reason;
  if (c.thread != 0 && state.per_thread(c.stream)) return "the per-thread stream is that of the first thread";
  if (c.thread > kMaxThread) return fmt::format("threads are numbered to {}", kMaxThread);
  const bool only_by_hand = std::holds_alternative<EmptyParams>(c.params) || is_child(c.params);
  if (!streams_take(c.params) && !is_event_node(c.params) && !(c.by_hand && only_by_hand))
    return "streams are given kernels, copies, memsets, host functions and event nodes";
  if (Reason reason = flaw_of_params(state, c.params, 1)) return reason;
  if (is_event_node(c.params)) {
    if (Reason reason = check_external_event(state, c)) return reason;
  }
  const CaptureState* capture = state.capture_of(c.stream);
  if (capture == nullptr) return check_pageable_source(state, c);
  if (Reason reason = too_many_instances(state, capture->graph, c.params, 1)) return reason;
  if (Reason reason = child_captured_into(state, c.params)) return reason;
  if (Reason reason = event_conflict(capture->graph, c.params, child_named(state, c.params), -1)) return reason;
  return newer_address(state, capture->graph, c.params, -1);
}

Reason check_memory_of_work(const State& state, const Enqueue& c) {
  if (const CaptureState* capture = state.capture_of(c.stream))
    return names_memory(state, c.params, {capture->graph, {}, capture->behind.at(c.stream), -1, capture->serial});
  Reason reason = frozen_placed(state, c.params);
  for_each_ref(c.params, [&](const BufferRef& ref) {
    if (reason) return;
    reason = not_there(state, ref.buffer);
    const bool of_graph = graph_memory(state, ref.buffer) != nullptr;
    if (!of_graph && !fills(c.params, ref.buffer, state.buffer(ref.buffer)->bytes))
      reason = holds_anything(state, ref.buffer);
  });
  return reason;
}

Reason check_waiting(const Enqueue& c) {
  if (!c.wait) return {};
  const auto* copy = std::get_if<CopyParams>(&c.params);
  if (copy == nullptr && !std::holds_alternative<MemsetParams>(c.params))
    return "the host waits for copies and memsets only";
  if (copy != nullptr && copy->peer != PeerCopy::kNone) return "a copy between peers that waits says peer=wait";
  const bool linear = copy != nullptr && copy->linear && copy->symbol == CopySymbol::kNone;
  if (c.stream == kNullStream || linear) return {};
  return "on another stream than the null stream the host waits for linear copies only";
}

Reason check_by_hand(const State& state, const Enqueue& c) {
  if (!c.by_hand) return {};
  if (c.wait || c.thread != 0) return "a node is added by hand by the program's own thread, which does not wait";
  const auto* copy = std::get_if<CopyParams>(&c.params);
  if (copy != nullptr && copy->peer != PeerCopy::kNone) return "no function adds a copy between peers as a node";
  if (Reason reason = child_elsewhere(state, c.params, state.device_of_stream(c.stream))) return reason;
  return no_capture_by_hand(state, c.stream);
}

// One workgroup for each of the fewest compute units that a device of the project has: all of them run at once there.
constexpr std::uint32_t kMaxCooperativeGrid = 8;

Reason check_cooperative(const Enqueue& c) {
  if (!c.cooperative) return {};
  const auto* kernel = std::get_if<KernelParams>(&c.params);
  if (kernel == nullptr) return "only kernels are launched cooperatively";
  if (c.by_hand) return "no function adds a cooperative kernel as a node: add it, then set its attribute";
  if (kernel->opaque) return "a launch whose attribute is known is not opaque";
  if (kernel->style == ArgumentStyle::kExtra) return "a cooperative launch takes no packed arguments: style=params";
  // Whether more workgroups fit is the device's to say; the launch of a recorded program fitted on its device.
  if (kernel->kernel->object == nullptr && kernel->grid > kMaxCooperativeGrid)
    return fmt::format("a cooperative launch has at most {} workgroups, so that they fit on every device",
                       kMaxCooperativeGrid);
  return {};
}

Reason check_peer_copy(const State& state, const Enqueue& c, const CopyParams& copy) {
  if (copy.peer == PeerCopy::kNone) return {};
  if (!copy.linear || copy.symbol != CopySymbol::kNone || copy.kind != CopyKind::kDeviceToDevice)
    return "a copy between peers is linear and from device to device";
  for (const CopyEnd* end : {&copy.dst, &copy.src}) {
    if (state.buffer(end->ref.buffer)->memory != MemoryKind::kDevice)
      return "a copy between peers is of their own memory";
  }
  if (copy.peer == PeerCopy::kAsync) return {};
  if (c.stream != kNullStream) return "a copy that the host waits for is the null stream's";
  if (!state.captures().empty()) return "a copy that waits is 'unsafe' while a stream captures";
  if (!state.idle()) return "which work a copy between peers waits for is not documented: synchronise";
  return {};
}

// HIP, multi-device management: a kernel that is given to a stream of another device fails; a copy does not.
Reason check_device_of_work(const State& state, const Enqueue& c) {
  const Id device = state.device_of_stream(c.stream);
  if (Reason reason = state.capture_of(c.stream) == nullptr ? state.views_out_of_reach(c.params) : Reason())
    return reason;
  if (Reason reason = pool_of_other_device(state, c.params, device)) return reason;
  if (Reason reason = event_of_other_device(state, c.params)) return reason;
  if (is_event_node(c.params) && device != 0)
    return "which device's streams a node records an event on is not documented";
  if (const auto* kernel = std::get_if<KernelParams>(&c.params)) {
    if (kernel->by_symbol && kernel->style == ArgumentStyle::kExtra && !c.by_hand)
      return "hipLaunchKernel takes no packed arguments";
    if (kernel->device != device) return fmt::format("s{} is a stream of device {}", c.stream, device);
    return state.capture_of(c.stream) != nullptr ? Reason{} : state.unreachable(*kernel);
  }
  if (const auto* memset = std::get_if<MemsetParams>(&c.params)) {
    const BufferState& buffer = *state.buffer(memset->dst.buffer);
    if (buffer.memory == MemoryKind::kDevice && buffer.device != device)
      return fmt::format("s{} is a stream of device {}", c.stream, device);
  }
  const auto* copy = std::get_if<CopyParams>(&c.params);
  if (copy != nullptr && copy->symbol != CopySymbol::kNone && device != 0)
    return "a symbol that is given to a stream of another device stands for that one's variable";
  return copy == nullptr ? Reason{} : check_peer_copy(state, c, *copy);
}

}  // namespace

template <>
Reason check(const State& state, const Enqueue& c) {
  if (Reason reason = check_work(state, c)) return reason;
  if (Reason reason = check_waiting(c)) return reason;
  if (Reason reason = check_by_hand(state, c)) return reason;
  if (Reason reason = check_cooperative(c)) return reason;
  if (Reason reason = check_memory_of_work(state, c)) return reason;
  return check_device_of_work(state, c);
}

template <>
Id highest_device(const Enqueue& c) {
  const auto* kernel = std::get_if<KernelParams>(&c.params);
  return kernel == nullptr ? 0 : kernel->device;
}

namespace {

// A peer copy is captured as a plain copy node.
NodeParams captured_form(NodeParams params) {
  if (auto* copy = std::get_if<CopyParams>(&params)) copy->peer = PeerCopy::kNone;
  return params;
}

void capture_work(State& state, CaptureState& capture, const Enqueue& c) {
  NodeState& node = capture.graph.nodes.back();
  node.captured = !c.by_hand;
  // CUDA, CUkernelNodeAttrValue: "Nonzero indicates a cooperative kernel (see cuLaunchCooperativeKernel)".
  if (c.cooperative) node.attributes.cooperative = true;
  state.fill(node, captured_form(c.params));
  state.parts().memory.note_addresses(capture.graph, node);
  count_node(capture.graph, node);
  const auto* record = std::get_if<EventRecordParams>(&c.params);
  if (record != nullptr) state.change().events.known.at(record->event).external = true;
}

}  // namespace

template <>
void apply(State& state, const Enqueue& c) {
  StateParts& parts = state.change();
  if (CaptureState* capture = parts.captures.push_node(c.stream, state.device_of_stream(c.stream)))
    return capture_work(state, *capture, c);
  std::vector<ByteRange> ranges;
  append_ranges(c.params, 1, ranges);
  for (const ByteRange& range : ranges) {
    BufferState& buffer = parts.memory.buffers.at(range.buffer);
    buffer.filled = buffer.filled || fills(c.params, range.buffer, buffer.bytes);
  }
  parts.streams.give_work(c.stream, state.ranges_of(c.params, 1), {});
  // HIP's header, hipMemcpyAsync: a copy of memory that is not pinned is performed synchronously. CUDA says so only of
  // pageable destinations, and AMD's runtimes do the same.
  // A copy that waits has to be over where an end is the host's memory; CUDA says so of no other copy and no memset.
  const auto* copy = std::get_if<CopyParams>(&c.params);
  if (copy == nullptr) return;
  const MemoryKind to = state.buffer(copy->dst.ref.buffer)->memory, from = state.buffer(copy->src.ref.buffer)->memory;
  const auto of_host = [](MemoryKind kind) { return kind != MemoryKind::kDevice && kind != MemoryKind::kManaged; };
  if (to == MemoryKind::kPageable || (c.wait && (of_host(to) || of_host(from)))) parts.streams.wait_for(c.stream);
}

// ---- Query

template <>
constexpr Traits kTraits<Query>{kLegalInCapture, kAnswers, kNeverRefused, kNothingSeen, kNoDevice, kTwice, kOnce};

template <>
CaptureAnswer answer(const State& state, const Query& c) {
  return c.target == Target::kEvent ? answer_to_host_on_event(state, c.id, c.thread)
                                    : answer_to_host_on_stream(state, c.id, c.thread);
}

static bool may_be_busy(const State& state, const Query& c) {
  const StreamsState& streams = state.parts().streams;
  if (c.target == Target::kEvent) return !state.event_over(c.id);
  if (c.id != kNullStream) return !streams.is_over(c.id);
  return std::ranges::any_of(streams.known, [&](const auto& each) { return !streams.is_over(each.first); });
}

// The answer depends on time, except where the program has waited or the rules of capture refuse the query.
template <>
Reason check(const State& state, const Query& c) {
  const bool event = c.target == Target::kEvent;
  if (!event && c.target != Target::kStream) return "streams and events can be queried";
  if (Reason reason = event ? state.missing_event(c.id) : state.missing_stream(c.id)) return reason;
  if (Reason reason = unknown_thread(state, event ? kNullStream : c.id, c.thread)) return reason;
  if (answer(state, c).status != 0 || !may_be_busy(state, c)) return {};
  return "whether it is ready is a matter of time: synchronise first";
}

template <>
void apply(State&, const Query&) {}

template struct Rules<DeclareStream>;
template struct Rules<Synchronize>;
template struct Rules<Enqueue>;
template struct Rules<Query>;

}  // namespace verify
