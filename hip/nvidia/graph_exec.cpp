// Executable graphs as HIP's C functions: instantiation, launch, update, setters. CUDA's answers.
//
// Sources: HIP 7.2's header documentation (group Graph); CUDA's documentation of the runtime and the driver, 12.4 and
// 13.0.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"
#include "hip/nvidia/kernel_params.h"

namespace nvidia {
namespace {

// CUDA's results of an update are HIP's, but for one more: attributes of a node changed (8). HIP counts a kernel's
// attributes to its node's parameters ("the parameters changed in a way that is not supported"). A result that a later
// CUDA brings is "an unexpected reason which is described in the return value".
hipGraphExecUpdateResult to_hip(cudaGraphExecUpdateResult result) {
  if (result == cudaGraphExecUpdateErrorAttributesChanged) return hipGraphExecUpdateErrorParametersChanged;
  if (result > cudaGraphExecUpdateErrorAttributesChanged) return hipGraphExecUpdateError;
  return same_number<hipGraphExecUpdateResult>(result);
}
static_assert(static_cast<int>(cudaGraphExecUpdateErrorUnsupportedFunctionChange) ==
              static_cast<int>(hipGraphExecUpdateErrorUnsupportedFunctionChange));

// The same for results of an instantiation. HIP has no results above 4 (CUDA: conditional handles unused).
hipGraphInstantiateResult to_hip(cudaGraphInstantiateResult result) {
  if (result > cudaGraphInstantiateMultipleDevicesNotSupported) return hipGraphInstantiateError;
  return same_number<hipGraphInstantiateResult>(result);
}
static_assert(static_cast<int>(cudaGraphInstantiateMultipleDevicesNotSupported) ==
              static_cast<int>(hipGraphInstantiateMultipleDevicesNotSupported));

}  // namespace

extern "C" {

// ---- life

// CUDA 12 dropped the error node and the log of CUDA 11, which HIP kept; its own overload for older callers leaves both
// as they are, and so does this.
hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t*, char*, size_t) {
  return answer(cuda().cudaGraphInstantiate(to_cuda(exec), to_cuda(graph), 0));
}

// Flags have the same bits in both.
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long flags) {
  return answer(cuda().cudaGraphInstantiateWithFlags(to_cuda(exec), to_cuda(graph), flags));
}

hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* exec, hipGraph_t graph, hipGraphInstantiateParams* params) {
  cudaGraphInstantiateParams given{};
  if (params != nullptr) {
    given.flags = params->flags;
    given.uploadStream = to_cuda(params->uploadStream);
  }
  const hipError_t status = answer(
      cuda().cudaGraphInstantiateWithParams(to_cuda(exec), to_cuda(graph), params == nullptr ? nullptr : &given));
  if (params != nullptr) {
    params->errNode_out = to_hip(given.errNode_out);
    params->result_out = to_hip(given.result_out);
  }
  return status;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec) {
  return answer(cuda().cudaGraphExecDestroy(to_cuda(exec)));
}

hipError_t hipGraphExecGetFlags(hipGraphExec_t exec, unsigned long long* flags) {
  return answer(cuda().cudaGraphExecGetFlags(to_cuda(exec), flags));
}

hipError_t hipGraphUpload(hipGraphExec_t exec, hipStream_t stream) {
  return answer(cuda().cudaGraphUpload(to_cuda(exec), to_cuda(stream)));
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  return answer(cuda().cudaGraphLaunch(to_cuda(exec), to_cuda(stream)));
}

// ---- updates

// HIP has two outputs where CUDA 12 has one struct, which it needs. HIP's documentation lets neither be null, so
// without one of them nothing is asked. Where two graphs differ by an edge, CUDA tells the node at its end, as
// errorNode; the one at its start (errorFromNode) has no place in HIP.
hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
  if (error_node == nullptr || result == nullptr) return refuse(hipErrorInvalidValue);
  cudaGraphExecUpdateResultInfo info{};
  const hipError_t status = answer(cuda().cudaGraphExecUpdate(to_cuda(exec), to_cuda(graph), &info));
  *error_node = to_hip(info.errorNode);
  *result = to_hip(info.result);
  return status;
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
  return answer(cuda().cudaGraphNodeSetEnabled(to_cuda(exec), to_cuda(node), enabled));
}

hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned* enabled) {
  return answer(cuda().cudaGraphNodeGetEnabled(to_cuda(exec), to_cuda(node), enabled));
}

// ---- setters by type of node

hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           const hipKernelNodeParams* params) {
  const KernelParams given(params);
  return answer(cuda_with_context().cuGraphExecKernelNodeSetParams(to_cuda(exec), to_cuda(node), given.get()));
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* params) {
  Given given(params);
  return answer(cuda().cudaGraphExecMemcpyNodeSetParams(to_cuda(exec), to_cuda(node), given.get()));
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* destination,
                                             const void* source, size_t bytes, hipMemcpyKind kind) {
  return answer(cuda().cudaGraphExecMemcpyNodeSetParams1D(to_cuda(exec), to_cuda(node), destination, source, bytes,
                                                          to_cuda(kind)));
}

hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* params) {
  Given given(params);
  return answer(cuda().cudaGraphExecMemsetNodeSetParams(to_cuda(exec), to_cuda(node), given.get()));
}

hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams* params) {
  Given given(params);
  return answer(cuda().cudaGraphExecHostNodeSetParams(to_cuda(exec), to_cuda(node), given.get()));
}

hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t child) {
  return answer(cuda().cudaGraphExecChildGraphNodeSetParams(to_cuda(exec), to_cuda(node), to_cuda(child)));
}

hipError_t hipGraphExecEventRecordNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return answer(cuda().cudaGraphExecEventRecordNodeSetEvent(to_cuda(exec), to_cuda(node), to_cuda(event)));
}

hipError_t hipGraphExecEventWaitNodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {
  return answer(cuda().cudaGraphExecEventWaitNodeSetEvent(to_cuda(exec), to_cuda(node), to_cuda(event)));
}

}  // extern "C"
}  // namespace nvidia
