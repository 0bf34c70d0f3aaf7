// Preconditions and effects of every command; one overload a command.
#include "verify/program/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>

#include "verify/program/text.h"

namespace verify {

using Reason = std::optional<std::string>;

const NodeState* GraphState::find(Id node) const {
  const int index = index_of(node);
  return index < 0 ? nullptr : &nodes[static_cast<std::size_t>(index)];
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

bool is_host_memory(MemoryKind kind) {
  return kind != MemoryKind::kDevice;
}

// Does a copy's stated direction fit where its ends live? (hipMemcpyKind: the direction must match the pointers.)
bool direction_fits(CopyKind kind, MemoryKind dst, MemoryKind src) {
  switch (kind) {
    case CopyKind::kHostToHost:
      return is_host_memory(dst) && is_host_memory(src);
    case CopyKind::kHostToDevice:
      return !is_host_memory(dst) && is_host_memory(src);
    case CopyKind::kDeviceToHost:
      return is_host_memory(dst) && !is_host_memory(src);
    case CopyKind::kDeviceToDevice:
      return !is_host_memory(dst) && !is_host_memory(src);
    case CopyKind::kDefault:
      break;
  }
  return true;
}

bool same_topology(const GraphState& a, const GraphState& b);

// What a setter of a graph's own node may not change: everything else is a parameter.
bool same_kind(const NodeParams& a, const NodeParams& b) {
  if (a.index() != b.index()) return false;
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
    if (old.linear != copy->linear || old.kind != copy->kind) return false;
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

// As the runtime counts them: those of this level.
std::uint64_t nodes_in(const GraphState& graph) {
  std::uint64_t count = 0;
  for (const NodeState& node : graph.nodes) count += node.fan;
  return count;
}

}  // namespace

UpdateOutcome update_outcome(const GraphState& exec, const GraphState& graph) {
  if (exec.nodes.size() != graph.nodes.size()) {
    // A fan is as many nodes to the runtime, so graphs with different lists may still be of one size.
    return nodes_in(exec) == nodes_in(graph) ? UpdateOutcome::kUndefinedHere : UpdateOutcome::kTopologyChanged;
  }
  bool types_differ = false;
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    const NodeState &x = exec.nodes[i], &y = graph.nodes[i];
    if (x.after != y.after || x.fan != y.fan) return UpdateOutcome::kUndefinedHere;
    if (x.params.index() != y.params.index()) {
      types_differ = true;
    } else if (!same_shape(x, y.params, y.child.get())) {
      return UpdateOutcome::kUndefinedHere;
    }
  }
  return types_differ ? UpdateOutcome::kNodeTypeChanged : UpdateOutcome::kSuccess;
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
  if (replaced >= 0) {  // descendants: nodes are in insertion order, which is topological
    std::vector<char> below(graph.nodes.size(), 0);
    below[static_cast<std::size_t>(replaced)] = 1;
    for (std::size_t i = static_cast<std::size_t>(replaced) + 1; i < graph.nodes.size(); ++i) {
      for (const std::uint32_t dependency : graph.nodes[i].after) below[i] |= below[dependency];
      ordered[i] |= below[i];
    }
    ordered[static_cast<std::size_t>(replaced)] = 1;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (ordered[i] == 0 && conflict(ranges, graph.nodes[i].ranges)) return true;
  }
  return false;
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
      if (!other.non_blocking) merge(other.clock);
    }
  } else if (const StreamState* null_stream = find(streams_, kNullStream)) {
    merge(null_stream->clock);
  }
  return clock;
}

bool State::launch_races(Id exec_id, Id stream) const {
  if (pending_.empty()) return false;
  const Clock clock = launch_clock(stream);
  std::vector<ByteRange> ranges;
  for (const NodeState& node : exec(exec_id)->graph.nodes) {
    ranges.insert(ranges.end(), node.ranges.begin(), node.ranges.end());
  }
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& pending) {
    const auto known = clock.find(pending.stream);
    const bool ordered = known != clock.end() && known->second >= pending.tick;
    return !ordered && conflict(pending.ranges, ranges);
  });
}

void State::synchronize_all() {
  pending_.clear();
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
    if (p.grid == 0 || p.block == 0 || p.block > 1024) return no("grid is at least 1, block 1 to 1024");
    for (std::size_t i = 0; i < p.arguments.size(); ++i) {
      const FieldSpec& field = p.kernel->fields[i];
      const ArgumentValue& value = p.arguments[i];
      if ((field.kind == FieldKind::kPointer) != (value.kind == ArgumentValue::Kind::kPointer)) {
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
    const MemoryKind dst = state.buffer(p.dst.ref.buffer)->memory, src = state.buffer(p.src.ref.buffer)->memory;
    if (!direction_fits(p.kind, dst, src)) return no("the copy's kind does not fit the memory of its ends");
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
  Reason params(const ChildParams& p) const {
    if (p.nest == 0) return no("a child is nested at least once");
    if (Reason reason = live_graph(p.graph)) return reason;
    const GraphState& child = *state.graph(p.graph);
    if (child.depth + p.nest > kMaxNest) return no(fmt::format("graphs nest at most {} deep", kMaxNest));
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
  static Reason fan_allowed(const AddNode& c) {
    if (c.fan == 1) return {};
    if (c.fan == 0 || c.fan > kMaxFan) return no(fmt::format("fan is 1 to {}", kMaxFan));
    const auto* copy = std::get_if<CopyParams>(&c.params);
    const auto* memset = std::get_if<MemsetParams>(&c.params);
    const auto* host = std::get_if<HostParams>(&c.params);
    const auto* kernel = std::get_if<KernelParams>(&c.params);
    const bool strided = (copy != nullptr && !copy->linear) || (memset != nullptr && memset->height != 1);
    const bool shared = (host != nullptr && host->memory) || std::holds_alternative<ChildParams>(c.params);
    if (strided || shared || (kernel != nullptr && kernel->opaque)) return no("this node cannot be fanned out");
    return {};
  }

  // ---- commands

  Reason operator()(const DeclareBuffer& c) const {
    if (c.bytes == 0 || c.bytes > kMaxBufferBytes)
      return no(fmt::format("a buffer has 1 to {} bytes", kMaxBufferBytes));
    if (state.buffer(c.buffer) != nullptr) return no(fmt::format("b{} is declared already", c.buffer));
    return {};
  }
  Reason operator()(const DeclareGraph& c) const {
    if (state.graph(c.graph) != nullptr) return no(fmt::format("g{} is declared already", c.graph));
    return {};
  }
  Reason operator()(const DeclareStream& c) const {
    if (c.stream == kNullStream) return no("s0 is the null stream and needs no declaration");
    if (State::find(state.streams_, c.stream) != nullptr) return no(fmt::format("s{} is declared already", c.stream));
    return {};
  }
  Reason operator()(const DeclareEvent& c) const {
    if (State::find(state.events_, c.event) != nullptr) return no(fmt::format("v{} is declared already", c.event));
    return {};
  }
  Reason operator()(const AddNode& c) const {
    if (Reason reason = live_graph(c.graph)) return reason;
    const GraphState& graph = *state.graph(c.graph);
    if (graph.find(c.node) != nullptr) return no(fmt::format("g{}.n{} exists already", c.graph, c.node));
    const std::set<Id> distinct(c.after.begin(), c.after.end());
    if (distinct.size() != c.after.size()) return no("a dependency is named twice");
    for (const Id id : c.after) {
      if (graph.find(id) == nullptr) return no(fmt::format("g{}.n{} does not exist", c.graph, id));
    }
    if (Reason reason = fan_allowed(c)) return reason;
    if (Reason reason = node_params(c.params, c.fan)) return reason;
    if (Reason reason = instances_allowed(graph, c)) return reason;
    return fits_addresses(graph, c.params, -1);
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
    return {};
  }
  Reason operator()(const Launch& c) const {
    if (Reason reason = live_exec(c.exec)) return reason;
    if (Reason reason = live_stream(c.stream)) return reason;
    const std::vector<Id> stale = state.stale_buffers(state.exec(c.exec)->graph);
    if (stale.empty()) return {};
    if (!state.buffer(stale.front())->alive)
      return no(fmt::format("e{} uses b{}, which was freed", c.exec, stale.front()));
    return no(fmt::format("e{} has b{} at an old address: patch it first", c.exec, stale.front()));
  }
  Reason operator()(const MoveBuffers& c) const {
    std::set<Id> moving, taken;
    for (const BufferMove& move : c.moves) {
      if (Reason reason = live_buffer(move.buffer)) return reason;
      if (!moving.insert(move.buffer).second) return no(fmt::format("b{} is moved twice", move.buffer));
    }
    for (const BufferMove& move : c.moves) {
      if (!move.onto) continue;
      if (!moving.contains(*move.onto) || *move.onto == move.buffer) {
        return no(fmt::format("b{} can take the place of another buffer that moves in the same command", move.buffer));
      }
      if (!taken.insert(*move.onto).second)
        return no(fmt::format("two buffers would take the place of b{}", *move.onto));
      const BufferState &from = *state.buffer(move.buffer), &to = *state.buffer(*move.onto);
      if (from.memory != to.memory) return no("buffers of different memory cannot take each other's place");
      if (from.bytes > to.capacity) return no(fmt::format("b{} does not fit where b{} is", move.buffer, *move.onto));
    }
    return {};
  }
  Reason operator()(const Patch& c) const {
    if (c.target == Target::kGraph) {
      if (Reason reason = live_graph(c.id)) return reason;
      return no_dead_buffer(state.graph(c.id)->addresses);
    }
    if (Reason reason = live_exec(c.id)) return reason;
    if (Reason reason = no_dead_buffer(state.exec(c.id)->graph.addresses)) return reason;
    return origin_alive(c.id);
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
    const int index = graph.index_of(c.node);
    if (index < 0) return no(fmt::format("n{} does not exist there", c.node));
    const NodeState& node = graph.nodes[static_cast<std::size_t>(index)];
    if (Reason reason = no_dead_buffer(graph.addresses)) return reason;
    if (Reason reason = node_params(c.params, node.fan)) return reason;
    const auto* child = std::get_if<ChildParams>(&c.params);
    if (on_graph && child != nullptr) return no("HIP has no setter for the child of a graph's own node");
    if (on_graph && !same_kind(node.params, c.params)) return no("a setter keeps the node's type");
    if (!on_graph && !same_shape(node, c.params, child == nullptr ? nullptr : state.graph(child->graph))) {
      return no("an exec setter keeps the node's type, kernel, direction, shape and topology");
    }
    if (std::holds_alternative<EmptyParams>(c.params)) return no("an empty node has no parameters");
    return fits_addresses(graph, c.params, index);
  }
  Reason operator()(const Update& c) const {
    if (Reason reason = live_exec(c.exec)) return reason;
    if (Reason reason = live_graph(c.graph)) return reason;
    if (Reason reason = origin_alive(c.exec)) return reason;
    if (!state.current(*state.graph(c.graph)))
      return no(fmt::format("g{} has buffers at old addresses: patch it first", c.graph));
    if (update_outcome(state.exec(c.exec)->graph, *state.graph(c.graph)) == UpdateOutcome::kUndefinedHere) {
      return no("what an update does with these two graphs is not documented");
    }
    return {};
  }
  Reason operator()(const Synchronize& c) const {
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
  Reason operator()(const Write& c) const { return live_buffer(c.buffer); }
  Reason operator()(const Free& c) const { return live_buffer(c.buffer); }
  Reason operator()(const Destroy& c) const {
    switch (c.target) {
      case Target::kGraph:
        return live_graph(c.id);
      case Target::kExec:
        return live_exec(c.id);
      case Target::kEvent:
        return live_event(c.id);
      case Target::kStream:
        if (c.id == kNullStream) return no("the null stream cannot be destroyed");
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
};

std::optional<std::string> State::check(const Command& command) const {
  return std::visit(Checker{*this}, command);
}

// ---- effects

struct Applier {
  State& state;

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
    node.ranges.clear();
    append_ranges(params, node.fan, node.ranges);
    if (node.child) {
      for (const NodeState& inner : node.child->nodes) {
        node.ranges.insert(node.ranges.end(), inner.ranges.begin(), inner.ranges.end());
      }
    }
  }

  void operator()(const DeclareBuffer& c) const { state.buffers_[c.buffer] = {c.bytes, c.bytes, c.memory, 0, true}; }
  void operator()(const DeclareGraph& c) const { state.graphs_[c.graph].alive = true; }
  void operator()(const DeclareStream& c) const { state.streams_[c.stream] = {true, c.non_blocking, {}}; }
  void operator()(const DeclareEvent& c) const { state.events_[c.event] = {true, {}}; }
  void operator()(const AddNode& c) const {
    GraphState& graph = state.graphs_.at(c.graph);
    NodeState node;
    node.id = c.node;
    node.fan = c.fan;
    for (const Id id : c.after) node.after.push_back(static_cast<std::uint32_t>(graph.index_of(id)));
    fill(node, c.params);
    note_addresses(graph, node);
    graph.instances += c.fan;
    if (node.child) {
      const auto nest = std::get<ChildParams>(c.params).nest;
      graph.depth = std::max(graph.depth, node.child->depth + nest);
      graph.instances += node.child->instances + nest - 1;
    }
    graph.nodes.push_back(std::move(node));
  }
  void operator()(const Instantiate& c) const { state.execs_[c.exec] = {true, c.graph, state.graphs_.at(c.graph)}; }
  void operator()(const Launch& c) const {
    State::Clock clock = state.launch_clock(c.stream);
    const std::uint64_t tick = ++clock[c.stream];
    State::StreamState& stream = state.streams_[c.stream];
    stream.alive = true;
    stream.clock = std::move(clock);
    State::Pending pending{c.stream, tick, {}};
    for (const NodeState& node : state.execs_.at(c.exec).graph.nodes) {
      pending.ranges.insert(pending.ranges.end(), node.ranges.begin(), node.ranges.end());
    }
    state.pending_.push_back(std::move(pending));
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
  }
  void operator()(const SetNode& c) const {
    GraphState& graph = c.target == Target::kGraph ? state.graphs_.at(c.id) : state.execs_.at(c.id).graph;
    fill(graph.nodes[static_cast<std::size_t>(graph.index_of(c.node))], c.params);
    renew_addresses(graph);
  }
  void operator()(const Update& c) const {
    ExecState& exec = state.execs_.at(c.exec);
    const GraphState& graph = state.graphs_.at(c.graph);
    if (update_outcome(exec.graph, graph) != UpdateOutcome::kSuccess) return;
    for (std::size_t i = 0; i < exec.graph.nodes.size(); ++i) {
      exec.graph.nodes[i].params = graph.nodes[i].params;
      exec.graph.nodes[i].child = graph.nodes[i].child;
      exec.graph.nodes[i].ranges = graph.nodes[i].ranges;
    }
    exec.graph.addresses = graph.addresses;
  }
  void operator()(const Synchronize& c) const {
    if (c.target == Target::kDevice) return state.synchronize_all();
    if (c.target == Target::kEvent) return state.synchronize_clock(state.events_.at(c.id).clock);
    // Only what the stream itself was given: whether the null stream's end is that of every blocking stream is not
    // said.
    const State::StreamState* stream = State::find(state.streams_, c.id);
    if (stream != nullptr) state.synchronize_clock(stream->clock);
  }
  void operator()(const RecordEvent& c) const { state.events_.at(c.event).clock = state.launch_clock(c.stream); }
  void operator()(const WaitEvent& c) const {
    State::StreamState& stream = state.streams_[c.stream];
    stream.alive = true;
    for (const auto& [id, tick] : state.events_.at(c.event).clock) {
      std::uint64_t& known = stream.clock[id];
      known = std::max(known, tick);
    }
  }
  void operator()(const Read&) const { state.synchronize_all(); }
  void operator()(const Write&) const { state.synchronize_all(); }
  void operator()(const Free& c) const {
    state.synchronize_all();
    state.buffers_.at(c.buffer).alive = false;
  }
  void operator()(const Destroy& c) const {
    state.synchronize_all();
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
  void operator()(const Fail&) const {}
};

void State::apply(const Command& command) {
  assert(!check(command));
  std::visit(Applier{*this}, command);
}

std::uint32_t repeats_that_matter(const Step& step) {
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
