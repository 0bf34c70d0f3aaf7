// Devices: choosing them, their limits, access between them. Attributes and properties: device_properties.cpp.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/symbols.h"

using nvidia::answer;
using nvidia::cuda;
using nvidia::cuda_with_context;
using nvidia::same_number;
using nvidia::to_cuda;

static_assert(static_cast<int>(hipLimitStackSize) == static_cast<int>(cudaLimitStackSize));
static_assert(static_cast<int>(hipLimitMallocHeapSize) == static_cast<int>(cudaLimitMallocHeapSize));
static_assert(static_cast<int>(hipDeviceScheduleBlockingSync) == static_cast<int>(cudaDeviceScheduleBlockingSync));

extern "C" {

hipError_t hipInit(unsigned flags) {
  return answer(cuda().cuInit(flags));
}
hipError_t hipGetDeviceCount(int* count) {
  return answer(cuda().cudaGetDeviceCount(count));
}
hipError_t hipGetDevice(int* device) {
  return answer(cuda().cudaGetDevice(device));
}
hipError_t hipSetDevice(int device) {
  return answer(cuda().cudaSetDevice(device));
}
hipError_t hipSetValidDevices(int* devices, int count) {
  return answer(cuda().cudaSetValidDevices(devices, count));
}
hipError_t hipDeviceSynchronize() {
  return answer(cuda().cudaDeviceSynchronize());
}
hipError_t hipDeviceReset() {
  int device = 0;
  if (cuda().cudaGetDevice(&device) == cudaSuccess) nvidia::forget_modules(device);
  return answer(cuda().cudaDeviceReset());
}
hipError_t hipGetDeviceFlags(unsigned* flags) {
  return answer(cuda().cudaGetDeviceFlags(flags));
}
hipError_t hipSetDeviceFlags(unsigned flags) {
  return answer(cuda().cudaSetDeviceFlags(flags));
}

// CUDA's numbers: 13.0 is 13000, where HIP's is 130000000. HIP for NVIDIA passes them on as they are, and hgcheck knows
// NVIDIA's runtime by them (hip/releases).
hipError_t hipRuntimeGetVersion(int* version) {
  return answer(cuda().cudaRuntimeGetVersion(version));
}
hipError_t hipDriverGetVersion(int* version) {
  return answer(cuda().cudaDriverGetVersion(version));
}

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return answer(cuda_with_context().cuCtxGetCurrent(to_cuda(context)));
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return answer(cuda_with_context().cuDeviceGet(device, ordinal));
}
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return answer(cuda_with_context().cuDeviceGetName(name, length, device));
}
hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return answer(cuda_with_context().cuDeviceTotalMem(bytes, device));
}

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return answer(cuda().cudaDeviceCanAccessPeer(can, device, peer));
}
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return answer(cuda().cudaDeviceEnablePeerAccess(peer, flags));
}
hipError_t hipDeviceDisablePeerAccess(int peer) {
  return answer(cuda().cudaDeviceDisablePeerAccess(peer));
}
// HIP counts the four attributes from 0, CUDA from 1.
hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  static_assert(static_cast<int>(hipDevP2PAttrPerformanceRank) + 1 == static_cast<int>(cudaDevP2PAttrPerformanceRank));
  static_assert(static_cast<int>(hipDevP2PAttrHipArrayAccessSupported) + 1 ==
                static_cast<int>(cudaDevP2PAttrCudaArrayAccessSupported));
  const int number = static_cast<int>(attribute) + 1;
  return answer(cuda().cudaDeviceGetP2PAttribute(value, static_cast<cudaDeviceP2PAttr>(number), from, to));
}

// HIP's limits from 0x1000 on (scratch memory) are AMD's; CUDA answers that it does not know them.
hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t limit) {
  return answer(cuda().cudaDeviceGetLimit(value, same_number<cudaLimit>(limit)));
}
hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  return answer(cuda().cudaDeviceSetLimit(same_number<cudaLimit>(limit), value));
}
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return answer(cuda().cudaDeviceGetStreamPriorityRange(least, greatest));
}
}
