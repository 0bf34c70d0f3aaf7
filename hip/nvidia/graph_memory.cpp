// Nodes that allocate and free memory, as HIP's C functions. CUDA's answers.
//
// Memory that a graph allocates keeps its address while the graph lives, in CUDA as in HIP.
// Sources: HIP 7.2's header documentation (group Graph); CUDA's documentation of cudaGraphAddMemAllocNode.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"

namespace nvidia {
extern "C" {

// Writes the address into the caller's parameters. If CUDA refuses the node, the caller gets the value that CUDA left.
hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, hipMemAllocNodeParams* params) {
  Given given(params);
  const hipError_t status =
      answer(cuda().cudaGraphAddMemAllocNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count, given.get()));
  if (params != nullptr) params->dptr = given.get()->dptr;
  return status;
}

hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t node, hipMemAllocNodeParams* params) {
  return read_params<cudaMemAllocNodeParams>(params, [node](cudaMemAllocNodeParams* read) {
    return answer(cuda().cudaGraphMemAllocNodeGetParams(to_cuda(node), read));
  });
}

hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                  size_t count, void* pointer) {
  return answer(cuda().cudaGraphAddMemFreeNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count, pointer));
}

// `address` is a pointer to a pointer in both, and void* in both headers.
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t node, void* address) {
  return answer(cuda().cudaGraphMemFreeNodeGetParams(to_cuda(node), address));
}

hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, hipDeviceptr_t pointer) {
  return answer(cuda_with_context().cuGraphAddMemFreeNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count,
                                                          to_address(pointer)));
}

}  // extern "C"
}  // namespace nvidia
