// verify::State: passes commands to the rules of their families, and holds the parts that the rules read and change.
// In this order: streams and events, captures, memory, all parts together, objects by name, nodes. Contracts are in the
// headers.
#include "verify/program/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "verify/program/rules.h"

namespace verify {

// ---- commands

Reason State::check(const Command& command) const {
  return std::visit([this]<class C>(const C& c) { return Rules<C>::check(*this, c); }, command);
}

void State::apply(const Command& command) {
  assert(!check(command));
  std::visit([this]<class C>(const C& c) { Rules<C>::apply(*this, c); }, command);
}

bool State::may_be_refused(const Command& command) const {
  return std::visit([this]<class C>(const C& c) { return Rules<C>::may_be_refused(*this, c); }, command);
}

bool State::may_stand_again(const Command& command) const {
  return std::visit([this]<class C>(const C& c) { return Rules<C>::may_stand_again(*this, c); }, command);
}

CaptureAnswer State::answer(const Command& command) const {
  return std::visit([this]<class C>(const C& c) { return Rules<C>::answer(*this, c); }, command);
}

std::string State::seen(const Command& command) const {
  return std::visit([this]<class C>(const C& c) { return Rules<C>::seen(*this, c); }, command);
}

// ---- streams and events

namespace {

void merge(Clock& clock, const Clock& other) {
  for (const auto& [id, tick] : other) clock[id] = std::max(clock[id], tick);
}

// Whether the stream is ordered with the null stream of device 0; each other device has a null stream of its own.
bool follows_null_stream(const StreamState& stream) {
  return !stream.non_blocking && stream.device == 0;
}

}  // namespace

void EventState::record(Id stream, Clock behind, std::uint64_t tick) {
  clock = std::move(behind);
  recorded = true;
  waited_for = false;
  over_at = tick;
  recorded_on = stream;
  external = false;
  capture = 0;
  captured.clear();
}

bool Pending::before(const Clock& clock) const {
  const auto known = clock.find(stream);
  return known != clock.end() && known->second >= tick;
}

const StreamState* StreamsState::find(Id stream) const {
  const auto found = known.find(stream);
  return found == known.end() ? nullptr : &found->second;
}

bool StreamsState::alive(Id id) const {
  const StreamState* stream = find(id);
  return id == kNullStream || (stream != nullptr && stream->alive);
}

Id StreamsState::device_of(Id id) const {
  const StreamState* stream = find(id);
  return stream == nullptr ? 0 : stream->device;
}

Clock StreamsState::launch_clock(Id stream) const {
  Clock clock;
  const StreamState* own = find(stream);
  if (own != nullptr) merge(clock, own->clock);
  if (own != nullptr && own->non_blocking) return clock;
  if (stream == kNullStream) {
    for (const auto& [id, other] : known) {
      if (follows_null_stream(other)) merge(clock, other.clock);
    }
  } else if (own != nullptr && own->device != 0) {
    return clock;
  } else if (const StreamState* null_stream = find(kNullStream)) {
    merge(clock, null_stream->clock);
  }
  return clock;
}

bool StreamsState::unordered_conflict(const std::vector<ByteRange>& ranges, const Clock& clock) const {
  return std::ranges::any_of(pending,
                             [&](const Pending& work) { return !work.before(clock) && conflict(work.ranges, ranges); });
}

bool StreamsState::is_over(Id stream, std::uint64_t tick) const {
  const auto found = over.find(stream);
  return tick == 0 || (found != over.end() && found->second >= tick);
}

bool StreamsState::is_over(Id id) const {
  const StreamState* stream = find(id);
  if (stream == nullptr) return true;
  const auto last = stream->clock.find(id);
  return last == stream->clock.end() || is_over(id, last->second);
}

StreamState& StreamsState::occupy(Id id) {
  StreamState& stream = known[id];
  stream.alive = true;
  ++stream.clock[id];
  return stream;
}

void StreamsState::give_work(Id id, std::vector<ByteRange> ranges, std::optional<Id> exec) {
  Clock clock = launch_clock(id);
  const std::uint64_t tick = ++clock[id];
  occupy(id).clock = std::move(clock);
  pending.push_back({id, tick, std::move(ranges), exec});
}

void StreamsState::finish(const Clock& clock) {
  merge(over, clock);
  std::erase_if(pending, [&](const Pending& work) { return work.before(clock); });
}

void StreamsState::wait_for(Id id) {
  finish(id == kNullStream ? launch_clock(id) : known.at(id).clock);
}

const EventState* EventsState::find(Id event) const {
  const auto found = known.find(event);
  return found == known.end() ? nullptr : &found->second;
}

Id EventsState::device_of(Id id) const {
  const EventState* event = find(id);
  return event == nullptr ? 0 : event->device;
}

Clock EventsState::behind(const Clock& clock, const std::vector<Id>& events) const {
  Clock merged = clock;
  for (const Id event : events) {
    // A wait node waits for nothing where a capture took the event.
    if (const EventState& waited = known.at(event); waited.capture == 0) merge(merged, waited.clock);
  }
  return merged;
}

// ---- captures

namespace {

// The first capture that fits, or null.
template <class Captures, class Predicate>
auto* find_capture(Captures& captures, const Predicate& predicate) {
  const auto found = std::ranges::find_if(captures, predicate);
  return found == captures.end() ? nullptr : &*found;
}

Id next_name(const GraphState& graph) {
  Id next = 0;
  if (!graph.nodes.empty() && graph.nodes.back().id + 1 == graph.above) return graph.above;
  for (const NodeState& node : graph.nodes) next = std::max(next, node.id + 1);
  return next;
}

}  // namespace

void add_sorted(std::vector<std::uint32_t>& into, const std::vector<std::uint32_t>& more) {
  into.insert(into.end(), more.begin(), more.end());
  std::ranges::sort(into);
  into.erase(std::unique(into.begin(), into.end()), into.end());
}

bool CaptureState::all_joined() const {
  std::vector<std::uint32_t> joined = taken_out;
  const auto last = behind.find(origin);
  if (last != behind.end()) joined.insert(joined.end(), last->second.begin(), last->second.end());
  const std::vector<char> seen = mark_ancestors(graph, std::move(joined));
  return std::ranges::all_of(behind, [&seen](const auto& entry) {
    return std::ranges::all_of(entry.second, [&seen](std::uint32_t index) { return seen[index] != 0; });
  });
}

const CaptureState* CapturesState::of_stream(Id stream) const {
  return find_capture(open, [stream](const CaptureState& c) { return c.behind.contains(stream); });
}

CaptureState* CapturesState::of_stream(Id stream) {
  return find_capture(open, [stream](const CaptureState& c) { return c.behind.contains(stream); });
}

const CaptureState* CapturesState::with_serial(std::uint64_t serial) const {
  return find_capture(open, [serial](const CaptureState& c) { return c.serial == serial; });
}

CaptureState* CapturesState::with_serial(std::uint64_t serial) {
  return find_capture(open, [serial](const CaptureState& c) { return c.serial == serial; });
}

CaptureMode CapturesState::mode_of(Id thread) const {
  const auto chosen = modes.find(thread);
  return chosen == modes.end() ? CaptureMode::kGlobal : chosen->second;
}

void CapturesState::invalidate(const std::vector<std::uint64_t>& serials) {
  for (const std::uint64_t serial : serials) {
    if (CaptureState* capture = with_serial(serial)) capture->valid = false;
  }
}

void CapturesState::close(std::uint64_t serial) {
  std::erase_if(open, [serial](const CaptureState& capture) { return capture.serial == serial; });
}

CaptureState* CapturesState::push_node(Id stream, Id device) {
  CaptureState* capture = of_stream(stream);
  if (capture == nullptr) return nullptr;
  NodeState node;
  node.id = next_name(capture->graph);
  node.captured = true;
  node.added_on = device;
  node.after = capture->behind.at(stream);
  capture->behind.at(stream) = {static_cast<std::uint32_t>(capture->graph.nodes.size())};
  capture->graph.add(std::move(node));
  return capture;
}

// ---- memory

const BufferState* MemoryState::find(Id buffer) const {
  const auto found = buffers.find(buffer);
  return found == buffers.end() ? nullptr : &found->second;
}

Room MemoryState::room_for(std::uint64_t bytes) const {
  if (!left_free) return Room::kEnough;
  const auto [surely, maybe] = surely_and_maybe();
  if (bytes > maybe) return Room::kNone;
  return bytes <= surely ? Room::kEnough : Room::kOpen;
}

std::pair<std::uint64_t, std::uint64_t> MemoryState::surely_and_maybe() const {
  std::uint64_t held = 0, ever = kRuntimeBytes;
  for (const auto& [id, buffer] : buffers) {
    if (!buffer.of_stream_alone()) continue;
    ever += buffer.bytes;
    held += buffer.alive ? buffer.bytes : 0;
  }
  return {*left_free - std::min(ever, *left_free), *left_free + kMaxBesides - held};
}

std::uint64_t MemoryState::other_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, buffer] : buffers) bytes += buffer.of_stream_alone() || buffer.view ? 0 : buffer.bytes;
  for (const auto& [id, memory] : mapped.memories) bytes += memory.pages * kPageBytes;
  return bytes;
}

void MemoryState::note_addresses(GraphState& graph, const NodeState& node) const {
  const auto note = [&](Id buffer) { graph.addresses[buffer] = buffers.at(buffer).version; };
  for_each_ref(node.params, [&](const BufferRef& ref) { note(ref.buffer); });
  if (!node.child) return;
  for (const auto& [buffer, version] : node.child->addresses) note(buffer);
}

void MemoryState::renew_addresses(GraphState& graph) const {
  const std::map<Id, std::uint32_t> before = std::move(graph.addresses);
  graph.addresses.clear();
  for (const NodeState& node : graph.nodes) note_addresses(graph, node);
  for (auto& [buffer, version] : graph.addresses) {
    const auto found = before.find(buffer);
    if (found != before.end()) version = found->second;
  }
}

// ---- all parts

void StateParts::finish_all() {
  streams.pending.clear();
  for (const auto& [id, stream] : streams.known) merge(streams.over, stream.clock);
}

// The documentation does not define the contents of a graph after a failed capture into it. Programs do not use that
// graph any more.
void StateParts::drop_capture(std::uint64_t serial) {
  ++captures.failed;
  const CaptureState& capture = *captures.with_serial(serial);
  if (capture.into) graphs.graphs.at(*capture.into).alive = false;
  for (auto& [id, buffer] : memory.buffers) {
    if (buffer.capture == serial) buffer.alive = false;
  }
  captures.close(serial);
}

// ---- objects

Reason unknown_device(Id device) {
  if (device < kMaxDevices) return {};
  return fmt::format("devices are numbered to {}", kMaxDevices - 1);
}

const GraphState* State::graph(Id id) const {
  const auto found = graphs().find(id);
  return found == graphs().end() ? nullptr : &found->second;
}

const ExecState* State::exec(Id id) const {
  const auto found = execs().find(id);
  return found == execs().end() ? nullptr : &found->second;
}

Reason State::flaw_of_buffer(Id id, std::uint64_t bytes) const {
  if (bytes == 0 || bytes > kMaxBufferBytes) return fmt::format("a buffer has 1 to {} bytes", kMaxBufferBytes);
  if (buffer(id) != nullptr) return fmt::format("b{} is declared already", id);
  return {};
}

Reason State::flaw_of_other_memory(std::uint64_t bytes) const {
  const bool limited = parts_.memory.left_free.has_value();
  if (!limited || parts_.memory.other_bytes() + bytes <= MemoryState::kMaxOtherBytes) return {};
  return fmt::format("behind device_memory a program has at most {} bytes of buffers, freed ones included",
                     MemoryState::kMaxOtherBytes);
}

Reason State::missing_buffer(Id id) const {
  const BufferState* found = buffer(id);
  if (found == nullptr) return fmt::format("b{} is not declared", id);
  if (!found->alive) return fmt::format("b{} was freed", id);
  return {};
}

Reason State::missing_graph(Id id) const {
  const GraphState* found = graph(id);
  if (found == nullptr) return fmt::format("g{} is not declared", id);
  if (!found->alive) return fmt::format("g{} was destroyed", id);
  return {};
}

Reason State::missing_node(Id graph, Id node) const {
  if (Reason reason = missing_graph(graph)) return reason;
  if (this->graph(graph)->find(node) == nullptr) return fmt::format("g{}.n{} does not exist", graph, node);
  return {};
}

Reason State::missing_exec(Id id, const char* gone) const {
  const ExecState* found = exec(id);
  if (found == nullptr) return fmt::format("e{} was never instantiated", id);
  if (!found->alive) return fmt::format("e{} {}", id, gone);
  return {};
}

Reason State::missing_stream(Id id) const {
  if (parts_.streams.alive(id)) return {};
  return fmt::format("s{} is not declared or was destroyed", id);
}

Reason State::missing_event(Id id) const {
  const EventState* found = parts_.events.find(id);
  if (found != nullptr && found->alive) return {};
  return fmt::format("v{} is not declared or was destroyed", id);
}

Reason State::missing_module(Id id) const {
  const auto found = parts_.modules.find(id);
  if (found == parts_.modules.end()) return fmt::format("m{} is not declared", id);
  return found->second ? Reason() : fmt::format("m{} was unloaded", id);
}

Reason State::missing_origin(Id exec) const {
  const Id origin = this->exec(exec)->origin;
  if (graph(origin)->alive) return {};
  return fmt::format("g{}, whose nodes name those of e{}, was destroyed", origin, exec);
}

// ---- nodes

std::vector<ByteRange> State::ranges_of(const NodeParams& params, std::uint32_t fan) const {
  if (const auto* child = std::get_if<ChildParams>(&params)) return graphs().at(child->graph).ranges();
  std::vector<ByteRange> ranges;
  append_ranges(params, fan, ranges);
  for (std::size_t i = 0, named = ranges.size(); i < named && !parts_.memory.mapped.ranges.empty(); ++i) {
    const BufferState* touched = buffer(ranges[i].buffer);
    if (touched != nullptr && touched->view) ranges.push_back({kAnyView, 0, kToTheEnd, ranges[i].write});
  }
  return ranges;
}

std::vector<Id> State::devices_of(const NodeParams& params) const {
  const auto of = [this](const BufferRef& ref) { return buffers().at(ref.buffer).device; };
  if (const auto* kernel = std::get_if<KernelParams>(&params)) return {kernel->device};
  if (const auto* copy = std::get_if<CopyParams>(&params)) return {of(copy->dst.ref), of(copy->src.ref)};
  if (const auto* memset = std::get_if<MemsetParams>(&params)) return {of(memset->dst)};
  return {};
}

void State::fill(NodeState& node, const NodeParams& params) const {
  const auto* child = std::get_if<ChildParams>(&params);
  node.params = params;
  node.child = child == nullptr ? nullptr : std::make_shared<const GraphState>(graphs().at(child->graph));
  node.ranges = ranges_of(params, node.fan);
  node.devices = devices_of(params);
}

// hipDeviceEnablePeerAccess maps the memory of a peer; access descriptors map the memory of an allocation node (CUDA's
// programming guide, "Peer Access" of graph memory nodes). A kernel that touches unmapped memory faults.
Reason State::unreachable(const KernelParams& kernel) const {
  Reason reason;
  for_each_ref(kernel, [&](const BufferRef& ref) {
    const BufferState& buffer = buffers().at(ref.buffer);
    if (buffer.memory != MemoryKind::kDevice || buffer.device == kernel.device || buffer.view) return;
    const bool granted = (buffer.access >> kernel.device & 1) != 0;
    if (!reason && !granted && !peer_enabled(kernel.device, buffer.device))
      reason = fmt::format("device {} has no access to b{} of device {}", kernel.device, ref.buffer, buffer.device);
  });
  return reason;
}

Reason State::unreachable(const GraphState& graph) const {
  for (const NodeState& node : graph.nodes) {
    if (Reason reason = views_out_of_reach(node.params)) return reason;
    const auto* kernel = std::get_if<KernelParams>(&node.params);
    if (kernel != nullptr) {
      if (Reason reason = unreachable(*kernel)) return reason;
    }
    if (node.child) {
      if (Reason reason = unreachable(*node.child)) return reason;
    }
  }
  return {};
}

bool State::unfreed_memory(const GraphState& graph) const {
  return graph.has_memory && std::ranges::any_of(graph.nodes, [this](const NodeState& node) {
           const auto* memory = std::get_if<MemoryAllocParams>(&node.params);
           return memory != nullptr && buffers().at(memory->buffer).unfreed;
         });
}

bool State::current(const GraphState& graph) const {
  return stale_buffers(graph).empty();
}

std::vector<Id> State::stale_buffers(const GraphState& graph) const {
  std::vector<Id> stale;
  for (const auto& [id, version] : graph.addresses) {
    const BufferState* buffer = this->buffer(id);
    if (!buffer->alive || buffer->version != version) stale.push_back(id);
  }
  return stale;
}

}  // namespace verify
