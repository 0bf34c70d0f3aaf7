// Memory of devices, of hosts, and managed memory, as HIP's C functions: allocation, release, and what is known of an
// address. CUDA's answers. Pools and memory in a stream's order: pools.cpp. Copies: copies.cpp.
//
// Sources: HIP 7.2's header documentation (group Memory); CUDA's documentation of memory management, managed memory and
// unified addressing.
#include <vector>

#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

namespace nvidia {
namespace {

static_assert(hipHostMallocPortable == cudaHostAllocPortable && hipHostMallocMapped == cudaHostAllocMapped);
static_assert(hipHostMallocWriteCombined == cudaHostAllocWriteCombined);
static_assert(hipHostRegisterPortable == cudaHostRegisterPortable && hipHostRegisterMapped == cudaHostRegisterMapped);
static_assert(hipHostRegisterIoMemory == cudaHostRegisterIoMemory);
static_assert(hipHostRegisterReadOnly == cudaHostRegisterReadOnly);
static_assert(hipMemAttachGlobal == cudaMemAttachGlobal && hipMemAttachHost == cudaMemAttachHost);
static_assert(static_cast<int>(hipMemAdviseUnsetAccessedBy) == static_cast<int>(cudaMemAdviseUnsetAccessedBy));
static_assert(static_cast<int>(hipMemRangeAttributeLastPrefetchLocation) ==
              static_cast<int>(cudaMemRangeAttributeLastPrefetchLocation));
static_assert(hipCpuDeviceId == cudaCpuDeviceId);

// HIP has flags for coherence and placement, which are AMD's: pinned memory is coherent on NVIDIA's GPUs, and NUMA is
// the operating system's. The flags that ask for what is so anyway are dropped; memory that is not coherent cannot be
// had, and memory that is does no harm to who asked for it.
constexpr unsigned kOfAmd = hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent;

// HIP 7.2 names a device or, by hipCpuDeviceId, the host; CUDA 13 takes a location.
cudaMemLocation location_of(int device) {
  cudaMemLocation at{};
  at.type = device == hipCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  at.id = device == hipCpuDeviceId ? 0 : device;
  return at;
}

// Numbers that HIP alone has are passed on, and CUDA refuses them.
CUpointer_attribute to_driver(hipPointer_attribute attribute) {
  static_assert(static_cast<int>(HIP_POINTER_ATTRIBUTE_CONTEXT) == CU_POINTER_ATTRIBUTE_CONTEXT);
  static_assert(static_cast<int>(HIP_POINTER_ATTRIBUTE_RANGE_SIZE) == CU_POINTER_ATTRIBUTE_RANGE_SIZE);
  static_assert(static_cast<int>(HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) == CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
  return same_number<CUpointer_attribute>(attribute);
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void** pointer, size_t bytes) {
  return answer(cuda().cudaMalloc(pointer, bytes));
}
hipError_t hipFree(void* pointer) {
  return answer(cuda().cudaFree(pointer));
}
hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return answer(cuda().cudaMallocPitch(pointer, pitch, width, height));
}
hipError_t hipMalloc3D(hipPitchedPtr* pointer, hipExtent extent) {
  cudaPitchedPtr made{};
  const hipError_t code = answer(cuda().cudaMalloc3D(pointer == nullptr ? nullptr : &made, to_cuda(extent)));
  if (code == hipSuccess) *pointer = to_hip(made);
  return code;
}

// ---- of hosts

hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned flags) {
  return answer(cuda().cudaHostAlloc(pointer, bytes, flags & ~kOfAmd));
}
hipError_t hipHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return hipHostMalloc(pointer, bytes, flags);
}
hipError_t hipMallocHost(void** pointer, size_t bytes) {
  return answer(cuda().cudaMallocHost(pointer, bytes));
}
hipError_t hipMemAllocHost(void** pointer, size_t bytes) {
  return answer(cuda().cudaMallocHost(pointer, bytes));
}
hipError_t hipHostFree(void* pointer) {
  return answer(cuda().cudaFreeHost(pointer));
}
hipError_t hipFreeHost(void* pointer) {
  return answer(cuda().cudaFreeHost(pointer));
}
hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return answer(cuda().cudaHostRegister(pointer, bytes, flags));
}
hipError_t hipHostUnregister(void* pointer) {
  return answer(cuda().cudaHostUnregister(pointer));
}
hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return answer(cuda().cudaHostGetDevicePointer(device, host, flags));
}
hipError_t hipHostGetFlags(unsigned* flags, void* pointer) {
  return answer(cuda().cudaHostGetFlags(flags, pointer));
}

// ---- managed

hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return answer(cuda().cudaMallocManaged(pointer, bytes, flags));
}
hipError_t hipMemPrefetchAsync(const void* pointer, size_t bytes, int device, hipStream_t stream) {
  return answer(cuda().cudaMemPrefetchAsync(pointer, bytes, location_of(device), 0, to_cuda(stream)));
}
hipError_t hipMemAdvise(const void* pointer, size_t bytes, hipMemoryAdvise advice, int device) {
  return answer(cuda().cudaMemAdvise(pointer, bytes, same_number<cudaMemoryAdvise>(advice), location_of(device)));
}
hipError_t hipMemRangeGetAttribute(void* data, size_t size, hipMemRangeAttribute attribute, const void* pointer,
                                   size_t bytes) {
  return answer(
      cuda().cudaMemRangeGetAttribute(data, size, same_number<cudaMemRangeAttribute>(attribute), pointer, bytes));
}
hipError_t hipMemRangeGetAttributes(void** data, size_t* sizes, hipMemRangeAttribute* attributes, size_t count,
                                    const void* pointer, size_t bytes) {
  std::vector<cudaMemRangeAttribute> asked;
  for (size_t i = 0; attributes != nullptr && i < count; ++i)
    asked.push_back(same_number<cudaMemRangeAttribute>(attributes[i]));
  return answer(cuda().cudaMemRangeGetAttributes(data, sizes, attributes == nullptr ? nullptr : asked.data(), count,
                                                 pointer, bytes));
}

// ---- what is known of an address

hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  return answer(cuda().cudaMemGetInfo(free, total));
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
  return answer(
      cuda_with_context().cuMemGetAddressRange(reinterpret_cast<CUdeviceptr*>(base), bytes, to_address(pointer)));
}
// "The size of the allocation" (HIP's header): CUDA's cuMemGetAddressRange gives it beside the base.
hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  if (pointer == nullptr || bytes == nullptr) return refuse(hipErrorInvalidValue);
  return answer(cuda_with_context().cuMemGetAddressRange(nullptr, bytes, to_address(pointer)));
}

// CUDA tells of memory that nobody allocated or registered by a type of its own and no error, as HIP does.
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  cudaPointerAttributes got{};
  const hipError_t code = answer(cuda().cudaPointerGetAttributes(attributes == nullptr ? nullptr : &got, pointer));
  if (code != hipSuccess) return code;
  *attributes = {};
  attributes->type = to_hip(got.type);
  attributes->device = got.device;
  attributes->devicePointer = got.devicePointer;
  attributes->hostPointer = got.hostPointer;
  attributes->isManaged = got.type == cudaMemoryTypeManaged ? 1 : 0;
  return code;
}
// The types of memory have other numbers in HIP (convert.h).
hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  const Cuda& table = cuda_with_context();
  if (attribute != HIP_POINTER_ATTRIBUTE_MEMORY_TYPE)
    return answer(table.cuPointerGetAttribute(data, to_driver(attribute), to_address(pointer)));
  CUmemorytype type{};
  const hipError_t code =
      answer(table.cuPointerGetAttribute(data == nullptr ? nullptr : &type, to_driver(attribute), to_address(pointer)));
  if (code == hipSuccess) *static_cast<hipMemoryType*>(data) = to_hip(type);
  return code;
}
hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  return answer(cuda_with_context().cuPointerSetAttribute(value, to_driver(attribute), to_address(pointer)));
}

}  // extern "C"
}  // namespace nvidia
