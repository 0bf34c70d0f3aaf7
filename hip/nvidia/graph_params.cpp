// The conversions of graph_params.h.
#include "hip/nvidia/graph_params.h"

#include <cstddef>

namespace nvidia {
namespace {

// Arrays that are passed on as they are: one layout in both.
static_assert(sizeof(hipExternalSemaphoreSignalParams) == sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS));
static_assert(offsetof(hipExternalSemaphoreSignalParams, params.keyedMutex) ==
              offsetof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, params.keyedMutex));
static_assert(offsetof(hipExternalSemaphoreSignalParams, flags) ==
              offsetof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, flags));
static_assert(sizeof(hipExternalSemaphoreWaitParams) == sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS));
static_assert(offsetof(hipExternalSemaphoreWaitParams, params.keyedMutex.timeoutMs) ==
              offsetof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, params.keyedMutex.timeoutMs));
static_assert(offsetof(hipExternalSemaphoreWaitParams, flags) == offsetof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, flags));

// The two structs for a memset node differ in the type of the address only.
template <class To, class From>
void fill_memset(To* to, const From& from) {
  to->pitch = from.pitch;
  to->value = from.value;
  to->elementSize = from.elementSize;
  to->width = from.width;
  to->height = from.height;
}

}  // namespace

cudaMemcpy3DParms to_cuda(const hipMemcpy3DParms& from) {
  cudaMemcpy3DParms to{};
  to.srcArray = to_cuda(from.srcArray);
  to.srcPos = to_cuda(from.srcPos);
  to.srcPtr = to_cuda(from.srcPtr);
  to.dstArray = to_cuda(from.dstArray);
  to.dstPos = to_cuda(from.dstPos);
  to.dstPtr = to_cuda(from.dstPtr);
  to.extent = to_cuda(from.extent);
  to.kind = to_cuda(from.kind);
  return to;
}

hipMemcpy3DParms to_hip(const cudaMemcpy3DParms& from) {
  hipMemcpy3DParms to{};
  to.srcArray = to_hip(from.srcArray);
  to.srcPos = to_hip(from.srcPos);
  to.srcPtr = to_hip(from.srcPtr);
  to.dstArray = to_hip(from.dstArray);
  to.dstPos = to_hip(from.dstPos);
  to.dstPtr = to_hip(from.dstPtr);
  to.extent = to_hip(from.extent);
  to.kind = same_number<hipMemcpyKind>(from.kind);
  return to;
}

cudaMemsetParams to_cuda(const hipMemsetParams& from) {
  cudaMemsetParams to{};
  fill_memset(&to, from);
  to.dst = from.dst;
  return to;
}

hipMemsetParams to_hip(const cudaMemsetParams& from) {
  hipMemsetParams to{};
  fill_memset(&to, from);
  to.dst = from.dst;
  return to;
}

CUDA_MEMSET_NODE_PARAMS to_driver(const hipMemsetParams& from) {
  CUDA_MEMSET_NODE_PARAMS to{};
  fill_memset(&to, from);
  to.dst = to_address(from.dst);
  return to;
}

cudaHostNodeParams to_cuda(const hipHostNodeParams& from) {
  cudaHostNodeParams to{};
  to.fn = from.fn;
  to.userData = from.userData;
  return to;
}

hipHostNodeParams to_hip(const cudaHostNodeParams& from) {
  hipHostNodeParams to{};
  to.fn = from.fn;
  to.userData = from.userData;
  return to;
}

cudaMemAllocNodeParams to_cuda(const hipMemAllocNodeParams& from) {
  cudaMemAllocNodeParams to{};
  to.poolProps = to_cuda(from.poolProps);
  to.accessDescs = to_cuda(from.accessDescs);
  to.accessDescCount = from.accessDescCount;
  to.bytesize = from.bytesize;
  to.dptr = from.dptr;
  return to;
}

hipMemAllocNodeParams to_hip(const cudaMemAllocNodeParams& from) {
  hipMemAllocNodeParams to{};
  to.poolProps = to_hip(from.poolProps);
  to.accessDescs = to_hip(from.accessDescs);
  to.accessDescCount = from.accessDescCount;
  to.bytesize = from.bytesize;
  to.dptr = from.dptr;
  return to;
}

CUDA_EXT_SEM_SIGNAL_NODE_PARAMS to_cuda(const hipExternalSemaphoreSignalNodeParams& from) {
  CUDA_EXT_SEM_SIGNAL_NODE_PARAMS to{};
  to.extSemArray = reinterpret_cast<CUexternalSemaphore*>(from.extSemArray);
  to.paramsArray = reinterpret_cast<const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS*>(from.paramsArray);
  to.numExtSems = from.numExtSems;
  return to;
}

hipExternalSemaphoreSignalNodeParams to_hip(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& from) {
  hipExternalSemaphoreSignalNodeParams to{};
  to.extSemArray = reinterpret_cast<hipExternalSemaphore_t*>(from.extSemArray);
  to.paramsArray = reinterpret_cast<const hipExternalSemaphoreSignalParams*>(from.paramsArray);
  to.numExtSems = from.numExtSems;
  return to;
}

CUDA_EXT_SEM_WAIT_NODE_PARAMS to_cuda(const hipExternalSemaphoreWaitNodeParams& from) {
  CUDA_EXT_SEM_WAIT_NODE_PARAMS to{};
  to.extSemArray = reinterpret_cast<CUexternalSemaphore*>(from.extSemArray);
  to.paramsArray = reinterpret_cast<const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS*>(from.paramsArray);
  to.numExtSems = from.numExtSems;
  return to;
}

hipExternalSemaphoreWaitNodeParams to_hip(const CUDA_EXT_SEM_WAIT_NODE_PARAMS& from) {
  hipExternalSemaphoreWaitNodeParams to{};
  to.extSemArray = reinterpret_cast<hipExternalSemaphore_t*>(from.extSemArray);
  to.paramsArray = reinterpret_cast<const hipExternalSemaphoreWaitParams*>(from.paramsArray);
  to.numExtSems = from.numExtSems;
  return to;
}

CUDA_MEMCPY3D to_cuda(const HIP_MEMCPY3D& from) {
  CUDA_MEMCPY3D to{};
  to.srcXInBytes = from.srcXInBytes;
  to.srcY = from.srcY;
  to.srcZ = from.srcZ;
  to.srcLOD = from.srcLOD;
  to.srcMemoryType = to_driver(from.srcMemoryType);
  to.srcHost = from.srcHost;
  to.srcDevice = to_address(from.srcDevice);
  to.srcArray = reinterpret_cast<CUarray>(from.srcArray);
  to.srcPitch = from.srcPitch;
  to.srcHeight = from.srcHeight;
  to.dstXInBytes = from.dstXInBytes;
  to.dstY = from.dstY;
  to.dstZ = from.dstZ;
  to.dstLOD = from.dstLOD;
  to.dstMemoryType = to_driver(from.dstMemoryType);
  to.dstHost = from.dstHost;
  to.dstDevice = to_address(from.dstDevice);
  to.dstArray = reinterpret_cast<CUarray>(from.dstArray);
  to.dstPitch = from.dstPitch;
  to.dstHeight = from.dstHeight;
  to.WidthInBytes = from.WidthInBytes;
  to.Height = from.Height;
  to.Depth = from.Depth;
  return to;
}

HIP_MEMCPY3D to_hip(const CUDA_MEMCPY3D& from) {
  HIP_MEMCPY3D to{};
  to.srcXInBytes = from.srcXInBytes;
  to.srcY = from.srcY;
  to.srcZ = from.srcZ;
  to.srcLOD = from.srcLOD;
  to.srcMemoryType = to_hip(from.srcMemoryType);
  to.srcHost = from.srcHost;
  to.srcDevice = to_pointer(from.srcDevice);
  to.srcArray = reinterpret_cast<hipArray_t>(from.srcArray);
  to.srcPitch = from.srcPitch;
  to.srcHeight = from.srcHeight;
  to.dstXInBytes = from.dstXInBytes;
  to.dstY = from.dstY;
  to.dstZ = from.dstZ;
  to.dstLOD = from.dstLOD;
  to.dstMemoryType = to_hip(from.dstMemoryType);
  to.dstHost = from.dstHost;
  to.dstDevice = to_pointer(from.dstDevice);
  to.dstArray = reinterpret_cast<hipArray_t>(from.dstArray);
  to.dstPitch = from.dstPitch;
  to.dstHeight = from.dstHeight;
  to.WidthInBytes = from.WidthInBytes;
  to.Height = from.Height;
  to.Depth = from.Depth;
  return to;
}

CUDA_BATCH_MEM_OP_NODE_PARAMS to_cuda(const hipBatchMemOpNodeParams& from) {
  CUDA_BATCH_MEM_OP_NODE_PARAMS to{};
  to.ctx = to_cuda(from.ctx);
  to.count = from.count;
  to.paramArray = to_cuda(from.paramArray);
  to.flags = from.flags;
  return to;
}

hipBatchMemOpNodeParams to_hip(const CUDA_BATCH_MEM_OP_NODE_PARAMS& from) {
  hipBatchMemOpNodeParams to{};
  to.ctx = to_hip(from.ctx);
  to.count = from.count;
  to.paramArray = to_hip(from.paramArray);
  to.flags = from.flags;
  return to;
}

}  // namespace nvidia
