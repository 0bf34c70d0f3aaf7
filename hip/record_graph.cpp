// Records the graph of a recording through the API, node by node.
#include <algorithm>
#include <cassert>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hip/batch_nodes.h"
#include "hip/captured_graph.h"
#include "hip/device_scope.h"
#include "hip/driver_nodes.h"
#include "hip/generic_nodes.h"
#include "hip/kernel_attributes.h"
#include "hip/kernel_parameters.h"
#include "hip/memory_parameters.h"
#include "hip/node_setter.h"
#include "hip/recording.h"
#include "hip/semaphore_nodes.h"
#include "hip/symbol_nodes.h"

namespace hip {
namespace {

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
    return add("hipGraphAddKernelNode", api.hipGraphAddKernelNode, parameters.get());
  }
  Result<hipGraphNode_t> operator()(CopyRecord& copy) const {
    const hipMemcpy3DParms& params = copy.params;
    if (copy.symbol.symbol != nullptr) return add_symbol_node(api, graph, copy, dependencies);
    if (!copy.linear) return add("hipGraphAddMemcpyNode", api.hipGraphAddMemcpyNode, &params);
    return add("hipGraphAddMemcpyNode1D", api.hipGraphAddMemcpyNode1D, params.dstPtr.ptr, params.srcPtr.ptr,
               params.extent.width, params.kind);
  }
  Result<hipGraphNode_t> operator()(MemsetRecord& memset) const {
    return add("hipGraphAddMemsetNode", api.hipGraphAddMemsetNode, &memset.params);
  }
  Result<hipGraphNode_t> operator()(HostRecord& host) const {
    return add("hipGraphAddHostNode", api.hipGraphAddHostNode, &host.params);
  }
  Result<hipGraphNode_t> operator()(EmptyRecord&) const {
    return add("hipGraphAddEmptyNode", api.hipGraphAddEmptyNode);
  }
  Result<hipGraphNode_t> operator()(EventSignalRecord& record) const {
    return add("hipGraphAddEventRecordNode", api.hipGraphAddEventRecordNode, record.event);
  }
  Result<hipGraphNode_t> operator()(EventWaitRecord& wait) const {
    return add("hipGraphAddEventWaitNode", api.hipGraphAddEventWaitNode, wait.event);
  }
  Result<hipGraphNode_t> operator()(ChildRecord& child) const {
    Result<RecordedGraph> inner = record_graph(api, *child.graph, addresses);
    if (!inner) return inner.error();
    extras.kept.take(std::move(inner.value().kept));
    Result<hipGraphNode_t> added = add("hipGraphAddChildGraphNode", api.hipGraphAddChildGraphNode, inner.value().graph);
    const Status destroyed = destroy_graph(api, inner.value().graph);
    if (destroyed) return added;
    if (added) return Error{destroyed.error().code, "a child graph that was cloned: " + destroyed.error().message};
    Error error = added.error();
    error.message += "; destroying the child failed as well: " + destroyed.error().message;
    return error;
  }
  Result<hipGraphNode_t> operator()(MemoryAllocRecord& memory) const {
    MemoryParameters params(memory);
    Result<hipGraphNode_t> added = add("hipGraphAddMemAllocNode", api.hipGraphAddMemAllocNode, params.get());
    extras.allocated = reinterpret_cast<DeviceAddress>(params.get()->dptr);
    return added;
  }
  Result<hipGraphNode_t> operator()(MemoryFreeRecord& memory) const {
    return add("hipGraphAddMemFreeNode", api.hipGraphAddMemFreeNode,
               reinterpret_cast<void*>(static_cast<std::uintptr_t>(addresses[memory.buffer])));
  }
  Result<hipGraphNode_t> operator()(BatchRecord& batch) const {
    return add_batch_node(api, graph, batch, dependencies);
  }
  Result<hipGraphNode_t> operator()(SemaphoreSignalRecord& signal) const {
    return add_semaphore_node(api, graph, signal, dependencies);
  }
  Result<hipGraphNode_t> operator()(SemaphoreWaitRecord& wait) const {
    return add_semaphore_node(api, graph, wait, dependencies);
  }
  Result<hipGraphNode_t> operator()(OpaqueRecord& opaque) const {
    return opaque.record(api, graph, dependencies, addresses, extras.kept);
  }

 private:
  // `function` is null where the runtime lacks it: some of these are optional (hip/api/functions.inc).
  template <class Function, class... Params>
  Result<hipGraphNode_t> add(const char* name, Function function, Params... params) const {
    if (function == nullptr) return Error{hipErrorNotSupported, std::string(name) + " is missing"};
    hipGraphNode_t node = nullptr;
    const hipError_t status = function(&node, graph, dependencies.data(), dependencies.size(), params...);
    if (status != hipSuccess) return failed(name, status);
    return node;
  }
};

}  // namespace

// A linear copy has one form only: the other forms add nodes with rows, which setters of linear copies spoil on
// releases of AMD's runtime. A node that was added with rows, and was set to a linear copy later, still has its former
// form here.
NodeForm form_of(const RecordedNode& node) {
  const auto* copy = std::get_if<CopyRecord>(&node.record);
  return copy != nullptr && copy->linear ? NodeForm::kTyped : node.form;
}

Result<hipGraphNode_t> record_node(const Api& api, hipGraph_t graph, const RecordedNode& node,
                                   std::span<const hipGraphNode_t> dependencies,
                                   std::span<const DeviceAddress> addresses, NodeExtras& extras) {
  std::optional<DeviceScope> scope;
  if (const std::optional<int> device = device_needed(node.record)) {
    Result<DeviceScope> entered = DeviceScope::enter(api, *device);
    if (!entered) return entered.error();
    scope.emplace(std::move(entered).value());
  }
  NodeRecord record = relocated(node, addresses);
  const NodeForm form = form_of(node);
  Result<hipGraphNode_t> added =
      form == NodeForm::kDriver    ? add_driver_node(api, graph, record, dependencies, addresses)
      : form == NodeForm::kGeneric ? add_generic_node(api, graph, record, dependencies, addresses, extras)
                                   : std::visit(AddNode{api, graph, dependencies, addresses, extras}, record);
  Status status = added ? Status() : Status(added.error());
  const auto* kernel = form == NodeForm::kDriver ? nullptr : std::get_if<KernelRecord>(&record);
  if (status && kernel != nullptr) status = set_attributes(api, added.value(), kernel->attributes);
  if (scope) status = both(std::move(status), scope->leave());
  if (!status) return status.error();
  return added;
}

namespace {

// Destroys an unfinished graph if the function of an opaque node throws.
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

// Adds the edges that were made when the graph had as many nodes as `recorded` has, and takes them off `connections`.
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

// The nodes that name memory which a later node allocates: they were set to that memory after both were added.
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

// Sets a node that was recorded before the node which allocates its memory, and so with the memory's address in another
// graph, to the memory's address in this graph. The node keeps its place, since updates pair nodes by it.
Status set_to_memory(const Api& api, const RecordedGraph& recorded, NodeIndex index, const RecordedNode& node,
                     std::span<const DeviceAddress> addresses) {
  const std::string name = "node " + std::to_string(index) + " (" + kind_of(node.record) + ")";
  if (node.relocations.empty()) {  // a child or an opaque node: no setter sets it
    return Error{hipErrorNotSupported, name + " names memory that a later node allocates: add it behind that one"};
  }
  NodeRecord record = relocated(node, addresses);
  const auto set = [&] {
    const hipError_t status = set_node(api, nullptr, recorded.nodes[index], form_of(node), record);
    return status == hipSuccess ? Status() : failed((name + ": " + setter_name(record, false)).c_str(), status);
  };
  const std::optional<int> device = device_needed(node.record);
  if (!device) return set();
  Result<DeviceScope> entered = DeviceScope::enter(api, *device);
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
  AddressTable own;  // a copy of `addresses`, with the memory that this graph allocates
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
