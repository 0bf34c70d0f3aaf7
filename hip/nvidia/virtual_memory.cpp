// Virtual memory as HIP's C functions: addresses that are reserved, physical memory that is mapped there, and who may
// touch it. CUDA's driver answers.
//
// CUDA's driver knows no memory that is shared with AMD's tools: properties are copied field by field, the pointers of
// addresses become CUDA's integers, handles are the same 64 bits (convert.h).
// Sources: HIP 7.2's header documentation (group Virtual); CUDA's documentation of virtual memory management.
#include <vector>

#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

namespace nvidia {
namespace {

static_assert(static_cast<int>(hipMemAllocationGranularityRecommended) == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
static_assert(static_cast<int>(hipMemAccessFlagsProtReadWrite) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(sizeof(hipMemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(sizeof(hipMemGenericAllocationHandle_t) == sizeof(CUmemGenericAllocationHandle));

CUmemLocation to_driver(const hipMemLocation& from) {
  CUmemLocation to{};
  to.type = same_number<CUmemLocationType>(from.type);
  to.id = from.id;
  return to;
}

CUmemAllocationProp to_driver(const hipMemAllocationProp& from) {
  CUmemAllocationProp to{};
  to.type = same_number<CUmemAllocationType>(from.type);
  to.requestedHandleTypes = same_number<CUmemAllocationHandleType>(from.requestedHandleType);
  to.location = to_driver(from.location);
  to.win32HandleMetaData = from.win32HandleMetaData;
  to.allocFlags.compressionType = from.allocFlags.compressionType;
  to.allocFlags.gpuDirectRDMACapable = from.allocFlags.gpuDirectRDMACapable;
  to.allocFlags.usage = from.allocFlags.usage;
  return to;
}

hipMemAllocationProp to_hip(const CUmemAllocationProp& from) {
  hipMemAllocationProp to{};
  to.type = same_number<hipMemAllocationType>(from.type);
  to.requestedHandleType = same_number<hipMemAllocationHandleType>(from.requestedHandleTypes);
  to.location.type = same_number<hipMemLocationType>(from.location.type);
  to.location.id = from.location.id;
  to.win32HandleMetaData = from.win32HandleMetaData;
  to.allocFlags.compressionType = from.allocFlags.compressionType;
  to.allocFlags.gpuDirectRDMACapable = from.allocFlags.gpuDirectRDMACapable;
  to.allocFlags.usage = from.allocFlags.usage;
  return to;
}

}  // namespace

extern "C" {

hipError_t hipMemAddressReserve(void** pointer, size_t bytes, size_t alignment, void* wanted,
                                unsigned long long flags) {
  return answer(cuda_with_context().cuMemAddressReserve(reinterpret_cast<CUdeviceptr*>(pointer), bytes, alignment,
                                                        to_address(wanted), flags));
}
hipError_t hipMemAddressFree(void* pointer, size_t bytes) {
  return answer(cuda_with_context().cuMemAddressFree(to_address(pointer), bytes));
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t bytes, const hipMemAllocationProp* properties,
                        unsigned long long flags) {
  CUmemAllocationProp given{};
  if (properties != nullptr) given = to_driver(*properties);
  return answer(cuda_with_context().cuMemCreate(reinterpret_cast<CUmemGenericAllocationHandle*>(handle), bytes,
                                                properties == nullptr ? nullptr : &given, flags));
}
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  return answer(cuda_with_context().cuMemRelease(to_cuda(handle)));
}
hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* pointer) {
  return answer(cuda_with_context().cuMemRetainAllocationHandle(reinterpret_cast<CUmemGenericAllocationHandle*>(handle),
                                                                pointer));
}
hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* properties,
                                                   hipMemGenericAllocationHandle_t handle) {
  CUmemAllocationProp got{};
  const hipError_t code = answer(cuda_with_context().cuMemGetAllocationPropertiesFromHandle(
      properties == nullptr ? nullptr : &got, to_cuda(handle)));
  if (code == hipSuccess) *properties = to_hip(got);
  return code;
}
hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* properties,
                                          hipMemAllocationGranularity_flags option) {
  CUmemAllocationProp given{};
  if (properties != nullptr) given = to_driver(*properties);
  return answer(cuda_with_context().cuMemGetAllocationGranularity(
      granularity, properties == nullptr ? nullptr : &given, same_number<CUmemAllocationGranularity_flags>(option)));
}

hipError_t hipMemMap(void* pointer, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags) {
  return answer(cuda_with_context().cuMemMap(to_address(pointer), bytes, offset, to_cuda(handle), flags));
}
hipError_t hipMemUnmap(void* pointer, size_t bytes) {
  return answer(cuda_with_context().cuMemUnmap(to_address(pointer), bytes));
}
hipError_t hipMemSetAccess(void* pointer, size_t bytes, const hipMemAccessDesc* list, size_t count) {
  std::vector<CUmemAccessDesc> given;
  for (size_t i = 0; list != nullptr && i < count; ++i) {
    CUmemAccessDesc& one = given.emplace_back();
    one.location = to_driver(list[i].location);
    one.flags = same_number<CUmemAccess_flags>(list[i].flags);
  }
  return answer(
      cuda_with_context().cuMemSetAccess(to_address(pointer), bytes, list == nullptr ? nullptr : given.data(), count));
}
hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* pointer) {
  CUmemLocation at{};
  if (location != nullptr) at = to_driver(*location);
  return answer(cuda_with_context().cuMemGetAccess(flags, location == nullptr ? nullptr : &at, to_address(pointer)));
}

}  // extern "C"
}  // namespace nvidia
