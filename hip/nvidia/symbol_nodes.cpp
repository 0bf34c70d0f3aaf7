// Copies to and from variables of device code, as nodes.
//
// A variable is found by the address of its shadow (symbols.h), on the current device, and the node is CUDA's copy node
// to or from its place. CUDA has functions of its own for variables that nvcc registered with its runtime; they add
// copy nodes as well (cudaGraphNodeTypeMemcpy). symbols.h makes the checks that those functions of CUDA make first.
// Sources: HIP 7.2's header documentation (group Graph); CUDA's documentation of cudaGraphAddMemcpyNodeToSymbol and
// cudaMemcpyToSymbol.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"
#include "hip/nvidia/symbols.h"

namespace nvidia {
extern "C" {

hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                         size_t count, const void* symbol, const void* source, size_t bytes,
                                         size_t offset, hipMemcpyKind kind) {
  return with_place(Side::kTo, symbol, bytes, offset, kind, [&](void* place) {
    return answer(cuda().cudaGraphAddMemcpyNode1D(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count, place,
                                                  source, bytes, to_cuda(kind)));
  });
}

hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol, const void* source,
                                               size_t bytes, size_t offset, hipMemcpyKind kind) {
  return with_place(Side::kTo, symbol, bytes, offset, kind, [&](void* place) {
    return answer(cuda().cudaGraphMemcpyNodeSetParams1D(to_cuda(node), place, source, bytes, to_cuda(kind)));
  });
}

hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node, const void* symbol,
                                                   const void* source, size_t bytes, size_t offset,
                                                   hipMemcpyKind kind) {
  return with_place(Side::kTo, symbol, bytes, offset, kind, [&](void* place) {
    return answer(
        cuda().cudaGraphExecMemcpyNodeSetParams1D(to_cuda(exec), to_cuda(node), place, source, bytes, to_cuda(kind)));
  });
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                           size_t count, void* destination, const void* symbol, size_t bytes,
                                           size_t offset, hipMemcpyKind kind) {
  return with_place(Side::kFrom, symbol, bytes, offset, kind, [&](const void* place) {
    return answer(cuda().cudaGraphAddMemcpyNode1D(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count,
                                                  destination, place, bytes, to_cuda(kind)));
  });
}

hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* destination, const void* symbol,
                                                 size_t bytes, size_t offset, hipMemcpyKind kind) {
  return with_place(Side::kFrom, symbol, bytes, offset, kind, [&](const void* place) {
    return answer(cuda().cudaGraphMemcpyNodeSetParams1D(to_cuda(node), destination, place, bytes, to_cuda(kind)));
  });
}

hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node, void* destination,
                                                     const void* symbol, size_t bytes, size_t offset,
                                                     hipMemcpyKind kind) {
  return with_place(Side::kFrom, symbol, bytes, offset, kind, [&](const void* place) {
    return answer(cuda().cudaGraphExecMemcpyNodeSetParams1D(to_cuda(exec), to_cuda(node), destination, place, bytes,
                                                            to_cuda(kind)));
  });
}

}  // extern "C"
}  // namespace nvidia
