// Recordings: well-formedness, relocation of one node, and recording through the API.
#include "hip/recording.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "hip/captured_graph.h"
#include "hip/device_scope.h"
#include "hip/driver_nodes.h"
#include "hip/generic_nodes.h"
#include "hip/kernel_attributes.h"
#include "hip/kernel_parameters.h"
#include "hip/node_setter.h"
#include "hip/symbol_nodes.h"

namespace hip {
namespace {

constexpr std::uint32_t kPointerBytes = 8;
constexpr BufferIndex kNoBuffer = std::numeric_limits<BufferIndex>::max();  // there is no count one above it

void* pointer(DeviceAddress address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

// Whether any two of these ranges share a byte. Empty ranges share none: an empty struct has no bytes.
bool overlap(std::vector<ArgumentSlot> ranges) {
  std::erase_if(ranges, [](const ArgumentSlot& range) { return range.size == 0; });
  std::ranges::sort(ranges, {}, &ArgumentSlot::offset);
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (std::uint64_t{ranges[i - 1].offset} + ranges[i - 1].size > ranges[i].offset) return true;
  }
  return false;
}

bool outside(const std::vector<ArgumentSlot>& ranges, std::size_t block) {
  return std::ranges::any_of(
      ranges, [&](const ArgumentSlot& range) { return std::uint64_t{range.offset} + range.size > block; });
}

const char* flaw_of_dependencies(const std::vector<NodeIndex>& dependencies, std::size_t earlier_nodes) {
  std::vector<NodeIndex> sorted = dependencies;
  std::ranges::sort(sorted);
  if (!sorted.empty() && sorted.back() >= earlier_nodes) return "a dependency is not an earlier node";
  if (std::ranges::adjacent_find(sorted) != sorted.end()) return "a dependency is named twice";
  return nullptr;
}

const char* flaw_of_kernel(const KernelRecord& kernel, const std::vector<Relocation>& relocations) {
  if (outside(kernel.slots, kernel.arguments.size())) return "a slot lies outside the argument block";
  if (kernel.style == ArgumentStyle::kParams && kernel.slots.empty() && !kernel.arguments.empty()) {
    return "a kernel recorded through kernelParams needs slots";
  }
  std::vector<ArgumentSlot> ranges;
  ranges.reserve(relocations.size());
  for (const Relocation& relocation : relocations) {
    if (relocation.field != Field::kKernelArgument) return "a relocation names a field that a kernel does not have";
    ranges.push_back({relocation.offset, kPointerBytes});
  }
  if (outside(ranges, kernel.arguments.size())) return "a relocation lies outside the argument block";
  if (overlap(std::move(ranges))) return "two relocations overlap";
  return nullptr;
}

const char* flaw_of_fields(const std::vector<Relocation>& relocations, std::initializer_list<Field> fields) {
  for (std::size_t i = 0; i < relocations.size(); ++i) {
    if (std::ranges::find(fields, relocations[i].field) == fields.end()) {
      return "a relocation names a field that the node does not have";
    }
    if (relocations[i].offset != 0) return "only relocations of kernel arguments have an offset";
    for (std::size_t j = 0; j < i; ++j) {
      if (relocations[j].field == relocations[i].field) return "two relocations overlap";
    }
  }
  return nullptr;
}

struct FlawOfRecord {
  const std::vector<Relocation>& relocations;

  const char* operator()(const KernelRecord& kernel) const { return flaw_of_kernel(kernel, relocations); }
  const char* operator()(const CopyRecord& copy) const {
    if (copy.symbol.symbol == nullptr) {
      return flaw_of_fields(relocations, {Field::kCopyDestination, Field::kCopySource});
    }
    if (!copy.linear) return "a copy to or from a symbol is linear";
    return flaw_of_fields(relocations, {copy.symbol.to ? Field::kCopySource : Field::kCopyDestination});
  }
  const char* operator()(const MemsetRecord&) const { return flaw_of_fields(relocations, {Field::kMemsetDestination}); }
  const char* operator()(const HostRecord&) const { return flaw_of_fields(relocations, {}); }
  const char* operator()(const EmptyRecord&) const { return flaw_of_fields(relocations, {}); }
  const char* operator()(const EventSignalRecord& record) const { return flaw_of_event(record.event); }
  const char* operator()(const EventWaitRecord& wait) const { return flaw_of_event(wait.event); }
  const char* operator()(const MemoryAllocRecord& memory) const {
    if (memory.bytes == 0) return "an allocation node allocates at least one byte";
    return memory.buffer == kNoBuffer ? "a memory node names no buffer" : flaw_of_fields(relocations, {});
  }
  const char* operator()(const MemoryFreeRecord& memory) const {
    return memory.buffer == kNoBuffer ? "a memory node names no buffer" : flaw_of_fields(relocations, {});
  }
  const char* operator()(const ChildRecord& child) const {
    if (!child.graph) return "a child graph node needs a recording";
    return flaw_of_fields(relocations, {});
  }
  const char* operator()(const OpaqueRecord& opaque) const {
    if (!opaque.record) return "an opaque node needs a function that records it";
    if (std::ranges::find(opaque.buffers, kNoBuffer) != opaque.buffers.end()) {
      return "an opaque node names no buffer";
    }
    return flaw_of_fields(relocations, {});
  }

 private:
  [[nodiscard]] const char* flaw_of_event(hipEvent_t event) const {
    return event == nullptr ? "an event node needs an event" : flaw_of_fields(relocations, {});
  }
};

std::uint32_t saturating_add(std::uint32_t a, std::uint32_t b) {
  return a > std::numeric_limits<std::uint32_t>::max() - b ? std::numeric_limits<std::uint32_t>::max() : a + b;
}

Error failed(const char* function, hipError_t status) {
  return Error{status, std::string(function) + ": " + status_name(status)};
}

// Adds one node, whose record has been relocated already, through the function of its kind.
struct AddNode {
  const Api& api;
  hipGraph_t graph;
  std::span<const hipGraphNode_t> dependencies;
  std::span<const DeviceAddress> addresses;
  NodeExtras& extras;

  Result<hipGraphNode_t> operator()(KernelRecord& kernel) const {
    const KernelParameters parameters(kernel, kernel.style);
    hipGraphNode_t node = nullptr;
    const hipError_t status =
        api.hipGraphAddKernelNode(&node, graph, dependencies.data(), dependencies.size(), parameters.get());
    return added("hipGraphAddKernelNode", status, node);
  }
  Result<hipGraphNode_t> operator()(CopyRecord& copy) const {
    const hipMemcpy3DParms& params = copy.params;
    hipGraphNode_t node = nullptr;
    if (copy.symbol.symbol != nullptr) return add_symbol_node(api, graph, copy, dependencies);
    if (copy.linear) {
      const hipError_t status =
          api.hipGraphAddMemcpyNode1D(&node, graph, dependencies.data(), dependencies.size(), params.dstPtr.ptr,
                                      params.srcPtr.ptr, params.extent.width, params.kind);
      return added("hipGraphAddMemcpyNode1D", status, node);
    }
    const hipError_t status =
        api.hipGraphAddMemcpyNode(&node, graph, dependencies.data(), dependencies.size(), &params);
    return added("hipGraphAddMemcpyNode", status, node);
  }
  Result<hipGraphNode_t> operator()(MemsetRecord& memset) const {
    hipGraphNode_t node = nullptr;
    const hipError_t status =
        api.hipGraphAddMemsetNode(&node, graph, dependencies.data(), dependencies.size(), &memset.params);
    return added("hipGraphAddMemsetNode", status, node);
  }
  Result<hipGraphNode_t> operator()(HostRecord& host) const {
    hipGraphNode_t node = nullptr;
    const hipError_t status =
        api.hipGraphAddHostNode(&node, graph, dependencies.data(), dependencies.size(), &host.params);
    return added("hipGraphAddHostNode", status, node);
  }
  Result<hipGraphNode_t> operator()(EmptyRecord&) const {
    hipGraphNode_t node = nullptr;
    const hipError_t status = api.hipGraphAddEmptyNode(&node, graph, dependencies.data(), dependencies.size());
    return added("hipGraphAddEmptyNode", status, node);
  }
  Result<hipGraphNode_t> operator()(EventSignalRecord& record) const {
    return add_event("hipGraphAddEventRecordNode", api.hipGraphAddEventRecordNode, record.event);
  }
  Result<hipGraphNode_t> operator()(EventWaitRecord& wait) const {
    return add_event("hipGraphAddEventWaitNode", api.hipGraphAddEventWaitNode, wait.event);
  }
  Result<hipGraphNode_t> operator()(ChildRecord& child) const {
    Result<RecordedGraph> inner = record_graph(api, *child.graph, addresses);
    if (!inner) return inner.error();
    extras.kept.take(std::move(inner.value().kept));
    hipGraphNode_t node = nullptr;
    const hipError_t status =
        api.hipGraphAddChildGraphNode(&node, graph, dependencies.data(), dependencies.size(), inner.value().graph);
    const Status destroyed = destroy_graph(api, inner.value().graph);
    if (status != hipSuccess) {
      Error error = failed("hipGraphAddChildGraphNode", status);
      if (!destroyed) error.message += "; destroying the child failed as well: " + destroyed.error().message;
      return error;
    }
    if (!destroyed) return Error{destroyed.error().code, "a child graph that was cloned: " + destroyed.error().message};
    return node;
  }
  Result<hipGraphNode_t> operator()(MemoryAllocRecord& memory) const {
    if (api.hipGraphAddMemAllocNode == nullptr) return failed("hipGraphAddMemAllocNode", hipErrorNotSupported);
    hipMemAllocNodeParams params{};
    params.poolProps.allocType = hipMemAllocationTypePinned;
    params.poolProps.location = {hipMemLocationTypeDevice, memory.device};
    params.bytesize = memory.bytes;
    hipGraphNode_t node = nullptr;
    const hipError_t status =
        api.hipGraphAddMemAllocNode(&node, graph, dependencies.data(), dependencies.size(), &params);
    extras.allocated = reinterpret_cast<DeviceAddress>(params.dptr);
    return added("hipGraphAddMemAllocNode", status, node);
  }
  Result<hipGraphNode_t> operator()(MemoryFreeRecord& memory) const {
    if (api.hipGraphAddMemFreeNode == nullptr) return failed("hipGraphAddMemFreeNode", hipErrorNotSupported);
    hipGraphNode_t node = nullptr;
    const hipError_t status = api.hipGraphAddMemFreeNode(&node, graph, dependencies.data(), dependencies.size(),
                                                         pointer(addresses[memory.buffer]));
    return added("hipGraphAddMemFreeNode", status, node);
  }
  Result<hipGraphNode_t> operator()(OpaqueRecord& opaque) const {
    return opaque.record(api, graph, dependencies, addresses, extras.kept);
  }

 private:
  // Optional functions: a runtime may lack them.
  Result<hipGraphNode_t> add_event(const char* name, decltype(Api::hipGraphAddEventRecordNode) function,
                                   hipEvent_t event) const {
    if (function == nullptr) return Error{hipErrorNotSupported, std::string(name) + " is missing"};
    hipGraphNode_t node = nullptr;
    const hipError_t status = function(&node, graph, dependencies.data(), dependencies.size(), event);
    return added(name, status, node);
  }
  static Result<hipGraphNode_t> added(const char* function, hipError_t status, hipGraphNode_t node) {
    if (status != hipSuccess) return failed(function, status);
    return node;
  }
};

}  // namespace

KernelRecord KernelRecord::from_arguments(hipFunction_t function, std::vector<ArgumentSlot> slots,
                                          std::span<const std::span<const std::byte>> values) {
  assert(slots.size() == values.size() && "one value a slot");
  assert(!overlap(slots) && "slots overlap");
  KernelRecord kernel;
  kernel.function = function;
  std::size_t size = 0;
  for (const ArgumentSlot& slot : slots) size = std::max(size, std::size_t{slot.offset} + slot.size);
  kernel.arguments.resize(size);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    assert(values[i].size() == slots[i].size && "a value is not as large as its slot");
    std::copy(values[i].begin(), values[i].end(), kernel.arguments.begin() + slots[i].offset);
  }
  kernel.slots = std::move(slots);
  return kernel;
}

static const char* flaw_of_parameters(const RecordedNode& node) {
  for (const Relocation& relocation : node.relocations) {
    if (relocation.buffer == kNoBuffer) return "a relocation names no buffer";
  }
  return std::visit(FlawOfRecord{node.relocations}, node.record);
}

const char* flaw_of(const RecordedNode& node, std::size_t earlier_nodes) {
  if (const char* flaw = flaw_of_dependencies(node.dependencies, earlier_nodes)) return flaw;
  return flaw_of_parameters(node);
}

NodeIndex Recording::add(RecordedNode node) {
  assert(flaw_of(node, nodes_.size()) == nullptr);
  count(node);
  nodes_.push_back(std::move(node));
  return static_cast<NodeIndex>(nodes_.size() - 1);
}

void Recording::replace(NodeIndex node, NodeRecord record, std::vector<Relocation> relocations) {
  assert(node < nodes_.size());
  RecordedNode& target = nodes_[node];
  assert(may_follow(target.record, record) && "a node keeps its type");
  target.record = std::move(record);
  target.relocations = std::move(relocations);
  assert(flaw_of_parameters(target) == nullptr);
  count_again();
}

void Recording::set_form(NodeIndex node, NodeForm form) {
  assert(node < nodes_.size());
  nodes_[node].form = form;
}

void Recording::connect(NodeIndex from, NodeIndex to) {
  assert(from < nodes_.size() && to < nodes_.size() && from != to);
  std::vector<NodeIndex>& dependencies = nodes_[to].dependencies;
  assert(std::ranges::find(dependencies, from) == dependencies.end());
  dependencies.push_back(from);
  connections_.push_back({from, to, static_cast<NodeIndex>(nodes_.size())});
}

void Recording::disconnect(NodeIndex from, NodeIndex to) {
  assert(to < nodes_.size());
  std::erase_if(connections_, [&](const Connection& each) { return each.from == from && each.to == to; });
  [[maybe_unused]] const std::size_t erased = std::erase(nodes_[to].dependencies, from);
  assert(erased == 1);
}

void Recording::erase(NodeIndex node) {
  assert(node < nodes_.size());
  nodes_.erase(nodes_.begin() + node);
  for (RecordedNode& each : nodes_) {
    std::erase(each.dependencies, node);
    for (NodeIndex& dependency : each.dependencies) dependency -= dependency > node ? 1 : 0;
  }
  std::erase_if(connections_, [node](const Connection& each) { return each.from == node || each.to == node; });
  for (Connection& each : connections_) {
    for (NodeIndex* index : {&each.from, &each.to, &each.nodes_before}) *index -= *index > node ? 1 : 0;
  }
  count_again();
}

void Recording::count_again() {
  buffer_count_ = child_depth_ = tree_size_ = 0;
  has_memory_nodes_ = false;
  for (const RecordedNode& each : nodes_) count(each);
}

void Recording::count(const RecordedNode& node) {
  tree_size_ = saturating_add(tree_size_, 1);
  for (const Relocation& relocation : node.relocations) buffer_count_ = std::max(buffer_count_, relocation.buffer + 1);
  if (const auto* opaque = std::get_if<OpaqueRecord>(&node.record)) {
    for (BufferIndex buffer : opaque->buffers) buffer_count_ = std::max(buffer_count_, buffer + 1);
  }
  if (const auto* allocation = std::get_if<MemoryAllocRecord>(&node.record)) {
    has_memory_nodes_ = true;
    buffer_count_ = std::max(buffer_count_, allocation->buffer + 1);
  }
  if (const auto* freed = std::get_if<MemoryFreeRecord>(&node.record)) {
    has_memory_nodes_ = true;
    buffer_count_ = std::max(buffer_count_, freed->buffer + 1);
  }
  if (const auto* child = std::get_if<ChildRecord>(&node.record)) {
    buffer_count_ = std::max(buffer_count_, child->graph->buffer_count_);
    child_depth_ = std::max(child_depth_, saturating_add(child->graph->child_depth_, 1));
    tree_size_ = saturating_add(tree_size_, child->graph->tree_size_);
  }
}

const char* kind_of(const NodeRecord& record) {
  static constexpr const char* kKinds[] = {"kernel",      "copy",   "memset",       "host",       "empty",
                                           "child graph", "opaque", "event record", "event wait", "memory allocation",
                                           "memory free"};
  static_assert(std::size(kKinds) == std::variant_size_v<NodeRecord>);
  return kKinds[record.index()];
}

bool may_follow(const NodeRecord& old, const NodeRecord& now) {
  return old.index() == now.index() || std::holds_alternative<OpaqueRecord>(old) ||
         std::holds_alternative<OpaqueRecord>(now);
}

void write_address(NodeRecord& record, const Relocation& relocation, DeviceAddress base) {
  const DeviceAddress address = base + static_cast<DeviceAddress>(relocation.addend);
  static_assert(sizeof(address) == kPointerBytes);
  switch (relocation.field) {
    case Field::kKernelArgument: {
      std::vector<std::byte>& block = std::get<KernelRecord>(record).arguments;
      assert(std::size_t{relocation.offset} + kPointerBytes <= block.size());
      std::memcpy(block.data() + relocation.offset, &address, kPointerBytes);
      return;
    }
    case Field::kCopyDestination:
      std::get<CopyRecord>(record).params.dstPtr.ptr = pointer(address);
      return;
    case Field::kCopySource:
      std::get<CopyRecord>(record).params.srcPtr.ptr = pointer(address);
      return;
    case Field::kMemsetDestination:
      std::get<MemsetRecord>(record).params.dst = pointer(address);
      return;
  }
  assert(false && "a field that does not exist");
}

NodeRecord relocated(const RecordedNode& node, std::span<const DeviceAddress> addresses) {
  NodeRecord record = node.record;
  for (const Relocation& relocation : node.relocations) {
    assert(relocation.buffer < addresses.size());
    write_address(record, relocation, addresses[relocation.buffer]);
  }
  return record;
}

// Whether all that runs on a device of its own runs on one, which `home` is where something does.
static bool share_device(const Recording& recording, std::optional<int>& home) {
  return std::ranges::all_of(recording.nodes(), [&](const RecordedNode& node) {
    if (const auto* child = std::get_if<ChildRecord>(&node.record)) return share_device(*child->graph, home);
    const auto* opaque = std::get_if<OpaqueRecord>(&node.record);
    const bool has_one = std::holds_alternative<KernelRecord>(node.record) ||
                         std::holds_alternative<MemsetRecord>(node.record) || (opaque != nullptr && opaque->kernel);
    if (!has_one) return true;
    const int device = device_of(node.record);
    return home.has_value() ? *home == device : (home.emplace(device), true);
  });
}

void* Kept::of(const void* owner) const {
  const auto found =
      std::find_if(things_.rbegin(), things_.rend(), [&](const auto& each) { return each.first == owner; });
  return found == things_.rend() ? nullptr : found->second.get();
}

void Kept::take(Kept other) {
  std::move(other.things_.begin(), other.things_.end(), std::back_inserter(things_));
}

int device_of(const NodeRecord& record) {
  if (const auto* kernel = std::get_if<KernelRecord>(&record)) return kernel->device;
  if (const auto* opaque = std::get_if<OpaqueRecord>(&record)) return opaque->device;
  if (const auto* child = std::get_if<ChildRecord>(&record)) return home_of(*child->graph);
  const auto* memset = std::get_if<MemsetRecord>(&record);
  return memset == nullptr ? 0 : memset->device;
}

int home_of(const Recording& recording) {
  std::optional<int> home;
  return share_device(recording, home) ? home.value_or(0) : 0;
}

namespace {

// A linear copy has one form only: the others add nodes of rows, which setters of linear ones spoil (releases of AMD's
// runtime). A node gets here so when it was added with rows and set to a linear copy since.
}  // namespace

NodeForm form_of(const RecordedNode& node) {
  const auto* copy = std::get_if<CopyRecord>(&node.record);
  return copy != nullptr && copy->linear ? NodeForm::kTyped : node.form;
}

Result<hipGraphNode_t> record_node(const Api& api, hipGraph_t graph, const RecordedNode& node,
                                   std::span<const hipGraphNode_t> dependencies,
                                   std::span<const DeviceAddress> addresses, NodeExtras& extras) {
  // Device 0 is the caller's to have current, as before there were others.
  std::optional<DeviceScope> scope;
  if (const int device = device_of(node.record); device != 0) {
    Result<DeviceScope> entered = DeviceScope::enter(api, device);
    if (!entered) return entered.error();
    scope.emplace(std::move(entered).value());
  }
  NodeRecord record = relocated(node, addresses);
  const NodeForm form = form_of(node);
  Result<hipGraphNode_t> added =
      form == NodeForm::kDriver    ? add_driver_node(api, graph, record, dependencies, addresses)
      : form == NodeForm::kGeneric ? add_generic_node(api, graph, record, dependencies, addresses, extras.kept)
                                   : std::visit(AddNode{api, graph, dependencies, addresses, extras}, record);
  Status status = added ? Status() : Status(added.error());
  const auto* kernel = form == NodeForm::kDriver ? nullptr : std::get_if<KernelRecord>(&record);
  if (status && kernel != nullptr) status = set_attributes(api, added.value(), kernel->attributes);
  if (scope) status = both(std::move(status), scope->leave());
  if (!status) return status.error();
  return added;
}

namespace {

// Nothing is left behind either where a node's own recorder throws.
class GoneIfThrown {
 public:
  GoneIfThrown(const Api& api, hipGraph_t graph) : api_(api), graph_(graph) {}
  GoneIfThrown(const GoneIfThrown&) = delete;
  GoneIfThrown& operator=(const GoneIfThrown&) = delete;
  ~GoneIfThrown() {
    if (std::uncaught_exceptions() > before_) ErrorSink{}(destroy_graph(api_, graph_));
  }

 private:
  const Api& api_;
  const hipGraph_t graph_;
  const int before_ = std::uncaught_exceptions();
};

Error abandon(const Api& api, hipGraph_t unfinished, Error error) {
  if (const Status destroyed = destroy_graph(api, unfinished); !destroyed) {
    error.message += "; destroying the unfinished graph failed as well: " + destroyed.error().message;
  }
  return error;
}

// Takes those that were made when the graph had as many nodes as `recorded` has from the front of `connections`.
hipError_t connect_here(const Api& api, std::span<const Recording::Connection>& connections,
                        const RecordedGraph& recorded) {
  std::vector<hipGraphNode_t> from, to;
  for (; !connections.empty() && connections.front().nodes_before == recorded.nodes.size();
       connections = connections.subspan(1)) {
    from.push_back(recorded.nodes[connections.front().from]);
    to.push_back(recorded.nodes[connections.front().to]);
  }
  if (from.empty()) return hipSuccess;
  if (api.hipGraphAddDependencies == nullptr) return hipErrorNotSupported;
  return api.hipGraphAddDependencies(recorded.graph, from.data(), to.data(), from.size());
}

bool names_any(const RecordedNode& node, const std::set<BufferIndex>& buffers) {
  const auto named = [&](BufferIndex buffer) { return buffers.contains(buffer); };
  if (std::ranges::any_of(node.relocations, [&](const Relocation& relocation) { return named(relocation.buffer); })) {
    return true;
  }
  const auto* opaque = std::get_if<OpaqueRecord>(&node.record);
  if (opaque != nullptr) return std::ranges::any_of(opaque->buffers, named);
  const auto* child = std::get_if<ChildRecord>(&node.record);
  return child != nullptr && std::ranges::any_of(child->graph->nodes(),
                                                 [&](const RecordedNode& inner) { return names_any(inner, buffers); });
}

// The nodes that name memory which a later one allocates: they were set to it after both were added.
std::vector<NodeIndex> nodes_before_their_memory(const Recording& recording) {
  std::vector<NodeIndex> found;
  if (!recording.has_memory_nodes()) return found;
  std::set<BufferIndex> later;
  const auto nodes = recording.nodes();
  for (NodeIndex i = static_cast<NodeIndex>(nodes.size()); i-- > 0;) {
    if (const auto* memory = std::get_if<MemoryAllocRecord>(&nodes[i].record)) later.insert(memory->buffer);
    if (!later.empty() && names_any(nodes[i], later)) found.push_back(i);
  }
  return found;
}

// A node that was recorded before its memory was, with the address that this had in another graph, is set to where it
// is now, as it was set to it the first time: its place among the nodes is what updates pair it by.
Status set_to_memory(const Api& api, const RecordedGraph& recorded, NodeIndex index, const RecordedNode& node,
                     std::span<const DeviceAddress> addresses) {
  const std::string name = "node " + std::to_string(index) + " (" + kind_of(node.record) + ")";
  if (node.relocations.empty()) {  // a child or an opaque node: nothing of the graph sets these
    return Error{hipErrorNotSupported, name + " names memory that a later node allocates: add it behind that one"};
  }
  NodeRecord record = relocated(node, addresses);
  const auto set = [&] {
    const hipError_t status = set_node(api, nullptr, recorded.nodes[index], form_of(node), record);
    return status == hipSuccess ? Status() : failed((name + ": " + setter_name(record, false)).c_str(), status);
  };
  const int device = device_of(node.record);
  if (device == 0) return set();
  Result<DeviceScope> entered = DeviceScope::enter(api, device);
  if (!entered) return entered.error();
  Status status = set();
  return both(std::move(status), entered.value().leave());
}

}  // namespace

Result<RecordedGraph> record_graph(const Api& api, const Recording& recording,
                                   std::span<const DeviceAddress> addresses) {
  assert(recording.buffer_count() <= addresses.size());
  if (!recording.within_bounds()) {
    return Error{hipErrorInvalidValue, "the recording nests child graphs deeper than " +
                                           std::to_string(kMaxChildDepth) + " or has more than " +
                                           std::to_string(kMaxTreeNodes) + " nodes: split it"};
  }
  RecordedGraph recorded;
  if (const hipError_t status = api.hipGraphCreate(&recorded.graph, 0); status != hipSuccess) {
    return failed("hipGraphCreate", status);
  }
  const GoneIfThrown guard(api, recorded.graph);
  recorded.nodes.reserve(recording.nodes().size());
  std::vector<hipGraphNode_t> dependencies;
  std::span<const Recording::Connection> connections = recording.connections();
  std::set<std::pair<NodeIndex, NodeIndex>> connected;
  for (const Recording::Connection& each : connections) connected.emplace(each.from, each.to);
  NodeExtras extras;
  AddressTable own;  // with what this graph allocates
  if (recording.has_memory_nodes()) {
    own.assign(addresses.begin(), addresses.end());
    addresses = own;
  }
  for (const RecordedNode& node : recording.nodes()) {
    dependencies.clear();
    for (const NodeIndex dependency : node.dependencies) {
      if (connected.contains({dependency, static_cast<NodeIndex>(recorded.nodes.size())})) continue;
      dependencies.push_back(recorded.nodes[dependency]);
    }
    Result<hipGraphNode_t> added = record_node(api, recorded.graph, node, dependencies, addresses, extras);
    if (!added) {
      Error error = added.error();
      error.message =
          "node " + std::to_string(recorded.nodes.size()) + " (" + kind_of(node.record) + "): " + error.message;
      return abandon(api, recorded.graph, std::move(error));
    }
    recorded.nodes.push_back(added.value());
    if (const auto* memory = std::get_if<MemoryAllocRecord>(&node.record)) {
      own[memory->buffer] = extras.allocated;
      recorded.allocations.emplace_back(memory->buffer, extras.allocated);
    }
    const hipError_t status = connect_here(api, connections, recorded);
    if (status != hipSuccess) return abandon(api, recorded.graph, failed("hipGraphAddDependencies", status));
  }
  for (const NodeIndex index : nodes_before_their_memory(recording)) {
    const Status set = set_to_memory(api, recorded, index, recording.nodes()[index], addresses);
    if (!set) return abandon(api, recorded.graph, set.error());
  }
  recorded.kept = std::move(extras.kept);
  return recorded;
}

}  // namespace hip
