// Pools of memory, memory in a stream's order, and what devices keep for graphs, as HIP's C functions. CUDA's answers.
//
// Sources: HIP 7.2's header documentation (groups StreamO and Graph); CUDA's documentation of the stream ordered memory
// allocator.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

namespace nvidia {
namespace {

static_assert(static_cast<int>(hipMemPoolReuseFollowEventDependencies) == cudaMemPoolReuseFollowEventDependencies);
static_assert(static_cast<int>(hipMemPoolAttrReleaseThreshold) == cudaMemPoolAttrReleaseThreshold);
static_assert(static_cast<int>(hipMemPoolAttrUsedMemHigh) == cudaMemPoolAttrUsedMemHigh);
static_assert(static_cast<int>(hipGraphMemAttrUsedMemCurrent) == cudaGraphMemAttrUsedMemCurrent);
static_assert(static_cast<int>(hipGraphMemAttrReservedMemHigh) == cudaGraphMemAttrReservedMemHigh);
static_assert(static_cast<int>(hipMemAccessFlagsProtReadWrite) == cudaMemAccessFlagsProtReadWrite);
static_assert(sizeof(hipMemPoolPtrExportData) == sizeof(cudaMemPoolPtrExportData));

cudaMemPoolPtrExportData* to_cuda(hipMemPoolPtrExportData* data) {
  return reinterpret_cast<cudaMemPoolPtrExportData*>(data);
}

}  // namespace

extern "C" {

hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream) {
  return answer(cuda().cudaMallocAsync(pointer, bytes, to_cuda(stream)));
}
hipError_t hipMallocFromPoolAsync(void** pointer, size_t bytes, hipMemPool_t pool, hipStream_t stream) {
  return answer(cuda().cudaMallocFromPoolAsync(pointer, bytes, to_cuda(pool), to_cuda(stream)));
}
hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return answer(cuda().cudaFreeAsync(pointer, to_cuda(stream)));
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int device) {
  return answer(cuda().cudaDeviceGetDefaultMemPool(to_cuda(pool), device));
}
hipError_t hipDeviceGetMemPool(hipMemPool_t* pool, int device) {
  return answer(cuda().cudaDeviceGetMemPool(to_cuda(pool), device));
}
hipError_t hipDeviceSetMemPool(int device, hipMemPool_t pool) {
  return answer(cuda().cudaDeviceSetMemPool(device, to_cuda(pool)));
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  cudaMemPoolProps given{};
  if (properties != nullptr) given = to_cuda(*properties);
  return answer(cuda().cudaMemPoolCreate(to_cuda(pool), properties == nullptr ? nullptr : &given));
}
hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return answer(cuda().cudaMemPoolDestroy(to_cuda(pool)));
}
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t bytes) {
  return answer(cuda().cudaMemPoolTrimTo(to_cuda(pool), bytes));
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return answer(cuda().cudaMemPoolGetAttribute(to_cuda(pool), same_number<cudaMemPoolAttr>(attribute), value));
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return answer(cuda().cudaMemPoolSetAttribute(to_cuda(pool), same_number<cudaMemPoolAttr>(attribute), value));
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* list, size_t count) {
  return answer(cuda().cudaMemPoolSetAccess(to_cuda(pool), nvidia::to_cuda(list), count));
}
hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool, hipMemLocation* location) {
  cudaMemAccessFlags got{};
  cudaMemLocation at{};
  if (location != nullptr) at = nvidia::to_cuda(*location);
  const hipError_t code = answer(cuda().cudaMemPoolGetAccess(flags == nullptr ? nullptr : &got, to_cuda(pool),
                                                             location == nullptr ? nullptr : &at));
  if (code == hipSuccess) *flags = same_number<hipMemAccessFlags>(got);
  return code;
}

hipError_t hipMemPoolExportToShareableHandle(void* handle, hipMemPool_t pool, hipMemAllocationHandleType type,
                                             unsigned flags) {
  return answer(cuda().cudaMemPoolExportToShareableHandle(handle, to_cuda(pool),
                                                          same_number<cudaMemAllocationHandleType>(type), flags));
}
hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t* pool, void* handle, hipMemAllocationHandleType type,
                                               unsigned flags) {
  return answer(cuda().cudaMemPoolImportFromShareableHandle(to_cuda(pool), handle,
                                                            same_number<cudaMemAllocationHandleType>(type), flags));
}
hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData* data, void* pointer) {
  return answer(cuda().cudaMemPoolExportPointer(to_cuda(data), pointer));
}
hipError_t hipMemPoolImportPointer(void** pointer, hipMemPool_t pool, hipMemPoolPtrExportData* data) {
  return answer(cuda().cudaMemPoolImportPointer(pointer, to_cuda(pool), to_cuda(data)));
}

// ---- what devices keep for graphs

hipError_t hipDeviceGetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void* value) {
  return answer(
      cuda().cudaDeviceGetGraphMemAttribute(device, same_number<cudaGraphMemAttributeType>(attribute), value));
}
hipError_t hipDeviceSetGraphMemAttribute(int device, hipGraphMemAttributeType attribute, void* value) {
  return answer(
      cuda().cudaDeviceSetGraphMemAttribute(device, same_number<cudaGraphMemAttributeType>(attribute), value));
}
hipError_t hipDeviceGraphMemTrim(int device) {
  return answer(cuda().cudaDeviceGraphMemTrim(device));
}

}  // extern "C"
}  // namespace nvidia
