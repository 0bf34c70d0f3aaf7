// The rules for the parameters of a node; the contract is in the header.
#include "verify/commands/nodes/node_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "verify/commands/captures/answers.h"
#include "verify/language/line.h"
#include "verify/program/state_devices.h"

namespace verify {

namespace {

// Managed memory counts as host memory and as device memory.
bool is_host_memory(MemoryKind kind) {
  return kind != MemoryKind::kDevice;
}
bool is_device_memory(MemoryKind kind) {
  return kind == MemoryKind::kDevice || kind == MemoryKind::kManaged;
}

// Whether a copy's direction fits the memory of its ends (hipMemcpyKind: the direction must match the pointers).
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

Reason in_bounds(const State& state, const std::vector<ByteRange>& ranges) {
  for (const ByteRange& range : ranges) {
    if (Reason reason = state.missing_buffer(range.buffer)) return reason;
    const auto bytes = static_cast<std::int64_t>(state.buffer(range.buffer)->bytes);
    if (range.hi == kToTheEnd) continue;
    if (range.lo < 0 || range.hi > bytes) {
      return fmt::format("bytes {} to {} of b{} are touched, which has {}", range.lo, range.hi, range.buffer, bytes);
    }
  }
  return {};
}

// How far the first byte of `b` lies behind that of `a`, where both are one buffer or views of one range.
std::optional<std::int64_t> distance(const State& state, Id a, Id b) {
  if (a == b) return 0;
  const std::optional<ViewPlace>&one = state.buffer(a)->view, &other = state.buffer(b)->view;
  if (!one || !other || one->range != other->range) return {};
  return (std::int64_t{other->page} - std::int64_t{one->page}) * static_cast<std::int64_t>(kPageBytes);
}

Reason not_self_conflicting(const State& state, const std::vector<ByteRange>& ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::size_t j = i + 1; j < ranges.size(); ++j) {
      const ByteRange &a = ranges[i], &b = ranges[j];
      const std::optional<std::int64_t> apart = distance(state, a.buffer, b.buffer);
      const auto end = [&state](const ByteRange& range) {  // the range of a kernel of unknown extent is endless
        return std::min(range.hi, static_cast<std::int64_t>(state.buffer(range.buffer)->bytes));
      };
      const bool views = a.buffer != b.buffer;
      const std::int64_t a_end = views ? end(a) : a.hi, b_end = views ? end(b) : b.hi;
      if (apart && (a.write || b.write) && a.lo < b_end + *apart && b.lo + *apart < a_end)
        return fmt::format("the node writes bytes of b{} that it also touches through another argument",
                           a.write ? a.buffer : b.buffer);
    }
  }
  return {};
}

Reason reference(const State& state, const BufferRef& ref, std::uint32_t alignment) {
  if (Reason reason = state.missing_buffer(ref.buffer)) return reason;
  if (Reason reason = state.unmapped(ref.buffer)) return reason;
  const auto bytes = static_cast<std::int64_t>(state.buffer(ref.buffer)->bytes);
  if (ref.offset < 0 || ref.offset > bytes)
    return fmt::format("{} lies outside b{} ({} bytes)", print_ref(ref), ref.buffer, bytes);
  if (ref.offset % alignment != 0) return fmt::format("{} is not aligned to {} bytes", print_ref(ref), alignment);
  return {};
}

Reason range_kernel(const KernelParams& p) {
  const BufferRef& begin = p.arguments[static_cast<std::size_t>(p.kernel->field_index("begin"))].ref;
  const BufferRef& end = p.arguments[static_cast<std::size_t>(p.kernel->field_index("end"))].ref;
  if (begin.buffer != end.buffer || end.offset < begin.offset) return "begin and end are not a range of one buffer";
  return {};
}

// The scalars of a matrix kernel bound the memory that it touches, so no scalar may hold the bits of an address. Its
// work needs a bound of its own, because strides of 0 let any number of products lie within a few bytes.
Reason matrix_kernel(const KernelParams& p) {
  std::uint64_t products = 1;
  for (std::size_t i = 0; i < p.arguments.size(); ++i) {
    const FieldSpec& field = p.kernel->fields[i];
    if (field.kind == FieldKind::kPointer) continue;
    if (p.arguments[i].kind != ArgumentValue::Kind::kNumber)
      return fmt::format("'{}' of {} has to be a number", field.name, p.kernel->name);
    if (field.name != "m" && field.name != "n" && field.name != "k") continue;
    if (p.arguments[i].number > kMaxProducts) return fmt::format("'{}' is at most {}", field.name, kMaxProducts);
    products *= std::max<std::uint64_t>(p.arguments[i].number, 1);
  }
  if (products > kMaxProducts) return fmt::format("a matrix kernel multiplies at most {} times", kMaxProducts);
  return {};
}

Reason params(const State& state, const KernelParams& p) {
  if (p.kernel == nullptr || p.arguments.size() != p.kernel->fields.size()) return "a kernel takes one value a field";
  if (p.kernel->fields.empty() && p.style == ArgumentStyle::kExtra)
    return fmt::format("{} has no arguments to be packed", p.kernel->name);
  if (p.module) {
    if (Reason reason = state.missing_module(*p.module)) return reason;
    if (p.device != 0 || p.kernel->object != nullptr) return "a module has the project's kernels, for device 0";
  }
  if (p.by_symbol && p.module) return "a symbol names no module: hipModuleGetFunction finds a module's kernels";
  if (p.shared_bytes > kMaxSharedBytes) return fmt::format("a workgroup shares at most {} bytes", kMaxSharedBytes);
  const std::uint64_t items = std::uint64_t{p.block} * p.block_y * p.block_z;
  if (p.grid == 0 || p.grid_y == 0 || p.grid_z == 0 || items == 0 || items > 1024)
    return "grid is at least 1, block 1 to 1024";
  if (p.kernel->object == nullptr && (p.grid_y != 1 || p.grid_z != 1 || p.block_y != 1 || p.block_z != 1))
    return "the project's kernels have one dimension";
  for (std::size_t i = 0; i < p.arguments.size(); ++i) {
    const FieldSpec& field = p.kernel->fields[i];
    const ArgumentValue& value = p.arguments[i];
    const bool says = field.kind != FieldKind::kEither;
    if (says && (field.kind == FieldKind::kPointer) != (value.kind == ArgumentValue::Kind::kPointer)) {
      return fmt::format("'{}' of {} is {}", field.name, p.kernel->name,
                         field.kind == FieldKind::kPointer ? "a pointer" : "not a pointer");
    }
    if (value.kind == ArgumentValue::Kind::kNumber) continue;
    const bool pointer = value.kind == ArgumentValue::Kind::kPointer;
    const BufferState* named = state.buffer(value.ref.buffer);
    if (!pointer && named != nullptr && named->view)
      return fmt::format("where b{} is is the runtime's business", value.ref.buffer);
    if (Reason reason = reference(state, value.ref, pointer ? field.element : 1)) return reason;
    if (pointer && state.buffer(value.ref.buffer)->memory == MemoryKind::kPageable) {
      return fmt::format("a kernel cannot reach pageable b{}", value.ref.buffer);
    }
  }
  if (p.kernel->extent == Extent::kRange) return range_kernel(p);
  if (p.kernel->extent == Extent::kMatrix) return matrix_kernel(p);
  if (p.kernel->extent == Extent::kElements &&
      p.arguments[static_cast<std::size_t>(p.kernel->count_field)].kind != ArgumentValue::Kind::kNumber) {
    return "the number of elements has to be a number";
  }
  return {};
}

// hipMemcpyToSymbol copies from the host or the device, hipMemcpyFromSymbol to the host or the device.
Reason symbol(const State& state, const CopyParams& p) {
  if (p.symbol == CopySymbol::kNone) return {};
  const bool to = p.symbol == CopySymbol::kDestination;
  const Id named = (to ? p.dst : p.src).ref.buffer;
  if (!state.buffer(named)->symbol) return fmt::format("b{} is no variable of the device code", named);
  if (state.buffer(named)->module) return fmt::format("b{} is a variable of a module, which no symbol names", named);
  if (!p.linear) return "a copy to or from a symbol is linear";
  const CopyKind odd = to ? CopyKind::kDeviceToHost : CopyKind::kHostToDevice;
  if (p.kind == CopyKind::kHostToHost || p.kind == odd) return "a symbol is on the device";
  return {};
}

Reason params(const State& state, const CopyParams& p) {
  for (const CopyEnd* end : {&p.dst, &p.src}) {
    if (Reason reason = reference(state, end->ref, 1)) return reason;
    if (!p.linear && (end->pitch < end->position.x + p.width || end->rows < end->position.y + p.height)) {
      return "a copy's pitch and rows hold its width and height, positions included";
    }
    // AMD's runtime refuses a pitched pointer that describes more memory than its allocation has (native placement,
    // all releases); whole slices and whole rows count. HIP's header calls ysize the logical height of the allocation.
    const std::uint64_t bytes = state.buffer(end->ref.buffer)->bytes, slice = end->pitch * end->rows;
    if (!p.linear && (slice > bytes || end->position.z + p.depth > bytes ||
                      slice * (end->position.z + p.depth) + static_cast<std::uint64_t>(end->ref.offset) > bytes)) {
      return "a copy's rows, pitch and all, lie within the buffer";
    }
  }
  if (p.width == 0 || p.height == 0 || p.depth == 0) return "a copy moves at least one byte";
  if (p.linear && (p.height != 1 || p.depth != 1)) return "a linear copy has one row";
  if (Reason reason = symbol(state, p)) return reason;
  const MemoryKind dst = state.buffer(p.dst.ref.buffer)->memory, src = state.buffer(p.src.ref.buffer)->memory;
  if (!direction_fits(p.kind, dst, src)) return "the copy's kind does not fit the memory of its ends";
  return {};
}

Reason params(const State& state, const MemsetParams& p) {
  if (p.element != 1 && p.element != 2 && p.element != 4) return "a memset's element is 1, 2 or 4 bytes";
  if (p.width == 0 || p.height == 0) return "a memset sets at least one element";
  if (p.height > 1 && p.pitch < p.width * p.element) return "a memset's pitch holds its width";
  if (p.height == 1 && p.pitch != 0) return "a memset of one row has no pitch";
  if (p.height > 1 && p.pitch % p.element != 0) return "a memset's pitch is a whole number of elements";
  if (Reason reason = reference(state, p.dst, p.element)) return reason;
  // hip-tests, MemsetCommonNegative: pitch * height may not be larger than the memory.
  if (p.pitch * p.height + static_cast<std::uint64_t>(p.dst.offset) > state.buffer(p.dst.buffer)->bytes) {
    return "a memset's rows, pitch and all, lie within the buffer";
  }
  if (state.buffer(p.dst.buffer)->memory == MemoryKind::kPageable) return "a memset cannot reach pageable memory";
  return {};
}

Reason params(const State& state, const HostParams& p) {
  if (!p.memory) return {};
  if (p.bytes == 0) return "a host function given memory is given at least one byte";
  if (Reason reason = reference(state, *p.memory, 1)) return reason;
  if (state.buffer(p.memory->buffer)->memory == MemoryKind::kDevice)
    return "a host function cannot reach device memory";
  return {};
}

Reason params(const State&, const EmptyParams&) {
  return {};
}

Reason params(const State& state, const EventRecordParams& p) {
  return state.missing_event(p.event);
}

Reason params(const State& state, const EventWaitParams& p) {
  return state.missing_event(p.event);
}

Reason params(const State&, const MemoryAllocParams&) {
  return "memory is allocated by a node that is added";
}

Reason params(const State& state, const MemoryFreeParams& p) {
  return state.missing_buffer(p.buffer);
}

// The comparisons are those of HIP's header (hipStreamWaitValue32); 32 bits of a 32-bit value are compared.
bool satisfied(const MemoryOperation& wait, std::uint64_t value) {
  const std::uint64_t all = wait.bytes == 8 ? ~std::uint64_t{0} : 0xffffffffU;
  switch (wait.comparison) {
    case WaitComparison::kAtLeast:
      // CUDA compares cyclically: (int32_t)(word - value) >= 0. So the difference fits into a signed word.
      return value >= wait.value && value - wait.value <= all / 2;
    case WaitComparison::kEqual:
      return value == wait.value;
    case WaitComparison::kAnd:
      return (value & wait.value) != 0;
    case WaitComparison::kNor:
      return (~(value | wait.value) & all) != 0;
  }
  return false;
}

Reason flaw_of_operations(const BatchParams& batch) {
  const std::vector<MemoryOperation>& operations = batch.operations;
  if (operations.empty() || operations.size() > kMaxBatchOperations)
    return fmt::format("a batch has 1 to {} operations", kMaxBatchOperations);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const MemoryOperation& wait = operations[i];
    if (!wait.waits) continue;
    const auto written =
        std::find_if(operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const auto& o) { return !o.waits && o.ref == wait.ref && o.bytes == wait.bytes; });
    if (written == operations.begin() + static_cast<std::ptrdiff_t>(i) || !satisfied(wait, written->value))
      return "a batch waits for a value that it has written itself: other waits may never end";
  }
  return {};
}

Reason params(const State& state, const BatchParams& p) {
  if (Reason reason = flaw_of_operations(p)) return reason;
  for (const MemoryOperation& operation : p.operations) {
    if (Reason reason = reference(state, operation.ref, operation.bytes)) return reason;
    const BufferState& buffer = *state.buffer(operation.ref.buffer);
    if (buffer.memory != MemoryKind::kDevice || buffer.device != 0)
      return fmt::format("b{} is not memory of device 0, on which memory operations are defined", operation.ref.buffer);
  }
  return {};
}

Reason flaw_of_semaphores(const SemaphoreParams& params, bool signals) {
  if (params.list.empty()) return "a node of semaphores names at least one: sem=0:150";
  std::set<Id> named;
  for (const SemaphoreValue& each : params.list) {
    if (!named.insert(each.semaphore).second) return fmt::format("semaphore {} is named twice", each.semaphore);
    if (signals && each.value < kSemaphoreStart)
      return fmt::format("semaphores begin with the value {}, and a signal of a lower one could let a wait hang",
                         kSemaphoreStart);
    if (!signals && each.value > kSemaphoreStart)
      return fmt::format("semaphores begin with the value {}, and a wait for a higher one could hang", kSemaphoreStart);
  }
  return {};
}

Reason params(const State&, const SemaphoreSignalParams& p) {
  return flaw_of_semaphores(p, true);
}

Reason params(const State&, const SemaphoreWaitParams& p) {
  return flaw_of_semaphores(p, false);
}

Reason params(const State& state, const ChildParams& p) {
  if (p.nest == 0) return "a child is nested at least once";
  if (Reason reason = state.missing_graph(p.graph)) return reason;
  const GraphState& child = *state.graph(p.graph);
  if (child.depth + p.nest > kMaxNest) return fmt::format("graphs nest at most {} deep", kMaxNest);
  if (!child.objects.empty()) return fmt::format("g{} holds user objects", p.graph);
  if (child.cyclic) return fmt::format("g{} has a circle of dependencies", p.graph);
  if (!state.current(child)) return fmt::format("g{} has buffers at old addresses: patch it first", p.graph);
  return state.unmapped(child);
}

}  // namespace

Reason flaw_of_params(const State& state, const NodeParams& node, std::uint32_t fan) {
  if (Reason reason = std::visit([&](const auto& p) { return params(state, p); }, node)) return reason;
  std::vector<ByteRange> ranges;
  append_ranges(node, fan, ranges);
  if (Reason reason = in_bounds(state, ranges)) return reason;
  return not_self_conflicting(state, ranges);
}

Reason flaw_of_fan(const NodeParams& params, std::uint32_t fan) {
  if (fan == 1) return {};
  if (fan == 0 || fan > kMaxFan) return fmt::format("fan is 1 to {}", kMaxFan);
  const auto* copy = std::get_if<CopyParams>(&params);
  const auto* memset = std::get_if<MemsetParams>(&params);
  const auto* host = std::get_if<HostParams>(&params);
  const auto* kernel = std::get_if<KernelParams>(&params);
  const bool strided = (copy != nullptr && !copy->linear) || (memset != nullptr && memset->height != 1);
  const bool shared = (host != nullptr && host->memory) || std::holds_alternative<ChildParams>(params) ||
                      is_event_node(params) || is_memory_node(params) || std::holds_alternative<BatchParams>(params) ||
                      semaphores_in(params) != nullptr;
  if (strided || shared || (kernel != nullptr && kernel->opaque)) return "this node cannot be fanned out";
  return {};
}

Reason newer_address(const State& state, const GraphState& graph, const NodeParams& params, int replaced) {
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
    if (used_elsewhere(buffer)) reason = fmt::format("b{} moved since the graph was recorded: patch it first", buffer);
  };
  for_each_ref(params, [&](const BufferRef& ref) { check_one(ref.buffer); });
  if (const auto* child = std::get_if<ChildParams>(&params)) {
    for (const auto& [buffer, version] : state.graph(child->graph)->addresses) check_one(buffer);
  }
  return reason;
}

// A few graphs, each with the next one as a child twice, would have billions of nodes.
Reason too_many_instances(const State& state, const GraphState& graph, const NodeParams& params, std::uint32_t fan) {
  const auto* child = std::get_if<ChildParams>(&params);
  const std::uint64_t more = child == nullptr ? fan : state.graph(child->graph)->instances + child->nest;
  if (graph.instances + more <= kMaxInstances) return {};
  return fmt::format("a graph has at most {} nodes, those of its children counted", kMaxInstances);
}

void count_node(GraphState& graph, const NodeState& node) {
  graph.instances += node.fan;
  graph.has_events = graph.has_events || is_event_node(node.params) || (node.child && node.child->has_events);
  if (!node.child) return;
  const auto nest = std::get<ChildParams>(node.params).nest;
  graph.depth = std::max(graph.depth, node.child->depth + nest);
  graph.instances += node.child->instances + nest - 1;
}

bool is_child(const NodeParams& params) {
  return std::holds_alternative<ChildParams>(params);
}

Reason child_elsewhere(const State& state, const NodeParams& params, Id device) {
  const auto* child = std::get_if<ChildParams>(&params);
  if (child == nullptr || home_of(*state.graph(child->graph)) == device) return {};
  return "what a child of another device than the stream's becomes is not documented";
}

Reason child_captured_into(const State& state, const NodeParams& params) {
  const auto* child = std::get_if<ChildParams>(&params);
  return child == nullptr ? Reason{} : captured_into(state, child->graph);
}

const GraphState* child_named(const State& state, const NodeParams& params) {
  const auto* child = std::get_if<ChildParams>(&params);
  return child == nullptr ? nullptr : state.graph(child->graph);
}

// ---- devices

Reason event_of_other_device(const State& state, const NodeParams& params) {
  const auto* record = std::get_if<EventRecordParams>(&params);
  const auto* wait = std::get_if<EventWaitParams>(&params);
  if (record == nullptr && wait == nullptr) return {};
  if (state.device_of_event(record != nullptr ? record->event : wait->event) == 0) return {};
  return "which device's streams a node records an event on is not documented";
}

Reason pool_of_other_device(const State& state, const NodeParams& params, Id device) {
  std::vector<Id> devices = state.devices_of(params);
  devices.push_back(device);
  const bool kernel = std::holds_alternative<KernelParams>(params);
  bool unreached = false;
  for_each_ref(params, [&](const BufferRef& ref) {
    const BufferState& buffer = *state.buffer(ref.buffer);
    if (!buffer.of_pool()) return;
    for (const Id one : devices) unreached |= one != 0 && !(kernel && (buffer.access >> one & 1) != 0);
  });
  if (!unreached) return {};
  return "what graphs and streams allocate is device 0's, and other devices reach it by access descriptors only";
}

Reason flaw_of_devices(const State& state, const NodeParams& params) {
  if (Reason reason = event_of_other_device(state, params)) return reason;
  if (Reason reason = pool_of_other_device(state, params, 0)) return reason;
  if (const auto* kernel = std::get_if<KernelParams>(&params)) return unknown_device(kernel->device);
  const auto* copy = std::get_if<CopyParams>(&params);
  if (copy == nullptr || copy->peer == PeerCopy::kNone) return {};
  return "nodes are not told the devices of a copy's ends";
}

// ---- graphs that are changed

Reason holds_objects(const GraphState& graph) {
  if (graph.objects.empty()) return {};
  return "it holds user objects";
}

Reason names_freed_buffer(const State& state, const GraphState& graph) {
  for (const auto& [id, version] : graph.addresses) {
    if (!state.buffer(id)->alive) return fmt::format("it uses b{}, which was freed", id);
  }
  return state.unmapped(graph);
}

}  // namespace verify
