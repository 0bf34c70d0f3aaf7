// Virtual memory: ranges of addresses, physical memory, and which device may reach it through which range. CUDA's
// answers, all of the driver.
//
// Sizes, offsets and alignments are bytes. A range is the caller's until it frees it; a handle of physical memory until
// it releases it, and the memory stays while it is mapped.
// Sources: HIP 7.2's header documentation (group Virtual); CUDA's documentation of the driver (Virtual Memory
// Management).
#include <cstddef>
#include <optional>

#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

namespace nvidia {
namespace {

static_assert(static_cast<int>(hipMemAllocationTypePinned) == static_cast<int>(CU_MEM_ALLOCATION_TYPE_PINNED));
static_assert(static_cast<int>(hipMemHandleTypePosixFileDescriptor) ==
              static_cast<int>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
static_assert(static_cast<int>(hipMemLocationTypeDevice) == static_cast<int>(CU_MEM_LOCATION_TYPE_DEVICE));
static_assert(static_cast<int>(hipMemLocationTypeHostNumaCurrent) ==
              static_cast<int>(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT));
static_assert(static_cast<int>(hipMemAllocationGranularityRecommended) ==
              static_cast<int>(CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
static_assert(static_cast<int>(hipMemAccessFlagsProtReadWrite) == static_cast<int>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
static_assert(sizeof(hipMemAccessDesc) == sizeof(CUmemAccessDesc));
static_assert(offsetof(hipMemAccessDesc, location.id) == offsetof(CUmemAccessDesc, location.id));
static_assert(offsetof(hipMemAccessDesc, flags) == offsetof(CUmemAccessDesc, flags));

// AMD alone has uncached memory (a type of allocation): the driver refuses that number.
CUmemAllocationProp to_driver(const hipMemAllocationProp& from) {
  CUmemAllocationProp to{};
  to.type = same_number<CUmemAllocationType>(from.type);
  to.requestedHandleTypes = same_number<CUmemAllocationHandleType>(from.requestedHandleTypes);
  to.location.type = same_number<CUmemLocationType>(from.location.type);
  to.location.id = from.location.id;
  to.win32HandleMetaData = from.win32HandleMetaData;
  to.allocFlags.compressionType = from.allocFlags.compressionType;
  to.allocFlags.gpuDirectRDMACapable = from.allocFlags.gpuDirectRDMACapable;
  to.allocFlags.usage = from.allocFlags.usage;
  return to;
}
hipMemAllocationProp to_hip(const CUmemAllocationProp& from) {
  hipMemAllocationProp to{};
  to.type = same_number<hipMemAllocationType>(from.type);
  to.requestedHandleTypes = same_number<hipMemAllocationHandleType>(from.requestedHandleTypes);
  to.location.type = same_number<hipMemLocationType>(from.location.type);
  to.location.id = from.location.id;
  to.win32HandleMetaData = from.win32HandleMetaData;
  to.allocFlags.compressionType = from.allocFlags.compressionType;
  to.allocFlags.gpuDirectRDMACapable = from.allocFlags.gpuDirectRDMACapable;
  to.allocFlags.usage = from.allocFlags.usage;
  return to;
}

// The driver's properties of the caller's, null where these are.
class GivenProp {
 public:
  explicit GivenProp(const hipMemAllocationProp* from) {
    if (from != nullptr) value_ = to_driver(*from);
  }
  [[nodiscard]] const CUmemAllocationProp* get() const { return value_ ? &*value_ : nullptr; }

 private:
  std::optional<CUmemAllocationProp> value_;
};

}  // namespace

extern "C" {

hipError_t hipMemAddressReserve(void** range, size_t size, size_t alignment, void* wish, unsigned long long flags) {
  CUdeviceptr got = 0;
  const hipError_t code = answer(cuda_with_context().cuMemAddressReserve(range == nullptr ? nullptr : &got, size,
                                                                         alignment, to_address(wish), flags));
  if (code == hipSuccess && range != nullptr) *range = to_pointer(got);
  return code;
}
hipError_t hipMemAddressFree(void* range, size_t size) {
  return answer(cuda_with_context().cuMemAddressFree(to_address(range), size));
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t size, const hipMemAllocationProp* prop,
                        unsigned long long flags) {
  CUmemGenericAllocationHandle made = 0;
  const GivenProp given(prop);
  const hipError_t code =
      answer(cuda_with_context().cuMemCreate(handle == nullptr ? nullptr : &made, size, given.get(), flags));
  if (code == hipSuccess && handle != nullptr) *handle = to_hip_handle(made);
  return code;
}
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  return answer(cuda_with_context().cuMemRelease(to_cuda(handle)));
}
hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* pointer) {
  CUmemGenericAllocationHandle got = 0;
  const hipError_t code =
      answer(cuda_with_context().cuMemRetainAllocationHandle(handle == nullptr ? nullptr : &got, pointer));
  if (code == hipSuccess && handle != nullptr) *handle = to_hip_handle(got);
  return code;
}
hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* prop, hipMemGenericAllocationHandle_t handle) {
  CUmemAllocationProp got{};
  const hipError_t code = answer(
      cuda_with_context().cuMemGetAllocationPropertiesFromHandle(prop == nullptr ? nullptr : &got, to_cuda(handle)));
  if (code == hipSuccess && prop != nullptr) *prop = to_hip(got);
  return code;
}
hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* prop,
                                          hipMemAllocationGranularity_flags option) {
  const GivenProp given(prop);
  return answer(cuda_with_context().cuMemGetAllocationGranularity(
      granularity, given.get(), same_number<CUmemAllocationGranularity_flags>(option)));
}

hipError_t hipMemMap(void* range, size_t size, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags) {
  return answer(cuda_with_context().cuMemMap(to_address(range), size, offset, to_cuda(handle), flags));
}
hipError_t hipMemUnmap(void* range, size_t size) {
  return answer(cuda_with_context().cuMemUnmap(to_address(range), size));
}
hipError_t hipMemSetAccess(void* range, size_t size, const hipMemAccessDesc* list, size_t count) {
  return answer(cuda_with_context().cuMemSetAccess(to_address(range), size,
                                                   reinterpret_cast<const CUmemAccessDesc*>(list), count));
}
hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* pointer) {
  return answer(
      cuda_with_context().cuMemGetAccess(flags, reinterpret_cast<const CUmemLocation*>(location), to_address(pointer)));
}

}  // extern "C"
}  // namespace nvidia
