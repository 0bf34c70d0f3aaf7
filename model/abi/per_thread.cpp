// The functions that a program calls if compiled with -fgpu-default-stream=per-thread, libhgmodel.so only. The null
// handle means the stream of the calling thread. Otherwise they do the same as the functions without _spt.
#include "model/abi/context.h"

namespace {

hipStream_t per_thread(hipStream_t stream) {
  return stream == nullptr ? hipStreamPerThread : stream;
}

// For copies and memsets without a stream, which are over when the call returns.
hipError_t finished(hipError_t status) {
  return status != hipSuccess ? status : hipStreamSynchronize(hipStreamPerThread);
}

}  // namespace

extern "C" {

hipError_t hipMemcpy_spt(void* dst, const void* src, size_t size, hipMemcpyKind kind) {
  return hipMemcpyWithStream(dst, src, size, kind, hipStreamPerThread);
}
hipError_t hipMemcpyAsync_spt(void* dst, const void* src, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyAsync(dst, src, size, kind, per_thread(stream));
}
hipError_t hipMemcpy2D_spt(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width, size_t height,
                           hipMemcpyKind kind) {
  return finished(hipMemcpy2DAsync(dst, dst_pitch, src, src_pitch, width, height, kind, hipStreamPerThread));
}
hipError_t hipMemcpy2DAsync_spt(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width,
                                size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DAsync(dst, dst_pitch, src, src_pitch, width, height, kind, per_thread(stream));
}
hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* params) {
  return finished(hipMemcpy3DAsync(params, hipStreamPerThread));
}
hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* params, hipStream_t stream) {
  return hipMemcpy3DAsync(params, per_thread(stream));
}
hipError_t hipMemset_spt(void* dst, int value, size_t size) {
  return finished(hipMemsetAsync(dst, value, size, hipStreamPerThread));
}
hipError_t hipMemsetAsync_spt(void* dst, int value, size_t size, hipStream_t stream) {
  return hipMemsetAsync(dst, value, size, per_thread(stream));
}
hipError_t hipMemset2D_spt(void* dst, size_t pitch, int value, size_t width, size_t height) {
  return finished(hipMemset2DAsync(dst, pitch, value, width, height, hipStreamPerThread));
}
hipError_t hipMemset2DAsync_spt(void* dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return hipMemset2DAsync(dst, pitch, value, width, height, per_thread(stream));
}
hipError_t hipMemset3D_spt(hipPitchedPtr dst, int value, hipExtent extent) {
  return finished(hipMemset3DAsync(dst, value, extent, hipStreamPerThread));
}
hipError_t hipMemset3DAsync_spt(hipPitchedPtr dst, int value, hipExtent extent, hipStream_t stream) {
  return hipMemset3DAsync(dst, value, extent, per_thread(stream));
}

hipError_t hipStreamSynchronize_spt(hipStream_t stream) {
  return hipStreamSynchronize(per_thread(stream));
}
hipError_t hipStreamQuery_spt(hipStream_t stream) {
  return hipStreamQuery(per_thread(stream));
}
hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned int* flags) {
  return hipStreamGetFlags(per_thread(stream), flags);
}
hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority) {
  return hipStreamGetPriority(per_thread(stream), priority);
}
hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned int flags) {
  return hipStreamWaitEvent(per_thread(stream), event, flags);
}
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) {
  return hipEventRecord(event, per_thread(stream));
}
hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback, void* user_data,
                                    unsigned int flags) {
  return hipStreamAddCallback(per_thread(stream), callback, user_data, flags);
}
hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function, void* user_data) {
  return hipLaunchHostFunc(per_thread(stream), function, user_data);
}

hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode) {
  return hipStreamBeginCapture(per_thread(stream), mode);
}
hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t* graph) {
  return hipStreamEndCapture(per_thread(stream), graph);
}
hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus* status) {
  return hipStreamIsCapturing(per_thread(stream), status);
}
hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  return hipStreamGetCaptureInfo(per_thread(stream), status, id);
}
hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id,
                                          hipGraph_t* graph, const hipGraphNode_t** dependencies, size_t* count) {
  return hipStreamGetCaptureInfo_v2(per_thread(stream), status, id, graph, dependencies, count);
}

hipError_t hipLaunchKernel_spt(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                               hipStream_t stream) {
  return hipLaunchKernel(function, grid, block, arguments, shared_bytes, per_thread(stream));
}
hipError_t hipLaunchCooperativeKernel_spt(const void* function, dim3 grid, dim3 block, void** arguments,
                                          uint32_t shared_bytes, hipStream_t stream) {
  return hipLaunchCooperativeKernel(function, grid, block, arguments, shared_bytes, per_thread(stream));
}
hipError_t hipGraphLaunch_spt(hipGraphExec_t exec, hipStream_t stream) {
  return hipGraphLaunch(exec, per_thread(stream));
}

}  // extern "C"
