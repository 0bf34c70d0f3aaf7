// Functions that are another function of HIP in a more general dress, libhgmodel.so only. Sources: HIP's header
// documentation; catch/unit/graph: hipGraphAddNode.cc, hipGraphNodeSetParams.cc, hipGraphInstantiateWithParams.cc.
#include "model/abi/context.h"

namespace {

// Memory copies hold flags and a pointer to the plain parameters.
const hipMemcpy3DParms* copy_of(const hipGraphNodeParams& params) {
  return &params.memcpy.copyParams;
}

bool has_reserved(const hipGraphNodeParams& params) {
  return params.reserved0[0] != 0 || params.reserved0[1] != 0 || params.reserved0[2] != 0 || params.reserved2 != 0;
}

// A side of the driver's 3D copy.
hipPitchedPtr pitched(hipMemoryType type, const void* host, hipDeviceptr_t device, std::size_t pitch, std::size_t width,
                      std::size_t height) {
  const void* base = type == hipMemoryTypeHost ? host : device;
  return {const_cast<void*>(base), pitch, width, height};
}

bool to_plain(const HIP_MEMCPY3D* copy, hipMemcpy3DParms* out) {
  if (copy == nullptr || copy->srcMemoryType == hipMemoryTypeArray || copy->dstMemoryType == hipMemoryTypeArray) {
    return false;
  }
  *out = {};
  out->srcPtr =
      pitched(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcPitch, copy->WidthInBytes, copy->srcHeight);
  out->dstPtr =
      pitched(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstPitch, copy->WidthInBytes, copy->dstHeight);
  out->srcPos = {copy->srcXInBytes, copy->srcY, copy->srcZ};
  out->dstPos = {copy->dstXInBytes, copy->dstY, copy->dstZ};
  out->extent = {copy->WidthInBytes, copy->Height, copy->Depth};
  out->kind = hipMemcpyDefault;
  return true;
}

}  // namespace

extern "C" {

hipError_t hipGraphAddNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                           hipGraphNodeParams* params) {
  if (params == nullptr || has_reserved(*params)) return hipErrorInvalidValue;
  switch (params->type) {
    case hipGraphNodeTypeKernel:
      return hipGraphAddKernelNode(node, graph, dependencies, count, &params->kernel);
    case hipGraphNodeTypeMemcpy:
      return hipGraphAddMemcpyNode(node, graph, dependencies, count, copy_of(*params));
    case hipGraphNodeTypeMemset:
      return hipGraphAddMemsetNode(node, graph, dependencies, count, &params->memset);
    case hipGraphNodeTypeHost:
      return hipGraphAddHostNode(node, graph, dependencies, count, &params->host);
    case hipGraphNodeTypeGraph:
      return hipGraphAddChildGraphNode(node, graph, dependencies, count, params->graph.graph);
    case hipGraphNodeTypeEmpty:
      return hipGraphAddEmptyNode(node, graph, dependencies, count);
    default:
      return hipErrorNotSupported;
  }
}

hipError_t hipGraphNodeSetParams(hipGraphNode_t node, hipGraphNodeParams* params) {
  if (params == nullptr || has_reserved(*params)) return hipErrorInvalidValue;
  switch (params->type) {
    case hipGraphNodeTypeKernel:
      return hipGraphKernelNodeSetParams(node, &params->kernel);
    case hipGraphNodeTypeMemcpy:
      return hipGraphMemcpyNodeSetParams(node, copy_of(*params));
    case hipGraphNodeTypeMemset:
      return hipGraphMemsetNodeSetParams(node, &params->memset);
    case hipGraphNodeTypeHost:
      return hipGraphHostNodeSetParams(node, &params->host);
    default:
      return hipErrorNotSupported;
  }
}

hipError_t hipGraphExecNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* params) {
  if (params == nullptr || has_reserved(*params)) return hipErrorInvalidValue;
  switch (params->type) {
    case hipGraphNodeTypeKernel:
      return hipGraphExecKernelNodeSetParams(exec, node, &params->kernel);
    case hipGraphNodeTypeMemcpy:
      return hipGraphExecMemcpyNodeSetParams(exec, node, &params->memcpy.copyParams);
    case hipGraphNodeTypeMemset:
      return hipGraphExecMemsetNodeSetParams(exec, node, &params->memset);
    case hipGraphNodeTypeHost:
      return hipGraphExecHostNodeSetParams(exec, node, &params->host);
    case hipGraphNodeTypeGraph:
      return hipGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
    default:
      return hipErrorNotSupported;
  }
}

hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* exec, hipGraph_t graph, hipGraphInstantiateParams* params) {
  if (params == nullptr) return hipErrorInvalidValue;
  const hipError_t status = hipGraphInstantiateWithFlags(exec, graph, params->flags);
  params->errNode_out = nullptr;
  params->result_out = status == hipSuccess ? hipGraphInstantiateSuccess : hipGraphInstantiateError;
  return status;
}

hipError_t hipModuleLoadFatBinary(hipModule_t* module, const void* image) {
  return hipModuleLoadData(module, image);
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* copy) {
  hipMemcpy3DParms plain;
  return to_plain(copy, &plain) ? hipMemcpy3D(&plain) : hipErrorInvalidValue;
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* copy, hipStream_t stream) {
  hipMemcpy3DParms plain;
  return to_plain(copy, &plain) ? hipMemcpy3DAsync(&plain, stream) : hipErrorInvalidValue;
}

}  // extern "C"
