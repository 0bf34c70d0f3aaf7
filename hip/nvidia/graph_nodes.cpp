// Nodes by type as HIP's C functions: kernels, copies, memsets, host functions, events. CUDA's answers.
//
// Kernel nodes and their attributes go through the driver (kernel_params.h), the rest through the runtime. Setters of
// an executable graph are in graph_exec.cpp. Sources: HIP 7.2's header documentation (group Graph); CUDA's
// documentation of the runtime and the driver.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"
#include "hip/nvidia/kernel_params.h"

namespace nvidia {
extern "C" {

// ---- kernels

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipKernelNodeParams* params) {
  const KernelParams given(params);
  return answer(cuda_with_context().cuGraphAddKernelNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count,
                                                         given.get()));
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* params) {
  CUDA_KERNEL_NODE_PARAMS read{};
  const hipError_t status =
      answer(cuda_with_context().cuGraphKernelNodeGetParams(to_cuda(node), params == nullptr ? nullptr : &read));
  return status != hipSuccess ? status : read_kernel(node, read, params);
}

hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* params) {
  const KernelParams given(params);
  return answer(cuda_with_context().cuGraphKernelNodeSetParams(to_cuda(node), given.get()));
}

// HIP takes the source first, the driver the destination.
hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t from, hipGraphNode_t to) {
  return answer(cuda_with_context().cuGraphKernelNodeCopyAttributes(to_cuda(to), to_cuda(from)));
}

hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID id,
                                          const hipKernelNodeAttrValue* value) {
  CUlaunchAttributeValue given{};
  if (value != nullptr) given = to_driver(id, *value);
  return answer(cuda_with_context().cuGraphKernelNodeSetAttribute(to_cuda(node), same_number<CUlaunchAttributeID>(id),
                                                                  value == nullptr ? nullptr : &given));
}

hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID id, hipKernelNodeAttrValue* value) {
  CUlaunchAttributeValue read{};
  const hipError_t status = answer(cuda_with_context().cuGraphKernelNodeGetAttribute(
      to_cuda(node), same_number<CUlaunchAttributeID>(id), value == nullptr ? nullptr : &read));
  if (status == hipSuccess) *value = to_hip(id, read);
  return status;
}

// ---- copies

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemcpy3DParms* params) {
  Given given(params);
  return answer(
      cuda().cudaGraphAddMemcpyNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count, given.get()));
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* params) {
  return read_params<cudaMemcpy3DParms>(params, [node](cudaMemcpy3DParms* read) {
    return answer(cuda().cudaGraphMemcpyNodeGetParams(to_cuda(node), read));
  });
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* params) {
  Given given(params);
  return answer(cuda().cudaGraphMemcpyNodeSetParams(to_cuda(node), given.get()));
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, void* destination, const void* source, size_t bytes,
                                   hipMemcpyKind kind) {
  return answer(cuda().cudaGraphAddMemcpyNode1D(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count,
                                                destination, source, bytes, to_cuda(kind)));
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* destination, const void* source, size_t bytes,
                                         hipMemcpyKind kind) {
  return answer(cuda().cudaGraphMemcpyNodeSetParams1D(to_cuda(node), destination, source, bytes, to_cuda(kind)));
}

// ---- memsets

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemsetParams* params) {
  Given given(params);
  return answer(
      cuda().cudaGraphAddMemsetNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count, given.get()));
}

hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* params) {
  return read_params<cudaMemsetParams>(params, [node](cudaMemsetParams* read) {
    return answer(cuda().cudaGraphMemsetNodeGetParams(to_cuda(node), read));
  });
}

hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* params) {
  Given given(params);
  return answer(cuda().cudaGraphMemsetNodeSetParams(to_cuda(node), given.get()));
}

// ---- host functions

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                               const hipHostNodeParams* params) {
  Given given(params);
  return answer(cuda().cudaGraphAddHostNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count, given.get()));
}

hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* params) {
  return read_params<cudaHostNodeParams>(params, [node](cudaHostNodeParams* read) {
    return answer(cuda().cudaGraphHostNodeGetParams(to_cuda(node), read));
  });
}

hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* params) {
  Given given(params);
  return answer(cuda().cudaGraphHostNodeSetParams(to_cuda(node), given.get()));
}

// ---- events

hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                      size_t count, hipEvent_t event) {
  return answer(
      cuda().cudaGraphAddEventRecordNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count, to_cuda(event)));
}

hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, hipEvent_t event) {
  return answer(
      cuda().cudaGraphAddEventWaitNode(to_cuda(node), to_cuda(graph), to_cuda(dependencies), count, to_cuda(event)));
}

hipError_t hipGraphEventRecordNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return answer(cuda().cudaGraphEventRecordNodeGetEvent(to_cuda(node), to_cuda(event)));
}

hipError_t hipGraphEventRecordNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return answer(cuda().cudaGraphEventRecordNodeSetEvent(to_cuda(node), to_cuda(event)));
}

hipError_t hipGraphEventWaitNodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {
  return answer(cuda().cudaGraphEventWaitNodeGetEvent(to_cuda(node), to_cuda(event)));
}

hipError_t hipGraphEventWaitNodeSetEvent(hipGraphNode_t node, hipEvent_t event) {
  return answer(cuda().cudaGraphEventWaitNodeSetEvent(to_cuda(node), to_cuda(event)));
}

}  // extern "C"
}  // namespace nvidia
