// Graphs as HIP's C functions: their life, their nodes and edges, clones, child graphs, pictures. CUDA's answers.
//
// Flags of graphs and of pictures have the same bits in both. Edges are asked for and given without edge data: HIP's
// functions of 7.2 know none, and CUDA takes null for the default, answering cudaErrorLossyQuery where an edge has
// other data (hipErrorUnknown: HIP lacks it).
// Sources: HIP 7.2's header documentation (group Graph); CUDA's documentation of the runtime, 12.4 and 13.0.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"
#include "hip/nvidia/kernel_params.h"

namespace nvidia {
extern "C" {

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned flags) {
  return answer(cuda().cudaGraphCreate(to_cuda(graph), flags));
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  forget_extra_of_graph(graph);
  return answer(cuda().cudaGraphDestroy(to_cuda(graph)));
}

hipError_t hipGraphClone(hipGraph_t* clone, hipGraph_t original) {
  return answer(cuda().cudaGraphClone(to_cuda(clone), to_cuda(original)));
}

hipError_t hipGraphNodeFindInClone(hipGraphNode_t* node, hipGraphNode_t original, hipGraph_t clone) {
  return answer(cuda().cudaGraphNodeFindInClone(to_cuda(node), to_cuda(original), to_cuda(clone)));
}

hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return answer(cuda().cudaGraphGetNodes(to_cuda(graph), to_cuda(nodes), count));
}

hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
  return answer(cuda().cudaGraphGetRootNodes(to_cuda(graph), to_cuda(nodes), count));
}

hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
  return answer(cuda().cudaGraphGetEdges(to_cuda(graph), to_cuda(from), to_cuda(to), nullptr, count));
}

hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* dependencies, size_t* count) {
  return answer(cuda().cudaGraphNodeGetDependencies(to_cuda(node), to_cuda(dependencies), nullptr, count));
}

hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t node, hipGraphNode_t* dependents, size_t* count) {
  return answer(cuda().cudaGraphNodeGetDependentNodes(to_cuda(node), to_cuda(dependents), nullptr, count));
}

hipError_t hipGraphAddDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t count) {
  return answer(cuda().cudaGraphAddDependencies(to_cuda(graph), to_cuda(from), to_cuda(to), nullptr, count));
}

hipError_t hipGraphRemoveDependencies(hipGraph_t graph, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      size_t count) {
  return answer(cuda().cudaGraphRemoveDependencies(to_cuda(graph), to_cuda(from), to_cuda(to), nullptr, count));
}

hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  forget_extra_of_node(node);
  return answer(cuda().cudaGraphDestroyNode(to_cuda(node)));
}

// CUDA's types 12 (memory operations) and 13 (conditional) are HIP's 14 and none at all: HIP's 12 and 13 are copies
// from and to symbols, which CUDA calls copies. Only the driver tells memory operations from other nodes. A type that
// HIP lacks is hipErrorNotSupported, and `type` is left as it is: any of HIP's types would be a lie.
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) {
  CUgraphNodeType read{};
  const hipError_t status = answer(cuda().cuGraphNodeGetType(to_cuda(node), type == nullptr ? nullptr : &read));
  if (status != hipSuccess) return status;
  if (read == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP) {
    *type = hipGraphNodeTypeBatchMemOp;
  } else if (read <= CU_GRAPH_NODE_TYPE_MEM_FREE) {
    *type = same_number<hipGraphNodeType>(read);
  } else {
    return refuse(hipErrorNotSupported);
  }
  return hipSuccess;
}

hipError_t hipGraphDebugDotPrint(hipGraph_t graph, const char* path, unsigned flags) {
  return answer(cuda().cudaGraphDebugDotPrint(to_cuda(graph), path, flags));
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                size_t count) {
  return answer(cuda().cudaGraphAddEmptyNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count));
}

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, hipGraph_t child) {
  return answer(
      cuda().cudaGraphAddChildGraphNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count, to_cuda(child)));
}

hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  return answer(cuda().cudaGraphChildGraphNodeGetGraph(to_cuda(node), to_cuda(graph)));
}

}  // extern "C"
}  // namespace nvidia
