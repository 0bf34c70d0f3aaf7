// The queries of an address: the kind of its memory, its allocation, its attributes. CUDA answers them.
//
// Sources: HIP 7.2's header documentation (group Memory); CUDA's documentation of cudaPointerGetAttributes,
// cuPointerGetAttribute and cuMemGetAddressRange.
#include <cstring>

#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

namespace nvidia {
namespace {

static_assert(static_cast<int>(HIP_POINTER_ATTRIBUTE_CONTEXT) == static_cast<int>(CU_POINTER_ATTRIBUTE_CONTEXT));
static_assert(static_cast<int>(HIP_POINTER_ATTRIBUTE_MEMORY_TYPE) ==
              static_cast<int>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE));
static_assert(static_cast<int>(HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL) ==
              static_cast<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL));
static_assert(static_cast<int>(HIP_POINTER_ATTRIBUTE_RANGE_SIZE) == static_cast<int>(CU_POINTER_ATTRIBUTE_RANGE_SIZE));
static_assert(static_cast<int>(HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE) ==
              static_cast<int>(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE));

}  // namespace

extern "C" {

// Memory that is none of CUDA's is hipMemoryTypeUnregistered, not an error. allocationFlags is 0: CUDA tells of them
// for pinned memory alone, in hipHostGetFlags.
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* to, const void* pointer) {
  cudaPointerAttributes got{};
  const hipError_t code = answer(cuda().cudaPointerGetAttributes(to == nullptr ? nullptr : &got, pointer));
  if (code != hipSuccess || to == nullptr) return code;
  *to = {};
  to->type = to_hip(got.type);
  to->device = got.device;
  to->devicePointer = got.devicePointer;
  to->hostPointer = got.hostPointer;
  to->isManaged = got.type == cudaMemoryTypeManaged ? 1 : 0;
  return code;
}

// The numbers of the attributes are the same, and so are the values but for the memory's type, which is an enumeration
// with other numbers. HIP does not document the values' sizes; CUDA's are written (a buffer's id is 8 bytes).
hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  const hipError_t code = answer(cuda_with_context().cuPointerGetAttribute(
      data, same_number<CUpointer_attribute>(attribute), to_address(pointer)));
  if (code != hipSuccess || data == nullptr || attribute != HIP_POINTER_ATTRIBUTE_MEMORY_TYPE) return code;
  CUmemorytype got{};
  std::memcpy(&got, data, sizeof got);
  const hipMemoryType told = to_hip(got);
  static_assert(sizeof got == sizeof told);
  std::memcpy(data, &told, sizeof told);
  return code;
}

hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  return answer(cuda_with_context().cuPointerSetAttribute(value, same_number<CUpointer_attribute>(attribute),
                                                          to_address(pointer)));
}

// Either output may be null, as CUDA documents.
hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* size, hipDeviceptr_t pointer) {
  CUdeviceptr got = 0;
  const hipError_t code =
      answer(cuda_with_context().cuMemGetAddressRange(base == nullptr ? nullptr : &got, size, to_address(pointer)));
  if (code == hipSuccess && base != nullptr) *base = to_pointer(got);
  return code;
}

// CUDA has no such function: the size of the allocation's range. HIP documents hipErrorInvalidValue, which is the
// answer to a null pointer and to an address that CUDA does not know (CUDA's own answer is that it was not found). HIP
// does not document the answer to an address within an allocation: it is refused, as the model refuses it.
hipError_t hipMemPtrGetInfo(void* pointer, size_t* size) {
  if (pointer == nullptr || size == nullptr) return refuse(hipErrorInvalidValue);
  CUdeviceptr base = 0;
  size_t got = 0;
  const CUresult result = cuda_with_context().cuMemGetAddressRange(&base, &got, to_address(pointer));
  if (result == CUDA_ERROR_NOT_FOUND) return refuse(hipErrorInvalidValue);
  if (result != CUDA_SUCCESS) return answer(result);
  if (base != to_address(pointer)) return refuse(hipErrorInvalidValue);
  *size = got;
  return hipSuccess;
}

}  // extern "C"
}  // namespace nvidia
