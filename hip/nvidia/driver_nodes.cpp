// Nodes that CUDA has in its driver: HIP's hipDrvGraph functions, batches of memory operations, external semaphores.
//
// Contexts (hipCtx_t) are the driver's. HIP 7.2 documents the context of a copy or memset node as the current device's;
// the driver refuses null, and that is passed on.
// Sources: HIP 7.2's header documentation (group Graph); CUDA's documentation of the driver, 12.4 and 13.0.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"

namespace nvidia {
namespace {

// Parameters of a memset node for the driver; null where HIP's are.
class GivenMemset {
 public:
  explicit GivenMemset(const hipMemsetParams* from) {
    if (from != nullptr) value_ = to_driver(*from);
  }
  [[nodiscard]] const CUDA_MEMSET_NODE_PARAMS* get() const { return value_ ? &*value_ : nullptr; }

 private:
  std::optional<CUDA_MEMSET_NODE_PARAMS> value_;
};

}  // namespace

extern "C" {

// ---- copies and memsets

hipError_t hipDrvGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, const HIP_MEMCPY3D* params, hipCtx_t context) {
  Given given(params);
  return answer(cuda_with_context().cuGraphAddMemcpyNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count,
                                                         given.get(), to_cuda(context)));
}

hipError_t hipDrvGraphMemcpyNodeGetParams(hipGraphNode_t node, HIP_MEMCPY3D* params) {
  return read_params<CUDA_MEMCPY3D>(params, [node](CUDA_MEMCPY3D* read) {
    return answer(cuda_with_context().cuGraphMemcpyNodeGetParams(to_cuda(node), read));
  });
}

hipError_t hipDrvGraphMemcpyNodeSetParams(hipGraphNode_t node, const HIP_MEMCPY3D* params) {
  Given given(params);
  return answer(cuda_with_context().cuGraphMemcpyNodeSetParams(to_cuda(node), given.get()));
}

hipError_t hipDrvGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const HIP_MEMCPY3D* params,
                                              hipCtx_t context) {
  Given given(params);
  return answer(
      cuda_with_context().cuGraphExecMemcpyNodeSetParams(to_cuda(exec), to_cuda(node), given.get(), to_cuda(context)));
}

hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, const hipMemsetParams* params, hipCtx_t context) {
  const GivenMemset given(params);
  return answer(cuda_with_context().cuGraphAddMemsetNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count,
                                                         given.get(), to_cuda(context)));
}

hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params,
                                              hipCtx_t context) {
  const GivenMemset given(params);
  return answer(
      cuda_with_context().cuGraphExecMemsetNodeSetParams(to_cuda(exec), to_cuda(node), given.get(), to_cuda(context)));
}

// ---- batches of memory operations

hipError_t hipGraphAddBatchMemOpNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, const hipBatchMemOpNodeParams* params) {
  Given given(params);
  return answer(cuda_with_context().cuGraphAddBatchMemOpNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies),
                                                             count, given.get()));
}

hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t node, hipBatchMemOpNodeParams* params) {
  return read_params<CUDA_BATCH_MEM_OP_NODE_PARAMS>(params, [node](CUDA_BATCH_MEM_OP_NODE_PARAMS* read) {
    return answer(cuda_with_context().cuGraphBatchMemOpNodeGetParams(to_cuda(node), read));
  });
}

hipError_t hipGraphBatchMemOpNodeSetParams(hipGraphNode_t node, hipBatchMemOpNodeParams* params) {
  Given given(params);
  return answer(cuda_with_context().cuGraphBatchMemOpNodeSetParams(to_cuda(node), given.get()));
}

hipError_t hipGraphExecBatchMemOpNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                               const hipBatchMemOpNodeParams* params) {
  Given given(params);
  return answer(cuda_with_context().cuGraphExecBatchMemOpNodeSetParams(to_cuda(exec), to_cuda(node), given.get()));
}

// ---- external semaphores

hipError_t hipGraphAddExternalSemaphoresSignalNode(hipGraphNode_t* node, hipGraph_t graph,
                                                   const hipGraphNode_t* dependencies, size_t count,
                                                   const hipExternalSemaphoreSignalNodeParams* params) {
  Given given(params);
  return answer(cuda_with_context().cuGraphAddExternalSemaphoresSignalNode(to_cuda(node), to_cuda(graph),
                                                                           to_cuda(dependencies), count, given.get()));
}

hipError_t hipGraphExternalSemaphoresSignalNodeGetParams(hipGraphNode_t node,
                                                         hipExternalSemaphoreSignalNodeParams* params) {
  return read_params<CUDA_EXT_SEM_SIGNAL_NODE_PARAMS>(params, [node](CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* read) {
    return answer(cuda_with_context().cuGraphExternalSemaphoresSignalNodeGetParams(to_cuda(node), read));
  });
}

hipError_t hipGraphExternalSemaphoresSignalNodeSetParams(hipGraphNode_t node,
                                                         const hipExternalSemaphoreSignalNodeParams* params) {
  Given given(params);
  return answer(cuda_with_context().cuGraphExternalSemaphoresSignalNodeSetParams(to_cuda(node), given.get()));
}

hipError_t hipGraphExecExternalSemaphoresSignalNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                                             const hipExternalSemaphoreSignalNodeParams* params) {
  Given given(params);
  return answer(
      cuda_with_context().cuGraphExecExternalSemaphoresSignalNodeSetParams(to_cuda(exec), to_cuda(node), given.get()));
}

hipError_t hipGraphAddExternalSemaphoresWaitNode(hipGraphNode_t* node, hipGraph_t graph,
                                                 const hipGraphNode_t* dependencies, size_t count,
                                                 const hipExternalSemaphoreWaitNodeParams* params) {
  Given given(params);
  return answer(cuda_with_context().cuGraphAddExternalSemaphoresWaitNode(to_cuda(node), to_cuda(graph),
                                                                         to_cuda(dependencies), count, given.get()));
}

hipError_t hipGraphExternalSemaphoresWaitNodeGetParams(hipGraphNode_t node,
                                                       hipExternalSemaphoreWaitNodeParams* params) {
  return read_params<CUDA_EXT_SEM_WAIT_NODE_PARAMS>(params, [node](CUDA_EXT_SEM_WAIT_NODE_PARAMS* read) {
    return answer(cuda_with_context().cuGraphExternalSemaphoresWaitNodeGetParams(to_cuda(node), read));
  });
}

hipError_t hipGraphExternalSemaphoresWaitNodeSetParams(hipGraphNode_t node,
                                                       const hipExternalSemaphoreWaitNodeParams* params) {
  Given given(params);
  return answer(cuda_with_context().cuGraphExternalSemaphoresWaitNodeSetParams(to_cuda(node), given.get()));
}

hipError_t hipGraphExecExternalSemaphoresWaitNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                                           const hipExternalSemaphoreWaitNodeParams* params) {
  Given given(params);
  return answer(
      cuda_with_context().cuGraphExecExternalSemaphoresWaitNodeSetParams(to_cuda(exec), to_cuda(node), given.get()));
}

}  // extern "C"
}  // namespace nvidia
