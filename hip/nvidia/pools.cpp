// Memory pools, allocations in the order of a stream, and the memory of graphs. CUDA's answers.
//
// A pool that is made is the caller's until it destroys it; a device's own pool is the device's. Values of attributes
// have one type in both: int for the three rules of reuse, 64 bits for the rest.
// Sources: HIP 7.2's header documentation (groups Stream Ordered Memory Allocator and Graph); CUDA's documentation of
// the runtime.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"

namespace nvidia {
namespace {

static_assert(static_cast<int>(hipMemPoolReuseFollowEventDependencies) ==
              static_cast<int>(cudaMemPoolReuseFollowEventDependencies));
static_assert(static_cast<int>(hipMemPoolReuseAllowInternalDependencies) ==
              static_cast<int>(cudaMemPoolReuseAllowInternalDependencies));
static_assert(static_cast<int>(hipMemPoolAttrReleaseThreshold) == static_cast<int>(cudaMemPoolAttrReleaseThreshold));
static_assert(static_cast<int>(hipMemPoolAttrUsedMemHigh) == static_cast<int>(cudaMemPoolAttrUsedMemHigh));
static_assert(static_cast<int>(hipGraphMemAttrUsedMemCurrent) == static_cast<int>(cudaGraphMemAttrUsedMemCurrent));
static_assert(static_cast<int>(hipGraphMemAttrReservedMemHigh) == static_cast<int>(cudaGraphMemAttrReservedMemHigh));
static_assert(static_cast<int>(hipMemAccessFlagsProtRead) == static_cast<int>(cudaMemAccessFlagsProtRead));
static_assert(static_cast<int>(hipMemAccessFlagsProtReadWrite) == static_cast<int>(cudaMemAccessFlagsProtReadWrite));
static_assert(static_cast<int>(hipMemHandleTypeWin32Kmt) == static_cast<int>(cudaMemHandleTypeWin32Kmt));
static_assert(sizeof(hipMemPoolPtrExportData) == sizeof(cudaMemPoolPtrExportData));

// Bytes that only the exporter's and the importer's CUDA read.
cudaMemPoolPtrExportData* opaque(hipMemPoolPtrExportData* data) {
  return reinterpret_cast<cudaMemPoolPtrExportData*>(data);
}

}  // namespace

extern "C" {

hipError_t hipMallocAsync(void** pointer, size_t size, hipStream_t stream) {
  return answer(cuda().cudaMallocAsync(pointer, size, to_cuda(stream)));
}
hipError_t hipMallocFromPoolAsync(void** pointer, size_t size, hipMemPool_t pool, hipStream_t stream) {
  return answer(cuda().cudaMallocFromPoolAsync(pointer, size, to_cuda(pool), to_cuda(stream)));
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

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* props) {
  Given given(props);
  return answer(cuda().cudaMemPoolCreate(to_cuda(pool), given.get()));
}
hipError_t hipMemPoolDestroy(hipMemPool_t pool) {
  return answer(cuda().cudaMemPoolDestroy(to_cuda(pool)));
}
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t bytes_to_keep) {
  return answer(cuda().cudaMemPoolTrimTo(to_cuda(pool), bytes_to_keep));
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return answer(cuda().cudaMemPoolGetAttribute(to_cuda(pool), same_number<cudaMemPoolAttr>(attribute), value));
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  return answer(cuda().cudaMemPoolSetAttribute(to_cuda(pool), same_number<cudaMemPoolAttr>(attribute), value));
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* list, size_t count) {
  return answer(cuda().cudaMemPoolSetAccess(to_cuda(pool), to_cuda(list), count));
}
hipError_t hipMemPoolGetAccess(hipMemAccessFlags* flags, hipMemPool_t pool, hipMemLocation* location) {
  cudaMemAccessFlags got{};
  Given given(location);
  const hipError_t code =
      answer(cuda().cudaMemPoolGetAccess(flags == nullptr ? nullptr : &got, to_cuda(pool), given.get()));
  if (code == hipSuccess && flags != nullptr) *flags = same_number<hipMemAccessFlags>(got);
  return code;
}

hipError_t hipMemPoolExportToShareableHandle(void* shared, hipMemPool_t pool, hipMemAllocationHandleType type,
                                             unsigned flags) {
  return answer(cuda().cudaMemPoolExportToShareableHandle(shared, to_cuda(pool),
                                                          same_number<cudaMemAllocationHandleType>(type), flags));
}
hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t* pool, void* shared, hipMemAllocationHandleType type,
                                               unsigned flags) {
  return answer(cuda().cudaMemPoolImportFromShareableHandle(to_cuda(pool), shared,
                                                            same_number<cudaMemAllocationHandleType>(type), flags));
}
hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData* data, void* pointer) {
  return answer(cuda().cudaMemPoolExportPointer(opaque(data), pointer));
}
hipError_t hipMemPoolImportPointer(void** pointer, hipMemPool_t pool, hipMemPoolPtrExportData* data) {
  return answer(cuda().cudaMemPoolImportPointer(pointer, to_cuda(pool), opaque(data)));
}

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
