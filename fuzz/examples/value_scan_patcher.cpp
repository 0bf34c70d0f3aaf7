// An example of somebody's own patcher: it finds pointers by looking for values that equal an old address.
//
// Its author believed: a recording need not say which arguments are pointers, because no other value
// equals the base address of one of the graph's buffers. So the arguments of every kernel, as `kernelParams` lists
// them, and the ends of every copy and memset are compared with the old addresses, and equal values are replaced.
//
// The mistake, found from outside: a scalar that equals an address is replaced as well (A1), and a pointer
// into the middle of a buffer stays where it was (A2). Everything else is careful: it copies the record, makes
// no call for a node that does not change, undoes its changes when a call fails, and gives child graphs and
// opaque nodes back to be recorded again.
//
// Built as a shared library against hip/patcher_abi.h alone; docs/check-your-own-patcher.md runs it.
#include <cstring>
#include <map>
#include <vector>

#include "hip/patcher_abi.h"

namespace {

struct Node {
  hipGraphNode_t handle = nullptr;
  uint32_t kind = HGPATCHER_EMPTY;
  bool linear = false;
  hipKernelNodeParams kernel{};
  std::vector<unsigned char> arguments;
  std::vector<uint32_t> offsets, sizes;
  hipMemcpy3DParms copy{};
  hipMemsetParams memset{};
};

// The functions that it calls.
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

using Moves = std::map<uint64_t, uint64_t>;  // old address -> new address

bool replace_word(unsigned char* at, const Moves& moves) {
  uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  const auto found = moves.find(value);
  if (found == moves.end()) return false;
  std::memcpy(at, &found->second, sizeof found->second);
  return true;
}

bool replace_pointer(void*& pointer, const Moves& moves) {
  const auto found = moves.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == moves.end()) return false;
  pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(found->second));
  return true;
}

// Whether anything in the node is equal to an old address.
bool replace_values(Node& node, const Moves& moves) {
  bool changed = false;
  switch (node.kind) {
    case HGPATCHER_KERNEL:
      for (std::size_t i = 0; i < node.offsets.size(); ++i) {
        for (uint32_t at = 0; at + 8 <= node.sizes[i]; at += 8) {
          changed = replace_word(node.arguments.data() + node.offsets[i] + at, moves) || changed;
        }
      }
      return changed;
    case HGPATCHER_COPY:
      changed = replace_pointer(node.copy.dstPtr.ptr, moves);
      return replace_pointer(node.copy.srcPtr.ptr, moves) || changed;
    case HGPATCHER_MEMSET:
      return replace_pointer(node.memset.dst, moves);
    default:
      return false;
  }
}

hipError_t set(const Hip& hip, hipGraphExec_t exec, Node& node) {
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

Node copy_of(const hgpatcher_node& shown) {
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
  return node;
}

}  // namespace

struct hgpatcher {
  Hip hip;
  hipGraphExec_t exec = nullptr;
  std::vector<Node> nodes;
  bool simple = true;  // no child graph, no opaque node
};

extern "C" {

uint32_t hgpatcher_abi(void) {
  return HGPATCHER_ABI_VERSION << 16;
}

hipError_t hgpatcher_record(const hgpatcher_hip* hip, const hgpatcher_graph* graph, hgpatcher** out) {
  auto* patcher = new hgpatcher;
  const bool found = find(hip, "hipGraphExecKernelNodeSetParams", patcher->hip.set_kernel) &&
                     find(hip, "hipGraphExecMemcpyNodeSetParams", patcher->hip.set_copy) &&
                     find(hip, "hipGraphExecMemcpyNodeSetParams1D", patcher->hip.set_linear) &&
                     find(hip, "hipGraphExecMemsetNodeSetParams", patcher->hip.set_memset);
  if (!found) {
    delete patcher;
    return hipErrorNotSupported;
  }
  patcher->exec = graph->exec;
  for (std::size_t i = 0; i < graph->node_count; ++i) {
    const uint32_t kind = graph->nodes[i].kind;
    if (kind > HGPATCHER_EMPTY) patcher->simple = false;
    patcher->nodes.push_back(copy_of(graph->nodes[i]));
  }
  *out = patcher;
  return hipSuccess;
}

hgpatcher_status hgpatcher_patch(hgpatcher* patcher, const hgpatcher_move* moves, size_t count, hipError_t* error) {
  if (count != 0 && !patcher->simple) return HGPATCHER_RECORD_AGAIN;
  Moves by_address;
  for (std::size_t i = 0; i < count; ++i) by_address[moves[i].from] = moves[i].to;
  const std::vector<Node> before = patcher->nodes;
  std::vector<std::size_t> done;
  for (std::size_t i = 0; i < patcher->nodes.size(); ++i) {
    if (!replace_values(patcher->nodes[i], by_address)) continue;
    *error = set(patcher->hip, patcher->exec, patcher->nodes[i]);
    if (*error == hipSuccess) {
      done.push_back(i);
      continue;
    }
    patcher->nodes = before;
    for (const std::size_t index : done) {
      if (set(patcher->hip, patcher->exec, patcher->nodes[index]) != hipSuccess) return HGPATCHER_UNUSABLE;
    }
    return HGPATCHER_ROLLED_BACK;
  }
  return HGPATCHER_DONE;
}

void hgpatcher_destroy(hgpatcher* patcher) {
  delete patcher;
}

}  // extern "C"
