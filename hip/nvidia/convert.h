// Handles, errors, enumerations and small structs of HIP and CUDA, both ways. Parameters of graph nodes:
// graph_params.h.
//
// A handle of HIP is CUDA's handle under another type. An enumeration is passed on by its number where the two agree on
// every number (the static_asserts of convert.cpp), and by a table where they do not; a number that neither defines is
// passed on as it is, so that CUDA refuses it. Where HIP defines something otherwise than CUDA, the declaration says
// so.
//
// Sources: the headers of HIP 7.2 and of CUDA 12.4 and 13.0.
#pragma once

#include "hip/nvidia/headers.h"

namespace nvidia {

// ---- errors

// Most numbers are the same. Otherwise: CUDA's 18 and 20 (invalid texture, invalid channel descriptor) are HIP's 912
// and 911; an error that HIP's enumeration lacks (CUDA's own 911 and 912 among them) is hipErrorUnknown.
[[nodiscard]] hipError_t to_hip(cudaError_t error);
[[nodiscard]] hipError_t to_hip(CUresult error);

// ---- handles

// CUDA's runtime and driver have one type for each of these.
inline cudaStream_t to_cuda(hipStream_t stream) {
  return reinterpret_cast<cudaStream_t>(stream);
}
inline cudaStream_t* to_cuda(hipStream_t* stream) {
  return reinterpret_cast<cudaStream_t*>(stream);
}
inline cudaEvent_t to_cuda(hipEvent_t event) {
  return reinterpret_cast<cudaEvent_t>(event);
}
inline cudaEvent_t* to_cuda(hipEvent_t* event) {
  return reinterpret_cast<cudaEvent_t*>(event);
}
inline cudaGraph_t to_cuda(hipGraph_t graph) {
  return reinterpret_cast<cudaGraph_t>(graph);
}
inline cudaGraph_t* to_cuda(hipGraph_t* graph) {
  return reinterpret_cast<cudaGraph_t*>(graph);
}
inline cudaGraphExec_t to_cuda(hipGraphExec_t exec) {
  return reinterpret_cast<cudaGraphExec_t>(exec);
}
inline cudaGraphExec_t* to_cuda(hipGraphExec_t* exec) {
  return reinterpret_cast<cudaGraphExec_t*>(exec);
}
inline cudaGraphNode_t to_cuda(hipGraphNode_t node) {
  return reinterpret_cast<cudaGraphNode_t>(node);
}
inline cudaGraphNode_t* to_cuda(hipGraphNode_t* node) {
  return reinterpret_cast<cudaGraphNode_t*>(node);
}
inline const cudaGraphNode_t* to_cuda(const hipGraphNode_t* node) {
  return reinterpret_cast<const cudaGraphNode_t*>(node);
}
inline const cudaGraphNode_t** to_cuda(const hipGraphNode_t** list) {
  return reinterpret_cast<const cudaGraphNode_t**>(list);
}
inline hipGraphNode_t to_hip(cudaGraphNode_t node) {
  return reinterpret_cast<hipGraphNode_t>(node);
}
inline hipGraph_t to_hip(cudaGraph_t graph) {
  return reinterpret_cast<hipGraph_t>(graph);
}
inline hipEvent_t to_hip(cudaEvent_t event) {
  return reinterpret_cast<hipEvent_t>(event);
}
inline cudaUserObject_t to_cuda(hipUserObject_t object) {
  return reinterpret_cast<cudaUserObject_t>(object);
}
inline cudaUserObject_t* to_cuda(hipUserObject_t* object) {
  return reinterpret_cast<cudaUserObject_t*>(object);
}
inline cudaMemPool_t to_cuda(hipMemPool_t pool) {
  return reinterpret_cast<cudaMemPool_t>(pool);
}
inline cudaMemPool_t* to_cuda(hipMemPool_t* pool) {
  return reinterpret_cast<cudaMemPool_t*>(pool);
}
inline CUcontext to_cuda(hipCtx_t context) {
  return reinterpret_cast<CUcontext>(context);
}
inline CUcontext* to_cuda(hipCtx_t* context) {
  return reinterpret_cast<CUcontext*>(context);
}
inline hipCtx_t to_hip(CUcontext context) {
  return reinterpret_cast<hipCtx_t>(context);
}
inline CUmodule to_cuda(hipModule_t module) {
  return reinterpret_cast<CUmodule>(module);
}
inline CUmodule* to_cuda(hipModule_t* module) {
  return reinterpret_cast<CUmodule*>(module);
}
inline CUfunction to_cuda(hipFunction_t function) {
  return reinterpret_cast<CUfunction>(function);
}
inline CUfunction* to_cuda(hipFunction_t* function) {
  return reinterpret_cast<CUfunction*>(function);
}
inline cudaArray_t to_cuda(hipArray_t array) {
  return reinterpret_cast<cudaArray_t>(array);
}
inline hipArray_t to_hip(cudaArray_t array) {
  return reinterpret_cast<hipArray_t>(array);
}
// CUDA's handle of physical memory is an integer of 64 bits, HIP's a pointer.
inline CUmemGenericAllocationHandle to_cuda(hipMemGenericAllocationHandle_t handle) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(handle);
}
inline hipMemGenericAllocationHandle_t to_hip_handle(CUmemGenericAllocationHandle handle) {
  return reinterpret_cast<hipMemGenericAllocationHandle_t>(handle);
}
// The driver's device address is an integer, HIP's (hipDeviceptr_t) a pointer.
inline CUdeviceptr to_address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}
inline void* to_pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}

// ---- enumerations and small structs

// Converts an enumerator of an enumeration that has the same numbers in HIP and in CUDA.
template <class To, class From>
  requires(std::is_enum_v<To> && std::is_enum_v<From>)
constexpr To same_number(From from) {
  return static_cast<To>(static_cast<int>(from));
}
[[nodiscard]] inline cudaMemcpyKind to_cuda(hipMemcpyKind kind) {
  return same_number<cudaMemcpyKind>(kind);
}
[[nodiscard]] inline cudaStreamCaptureMode to_cuda(hipStreamCaptureMode mode) {
  return same_number<cudaStreamCaptureMode>(mode);
}
// HIP: unregistered 0, host 1, device 2, managed 3, array 10, unified 11. The driver: host 1, device 2, array 3,
// unified 4, which is HIP's managed as well: one address for host and device.
[[nodiscard]] CUmemorytype to_driver(hipMemoryType type);
[[nodiscard]] hipMemoryType to_hip(CUmemorytype type);
[[nodiscard]] hipMemoryType to_hip(cudaMemoryType type);

[[nodiscard]] cudaPitchedPtr to_cuda(const hipPitchedPtr& from);
[[nodiscard]] hipPitchedPtr to_hip(const cudaPitchedPtr& from);
[[nodiscard]] cudaExtent to_cuda(const hipExtent& from);
[[nodiscard]] hipExtent to_hip(const cudaExtent& from);
[[nodiscard]] cudaPos to_cuda(const hipPos& from);
[[nodiscard]] hipPos to_hip(const cudaPos& from);
[[nodiscard]] cudaMemLocation to_cuda(const hipMemLocation& from);
[[nodiscard]] hipMemLocation to_hip(const cudaMemLocation& from);
[[nodiscard]] cudaMemPoolProps to_cuda(const hipMemPoolProps& from);
[[nodiscard]] hipMemPoolProps to_hip(const cudaMemPoolProps& from);
// One layout in both, so that an array is passed on without a copy.
[[nodiscard]] const cudaMemAccessDesc* to_cuda(const hipMemAccessDesc* list);
[[nodiscard]] const hipMemAccessDesc* to_hip(const cudaMemAccessDesc* list);
[[nodiscard]] CUstreamBatchMemOpParams* to_cuda(hipStreamBatchMemOpParams* list);
[[nodiscard]] hipStreamBatchMemOpParams* to_hip(CUstreamBatchMemOpParams* list);
// One layout in both: data of an edge.
[[nodiscard]] const cudaGraphEdgeData* to_cuda(const hipGraphEdgeData* list);

// Converts a launch attribute's value. The two unions have the same size and layout except for the access policy
// window: its fields are in another order.
[[nodiscard]] CUlaunchAttributeValue to_driver(int id, const hipLaunchAttributeValue& from);
[[nodiscard]] hipLaunchAttributeValue to_hip(int id, const CUlaunchAttributeValue& from);

// The list `extra` of a launch or a kernel node, ended in CUDA's way: HIP_LAUNCH_PARAM_END is 3, CU_LAUNCH_PARAM_END 0.
// The other marks are the same. Lives as long as the call that it is handed to: CUDA copies the buffer and its size.
// Entries behind the second pair are not read: HIP defines two, the buffer and its size.
class ExtraList {
 public:
  explicit ExtraList(void** from);
  // Null where `from` was.
  [[nodiscard]] void** get() { return given_ ? entries_ : nullptr; }

 private:
  bool given_;
  void* entries_[5] = {};
};

}  // namespace nvidia
