// Preconditions and effects of every command; one overload a command.
#include "verify/program/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>

#include "verify/errors/error_cases.h"
#include "verify/program/state_capture.h"
#include "verify/program/state_devices.h"
#include "verify/program/state_events.h"
#include "verify/program/state_graphs.h"
#include "verify/program/state_memory.h"
#include "verify/program/state_pools.h"
#include "verify/program/text.h"

namespace verify {

using Reason = std::optional<std::string>;

// HIP's generic parameters of a copy are those of its 3D form, and so are the driver's.
bool has_form(const NodeParams& params, NodeForm form) {
  const auto* copy = std::get_if<CopyParams>(&params);
  const auto* kernel = std::get_if<KernelParams>(&params);
  if (form == NodeForm::kTyped) return true;
  if (copy != nullptr) return !copy->linear;
  if (form == NodeForm::kGeneric) return (kernel == nullptr || !kernel->opaque) && !is_memory_node(params);
  return std::holds_alternative<MemsetParams>(params) || std::holds_alternative<MemoryFreeParams>(params);
}

const NodeState* GraphState::find(Id node) const {
  const int index = index_of(node);
  return index < 0 ? nullptr : &nodes[static_cast<std::size_t>(index)];
}

std::vector<ByteRange> GraphState::ranges() const {
  std::vector<ByteRange> all;
  for (const NodeState& node : nodes) all.insert(all.end(), node.ranges.begin(), node.ranges.end());
  return all;
}

int GraphState::index_of(Id node) const {
  // Ids mostly equal indices; look there first.
  if (node < nodes.size() && nodes[node].id == node) return static_cast<int>(node);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].id == node) return static_cast<int>(i);
  }
  return -1;
}

namespace {

// Managed memory is on either side.
bool is_host_memory(MemoryKind kind) {
  return kind != MemoryKind::kDevice;
}
bool is_device_memory(MemoryKind kind) {
  return kind == MemoryKind::kDevice || kind == MemoryKind::kManaged;
}

// Does a copy's stated direction fit where its ends live? (hipMemcpyKind: the direction must match the pointers.)
bool direction_fits(CopyKind kind, MemoryKind dst, MemoryKind src) {
  switch (kind) {
    case CopyKind::kHostToHost:
      return is_host_memory(dst) && is_host_memory(src);
    case CopyKind::kHostToDevice:
      return is_device_memory(dst) && is_host_memory(src);
    case CopyKind::kDeviceToHost:
      return is_host_memory(dst) && is_device_memory(src);
    case CopyKind::kDeviceToDevice:
      return is_device_memory(dst) && is_device_memory(src);
    case CopyKind::kDefault:
      break;
  }
  return true;
}

bool same_topology(const GraphState& a, const GraphState& b);

// What a setter of a graph's own node may not change: everything else is a parameter.
bool same_kind(const NodeParams& a, const NodeParams& b) {
  if (a.index() != b.index()) return false;
  // HIP's setters of copies to and from symbols are named after what the node was added as; AMD's runtime keeps each as
  // a type of its own. Another symbol is a parameter like any other (graph_memcpy_to_from_symbol_common.hh).
  const auto* copy = std::get_if<CopyParams>(&a);
  if (copy != nullptr && copy->symbol != std::get<CopyParams>(b).symbol) return false;
  const auto* kernel = std::get_if<KernelParams>(&a);
  return kernel == nullptr || kernel->opaque == std::get<KernelParams>(b).opaque;
}

// What an exec setter or an update may not change about a node (HIP documents that only parameters may change).
bool same_shape(const NodeState& a, const NodeParams& params, const GraphState* child) {
  if (a.params.index() != params.index()) return false;
  if (const auto* kernel = std::get_if<KernelParams>(&params)) {
    const auto& old = std::get<KernelParams>(a.params);
    return old.opaque == kernel->opaque;  // the function may change
  }
  if (const auto* copy = std::get_if<CopyParams>(&params)) {
    const auto& old = std::get<CopyParams>(a.params);
    if (old.linear != copy->linear || old.kind != copy->kind || old.symbol != copy->symbol) return false;
    return copy->linear || (old.width == copy->width && old.height == copy->height && old.depth == copy->depth);
  }
  if (const auto* memset = std::get_if<MemsetParams>(&params)) {
    const auto& old = std::get<MemsetParams>(a.params);
    if (old.element != memset->element || old.height != memset->height) return false;
    return memset->height == 1 || (old.width == memset->width && old.pitch == memset->pitch);
  }
  if (std::holds_alternative<ChildParams>(params)) {
    return child != nullptr && std::get<ChildParams>(a.params).nest == std::get<ChildParams>(params).nest &&
           same_topology(*a.child, *child);
  }
  return true;
}

bool same_topology(const GraphState& a, const GraphState& b) {
  if (a.nodes.size() != b.nodes.size()) return false;
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const NodeState &x = a.nodes[i], &y = b.nodes[i];
    if (x.after != y.after || x.fan != y.fan || !same_shape(x, y.params, y.child.get())) return false;
  }
  return true;
}

}  // namespace

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

std::vector<Id> State::live_streams() const {
  std::vector<Id> ids = {kNullStream};
  for (const auto& [id, stream] : streams_) {
    if (stream.alive && id != kNullStream) ids.push_back(id);
  }
  return ids;
}

std::vector<Id> State::live_events() const {
  std::vector<Id> ids;
  for (const auto& [id, event] : events_) {
    if (event.alive) ids.push_back(id);
  }
  return ids;
}

bool State::stream_alive(Id id) const {
  const StreamState* stream = find(streams_, id);
  return id == kNullStream || (stream != nullptr && stream->alive);
}

bool State::node_races(const GraphState& graph, const std::vector<ByteRange>& ranges,
                       const std::vector<std::uint32_t>& after, int replaced) const {
  std::vector<char> ordered(graph.nodes.size(), 0);
  std::vector<std::uint32_t> stack = after;
  while (!stack.empty()) {  // ancestors
    const std::uint32_t index = stack.back();
    stack.pop_back();
    if (ordered[index] != 0) continue;
    ordered[index] = 1;
    stack.insert(stack.end(), graph.nodes[index].after.begin(), graph.nodes[index].after.end());
  }
  if (replaced >= 0) mark_descendants(graph, static_cast<std::uint32_t>(replaced), ordered);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (ordered[i] == 0 && conflict(ranges, graph.nodes[i].ranges)) return true;
  }
  return false;
}

std::vector<ByteRange> State::ranges_of(const NodeParams& params, std::uint32_t fan) const {
  if (const auto* child = std::get_if<ChildParams>(&params)) return graphs_.at(child->graph).ranges();
  std::vector<ByteRange> ranges;
  append_ranges(params, fan, ranges);
  return ranges;
}

bool State::set_races(const SetNode& command) const {
  const GraphState& graph = command.target == Target::kGraph ? graphs_.at(command.id) : execs_.at(command.id).graph;
  const int index = graph.index_of(command.node);
  const NodeState& node = graph.nodes[static_cast<std::size_t>(index)];
  return node_races(graph, ranges_of(command.params, node.fan), node.after, index);
}

// The null stream waits for every blocking stream and every blocking stream for it (HIP: legacy default stream).
State::Clock State::launch_clock(Id stream) const {
  Clock clock;
  const auto merge = [&clock](const Clock& other) {
    for (const auto& [id, tick] : other) clock[id] = std::max(clock[id], tick);
  };
  const StreamState* own = find(streams_, stream);
  if (own != nullptr) merge(own->clock);
  if (own != nullptr && own->non_blocking) return clock;
  if (stream == kNullStream) {
    for (const auto& [id, other] : streams_) {
      if (!other.non_blocking && other.device == 0) merge(other.clock);
    }
  } else if (own != nullptr && own->device != 0) {
    return clock;  // each device has a null stream of its own
  } else if (const StreamState* null_stream = find(streams_, kNullStream)) {
    merge(null_stream->clock);
  }
  return clock;
}

bool State::launch_races(Id exec_id, Id stream) const {
  if (pending_.empty()) return false;
  if (capture_of(stream) != nullptr) return false;
  if (exec(exec_id)->graph.has_events) return launch_with_events_races(exec(exec_id)->graph, stream);
  return work_races(exec(exec_id)->graph.ranges(), stream);
}

bool State::work_races(const std::vector<ByteRange>& ranges, Id stream) const {
  if (pending_.empty() || capture_of(stream) != nullptr) return false;
  return unordered_conflict(ranges, launch_clock(stream));
}

bool State::exec_running(Id exec) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& pending) { return pending.exec == exec; });
}

bool State::stream_busy(Id stream) const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const Pending& pending) { return pending.stream == stream; });
}

bool State::buffer_in_use(Id buffer) const {
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    return std::any_of(pending.ranges.begin(), pending.ranges.end(),
                       [&](const ByteRange& range) { return range.buffer == buffer; });
  });
}

void State::give_work(Id id, std::vector<ByteRange> ranges, std::optional<Id> exec) {
  Clock clock = launch_clock(id);
  const std::uint64_t tick = ++clock[id];
  StreamState& stream = streams_[id];
  stream.alive = stream.busy = true;
  stream.clock = std::move(clock);
  pending_.push_back({id, tick, std::move(ranges), exec});
}

void State::synchronize_all() {
  pending_.clear();
  for (auto& [id, stream] : streams_) stream.busy = false;
  for (auto& [id, event] : events_) event.busy = false;
}

void State::synchronize_clock(const Clock& clock) {
  std::erase_if(pending_, [&](const Pending& pending) {
    const auto known = clock.find(pending.stream);
    return known != clock.end() && known->second >= pending.tick;
  });
}

// ---- preconditions

struct Checker {
  const State& state;

  static Reason no(std::string reason) { return reason; }

  Reason live_buffer(Id id) const {
    const BufferState* buffer = state.buffer(id);
    if (buffer == nullptr) return no(fmt::format("b{} is not declared", id));
    if (!buffer->alive) return no(fmt::format("b{} was freed", id));
    return {};
  }
  Reason live_graph(Id id) const {
    const GraphState* graph = state.graph(id);
    if (graph == nullptr) return no(fmt::format("g{} is not declared", id));
    if (!graph->alive) return no(fmt::format("g{} was destroyed", id));
    return {};
  }
  Reason live_exec(Id id) const {
    const ExecState* exec = state.exec(id);
    if (exec == nullptr) return no(fmt::format("e{} was never instantiated", id));
    if (!exec->alive) return no(fmt::format("e{} was destroyed", id));
    return {};
  }
  Reason live_stream(Id id) const {
    if (state.stream_alive(id)) return {};
    return no(fmt::format("s{} is not declared or was destroyed", id));
  }
  Reason live_event(Id id) const {
    const auto* event = State::find(state.events_, id);
    if (event != nullptr && event->alive) return {};
    return no(fmt::format("v{} is not declared or was destroyed", id));
  }

  // ---- parameters of nodes

  Reason in_bounds(const std::vector<ByteRange>& ranges) const {
    for (const ByteRange& range : ranges) {
      if (Reason reason = live_buffer(range.buffer)) return reason;
      const auto bytes = static_cast<std::int64_t>(state.buffer(range.buffer)->bytes);
      if (range.hi == kToTheEnd) continue;
      if (range.lo < 0 || range.hi > bytes) {
        return no(
            fmt::format("bytes {} to {} of b{} are touched, which has {}", range.lo, range.hi, range.buffer, bytes));
      }
    }
    return {};
  }
  static Reason not_self_conflicting(const std::vector<ByteRange>& ranges) {
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      for (std::size_t j = i + 1; j < ranges.size(); ++j) {
        const ByteRange &a = ranges[i], &b = ranges[j];
        if (a.buffer == b.buffer && (a.write || b.write) && a.lo < b.hi && b.lo < a.hi) {
          return no(
              fmt::format("the node writes bytes of b{} that it also touches through another argument", a.buffer));
        }
      }
    }
    return {};
  }
  Reason reference(const BufferRef& ref, std::uint32_t alignment) const {
    if (Reason reason = live_buffer(ref.buffer)) return reason;
    const auto bytes = static_cast<std::int64_t>(state.buffer(ref.buffer)->bytes);
    if (ref.offset < 0 || ref.offset > bytes)
      return no(fmt::format("{} lies outside b{} ({} bytes)", print_ref(ref), ref.buffer, bytes));
    if (ref.offset % alignment != 0) return no(fmt::format("{} is not aligned to {} bytes", print_ref(ref), alignment));
    return {};
  }

  Reason params(const KernelParams& p) const {
    if (p.kernel == nullptr || p.arguments.size() != p.kernel->fields.size())
      return no("a kernel takes one value a field");
    if (p.kernel->fields.empty() && p.style == ArgumentStyle::kExtra)
      return no(fmt::format("{} has no arguments to be packed", p.kernel->name));
    if (p.shared_bytes > kMaxSharedBytes)
      return no(fmt::format("a workgroup shares at most {} bytes", kMaxSharedBytes));
    const std::uint64_t items = std::uint64_t{p.block} * p.block_y * p.block_z;
    if (p.grid == 0 || p.grid_y == 0 || p.grid_z == 0 || items == 0 || items > 1024)
      return no("grid is at least 1, block 1 to 1024");
    if (p.kernel->object == nullptr && (p.grid_y != 1 || p.grid_z != 1 || p.block_y != 1 || p.block_z != 1))
      return no("the project's kernels have one dimension");
    for (std::size_t i = 0; i < p.arguments.size(); ++i) {
      const FieldSpec& field = p.kernel->fields[i];
      const ArgumentValue& value = p.arguments[i];
      const bool says = field.kind != FieldKind::kEither;
      if (says && (field.kind == FieldKind::kPointer) != (value.kind == ArgumentValue::Kind::kPointer)) {
        return no(fmt::format("'{}' of {} is {}", field.name, p.kernel->name,
                              field.kind == FieldKind::kPointer ? "a pointer" : "not a pointer"));
      }
      if (value.kind == ArgumentValue::Kind::kNumber) continue;
      const bool pointer = value.kind == ArgumentValue::Kind::kPointer;
      if (Reason reason = reference(value.ref, pointer ? field.element : 1)) return reason;
      if (pointer && state.buffer(value.ref.buffer)->memory == MemoryKind::kPageable) {
        return no(fmt::format("a kernel cannot reach pageable b{}", value.ref.buffer));
      }
    }
    if (p.kernel->extent == Extent::kRange) return range_kernel(p);
    if (p.kernel->extent == Extent::kMatrix) return matrix_kernel(p);
    if (p.kernel->extent == Extent::kElements &&
        p.arguments[static_cast<std::size_t>(p.kernel->count_field)].kind != ArgumentValue::Kind::kNumber) {
      return no("the number of elements has to be a number");
    }
    return {};
  }
  static Reason range_kernel(const KernelParams& p) {
    const BufferRef& begin = p.arguments[static_cast<std::size_t>(p.kernel->field_index("begin"))].ref;
    const BufferRef& end = p.arguments[static_cast<std::size_t>(p.kernel->field_index("end"))].ref;
    if (begin.buffer != end.buffer || end.offset < begin.offset)
      return no("begin and end are not a range of one buffer");
    return {};
  }
  // Its scalars say what is touched, so none of them may take an address's bits; and its work needs a bound, because
  // strides of 0 let any number of products lie within a few bytes.
  static Reason matrix_kernel(const KernelParams& p) {
    std::uint64_t products = 1;
    for (std::size_t i = 0; i < p.arguments.size(); ++i) {
      const FieldSpec& field = p.kernel->fields[i];
      if (field.kind == FieldKind::kPointer) continue;
      if (p.arguments[i].kind != ArgumentValue::Kind::kNumber)
        return no(fmt::format("'{}' of {} has to be a number", field.name, p.kernel->name));
      if (field.name != "m" && field.name != "n" && field.name != "k") continue;
      if (p.arguments[i].number > kMaxProducts) return no(fmt::format("'{}' is at most {}", field.name, kMaxProducts));
      products *= std::max<std::uint64_t>(p.arguments[i].number, 1);
    }
    if (products > kMaxProducts) return no(fmt::format("a matrix kernel multiplies at most {} times", kMaxProducts));
    return {};
  }
  Reason params(const CopyParams& p) const {
    for (const CopyEnd* end : {&p.dst, &p.src}) {
      if (Reason reason = reference(end->ref, 1)) return reason;
      if (!p.linear && (end->pitch < end->position.x + p.width || end->rows < end->position.y + p.height)) {
        return no("a copy's pitch and rows hold its width and height, positions included");
      }
      // AMD's runtime refuses a pitched pointer that describes more memory than its allocation has (native placement,
      // all releases): whole slices, whole rows. HIP's header calls ysize the logical height of the allocation.
      const std::uint64_t bytes = state.buffer(end->ref.buffer)->bytes, slice = end->pitch * end->rows;
      if (!p.linear && (slice > bytes || end->position.z + p.depth > bytes ||
                        slice * (end->position.z + p.depth) + static_cast<std::uint64_t>(end->ref.offset) > bytes)) {
        return no("a copy's rows, pitch and all, lie within the buffer");
      }
    }
    if (p.width == 0 || p.height == 0 || p.depth == 0) return no("a copy moves at least one byte");
    if (p.linear && (p.height != 1 || p.depth != 1)) return no("a linear copy has one row");
    if (Reason reason = symbol(p)) return reason;
    const MemoryKind dst = state.buffer(p.dst.ref.buffer)->memory, src = state.buffer(p.src.ref.buffer)->memory;
    if (!direction_fits(p.kind, dst, src)) return no("the copy's kind does not fit the memory of its ends");
    return {};
  }
  // hipMemcpyToSymbol: from the host or the device; hipMemcpyFromSymbol: to either.
  Reason symbol(const CopyParams& p) const {
    if (p.symbol == CopySymbol::kNone) return {};
    const bool to = p.symbol == CopySymbol::kDestination;
    const Id named = (to ? p.dst : p.src).ref.buffer;
    if (!state.buffer(named)->symbol) return no(fmt::format("b{} is no variable of the device code", named));
    if (!p.linear) return no("a copy to or from a symbol is linear");
    const CopyKind odd = to ? CopyKind::kDeviceToHost : CopyKind::kHostToDevice;
    if (p.kind == CopyKind::kHostToHost || p.kind == odd) return no("a symbol is on the device");
    return {};
  }
  Reason params(const MemsetParams& p) const {
    if (p.element != 1 && p.element != 2 && p.element != 4) return no("a memset's element is 1, 2 or 4 bytes");
    if (p.width == 0 || p.height == 0) return no("a memset sets at least one element");
    if (p.height > 1 && p.pitch < p.width * p.element) return no("a memset's pitch holds its width");
    if (p.height == 1 && p.pitch != 0) return no("a memset of one row has no pitch");
    if (p.height > 1 && p.pitch % p.element != 0) return no("a memset's pitch is a whole number of elements");
    if (Reason reason = reference(p.dst, p.element)) return reason;
    // hip-tests, MemsetCommonNegative: pitch * height may not be larger than the memory.
    if (p.pitch * p.height + static_cast<std::uint64_t>(p.dst.offset) > state.buffer(p.dst.buffer)->bytes) {
      return no("a memset's rows, pitch and all, lie within the buffer");
    }
    if (state.buffer(p.dst.buffer)->memory == MemoryKind::kPageable) return no("a memset cannot reach pageable memory");
    return {};
  }
  Reason params(const HostParams& p) const {
    if (!p.memory) return {};
    if (p.bytes == 0) return no("a host function given memory is given at least one byte");
    if (Reason reason = reference(*p.memory, 1)) return reason;
    if (state.buffer(p.memory->buffer)->memory == MemoryKind::kDevice)
      return no("a host function cannot reach device memory");
    return {};
  }
  static Reason params(const EmptyParams&) { return {}; }
  Reason params(const EventRecordParams& p) const { return live_event(p.event); }
  Reason params(const EventWaitParams& p) const { return live_event(p.event); }
  Reason params(const MemoryAllocParams&) const { return no("memory is allocated by a node that is added"); }
  Reason params(const MemoryFreeParams& p) const { return live_buffer(p.buffer); }
  Reason params(const ChildParams& p) const {
    if (p.nest == 0) return no("a child is nested at least once");
    if (Reason reason = live_graph(p.graph)) return reason;
    const GraphState& child = *state.graph(p.graph);
    if (child.depth + p.nest > kMaxNest) return no(fmt::format("graphs nest at most {} deep", kMaxNest));
    if (!child.objects.empty()) return no(fmt::format("g{} holds user objects", p.graph));
    if (child.cyclic) return no(fmt::format("g{} has a circle of dependencies", p.graph));
    if (!state.current(child)) return no(fmt::format("g{} has buffers at old addresses: patch it first", p.graph));
    return {};
  }

  // A graph has one address for each buffer: a node may not bring a newer one.
  Reason fits_addresses(const GraphState& graph, const NodeParams& node, int replaced) const {
    Reason reason;
    const auto used_elsewhere = [&](Id buffer) {
      if (replaced < 0) return true;
      for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (static_cast<int>(i) == replaced) continue;
        for (const ByteRange& range : graph.nodes[i].ranges) {
          if (range.buffer == buffer) return true;
        }
        bool named = false;
        for_each_ref(graph.nodes[i].params, [&](const BufferRef& ref) { named = named || ref.buffer == buffer; });
        if (named || (graph.nodes[i].child && graph.nodes[i].child->addresses.contains(buffer))) return true;
      }
      return false;
    };
    const auto check_one = [&](Id buffer) {
      const auto found = graph.addresses.find(buffer);
      if (reason || found == graph.addresses.end() || found->second == state.buffer(buffer)->version) return;
      if (used_elsewhere(buffer))
        reason = fmt::format("b{} moved since the graph was recorded: patch it first", buffer);
    };
    for_each_ref(node, [&](const BufferRef& ref) { check_one(ref.buffer); });
    if (const auto* child = std::get_if<ChildParams>(&node)) {
      for (const auto& [buffer, version] : state.graph(child->graph)->addresses) check_one(buffer);
    }
    return reason;
  }

  Reason node_params(const NodeParams& node, std::uint32_t fan) const {
    if (Reason reason = std::visit([this](const auto& p) { return this->params(p); }, node)) return reason;
    std::vector<ByteRange> ranges;
    append_ranges(node, fan, ranges);
    if (Reason reason = in_bounds(ranges)) return reason;
    return not_self_conflicting(ranges);
  }
  static Reason fan_allowed(const NodeParams& params, std::uint32_t fan) {
    if (fan == 1) return {};
    if (fan == 0 || fan > kMaxFan) return no(fmt::format("fan is 1 to {}", kMaxFan));
    const auto* copy = std::get_if<CopyParams>(&params);
    const auto* memset = std::get_if<MemsetParams>(&params);
    const auto* host = std::get_if<HostParams>(&params);
    const auto* kernel = std::get_if<KernelParams>(&params);
    const bool strided = (copy != nullptr && !copy->linear) || (memset != nullptr && memset->height != 1);
    const bool shared = (host != nullptr && host->memory) || std::holds_alternative<ChildParams>(params) ||
                        is_event_node(params) || is_memory_node(params);
    if (strided || shared || (kernel != nullptr && kernel->opaque)) return no("this node cannot be fanned out");
    return {};
  }

  // ---- commands

  Reason operator()(const DeclareBuffer& c) const {
    if (c.bytes == 0 || c.bytes > kMaxBufferBytes)
      return no(fmt::format("a buffer has 1 to {} bytes", kMaxBufferBytes));
    if (state.buffer(c.buffer) != nullptr) return no(fmt::format("b{} is declared already", c.buffer));
    if (!c.symbol) return {};
    if (c.memory != MemoryKind::kDevice) return no("a variable of the device code is the device's memory");
    if (*c.symbol >= kSymbols || c.bytes > kSymbolBytes)
      return no(fmt::format("there are {} variables of {} bytes", kSymbols, kSymbolBytes));
    for (const auto& [id, buffer] : state.buffers()) {
      if (buffer.symbol == c.symbol) return no(fmt::format("b{} is that variable already", id));
    }
    return {};
  }
  Reason operator()(const DeclareGraph& c) const {
    if (state.graph(c.graph) != nullptr) return no(fmt::format("g{} is declared already", c.graph));
    return {};
  }
  Reason operator()(const DeclareStream& c) const {
    if (c.stream == kNullStream) return no("s0 is the null stream and needs no declaration");
    if (State::find(state.streams_, c.stream) != nullptr) return no(fmt::format("s{} is declared already", c.stream));
    if (!c.per_thread) return {};
    if (c.non_blocking || c.priority != 0) return no("the per-thread stream is as HIP makes it");
    for (const auto& [id, stream] : state.streams_) {
      if (stream.per_thread) return no(fmt::format("s{} is the per-thread stream already", id));
    }
    return {};
  }
  Reason operator()(const DeclareEvent& c) const {
    if (State::find(state.events_, c.event) != nullptr) return no(fmt::format("v{} is declared already", c.event));
    return {};
  }
  Reason operator()(const AddNode& c) const {
    if (Reason reason = live_graph(c.graph)) return reason;
    const GraphState& graph = *state.graph(c.graph);
    if (graph.find(c.node) != nullptr || graph.removed.contains(c.node))
      return no(fmt::format("g{}.n{} exists already", c.graph, c.node));
    const std::set<Id> distinct(c.after.begin(), c.after.end());
    if (distinct.size() != c.after.size()) return no("a dependency is named twice");
    for (const Id id : c.after) {
      if (graph.find(id) == nullptr) return no(fmt::format("g{}.n{} does not exist", c.graph, id));
    }
    if (Reason reason = fan_allowed(c.params, c.fan)) return reason;
    if (!has_form(c.params, c.form)) return no("this node has no such form");
    if (const auto* memory = std::get_if<MemoryAllocParams>(&c.params)) {
      if (Reason reason = (*this)(DeclareBuffer{memory->buffer, memory->bytes})) return reason;
    } else if (Reason reason = node_params(c.params, c.fan)) {
      return reason;
    }
    if (Reason reason = instances_allowed(graph, c)) return reason;
    if (Reason reason = event_conflict(graph, c.params, child_named(c.params), -1)) return reason;
    return fits_addresses(graph, c.params, -1);
  }
  const GraphState* child_named(const NodeParams& params) const {
    const auto* child = std::get_if<ChildParams>(&params);
    return child == nullptr ? nullptr : state.graph(child->graph);
  }
  // A few graphs that hold each other twice would be billions of nodes.
  Reason instances_allowed(const GraphState& graph, const AddNode& c) const {
    const auto* child = std::get_if<ChildParams>(&c.params);
    const std::uint64_t more = child == nullptr ? c.fan : state.graph(child->graph)->instances + child->nest;
    if (graph.instances + more <= kMaxInstances) return {};
    return no(fmt::format("a graph has at most {} nodes, those of its children counted", kMaxInstances));
  }
  Reason operator()(const Instantiate& c) const {
    if (Reason reason = live_graph(c.graph)) return reason;
    if (state.exec(c.exec) != nullptr) return no(fmt::format("e{} was instantiated already", c.exec));
    if (!state.current(*state.graph(c.graph)))
      return no(fmt::format("g{} has buffers at old addresses: patch it first", c.graph));
    return flaw_of_instantiation(c);
  }
  Reason operator()(const Launch& c) const {
    if (Reason reason = live_exec(c.exec)) return reason;
    if (Reason reason = live_stream(c.stream)) return reason;
    const std::vector<Id> stale = state.stale_buffers(state.exec(c.exec)->graph);
    if (stale.empty()) return captured_launch(c);
    if (!state.buffer(stale.front())->alive)
      return no(fmt::format("e{} uses b{}, which was freed", c.exec, stale.front()));
    return no(fmt::format("e{} has b{} at an old address: patch it first", c.exec, stale.front()));
  }
  // Launched into a capture it becomes a child node.
  Reason captured_launch(const Launch& c) const {
    const CaptureState* capture = state.capture_of(c.stream);
    if (capture == nullptr) return {};
    const GraphState& inner = state.exec(c.exec)->graph;
    const auto disabled = [](const NodeState& node) { return !node.enabled; };
    if (std::any_of(inner.nodes.begin(), inner.nodes.end(), disabled)) {
      return no("what a capture makes of a disabled node is not documented");
    }
    if (inner.depth + 1 > kMaxNest) return no(fmt::format("graphs nest at most {} deep", kMaxNest));
    if (capture->graph.instances + inner.instances >= kMaxInstances) return no("a graph of so many nodes is too large");
    for (const auto& [buffer, version] : inner.addresses) {
      const auto known = capture->graph.addresses.find(buffer);
      if (known != capture->graph.addresses.end() && known->second != state.buffer(buffer)->version)
        return no(fmt::format("b{} moved since the graph was recorded: patch it first", buffer));
    }
    return {};
  }
  Reason operator()(const MoveBuffers& c) const {
    std::set<Id> moving, taken;
    for (const BufferMove& move : c.moves) {
      if (Reason reason = live_buffer(move.buffer)) return reason;
      if (!moving.insert(move.buffer).second) return no(fmt::format("b{} is moved twice", move.buffer));
      if (state.buffer(move.buffer)->symbol) return no(fmt::format("b{} is a variable, which stays", move.buffer));
    }
    for (const BufferMove& move : c.moves) {
      if (!move.onto) continue;
      if (!moving.contains(*move.onto) || *move.onto == move.buffer) {
        return no(fmt::format("b{} can take the place of another buffer that moves in the same command", move.buffer));
      }
      if (!taken.insert(*move.onto).second)
        return no(fmt::format("two buffers would take the place of b{}", *move.onto));
      const BufferState &from = *state.buffer(move.buffer), &to = *state.buffer(*move.onto);
      if (from.memory != to.memory || from.device != to.device)
        return no("buffers of different memory cannot take each other's place");
      if (from.bytes > to.capacity) return no(fmt::format("b{} does not fit where b{} is", move.buffer, *move.onto));
    }
    return {};
  }
  Reason operator()(const Patch& c) const {
    if (c.target == Target::kGraph) {
      if (Reason reason = live_graph(c.id)) return reason;
      if (Reason reason = no_objects(*state.graph(c.id))) return reason;
      return no_dead_buffer(state.graph(c.id)->addresses);
    }
    if (Reason reason = live_exec(c.id)) return reason;
    if (Reason reason = no_objects(state.exec(c.id)->graph)) return reason;
    if (Reason reason = no_dead_buffer(state.exec(c.id)->graph.addresses)) return reason;
    return origin_alive(c.id);
  }
  // A strategy that records again would leave the references behind.
  static Reason no_objects(const GraphState& graph) {
    if (graph.objects.empty()) return {};
    return no("it holds user objects");
  }
  Reason no_dead_buffer(const std::map<Id, std::uint32_t>& addresses) const {
    for (const auto& [id, version] : addresses) {
      if (!state.buffer(id)->alive) return no(fmt::format("it uses b{}, which was freed", id));
    }
    return {};
  }
  Reason origin_alive(Id exec) const {
    const Id origin = state.exec(exec)->origin;
    if (state.graph(origin)->alive) return {};
    return no(fmt::format("g{}, whose nodes name those of e{}, was destroyed", origin, exec));
  }
  Reason operator()(const SetNode& c) const {
    const bool on_graph = c.target == Target::kGraph;
    if (Reason reason = on_graph ? live_graph(c.id) : live_exec(c.id)) return reason;
    if (!on_graph) {
      if (Reason reason = origin_alive(c.id)) return reason;
    }
    const GraphState& graph = on_graph ? *state.graph(c.id) : state.exec(c.id)->graph;
    if (Reason reason = no_objects(graph)) return reason;
    const int index = graph.index_of(c.node);
    if (index < 0) return no(fmt::format("n{} does not exist there", c.node));
    if (!on_graph && state.exec(c.id)->gone.contains(c.node)) return no(fmt::format("n{} was removed", c.node));
    const NodeState& node = graph.nodes[static_cast<std::size_t>(index)];
    if (Reason reason = no_dead_buffer(graph.addresses)) return reason;
    if (Reason reason = node_params(c.params, node.fan)) return reason;
    if (Reason reason = fan_allowed(c.params, node.fan)) return reason;
    const bool settable = c.form != NodeForm::kDriver || !on_graph || std::holds_alternative<CopyParams>(c.params);
    if (!settable || !has_form(c.params, c.form)) return no("this node has no such form");
    const auto* child = std::get_if<ChildParams>(&c.params);
    if (on_graph && child != nullptr) return no("HIP has no setter for the child of a graph's own node");
    if (on_graph && !same_kind(node.params, c.params)) return no("a setter keeps the node's type");
    if (!on_graph && !same_shape(node, c.params, child == nullptr ? nullptr : state.graph(child->graph))) {
      return no("an exec setter keeps the node's type, kernel, direction, shape and topology");
    }
    if (std::holds_alternative<EmptyParams>(c.params)) return no("an empty node has no parameters");
    if (Reason reason = event_conflict(graph, c.params, child_named(c.params), index)) return reason;
    return fits_addresses(graph, c.params, index);
  }
  Reason operator()(const Update& c) const {
    if (Reason reason = live_exec(c.exec)) return reason;
    if (Reason reason = live_graph(c.graph)) return reason;
    if (Reason reason = origin_alive(c.exec)) return reason;
    if (!state.current(*state.graph(c.graph)))
      return no(fmt::format("g{} has buffers at old addresses: patch it first", c.graph));
    if (Reason reason = no_objects(state.exec(c.exec)->graph)) return reason;
    if (Reason reason = no_objects(*state.graph(c.graph))) return reason;
    if (state.graph(c.graph)->cyclic) return no(fmt::format("g{} has a circle of dependencies", c.graph));
    if (update_outcome(state.exec(c.exec)->graph, *state.graph(c.graph)) == UpdateOutcome::kUndefinedHere) {
      return no("what an update does with these two graphs is not documented");
    }
    return {};
  }
  Reason operator()(const Synchronize& c) const {
    if (c.thread > kMaxThread) return no(fmt::format("threads are numbered to {}", kMaxThread));
    if (c.thread != 0 && c.target == Target::kStream && state.per_thread(c.id))
      return no("the per-thread stream is that of the first thread");
    if (c.target == Target::kStream) return live_stream(c.id);
    if (c.target == Target::kEvent) return live_event(c.id);
    return {};
  }
  Reason operator()(const RecordEvent& c) const {
    if (Reason reason = live_event(c.event)) return reason;
    return live_stream(c.stream);
  }
  Reason operator()(const WaitEvent& c) const {
    if (Reason reason = live_event(c.event)) return reason;
    return live_stream(c.stream);
  }
  Reason operator()(const Read& c) const { return live_buffer(c.buffer); }
  Reason operator()(const Write& c) const {
    if (Reason reason = live_buffer(c.buffer)) return reason;
    const std::uint64_t bytes = state.buffer(c.buffer)->bytes;
    if (c.offset <= bytes && c.data.size() <= bytes - c.offset) return {};
    return no(fmt::format("b{} has {} bytes", c.buffer, bytes));
  }
  Reason operator()(const Free& c) const {
    if (Reason reason = live_buffer(c.buffer)) return reason;
    if (state.buffer(c.buffer)->symbol) return no(fmt::format("b{} is a variable, which stays", c.buffer));
    return {};
  }
  Reason operator()(const FreeAsync& c) const {
    if (Reason reason = live_buffer(c.buffer)) return reason;
    return live_stream(c.stream);
  }
  Reason operator()(const Destroy& c) const {
    switch (c.target) {
      case Target::kGraph:
        return live_graph(c.id);
      case Target::kExec:
        return live_exec(c.id);
      case Target::kEvent:
        if (state.event_in_use(c.id)) return no(fmt::format("a graph has a node of v{}", c.id));
        return live_event(c.id);
      case Target::kStream:
        if (c.id == kNullStream) return no("the null stream cannot be destroyed");
        if (state.per_thread(c.id)) return no("the per-thread stream cannot be destroyed");
        if (const CaptureState* capture = state.capture_of(c.id); capture != nullptr && capture->into) {
          return no("what a graph holds of a capture that went with its stream is not documented");
        }
        return live_stream(c.id);
      case Target::kDevice:
        break;
    }
    return no("there is nothing to destroy");
  }
  Reason operator()(const Fail& c) const {
    if (c.nth == 0 || !c.function.starts_with("hip")) return no("fail takes a count from 1 and a HIP function");
    return {};
  }
  Reason operator()(const PeerAccess&) const { return {}; }  // state_devices.cpp
  Reason operator()(const BadCall& c) const {
    if (find_error_case(c.function, c.error_case) == nullptr) return no("there is no such case");
    if (!state.captures().empty()) return no("bad calls make objects of their own, which open captures forbid");
    return {};
  }
  static bool streams_take(const NodeParams& params) {
    return std::holds_alternative<KernelParams>(params) || std::holds_alternative<CopyParams>(params) ||
           std::holds_alternative<MemsetParams>(params) || std::holds_alternative<HostParams>(params);
  }
  // An external record or wait (hipEventRecordExternal, hipEventWaitExternal) is captured as a node: it speaks of
  // launches to come. The documentation of HIP's flags says nothing of streams that do not capture, and CUDA's forbids
  // it there.
  Reason external_event(const Enqueue& c) const {
    const CaptureState* capture = state.capture_of(c.stream);
    if (capture == nullptr)
      return no("only a stream that captures takes event nodes: record and wait are for the others");
    const auto* record = std::get_if<EventRecordParams>(&c.params);
    const Id event = record != nullptr ? record->event : std::get<EventWaitParams>(c.params).event;
    if (state.event_captured(event)) return no(fmt::format("v{} stands for nodes of a capture", event));
    return event_conflict(capture->graph, c.params, nullptr, -1);
  }
  // CUDA's "API synchronization behavior": pageable memory may be staged when the call is made, before earlier work of
  // the stream has written it.
  Reason pageable_source(const Enqueue& c) const {
    const auto* copy = std::get_if<CopyParams>(&c.params);
    if (copy == nullptr || state.buffer(copy->src.ref.buffer)->memory != MemoryKind::kPageable) return {};
    if (!state.buffer_in_use(copy->src.ref.buffer)) return {};
    return no("a copy from pageable memory may read it at once: synchronise first");
  }
  Reason operator()(const Enqueue& c) const {
    if (Reason reason = live_stream(c.stream)) return reason;
    if (c.thread != 0 && state.per_thread(c.stream)) return no("the per-thread stream is that of the first thread");
    if (c.thread > kMaxThread) return no(fmt::format("threads are numbered to {}", kMaxThread));
    if (!streams_take(c.params) && !is_event_node(c.params))
      return no("streams are given kernels, copies, memsets, host functions and event nodes");
    if (Reason reason = node_params(c.params, 1)) return reason;
    if (is_event_node(c.params)) {
      if (Reason reason = external_event(c)) return reason;
    }
    const CaptureState* capture = state.capture_of(c.stream);
    if (capture == nullptr) return pageable_source(c);
    if (capture->graph.instances >= kMaxInstances) return no("a graph of so many nodes is too large");
    return fits_addresses(capture->graph, c.params, -1);
  }
  // Those of verify/program/state_graphs.h, state_pools.h and state_capture.h.
  template <class Other>
  Reason operator()(const Other& c) const {
    if constexpr (requires { check_graph_command(state, c); }) {
      return check_graph_command(state, c);
    } else if constexpr (requires { check_pool_command(state, c); }) {
      return check_pool_command(state, c);
    } else {
      return check_capture_command(state, c);
    }
  }
  Reason operator()(const SystemAction& c) const { return state.systems_.check(c); }
};

std::optional<std::string> State::check(const Command& command) const {
  if (Reason reason = std::visit(Checker{*this}, command)) return reason;
  if (Reason reason = check_memory_nodes(*this, graph_memory_, command)) return reason;
  if (Reason reason = check_devices(*this, command)) return reason;
  return check_during_capture(*this, command);
}

// ---- effects

struct Applier {
  State& state;
  bool captured = false;  // something captured before the command

  void note_addresses(GraphState& graph, const NodeState& node) const {
    const auto note = [&](Id buffer) { graph.addresses[buffer] = state.buffers_.at(buffer).version; };
    for_each_ref(node.params, [&](const BufferRef& ref) { note(ref.buffer); });
    if (node.child) {
      for (const auto& [buffer, version] : node.child->addresses) note(buffer);
    }
  }
  // After a setter: buffers that no node refers to any more are forgotten, new ones come in as they are now.
  void renew_addresses(GraphState& graph) const {
    const std::map<Id, std::uint32_t> before = std::move(graph.addresses);
    graph.addresses.clear();
    for (const NodeState& node : graph.nodes) note_addresses(graph, node);
    for (auto& [buffer, version] : graph.addresses) {
      const auto found = before.find(buffer);
      if (found != before.end()) version = found->second;
    }
  }
  // The child as a graph state: nest=N wraps it into N-1 graphs more.
  std::shared_ptr<const GraphState> child_of(const NodeParams& params) const {
    const auto* child = std::get_if<ChildParams>(&params);
    if (child == nullptr) return nullptr;
    return std::make_shared<const GraphState>(state.graphs_.at(child->graph));
  }
  void fill(NodeState& node, const NodeParams& params) const {
    node.params = params;
    node.child = child_of(params);
    node.ranges = state.ranges_of(params, node.fan);
    node.devices = state.devices_of(params);
  }

  void operator()(const DeclareBuffer& c) const {
    state.buffers_[c.buffer] = {c.bytes, c.bytes, c.memory, 0, true};
    state.buffers_[c.buffer].symbol = c.symbol;
    state.buffers_[c.buffer].device = c.device;
  }
  void operator()(const DeclareGraph& c) const { state.graphs_[c.graph].alive = true; }
  void operator()(const DeclareStream& c) const {
    State::StreamState stream;
    stream.alive = true;
    stream.non_blocking = c.non_blocking;
    stream.per_thread = c.per_thread;
    stream.device = c.device;
    state.streams_[c.stream] = std::move(stream);
  }
  void operator()(const DeclareEvent& c) const {
    State::EventState event;
    event.alive = true;
    event.timing = c.timing;
    event.device = c.device;
    state.events_[c.event] = std::move(event);
  }
  void operator()(const AddNode& c) const {
    GraphState& graph = state.graphs_.at(c.graph);
    NodeState node;
    node.id = c.node;
    node.fan = c.fan;
    node.form = c.form;
    for (const Id id : c.after) node.after.push_back(static_cast<std::uint32_t>(graph.index_of(id)));
    fill(node, c.params);
    const bool of_a_device =
        std::holds_alternative<KernelParams>(c.params) || std::holds_alternative<MemsetParams>(c.params);
    if (of_a_device && !node.devices.empty()) node.added_on = node.devices.front();
    note_addresses(graph, node);
    graph.instances += c.fan;
    if (node.child) {
      const auto nest = std::get<ChildParams>(c.params).nest;
      graph.depth = std::max(graph.depth, node.child->depth + nest);
      graph.instances += node.child->instances + nest - 1;
    }
    if (is_memory_node(c.params)) note_memory_node(c);
    graph.has_events = graph.has_events || is_event_node(c.params) || (node.child && node.child->has_events);
    graph.nodes.push_back(std::move(node));
  }
  void note_memory_node(const AddNode& c) const {
    GraphState& graph = state.graphs_.at(c.graph);
    graph.has_memory = state.graph_memory_ = true;
    if (const auto* memory = std::get_if<MemoryAllocParams>(&c.params)) {
      BufferState& buffer = state.buffers_[memory->buffer];
      buffer = {memory->bytes, memory->bytes, MemoryKind::kDevice, 0, true};
      buffer.graph = c.graph;
      graph.addresses[memory->buffer] = 0;
    } else {
      state.buffers_.at(std::get<MemoryFreeParams>(c.params).buffer).has_free_node = true;
    }
  }
  void operator()(const Instantiate& c) const {
    const GraphState& graph = state.graphs_.at(c.graph);
    state.execs_[c.exec] = {!graph.cyclic, c.graph, graph, c.flags, {}};  // a circle is refused
  }
  void operator()(const Launch& c) const {
    const ExecState& exec = state.execs_.at(c.exec);
    if (CaptureState* capture = push_captured_node(state.captures_, c.stream, state.device_of_stream(c.stream))) {
      NodeState& node = capture->graph.nodes.back();
      node.params = ChildParams{exec.origin, 1};
      node.child = std::make_shared<const GraphState>(exec.graph);
      node.ranges = exec.graph.ranges();
      note_addresses(capture->graph, node);
      capture->graph.depth = std::max(capture->graph.depth, exec.graph.depth + 1);
      capture->graph.instances += 1 + exec.graph.instances;
      capture->graph.has_events = capture->graph.has_events || exec.graph.has_events;
      return;
    }
    if (exec.graph.has_memory) {
      if (state.unfreed_memory(exec.graph) && (exec.flags & kAutoFreeOnLaunch) == 0) return;  // it is refused
      allocate(exec);
    }
    if (exec.graph.has_events) return state.launch_with_events(c.exec, c.stream);
    // Nobody says that a graph without nodes orders anything; 7.2 and 6.4 give the stream nothing.
    if (exec.graph.nodes.empty()) {
      State::StreamState& stream = state.streams_[c.stream];
      stream.alive = stream.busy = true;
      return;
    }
    state.give_work(c.stream, exec.graph.ranges(), c.exec);
  }
  void allocate(const ExecState& exec) const {
    for (const NodeState& node : exec.graph.nodes) {
      const auto* memory = std::get_if<MemoryAllocParams>(&node.params);
      if (memory == nullptr) continue;
      BufferState& buffer = state.buffers_.at(memory->buffer);
      buffer.unfreed = !frees(exec.graph, memory->buffer);
      buffer.freed_by_program = false;
    }
  }
  // A copy that was told the devices of its ends is a node like another.
  static NodeParams captured_form(NodeParams params) {
    if (auto* copy = std::get_if<CopyParams>(&params)) copy->peer = PeerCopy::kNone;
    return params;
  }
  void operator()(const Enqueue& c) const {
    if (CaptureState* capture = push_captured_node(state.captures_, c.stream, state.device_of_stream(c.stream))) {
      fill(capture->graph.nodes.back(), captured_form(c.params));
      note_addresses(capture->graph, capture->graph.nodes.back());
      capture->graph.has_events = capture->graph.has_events || is_event_node(c.params);
      ++capture->graph.instances;
      if (const auto* record = std::get_if<EventRecordParams>(&c.params))
        state.events_.at(record->event).external = true;
      return;
    }
    std::vector<ByteRange> ranges;
    append_ranges(c.params, 1, ranges);
    for (const ByteRange& range : ranges) {
      BufferState& buffer = state.buffers_.at(range.buffer);
      buffer.filled = buffer.filled || fills(c.params, range.buffer, buffer.bytes);
    }
    state.give_work(c.stream, std::move(ranges), {});
    // HIP's header, hipMemcpyAsync: a copy of memory that is not pinned is performed synchronously. CUDA says so of the
    // destination alone, and AMD's runtimes are like that.
    const auto* copy = std::get_if<CopyParams>(&c.params);
    const bool over = copy != nullptr && state.buffers_.at(copy->dst.ref.buffer).memory == MemoryKind::kPageable;
    if (over) waited_for(c.stream);
  }
  void operator()(const MoveBuffers& c) const {
    state.synchronize_all();
    std::map<Id, std::uint64_t> capacities;
    for (const BufferMove& move : c.moves) {
      const BufferState& buffer = state.buffers_.at(move.buffer);
      capacities[move.buffer] = move.onto ? state.buffers_.at(*move.onto).capacity : buffer.bytes;
    }
    for (const BufferMove& move : c.moves) {
      BufferState& buffer = state.buffers_.at(move.buffer);
      buffer.capacity = capacities.at(move.buffer);
      ++buffer.version;
    }
  }
  void operator()(const Patch& c) const {
    GraphState& graph = c.target == Target::kGraph ? state.graphs_.at(c.id) : state.execs_.at(c.id).graph;
    for (auto& [buffer, version] : graph.addresses) version = state.buffers_.at(buffer).version;
    graph.edited = true;
  }
  void operator()(const SetNode& c) const {
    GraphState& graph = c.target == Target::kGraph ? state.graphs_.at(c.id) : state.execs_.at(c.id).graph;
    fill(graph.nodes[static_cast<std::size_t>(graph.index_of(c.node))], c.params);
    renew_addresses(graph);
    graph.edited = true;
  }
  void operator()(const Update& c) const {
    ExecState& exec = state.execs_.at(c.exec);
    const GraphState& graph = state.graphs_.at(c.graph);
    if (update_outcome(exec.graph, graph) != UpdateOutcome::kSuccess) return;
    for (std::size_t i = 0; i < exec.graph.nodes.size(); ++i) {
      exec.graph.nodes[i].params = graph.nodes[i].params;
      exec.graph.nodes[i].child = graph.nodes[i].child;
      exec.graph.nodes[i].ranges = graph.nodes[i].ranges;
      exec.graph.nodes[i].attributes = graph.nodes[i].attributes;
      exec.graph.nodes[i].devices = graph.nodes[i].devices;
    }
    exec.graph.addresses = graph.addresses;
  }
  void operator()(const Synchronize& c) const {
    if (c.target == Target::kDevice) return state.synchronize_all();
    if (c.target == Target::kEvent) {
      State::EventState& event = state.events_.at(c.id);
      event.busy = false;
      return state.synchronize_clock(event.clock);
    }
    waited_for(c.id);
  }
  // What the stream itself was given. HIP's header, hipStreamSynchronize: the null stream's end is that of every stream
  // of the device that it is ordered with.
  void waited_for(Id id) const {
    const auto stream = state.streams_.find(id);
    if (id != kNullStream) {
      stream->second.busy = false;
      return state.synchronize_clock(stream->second.clock);
    }
    for (auto& [other, known] : state.streams_) {
      if (other == id || (!known.non_blocking && known.device == 0)) known.busy = false;
    }
    state.synchronize_clock(state.launch_clock(id));
  }
  void operator()(const RecordEvent& c) const {
    State::EventState& event = state.events_.at(c.event);
    event.clock = state.launch_clock(c.stream);
    event.recorded = event.busy = true;
    event.recorded_on = c.stream;
    event.external = false;
    event.capture = 0;
    event.captured.clear();
    State::StreamState& stream = state.streams_[c.stream];
    stream.alive = stream.busy = true;
  }
  void operator()(const WaitEvent& c) const {
    State::StreamState& stream = state.streams_[c.stream];
    stream.alive = stream.busy = true;
    for (const auto& [id, tick] : state.events_.at(c.event).clock) {
      std::uint64_t& known = stream.clock[id];
      known = std::max(known, tick);
    }
    PoolApplier{state}.wait(c);
  }
  void operator()(const Read&) const { state.synchronize_all(); }
  void operator()(const Write& c) const {
    state.synchronize_all();
    BufferState& buffer = state.buffers_.at(c.buffer);
    buffer.filled = buffer.filled || c.data.empty();
  }
  void operator()(const Free& c) const {
    state.synchronize_all();
    BufferState& buffer = state.buffers_.at(c.buffer);
    buffer.unfreed = false;
    buffer.freed_by_program = true;
    if (buffer.graph) {
      state.give_work(kNullStream, {}, {});  // what hipFree leaves there, which nobody documents
    } else {
      buffer.alive = false;
    }
  }
  void operator()(const FreeAsync& c) const {
    if (PoolApplier{state}.capture(c)) return;
    state.give_work(c.stream, {{c.buffer, 0, kToTheEnd, true}}, {});
    BufferState& buffer = state.buffers_.at(c.buffer);
    buffer.unfreed = false;
    buffer.freed_by_program = true;
    buffer.freed_on = c.stream;
    if (buffer.of_stream) buffer.given_again_on = {buffer.allocated_on, c.stream};
    if (!buffer.graph) buffer.alive = false;
  }
  void operator()(const Destroy& c) const {
    // The executor waits for the device first, where nothing captures.
    if (!captured) state.synchronize_all();
    switch (c.target) {
      case Target::kGraph:
        state.graphs_.at(c.id).alive = false;
        break;
      case Target::kExec:
        state.execs_.at(c.id).alive = false;
        break;
      case Target::kStream:
        state.streams_.at(c.id).alive = false;
        break;
      case Target::kEvent:
        state.events_.at(c.id).alive = false;
        break;
      case Target::kDevice:
        break;
    }
  }
  void operator()(const BadCall&) const {}
  void operator()(const PeerAccess& c) const {
    if (c.verb == PeerVerb::kEnable) state.peers_.insert({c.device, c.peer});
    if (c.verb == PeerVerb::kDisable) state.peers_.erase({c.device, c.peer});
  }
  void operator()(const RemoveNode& c) const {
    remove_node(state.graphs_, state.execs_, c);
    renew_addresses(state.graphs_.at(c.graph));
  }
  void operator()(const DeclareUserObject& c) const { apply_object_command(state.graphs_, state.objects_, c); }
  void operator()(const RetainUserObject& c) const { apply_object_command(state.graphs_, state.objects_, c); }
  void operator()(const ReleaseUserObject& c) const { apply_object_command(state.graphs_, state.objects_, c); }
  template <class Other>
  void operator()(const Other& c) const {  // what is done about captures is done by then
    if constexpr (requires { apply_graph_command(state.graphs_, state.execs_, c); }) {
      apply_graph_command(state.graphs_, state.execs_, c);
    } else if constexpr (requires { PoolApplier{state}(c); }) {
      PoolApplier{state}(c);
    }
  }
  void operator()(const SystemAction& c) const { state.systems_.apply(c); }
};

void State::apply(const Command& command) {
  assert(!check(command));
  const CaptureAnswer answer = this->answer(command);
  const bool captured = !captures_.empty();
  invalidate_captures(captures_, answer);
  if (!apply_capture(*this, command, answer.status)) std::visit(Applier{*this, captured}, command);
}

bool State::may_be_refused(const Command& command) const {
  if (const auto* instantiate = std::get_if<Instantiate>(&command)) {
    const GraphState* graph = this->graph(instantiate->graph);
    if (graph != nullptr && graph->cyclic) return true;
  }
  if (const auto* launch = std::get_if<Launch>(&command); launch != nullptr && graph_memory_) {
    const ExecState* exec = this->exec(launch->exec);
    if (exec != nullptr && unfreed_memory(exec->graph)) return true;
  }
  if (peer_refused(*this, command)) return true;
  return std::holds_alternative<Update>(command) || std::holds_alternative<FindInClone>(command) ||
         answer(command).status != 0;
}

std::vector<bool> refusable_steps(const Program& program) {
  State state;
  std::vector<bool> steps;
  for (const Step& step : program.steps) {
    bool refusable = false;  // the second time, say: memory that the first launch allocated is still there
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) {
      refusable = refusable || state.may_be_refused(step.command);
      state.apply(step.command);
    }
    steps.push_back(refusable);
  }
  return steps;
}

std::uint32_t repeats_that_matter(const Step& step) {
  // Of systems some may be done a bounded number of times.
  if (std::holds_alternative<SystemAction>(step.command))
    return std::min<std::uint32_t>(step.repeat, kMaxStreamWorks + 1);
  return std::holds_alternative<MoveBuffers>(step.command) ? step.repeat : std::min<std::uint32_t>(step.repeat, 2);
}

std::optional<Invalid> validate(const Program& program) {
  State state;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) {
      if (std::optional<std::string> reason = state.check(step.command)) return Invalid{i, step.line, *reason};
      state.apply(step.command);
    }
  }
  return {};
}

namespace {

bool has_host_memory(const GraphState& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const NodeState& node) {
    const auto* host = std::get_if<HostParams>(&node.params);
    return (host != nullptr && host->memory) || (node.child && has_host_memory(*node.child));
  });
}

// Whether some node of `graph` races with an unordered one; only asked of graphs with host functions in them.
bool has_race(const State& state, const GraphState& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const NodeState& node = graph.nodes[i];
    if (state.node_races(graph, node.ranges, node.after, static_cast<int>(i))) return true;
    if (node.child && has_host_memory(*node.child) && has_race(state, *node.child)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::string> host_race(const Program& program) {
  State state;
  bool host_launched = false;
  for (const Step& step : program.steps) {
    if (const auto* work = std::get_if<Enqueue>(&step.command)) {
      const auto* host = std::get_if<HostParams>(&work->params);
      host_launched = host_launched || (host != nullptr && host->memory);
      std::vector<ByteRange> ranges;
      append_ranges(work->params, 1, ranges);
      if (host_launched && state.work_races(ranges, work->stream))
        return fmt::format("a host function races with work of s{}", work->stream);
    }
    if (const auto* launch = std::get_if<Launch>(&step.command)) {
      const GraphState& graph = state.exec(launch->exec)->graph;
      const bool host = has_host_memory(graph);
      host_launched = host_launched || host;
      if (host && has_race(state, graph))
        return fmt::format("a host function of e{} races with another node", launch->exec);
      if (host_launched && state.launch_races(launch->exec, launch->stream)) {
        return fmt::format("a host function races with a launch of e{}", launch->exec);
      }
    }
    for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
  }
  return {};
}

}  // namespace verify
