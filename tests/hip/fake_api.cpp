#include "hip/fake_api.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <sstream>
#include <utility>

namespace fake {
namespace {

World* world = nullptr;

// Counts a call, and says whether it is one that has to fail.
class Entry {
 public:
  explicit Entry(const char* function, const void* node = nullptr) {
    assert(world != nullptr && !world->inside);
    world->inside = true;
    ++world->call_count;
    if (world->log_calls) world->calls.push_back({function, node});
    fails_ = world->failing_calls.count(world->call_count) != 0;
  }
  ~Entry() { world->inside = false; }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  [[nodiscard]] bool fails_at_once() const { return fails_ && world->failing == Failing::kChangesNothing; }
  // For the end of a setter that did its work.
  [[nodiscard]] hipError_t status() const { return fails_ ? hipErrorUnknown : hipSuccess; }

 private:
  bool fails_ = false;
};

Graph* to_graph(hipGraph_t handle) {
  return reinterpret_cast<Graph*>(handle);
}
hipGraph_t to_handle(Graph* graph) {
  return reinterpret_cast<hipGraph_t>(graph);
}
Node* to_node(hipGraphNode_t handle) {
  return reinterpret_cast<Node*>(handle);
}
hipGraphNode_t to_handle(Node* node) {
  return reinterpret_cast<hipGraphNode_t>(node);
}
Exec* to_exec(hipGraphExec_t handle) {
  return reinterpret_cast<Exec*>(handle);
}

std::unique_ptr<Graph> clone(const Graph& graph, std::map<const Node*, Node*>& node_of) {
  auto copy = std::make_unique<Graph>();
  for (const auto& node : graph.nodes) {
    auto twin = std::make_unique<Node>();
    static_cast<Work&>(*twin) = *node;
    for (const Node* dependency : node->dependencies) twin->dependencies.push_back(node_of.at(dependency));
    if (node->child) {
      std::map<const Node*, Node*> inner;
      twin->child = clone(*node->child, inner);
    }
    node_of[node.get()] = twin.get();
    copy->nodes.push_back(std::move(twin));
  }
  return copy;
}

bool same_topology(const Graph& a, const Graph& b) {
  return a.nodes.size() == b.nodes.size() &&
         std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), [](const auto& left, const auto& right) {
           return left->type == right->type && (!left->child || same_topology(*left->child, *right->child));
         });
}

// Adds a node that `fill` completes from the parameters; a `fill` that returns an error adds nothing.
template <class Fill, class... Params>
hipError_t add(const char* function, hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
               std::size_t count, hipGraphNodeType type, Fill fill, Params... params) {
  const Entry entry(function);
  if (entry.fails_at_once() || world->graphs.count(to_graph(graph)) == 0) return hipErrorUnknown;
  auto node = std::make_unique<Node>();
  node->type = type;
  for (std::size_t i = 0; i < count; ++i) node->dependencies.push_back(to_node(dependencies[i]));
  if (const hipError_t status = fill(*node, params...); status != hipSuccess) return status;
  if (entry.status() != hipSuccess) return entry.status();
  *out = to_handle(node.get());
  to_graph(graph)->nodes.push_back(std::move(node));
  return hipSuccess;
}

// Sets a node of a graph (exec null) or its twin in an executable graph.
template <class Fill, class... Params>
hipError_t set(const char* function, hipGraphExec_t exec, hipGraphNode_t handle, hipGraphNodeType type, Fill fill,
               Params... params) {
  const Entry entry(function, handle);
  if (entry.fails_at_once()) return hipErrorUnknown;
  Node* node = to_node(handle);
  if (exec != nullptr) {
    const auto twin = to_exec(exec)->node_of.find(node);
    if (twin == to_exec(exec)->node_of.end()) return hipErrorInvalidValue;
    node = twin->second;
  }
  if (node->type != type) return hipErrorInvalidValue;
  if (const hipError_t status = fill(*node, params...); status != hipSuccess) return status;
  return entry.status();
}

hipError_t decode_extra(void* const* extra, const Kernel& kernel, std::vector<std::byte>& block) {
  if (extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER || extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[4] != HIP_LAUNCH_PARAM_END) {
    return hipErrorInvalidValue;
  }
  const std::size_t size = *static_cast<const std::size_t*>(extra[3]);
  if (size != kernel.block_bytes) return hipErrorInvalidValue;
  const auto* bytes = static_cast<const std::byte*>(extra[1]);
  block.assign(bytes, bytes + size);
  return hipSuccess;
}

hipError_t fill_kernel(Node& node, const hipKernelNodeParams* params) {
  const auto& kernel = *static_cast<const Kernel*>(params->func);
  if ((params->kernelParams == nullptr) == (params->extra == nullptr)) return hipErrorInvalidValue;
  if (params->extra != nullptr) {
    if (const hipError_t status = decode_extra(params->extra, kernel, node.arguments); status != hipSuccess) {
      return status;
    }
  } else {
    node.arguments.assign(kernel.block_bytes, std::byte{0});
    for (std::size_t i = 0; i < kernel.slots.size(); ++i) {
      std::memcpy(node.arguments.data() + kernel.slots[i].offset, params->kernelParams[i], kernel.slots[i].size);
    }
  }
  node.function = params->func;
  node.grid = params->gridDim;
  node.block = params->blockDim;
  node.shared_bytes = params->sharedMemBytes;
  if (world->log_calls) {
    world->calls.back().packed = params->extra != nullptr;
    world->calls.back().block_bytes = node.arguments.size();
  }
  return hipSuccess;
}

hipError_t fill_linear(Node& node, void* dst, const void* src, std::size_t bytes, hipMemcpyKind kind) {
  node.copy = hipMemcpy3DParms{};
  node.copy.dstPtr.ptr = dst;
  node.copy.srcPtr.ptr = const_cast<void*>(src);
  node.copy.extent.width = bytes;
  node.copy.kind = kind;
  node.linear = true;
  return hipSuccess;
}

hipError_t fill_copy(Node& node, const hipMemcpy3DParms* params) {
  node.copy = *params;
  node.linear = false;
  return hipSuccess;
}

hipError_t fill_memset(Node& node, const hipMemsetParams* params) {
  node.memset = *params;
  return hipSuccess;
}

hipError_t fill_host(Node& node, const hipHostNodeParams* params) {
  node.host = *params;
  return hipSuccess;
}

// A child graph that a node has already is replaced by one of the same shape only.
hipError_t fill_child(Node& node, hipGraph_t child) {
  if (world->graphs.count(to_graph(child)) == 0) return hipErrorInvalidValue;
  if (node.child && !same_topology(*node.child, *to_graph(child))) return hipErrorInvalidValue;
  std::map<const Node*, Node*> inner;
  node.child = clone(*to_graph(child), inner);
  return hipSuccess;
}

hipError_t graph_create(hipGraph_t* out, unsigned) {
  const Entry entry("hipGraphCreate");
  if (entry.status() != hipSuccess) return entry.status();
  auto* graph = new Graph;
  world->graphs.insert(graph);
  *out = to_handle(graph);
  return hipSuccess;
}

hipError_t graph_destroy(hipGraph_t handle) {
  const Entry entry("hipGraphDestroy");
  if (entry.fails_at_once() || world->graphs.erase(to_graph(handle)) == 0) return hipErrorUnknown;
  delete to_graph(handle);
  return entry.status();
}

hipError_t add_kernel_node(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count,
                           const hipKernelNodeParams* params) {
  return add("hipGraphAddKernelNode", out, graph, dependencies, count, hipGraphNodeTypeKernel, fill_kernel, params);
}

hipError_t add_memcpy_node(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count,
                           const hipMemcpy3DParms* params) {
  return add("hipGraphAddMemcpyNode", out, graph, dependencies, count, hipGraphNodeTypeMemcpy, fill_copy, params);
}

hipError_t add_memcpy_node_1d(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                              std::size_t count, void* dst, const void* src, std::size_t bytes, hipMemcpyKind kind) {
  return add("hipGraphAddMemcpyNode1D", out, graph, dependencies, count, hipGraphNodeTypeMemcpy, fill_linear, dst, src,
             bytes, kind);
}

hipError_t add_memset_node(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count,
                           const hipMemsetParams* params) {
  return add("hipGraphAddMemsetNode", out, graph, dependencies, count, hipGraphNodeTypeMemset, fill_memset, params);
}

hipError_t add_host_node(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count,
                         const hipHostNodeParams* params) {
  return add("hipGraphAddHostNode", out, graph, dependencies, count, hipGraphNodeTypeHost, fill_host, params);
}

hipError_t add_empty_node(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                          std::size_t count) {
  return add("hipGraphAddEmptyNode", out, graph, dependencies, count, hipGraphNodeTypeEmpty,
             [](Node&) { return hipSuccess; });
}

hipError_t add_child_graph_node(hipGraphNode_t* out, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                std::size_t count, hipGraph_t child) {
  return add("hipGraphAddChildGraphNode", out, graph, dependencies, count, hipGraphNodeTypeGraph, fill_child, child);
}

// Root nodes in the order of addition, then the nodes that become ready after each node, as AMD's runtime lists them.
std::vector<Node*> breadth_first(const Graph& graph) {
  std::map<const Node*, std::size_t> missing;
  std::vector<Node*> order;
  for (const auto& node : graph.nodes) {
    missing[node.get()] = node->dependencies.size();
    if (node->dependencies.empty()) order.push_back(node.get());
  }
  for (std::size_t done = 0; done < order.size(); ++done) {
    for (const auto& node : graph.nodes) {
      const auto& waits = node->dependencies;
      if (std::count(waits.begin(), waits.end(), order[done]) != 0 && --missing[node.get()] == 0) {
        order.push_back(node.get());
      }
    }
  }
  return order;
}

std::vector<Node*> listed(const Graph& graph) {
  std::vector<Node*> order;
  for (const auto& node : graph.nodes) order.push_back(node.get());
  if (world->node_order == NodeOrder::kBreadthFirst) order = breadth_first(graph);
  bool reversed = world->node_order == NodeOrder::kLastFirst;
  if (world->clones_reversed && world->graphs.count(const_cast<Graph*>(&graph)) == 0) reversed = !reversed;
  if (reversed) std::reverse(order.begin(), order.end());
  return order;
}

hipError_t get_nodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* count) {
  const Entry entry("hipGraphGetNodes");
  if (entry.status() != hipSuccess) return entry.status();
  const std::vector<Node*> all = listed(*to_graph(graph));
  for (std::size_t i = 0; nodes != nullptr && i < all.size() && i < *count; ++i) nodes[i] = to_handle(all[i]);
  *count = nodes == nullptr ? all.size() : std::min(*count, all.size());
  return hipSuccess;
}

// Edges come last first, because HIP promises no order.
hipError_t get_edges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, std::size_t* count) {
  const Entry entry("hipGraphGetEdges");
  if (entry.status() != hipSuccess) return entry.status();
  std::size_t found = 0;
  const auto& all = to_graph(graph)->nodes;
  for (auto node = all.rbegin(); node != all.rend(); ++node) {
    for (Node* dependency : (*node)->dependencies) {
      if (from != nullptr && found < *count) {
        from[found] = to_handle(dependency);
        to[found] = to_handle(node->get());
      }
      ++found;
    }
  }
  *count = found;
  return hipSuccess;
}

hipError_t get_type(hipGraphNode_t node, hipGraphNodeType* type) {
  const Entry entry("hipGraphNodeGetType");
  if (entry.status() != hipSuccess) return entry.status();
  *type = to_node(node)->type;
  return hipSuccess;
}

hipError_t child_get_graph(hipGraphNode_t node, hipGraph_t* graph) {
  const Entry entry("hipGraphChildGraphNodeGetGraph");
  if (entry.status() != hipSuccess) return entry.status();
  if (!to_node(node)->child) return hipErrorInvalidValue;
  *graph = to_handle(to_node(node)->child.get());
  return hipSuccess;
}

hipError_t instantiate(hipGraphExec_t* out, hipGraph_t graph, hipGraphNode_t*, char*, std::size_t) {
  const Entry entry("hipGraphInstantiate");
  if (entry.status() != hipSuccess) return entry.status();
  auto* exec = new Exec;
  exec->graph = clone(*to_graph(graph), exec->node_of);
  world->execs.insert(exec);
  *out = reinterpret_cast<hipGraphExec_t>(exec);
  return hipSuccess;
}

hipError_t exec_destroy(hipGraphExec_t exec) {
  const Entry entry("hipGraphExecDestroy");
  if (entry.fails_at_once() || world->execs.erase(to_exec(exec)) == 0) return hipErrorUnknown;
  delete to_exec(exec);
  return entry.status();
}

hipError_t kernel_set(hipGraphNode_t node, const hipKernelNodeParams* params) {
  return set("hipGraphKernelNodeSetParams", nullptr, node, hipGraphNodeTypeKernel, fill_kernel, params);
}
hipError_t exec_kernel_set(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* params) {
  return set("hipGraphExecKernelNodeSetParams", exec, node, hipGraphNodeTypeKernel, fill_kernel, params);
}
hipError_t memcpy_set(hipGraphNode_t node, const hipMemcpy3DParms* params) {
  return set("hipGraphMemcpyNodeSetParams", nullptr, node, hipGraphNodeTypeMemcpy, fill_copy, params);
}
hipError_t exec_memcpy_set(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* params) {
  return set("hipGraphExecMemcpyNodeSetParams", exec, node, hipGraphNodeTypeMemcpy, [&](Node& target) {
    const hipError_t status = fill_copy(target, params);
    *params = hipMemcpy3DParms{};  // HIP takes it as non-const, so a caller has to expect this
    return status;
  });
}
hipError_t memcpy_set_1d(hipGraphNode_t node, void* dst, const void* src, std::size_t bytes, hipMemcpyKind kind) {
  return set("hipGraphMemcpyNodeSetParams1D", nullptr, node, hipGraphNodeTypeMemcpy, fill_linear, dst, src, bytes,
             kind);
}
hipError_t exec_memcpy_set_1d(hipGraphExec_t exec, hipGraphNode_t node, void* dst, const void* src, std::size_t bytes,
                              hipMemcpyKind kind) {
  return set("hipGraphExecMemcpyNodeSetParams1D", exec, node, hipGraphNodeTypeMemcpy, fill_linear, dst, src, bytes,
             kind);
}
hipError_t memset_set(hipGraphNode_t node, const hipMemsetParams* params) {
  return set("hipGraphMemsetNodeSetParams", nullptr, node, hipGraphNodeTypeMemset, fill_memset, params);
}
hipError_t exec_memset_set(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params) {
  return set("hipGraphExecMemsetNodeSetParams", exec, node, hipGraphNodeTypeMemset, fill_memset, params);
}
hipError_t exec_child_set(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
  return set("hipGraphExecChildGraphNodeSetParams", exec, node, hipGraphNodeTypeGraph, fill_child, child);
}

void put(std::ostream& out, const dim3& size) {
  out << size.x << 'x' << size.y << 'x' << size.z << ' ';
}
void put(std::ostream& out, const hipPos& at) {
  out << at.x << ',' << at.y << ',' << at.z << ' ';
}
void put(std::ostream& out, const hipPitchedPtr& at) {
  out << at.ptr << '/' << at.pitch << '/' << at.xsize << '/' << at.ysize << ' ';
}

void describe(const Node& node, std::ostream& out) {
  switch (node.type) {
    case hipGraphNodeTypeKernel:
      out << "kernel " << node.function << ' ';
      put(out, node.grid);
      put(out, node.block);
      out << node.shared_bytes << ' ' << std::hex;
      for (const std::byte byte : node.arguments) out << std::to_integer<int>(byte) << ' ';
      out << std::dec;
      break;
    case hipGraphNodeTypeMemcpy:
      out << (node.linear ? "linear copy " : "copy ") << node.copy.kind << ' ' << node.copy.srcArray << ' '
          << node.copy.dstArray << ' ';
      put(out, node.copy.srcPos);
      put(out, node.copy.srcPtr);
      put(out, node.copy.dstPos);
      put(out, node.copy.dstPtr);
      out << node.copy.extent.width << 'x' << node.copy.extent.height << 'x' << node.copy.extent.depth;
      break;
    case hipGraphNodeTypeMemset:
      out << "memset " << node.memset.dst << ' ' << node.memset.elementSize << ' ' << node.memset.width << 'x'
          << node.memset.height << '/' << node.memset.pitch << " = " << node.memset.value;
      break;
    case hipGraphNodeTypeHost:
      out << "host " << reinterpret_cast<std::uintptr_t>(node.host.fn) << ' ' << node.host.userData;
      break;
    case hipGraphNodeTypeGraph:
      out << "child {\n" << fake::describe(*node.child) << '}';
      break;
    default:
      out << "empty";
      break;
  }
}

}  // namespace

World::World() {
  assert(world == nullptr && "one world at a time");
  world = this;
}

World::~World() {
  for (Exec* exec : execs) delete exec;
  for (Graph* graph : graphs) delete graph;
  world = nullptr;
}

hipFunction_t World::add_kernel(Kernel kernel) {
  kernels.push_back(std::move(kernel));
  return reinterpret_cast<hipFunction_t>(&kernels.back());
}

hip::Api api() {
  hip::Api table;
  table.hipGraphCreate = graph_create;
  table.hipGraphDestroy = graph_destroy;
  table.hipGraphAddKernelNode = add_kernel_node;
  table.hipGraphAddMemcpyNode = add_memcpy_node;
  table.hipGraphAddMemcpyNode1D = add_memcpy_node_1d;
  table.hipGraphAddMemsetNode = add_memset_node;
  table.hipGraphAddHostNode = add_host_node;
  table.hipGraphAddEmptyNode = add_empty_node;
  table.hipGraphAddChildGraphNode = add_child_graph_node;
  table.hipGraphGetNodes = get_nodes;
  table.hipGraphGetEdges = get_edges;
  table.hipGraphNodeGetType = get_type;
  table.hipGraphChildGraphNodeGetGraph = child_get_graph;
  table.hipGraphInstantiate = instantiate;
  table.hipGraphExecDestroy = exec_destroy;
  table.hipGraphKernelNodeSetParams = kernel_set;
  table.hipGraphExecKernelNodeSetParams = exec_kernel_set;
  table.hipGraphMemcpyNodeSetParams = memcpy_set;
  table.hipGraphExecMemcpyNodeSetParams = exec_memcpy_set;
  table.hipGraphMemcpyNodeSetParams1D = memcpy_set_1d;
  table.hipGraphExecMemcpyNodeSetParams1D = exec_memcpy_set_1d;
  table.hipGraphMemsetNodeSetParams = memset_set;
  table.hipGraphExecMemsetNodeSetParams = exec_memset_set;
  table.hipGraphExecChildGraphNodeSetParams = exec_child_set;
  return table;
}

std::string describe(const Graph& graph) {
  std::ostringstream out;
  std::map<const Node*, std::size_t> place;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    place[graph.nodes[i].get()] = i;
    out << i << " after";
    for (const Node* dependency : graph.nodes[i]->dependencies) out << ' ' << place.at(dependency);
    out << ": ";
    describe(*graph.nodes[i], out);
    out << '\n';
  }
  return out.str();
}

Graph& graph_of(hipGraph_t handle) {
  return *to_graph(handle);
}
Graph& graph_of(hipGraphExec_t handle) {
  return *to_exec(handle)->graph;
}

}  // namespace fake
