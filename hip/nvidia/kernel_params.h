// Parameters of kernel nodes, both ways.
//
// Kernel nodes go through CUDA's driver: HIP's functions come from modules (hipFunction_t), which are the driver's
// CUfunction. `func` must be one, or the address of a host function that was registered with this project's code
// (symbols.h; the kernels of a program that hipcc compiled are AMD's code). The driver does not check handles.
//
// The driver returns parameters that differ from HIP's in two places, and both are corrected:
//   - A node that another library recorded (cuBLAS, by CUDA's runtime) may name a kernel (CUkernel) and no function.
//     HIP knows functions only, so it receives the function of that kernel in the current context,
//     which setters take.
//   - A list `extra` ends in CUDA's mark (0); HIP's readers look for HIP_LAUNCH_PARAM_END (3). The list is copied with
//     HIP's mark. HIP documents that the list belongs to the node, so the copy lives until the node is destroyed by
//     hipGraphDestroyNode, or by hipGraphDestroy of its graph (child graphs included). If the node is destroyed in
//     another way, the 40 bytes of its copy stay until CUDA uses the handle again. The buffer that the list names
//     belongs to the node.
// Sources: HIP 7.2's header (hipKernelNodeParams, HIP_LAUNCH_PARAM_END); CUDA's documentation of
// CUDA_KERNEL_NODE_PARAMS and cuGraphKernelNodeGetParams; cuBLAS's captured nodes on an H100.
#pragma once

#include "hip/nvidia/convert.h"

namespace nvidia {

// The driver's parameters of HIP's, for one call: it holds the list that they point to.
class KernelParams {
 public:
  explicit KernelParams(const hipKernelNodeParams* from);
  // Null where `from` was.
  [[nodiscard]] const CUDA_KERNEL_NODE_PARAMS* get() const { return given_ ? &value_ : nullptr; }

 private:
  bool given_;
  ExtraList extra_;
  CUDA_KERNEL_NODE_PARAMS value_{};
};

// HIP's parameters of the driver's, as read from `node`. An error: the driver has no function of the node's kernel.
[[nodiscard]] hipError_t read_kernel(hipGraphNode_t node, const CUDA_KERNEL_NODE_PARAMS& from, hipKernelNodeParams* to);

// Frees the copies of lists for one node, and for all nodes of a graph.
void forget_extra_of_node(hipGraphNode_t node);
void forget_extra_of_graph(hipGraph_t graph);

}  // namespace nvidia
