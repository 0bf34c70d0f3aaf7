// Memory of a device and pinned memory of the host, and how much of it there is. Pools: pools.cpp. Managed memory:
// managed.cpp.
//
// The results are CUDA's, also for a size of 0. Sizes and pitches are bytes. The caller owns an allocation until it
// frees it.
// Sources: HIP 7.2's header documentation (group Memory); CUDA's documentation of the runtime, and of unified
// addressing: every device reaches pinned memory at its host address, whatever its flags are.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

namespace nvidia {
namespace {

// Which of the host's memory AMD's runtime takes and how it caches it; CUDA has none of these, and one kind of pinned
// memory, which is coherent.
constexpr unsigned kOfAmd =
    hipHostMallocUncached | hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent;

static_assert(hipHostMallocPortable == cudaHostAllocPortable && hipHostMallocMapped == cudaHostAllocMapped);
static_assert(hipHostMallocWriteCombined == cudaHostAllocWriteCombined);
static_assert(hipHostRegisterPortable == cudaHostRegisterPortable && hipHostRegisterMapped == cudaHostRegisterMapped);
static_assert(hipHostRegisterIoMemory == cudaHostRegisterIoMemory);
static_assert(hipHostRegisterReadOnly == cudaHostRegisterReadOnly);

}  // namespace

extern "C" {

hipError_t hipMalloc(void** pointer, size_t size) {
  return answer(cuda().cudaMalloc(pointer, size));
}
hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return answer(cuda().cudaMallocPitch(pointer, pitch, width, height));
}
hipError_t hipMalloc3D(hipPitchedPtr* pointer, hipExtent extent) {
  cudaPitchedPtr made{};
  const hipError_t code = answer(cuda().cudaMalloc3D(pointer == nullptr ? nullptr : &made, to_cuda(extent)));
  if (code == hipSuccess && pointer != nullptr) *pointer = to_hip(made);
  return code;
}
hipError_t hipFree(void* pointer) {
  return answer(cuda().cudaFree(pointer));
}

hipError_t hipHostMalloc(void** pointer, size_t size, unsigned flags) {
  return answer(cuda().cudaHostAlloc(pointer, size, flags & ~kOfAmd));
}
hipError_t hipHostAlloc(void** pointer, size_t size, unsigned flags) {
  return hipHostMalloc(pointer, size, flags);
}
hipError_t hipMallocHost(void** pointer, size_t size) {
  return answer(cuda().cudaMallocHost(pointer, size));
}
hipError_t hipMemAllocHost(void** pointer, size_t size) {
  return hipMallocHost(pointer, size);
}
hipError_t hipHostFree(void* pointer) {
  return answer(cuda().cudaFreeHost(pointer));
}
hipError_t hipFreeHost(void* pointer) {
  return hipHostFree(pointer);
}

// HIP documents that the default is mapped and portable; CUDA's default is neither.
hipError_t hipHostRegister(void* host, size_t size, unsigned flags) {
  constexpr unsigned kDefault = cudaHostRegisterPortable | cudaHostRegisterMapped;
  return answer(cuda().cudaHostRegister(host, size, flags == hipHostRegisterDefault ? kDefault : flags));
}
hipError_t hipHostUnregister(void* host) {
  return answer(cuda().cudaHostUnregister(host));
}
hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return answer(cuda().cudaHostGetDevicePointer(device, host, flags));
}
// Without the flags of AMD's alone, which CUDA was not given.
hipError_t hipHostGetFlags(unsigned* flags, void* host) {
  return answer(cuda().cudaHostGetFlags(flags, host));
}

hipError_t hipMemGetInfo(size_t* unused, size_t* total) {
  return answer(cuda().cudaMemGetInfo(unused, total));
}

}  // extern "C"
}  // namespace nvidia
