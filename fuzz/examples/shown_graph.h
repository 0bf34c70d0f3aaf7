// The common part of two examples of a client's own patcher: they keep the graph that they are shown, set the nodes
// that they changed, and restore the nodes that they set when a call fails. They differ in how they find pointers
// (relocating_patcher.cpp, value_scan_patcher.cpp), and each of them includes this file once.
#pragma once

#include <vector>

#include "hip/patcher_abi.h"

namespace shown {

struct Node {
  hipGraphNode_t handle = nullptr;
  uint32_t kind = HGPATCHER_EMPTY;
  bool linear = false;
  hipKernelNodeParams kernel{};
  std::vector<unsigned char> arguments;
  std::vector<uint32_t> offsets, sizes;
  hipMemcpy3DParms copy{};
  hipMemsetParams memset{};
  std::vector<hgpatcher_relocation> relocations;
  std::vector<uint32_t> beyond_reach;  // buffers that a child graph or an opaque node holds
};

// The HIP functions that the patchers call.
struct Hip {
  decltype(&hipGraphExecKernelNodeSetParams) set_kernel = nullptr;
  decltype(&hipGraphExecMemcpyNodeSetParams) set_copy = nullptr;
  decltype(&hipGraphExecMemcpyNodeSetParams1D) set_linear = nullptr;
  decltype(&hipGraphExecMemsetNodeSetParams) set_memset = nullptr;
};

template <class Function>
bool find(const hgpatcher_hip* hip, const char* name, Function& function) {
  function = reinterpret_cast<Function>(hip->find(hip, name));
  return function != nullptr;
}

inline void collect(const hgpatcher_graph& graph, std::vector<uint32_t>& buffers) {
  for (std::size_t i = 0; i < graph.node_count; ++i) {
    const hgpatcher_node& node = graph.nodes[i];
    for (std::size_t k = 0; k < node.relocation_count; ++k) buffers.push_back(node.relocations[k].buffer);
    buffers.insert(buffers.end(), node.buffers, node.buffers + node.buffer_count);
    if (node.child != nullptr) collect(*node.child, buffers);
  }
}

inline hipError_t set(const Hip& hip, hipGraphExec_t exec, Node& node) {
  if (node.kind == HGPATCHER_MEMSET) return hip.set_memset(exec, node.handle, &node.memset);
  if (node.kind == HGPATCHER_COPY) {
    if (!node.linear) return hip.set_copy(exec, node.handle, &node.copy);
    return hip.set_linear(exec, node.handle, node.copy.dstPtr.ptr, node.copy.srcPtr.ptr, node.copy.extent.width,
                          node.copy.kind);
  }
  std::vector<void*> values;
  for (const uint32_t offset : node.offsets) values.push_back(node.arguments.data() + offset);
  values.push_back(nullptr);
  hipKernelNodeParams params = node.kernel;
  params.kernelParams = values.data();
  return hip.set_kernel(exec, node.handle, &params);
}

inline Node copy_of(const hgpatcher_node& shown) {
  Node node;
  node.handle = shown.handle;
  node.kind = shown.kind;
  node.linear = shown.linear != 0;
  if (shown.kind == HGPATCHER_KERNEL) {
    const hgpatcher_kernel& kernel = shown.kernel;
    node.kernel.func = reinterpret_cast<void*>(kernel.function);
    node.kernel.gridDim = kernel.grid;
    node.kernel.blockDim = kernel.block;
    node.kernel.sharedMemBytes = kernel.shared_bytes;
    const auto* bytes = static_cast<const unsigned char*>(kernel.arguments);
    node.arguments.assign(bytes, bytes + kernel.bytes);
    node.offsets.assign(kernel.offsets, kernel.offsets + kernel.count);
    node.sizes.assign(kernel.sizes, kernel.sizes + kernel.count);
  }
  if (shown.kind == HGPATCHER_COPY) node.copy = shown.copy;
  if (shown.kind == HGPATCHER_MEMSET) node.memset = shown.memset;
  node.relocations.assign(shown.relocations, shown.relocations + shown.relocation_count);
  if (shown.kind == HGPATCHER_CHILD) collect(*shown.child, node.beyond_reach);
  if (shown.kind == HGPATCHER_OPAQUE) node.beyond_reach.assign(shown.buffers, shown.buffers + shown.buffer_count);
  return node;
}

}  // namespace shown

struct hgpatcher {
  shown::Hip hip;
  hipGraphExec_t exec = nullptr;
  std::vector<shown::Node> nodes;

  // `change` brings a node's parameters to the new addresses and says whether that changed any.
  template <class Change>
  hgpatcher_status patch(const Change& change, hipError_t* error) {
    const std::vector<shown::Node> before = nodes;
    std::vector<std::size_t> done;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!change(nodes[i])) continue;
      *error = shown::set(hip, exec, nodes[i]);
      if (*error == hipSuccess) {
        done.push_back(i);
        continue;
      }
      nodes = before;
      for (const std::size_t index : done) {
        if (shown::set(hip, exec, nodes[index]) != hipSuccess) return HGPATCHER_UNUSABLE;
      }
      return HGPATCHER_ROLLED_BACK;
    }
    return HGPATCHER_DONE;
  }
};

extern "C" {

hipError_t hgpatcher_record(const hgpatcher_hip* hip, const hgpatcher_graph* graph, hgpatcher** out) {
  auto* patcher = new hgpatcher;
  const bool found = shown::find(hip, "hipGraphExecKernelNodeSetParams", patcher->hip.set_kernel) &&
                     shown::find(hip, "hipGraphExecMemcpyNodeSetParams", patcher->hip.set_copy) &&
                     shown::find(hip, "hipGraphExecMemcpyNodeSetParams1D", patcher->hip.set_linear) &&
                     shown::find(hip, "hipGraphExecMemsetNodeSetParams", patcher->hip.set_memset);
  if (!found) {
    delete patcher;
    return hipErrorNotSupported;
  }
  patcher->exec = graph->exec;
  for (std::size_t i = 0; i < graph->node_count; ++i) {
    patcher->nodes.push_back(shown::copy_of(graph->nodes[i]));
  }
  *out = patcher;
  return hipSuccess;
}

void hgpatcher_destroy(hgpatcher* patcher) {
  delete patcher;
}

}  // extern "C"
