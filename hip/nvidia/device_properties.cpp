// Attributes and properties of a device, all asked of the driver one by one: the struct cudaDeviceProp is another one
// in CUDA 12 and 13.
//
// An attribute that only AMD's devices have is refused with hipErrorInvalidValue; such a field of the properties is 0.
// Not filled in: the fields of textures and surfaces beyond the ones listed, and gcnArchName (its documented meaning is
// the name of an AMD architecture); they are 0.
#include <cstring>

#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

using nvidia::answer;
using nvidia::Cuda;
using nvidia::cuda_with_context;
using nvidia::refuse;

namespace {

struct Attribute {
  hipDeviceAttribute_t hip;
  CUdevice_attribute cuda;
};
// clang-format off
constexpr Attribute kAttributes[] = {
    {hipDeviceAttributeEccEnabled, CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
    {hipDeviceAttributeAccessPolicyMaxWindowSize, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE},
    {hipDeviceAttributeAsyncEngineCount, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
    {hipDeviceAttributeCanMapHostMemory, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {hipDeviceAttributeCanUseHostPointerForRegisteredMem, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
    {hipDeviceAttributeClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    {hipDeviceAttributeComputeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE},
    {hipDeviceAttributeComputePreemptionSupported, CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED},
    {hipDeviceAttributeConcurrentKernels, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {hipDeviceAttributeConcurrentManagedAccess, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
    {hipDeviceAttributeCooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
    {hipDeviceAttributeDirectManagedMemAccessFromHost, CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST},
    {hipDeviceAttributeGlobalL1CacheSupported, CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED},
    {hipDeviceAttributeHostNativeAtomicSupported, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
    {hipDeviceAttributeIntegrated, CU_DEVICE_ATTRIBUTE_INTEGRATED},
    {hipDeviceAttributeIsMultiGpuBoard, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD},
    {hipDeviceAttributeKernelExecTimeout, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT},
    {hipDeviceAttributeL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {hipDeviceAttributeLocalL1CacheSupported, CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED},
    {hipDeviceAttributeComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {hipDeviceAttributeComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {hipDeviceAttributeManagedMemory, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
    {hipDeviceAttributeMaxBlocksPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {hipDeviceAttributeMaxBlockDimX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
    {hipDeviceAttributeMaxBlockDimY, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
    {hipDeviceAttributeMaxBlockDimZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
    {hipDeviceAttributeMaxGridDimX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
    {hipDeviceAttributeMaxGridDimY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
    {hipDeviceAttributeMaxGridDimZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
    {hipDeviceAttributeMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {hipDeviceAttributeMaxThreadsPerMultiProcessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {hipDeviceAttributeMaxPitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH},
    {hipDeviceAttributeMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {hipDeviceAttributeMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {hipDeviceAttributeMultiGpuBoardGroupID, CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID},
    {hipDeviceAttributeMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {hipDeviceAttributePageableMemoryAccess, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
    {hipDeviceAttributePageableMemoryAccessUsesHostPageTables,
     CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES},
    {hipDeviceAttributePciBusId, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {hipDeviceAttributePciDeviceId, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {hipDeviceAttributePciDomainId, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
    {hipDeviceAttributePersistingL2CacheMaxSize, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE},
    {hipDeviceAttributeMaxRegistersPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {hipDeviceAttributeMaxRegistersPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {hipDeviceAttributeReservedSharedMemPerBlock, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
    {hipDeviceAttributeMaxSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {hipDeviceAttributeSharedMemPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {hipDeviceAttributeSharedMemPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {hipDeviceAttributeMaxSharedMemoryPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {hipDeviceAttributeSingleToDoublePrecisionPerfRatio, CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO},
    {hipDeviceAttributeStreamPrioritiesSupported, CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED},
    {hipDeviceAttributeTccDriver, CU_DEVICE_ATTRIBUTE_TCC_DRIVER},
    {hipDeviceAttributeTextureAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
    {hipDeviceAttributeTexturePitchAlignment, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT},
    {hipDeviceAttributeTotalConstantMemory, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {hipDeviceAttributeUnifiedAddressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
    {hipDeviceAttributeWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {hipDeviceAttributeMemoryPoolsSupported, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
    {hipDeviceAttributeMemoryPoolSupportedHandleTypes, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES},
    {hipDeviceAttributeVirtualMemoryManagementSupported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED},
    {hipDeviceAttributeHostRegisterSupported, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
    {hipDeviceAttributeHostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID},
    {hipDeviceAttributeCanUseStreamWaitValue, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS},
};
// clang-format on

// 0 where the device does not say.
int number(const Cuda& table, hipDevice_t device, CUdevice_attribute attribute) {
  int value = 0;
  return table.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
}

}  // namespace

extern "C" {

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  for (const Attribute& one : kAttributes) {
    if (one.hip == attribute) return answer(cuda_with_context().cuDeviceGetAttribute(value, one.cuda, device));
  }
  return refuse(hipErrorInvalidValue);
}

hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t device) {
  const Cuda& table = cuda_with_context();
  const hipError_t code =
      answer(table.cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  if (code != hipSuccess) return code;
  return answer(table.cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* to, int device) {
  const Cuda& table = cuda_with_context();
  if (to == nullptr) return refuse(hipErrorInvalidValue);
  hipDeviceProp_t made;
  std::memset(&made, 0, sizeof made);
  if (const hipError_t code = answer(table.cuDeviceGetName(made.name, sizeof made.name, device)); code != hipSuccess)
    return code;
  if (const hipError_t code = answer(table.cuDeviceTotalMem(&made.totalGlobalMem, device)); code != hipSuccess)
    return code;
  CUuuid uuid{};
  if (table.cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS) std::memcpy(made.uuid.bytes, uuid.bytes, sizeof uuid.bytes);
  const auto of = [&](CUdevice_attribute attribute) { return number(table, device, attribute); };
  const auto size_of = [&](CUdevice_attribute attribute) { return static_cast<size_t>(of(attribute)); };
  made.sharedMemPerBlock = size_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  made.sharedMemPerBlockOptin = size_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  made.sharedMemPerMultiprocessor = size_of(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  made.maxSharedMemoryPerMultiProcessor = made.sharedMemPerMultiprocessor;
  made.reservedSharedMemPerBlock = size_of(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  made.regsPerBlock = of(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  made.regsPerMultiprocessor = of(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  made.warpSize = of(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  made.memPitch = size_of(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  made.maxThreadsPerBlock = of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  made.maxThreadsPerMultiProcessor = of(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  made.maxThreadsDim[0] = of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  made.maxThreadsDim[1] = of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  made.maxThreadsDim[2] = of(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  made.maxGridSize[0] = of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  made.maxGridSize[1] = of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  made.maxGridSize[2] = of(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  made.clockRate = of(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  made.memoryClockRate = of(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  made.memoryBusWidth = of(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  made.totalConstMem = size_of(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  made.l2CacheSize = of(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  made.major = of(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  made.minor = of(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  made.textureAlignment = size_of(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  made.texturePitchAlignment = size_of(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
  made.multiProcessorCount = of(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  made.integrated = of(CU_DEVICE_ATTRIBUTE_INTEGRATED);
  made.canMapHostMemory = of(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
  made.computeMode = of(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
  made.concurrentKernels = of(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
  made.ECCEnabled = of(CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
  made.pciBusID = of(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  made.pciDeviceID = of(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
  made.pciDomainID = of(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
  made.asyncEngineCount = of(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  made.unifiedAddressing = of(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
  made.streamPrioritiesSupported = of(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
  made.managedMemory = of(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
  made.concurrentManagedAccess = of(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
  made.pageableMemoryAccess = of(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
  made.cooperativeLaunch = of(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
  made.maxBlocksPerMultiProcessor = of(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  made.hostRegisterSupported = of(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
  made.memoryPoolsSupported = of(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  *to = made;
  return hipSuccess;
}
}
