// The conversions of kernel_params.h.
#include "hip/nvidia/kernel_params.h"

#include <array>
#include <unordered_map>
#include <vector>

#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/symbols.h"
#include "hip/sync/sync.h"

namespace nvidia {
namespace {

namespace sync = hip::sync;

// The lists that nodes have handed out, with HIP's mark at their end: two pairs and the mark.
class ExtraCopies {
 public:
  void** put(hipGraphNode_t node, void* const* list) {
    const sync::LockGuard lock(mutex_);
    std::array<void*, kEntries>& copy = copies_[node];
    std::size_t at = 0;
    for (; at + 1 < kEntries && list[at] != CU_LAUNCH_PARAM_END; at += 2) {
      copy[at] = list[at];
      copy[at + 1] = list[at + 1];
    }
    copy[at] = HIP_LAUNCH_PARAM_END;
    return copy.data();
  }
  void erase(hipGraphNode_t node) {
    const sync::LockGuard lock(mutex_);
    copies_.erase(node);
  }
  [[nodiscard]] std::size_t size() const {
    const sync::LockGuard lock(mutex_);
    return copies_.size();
  }

 private:
  static constexpr std::size_t kEntries = 5;
  mutable sync::Mutex mutex_;
  std::unordered_map<hipGraphNode_t, std::array<void*, kEntries>> copies_;  // addresses of entries stay
};

ExtraCopies& copies() {
  // Never destroyed: HIP may be called while the process ends.
  static auto& all = *new ExtraCopies;
  return all;
}

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  if (cuda().cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess || count == 0) return {};
  std::vector<cudaGraphNode_t> nodes(count);
  if (cuda().cudaGraphGetNodes(graph, nodes.data(), &count) != cudaSuccess) return {};
  return nodes;
}

}  // namespace

KernelParams::KernelParams(const hipKernelNodeParams* from)
    : given_(from != nullptr), extra_(from != nullptr ? from->extra : nullptr) {
  if (!given_) return;
  value_.func = function_of(from->func);
  value_.gridDimX = from->gridDim.x;
  value_.gridDimY = from->gridDim.y;
  value_.gridDimZ = from->gridDim.z;
  value_.blockDimX = from->blockDim.x;
  value_.blockDimY = from->blockDim.y;
  value_.blockDimZ = from->blockDim.z;
  value_.sharedMemBytes = from->sharedMemBytes;
  value_.kernelParams = from->kernelParams;
  value_.extra = extra_.get();
}

hipError_t read_kernel(hipGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& from, hipKernelNodeParams* to) {
  CUfunction function = from.func;
  if (function == nullptr && from.kern != nullptr) {
    const hipError_t status = answer(cuda().cuKernelGetFunction(&function, from.kern));
    if (status != hipSuccess) return status;
  }
  *to = {};
  to->func = as_registered(function);
  to->gridDim = {from.gridDimX, from.gridDimY, from.gridDimZ};
  to->blockDim = {from.blockDimX, from.blockDimY, from.blockDimZ};
  to->sharedMemBytes = from.sharedMemBytes;
  to->kernelParams = from.kernelParams;
  to->extra = from.extra == nullptr ? nullptr : copies().put(node, from.extra);
  return hipSuccess;
}

void forget_extra_of_node(hipGraphNode_t node) {
  copies().erase(node);
}

void forget_extra_of_graph(hipGraph_t graph) {
  // A null graph is CUDA's to refuse, and graphs without such nodes should cost nothing.
  if (graph == nullptr || copies().size() == 0) return;
  for (cudaGraphNode_t node : nodes_of(to_cuda(graph))) {
    copies().erase(to_hip(node));
    cudaGraph_t child = nullptr;
    CUgraphNodeType type{};
    if (cuda().cuGraphNodeGetType(node, &type) != CUDA_SUCCESS || type != CU_GRAPH_NODE_TYPE_GRAPH) continue;
    if (cuda().cudaGraphChildGraphNodeGetGraph(node, &child) == cudaSuccess) forget_extra_of_graph(to_hip(child));
  }
}

}  // namespace nvidia
