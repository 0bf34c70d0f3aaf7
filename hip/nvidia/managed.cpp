// Managed memory: allocation, hints and queries. The results are CUDA's.
//
// HIP names the place of a range by a device's number, with -1 for the host; CUDA's newer forms by a location.
// Sources: HIP 7.2's header documentation (group Managed Memory); CUDA's documentation of cudaMemAdvise and
// cudaMemPrefetchAsync in their forms with a location.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

namespace nvidia {
namespace {

// A number that is neither the host's nor a device's is passed on, so that CUDA refuses it.
cudaMemLocation location_of(int device) {
  cudaMemLocation location{};
  location.type = device == hipCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == hipCpuDeviceId ? 0 : device;
  return location;
}

static_assert(hipMemAttachGlobal == cudaMemAttachGlobal && hipMemAttachHost == cudaMemAttachHost);
static_assert(hipMemAttachSingle == cudaMemAttachSingle);
static_assert(hipCpuDeviceId == cudaCpuDeviceId && hipInvalidDeviceId == cudaInvalidDeviceId);
static_assert(static_cast<int>(hipMemAdviseSetReadMostly) == static_cast<int>(cudaMemAdviseSetReadMostly));
static_assert(static_cast<int>(hipMemAdviseUnsetAccessedBy) == static_cast<int>(cudaMemAdviseUnsetAccessedBy));
static_assert(static_cast<int>(hipMemRangeAttributeReadMostly) == static_cast<int>(cudaMemRangeAttributeReadMostly));
static_assert(static_cast<int>(hipMemRangeAttributeLastPrefetchLocation) ==
              static_cast<int>(cudaMemRangeAttributeLastPrefetchLocation));
static_assert(sizeof(hipMemRangeAttribute) == sizeof(cudaMemRangeAttribute));

}  // namespace

extern "C" {

hipError_t hipMallocManaged(void** pointer, size_t size, unsigned flags) {
  return answer(cuda().cudaMallocManaged(pointer, size, flags));
}

// Coarse grain (100 and 101) is AMD's; CUDA refuses the numbers.
hipError_t hipMemAdvise(const void* pointer, size_t size, hipMemoryAdvise advice, int device) {
  return answer(cuda().cudaMemAdvise(pointer, size, same_number<cudaMemoryAdvise>(advice), location_of(device)));
}
hipError_t hipMemPrefetchAsync(const void* pointer, size_t size, int device, hipStream_t stream) {
  constexpr unsigned kNoFlags = 0;  // CUDA defines none
  return answer(cuda().cudaMemPrefetchAsync(pointer, size, location_of(device), kNoFlags, to_cuda(stream)));
}

// An attribute's value is a number or devices' numbers of 4 bytes in both. The coherency mode (100) is AMD's; CUDA
// refuses the number.
hipError_t hipMemRangeGetAttribute(void* data, size_t data_size, hipMemRangeAttribute attribute, const void* pointer,
                                   size_t size) {
  return answer(
      cuda().cudaMemRangeGetAttribute(data, data_size, same_number<cudaMemRangeAttribute>(attribute), pointer, size));
}
hipError_t hipMemRangeGetAttributes(void** data, size_t* data_sizes, hipMemRangeAttribute* attributes, size_t count,
                                    const void* pointer, size_t size) {
  return answer(cuda().cudaMemRangeGetAttributes(data, data_sizes, reinterpret_cast<cudaMemRangeAttribute*>(attributes),
                                                 count, pointer, size));
}

}  // extern "C"
}  // namespace nvidia
