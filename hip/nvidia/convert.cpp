// The conversions, and the static_asserts that let a number or an array pass as it is.
#include "hip/nvidia/convert.h"

#include <cstddef>
#include <cstring>

namespace nvidia {
namespace {

// Whether HIP's enumeration has CUDA's number with CUDA's meaning.
bool is_same_error(int number) {
  switch (number) {
    case hipSuccess:
    case hipErrorInvalidValue:
    case hipErrorOutOfMemory:
    case hipErrorNotInitialized:
    case hipErrorDeinitialized:
    case hipErrorProfilerDisabled:
    case hipErrorProfilerNotInitialized:
    case hipErrorProfilerAlreadyStarted:
    case hipErrorProfilerAlreadyStopped:
    case hipErrorInvalidConfiguration:
    case hipErrorInvalidPitchValue:
    case hipErrorInvalidSymbol:
    case hipErrorInvalidDevicePointer:
    case hipErrorInvalidMemcpyDirection:
    case hipErrorInsufficientDriver:
    case hipErrorMissingConfiguration:
    case hipErrorPriorLaunchFailure:
    case hipErrorInvalidDeviceFunction:
    case hipErrorNoDevice:
    case hipErrorInvalidDevice:
    case hipErrorInvalidImage:
    case hipErrorInvalidContext:
    case hipErrorContextAlreadyCurrent:
    case hipErrorMapFailed:
    case hipErrorUnmapFailed:
    case hipErrorArrayIsMapped:
    case hipErrorAlreadyMapped:
    case hipErrorNoBinaryForGpu:
    case hipErrorAlreadyAcquired:
    case hipErrorNotMapped:
    case hipErrorNotMappedAsArray:
    case hipErrorNotMappedAsPointer:
    case hipErrorECCNotCorrectable:
    case hipErrorUnsupportedLimit:
    case hipErrorContextAlreadyInUse:
    case hipErrorPeerAccessUnsupported:
    case hipErrorInvalidKernelFile:
    case hipErrorInvalidGraphicsContext:
    case hipErrorInvalidSource:
    case hipErrorFileNotFound:
    case hipErrorSharedObjectSymbolNotFound:
    case hipErrorSharedObjectInitFailed:
    case hipErrorOperatingSystem:
    case hipErrorInvalidHandle:
    case hipErrorIllegalState:
    case hipErrorNotFound:
    case hipErrorNotReady:
    case hipErrorIllegalAddress:
    case hipErrorLaunchOutOfResources:
    case hipErrorLaunchTimeOut:
    case hipErrorPeerAccessAlreadyEnabled:
    case hipErrorPeerAccessNotEnabled:
    case hipErrorSetOnActiveProcess:
    case hipErrorContextIsDestroyed:
    case hipErrorAssert:
    case hipErrorHostMemoryAlreadyRegistered:
    case hipErrorHostMemoryNotRegistered:
    case hipErrorLaunchFailure:
    case hipErrorCooperativeLaunchTooLarge:
    case hipErrorNotSupported:
    case hipErrorStreamCaptureUnsupported:
    case hipErrorStreamCaptureInvalidated:
    case hipErrorStreamCaptureMerge:
    case hipErrorStreamCaptureUnmatched:
    case hipErrorStreamCaptureUnjoined:
    case hipErrorStreamCaptureIsolation:
    case hipErrorStreamCaptureImplicit:
    case hipErrorCapturedEvent:
    case hipErrorStreamCaptureWrongThread:
    case hipErrorGraphExecUpdateFailure:
      return true;
    default:
      return false;
  }
}

hipError_t error_of(int number) {
  switch (number) {
    case cudaErrorInvalidTexture:
      return hipErrorInvalidTexture;
    case cudaErrorInvalidChannelDescriptor:
      return hipErrorInvalidChannelDescriptor;
    default:
      return is_same_error(number) ? static_cast<hipError_t>(number) : hipErrorUnknown;
  }
}

template <class A, class B>
constexpr bool same(A a, B b) {
  return static_cast<int>(a) == static_cast<int>(b);
}

static_assert(same(hipErrorInvalidValue, cudaErrorInvalidValue) && same(hipErrorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(same(hipErrorNoBinaryForGpu, cudaErrorNoKernelImageForDevice));
static_assert(same(hipErrorNotReady, cudaErrorNotReady) && same(hipErrorNotReady, CUDA_ERROR_NOT_READY));
static_assert(same(hipErrorGraphExecUpdateFailure, cudaErrorGraphExecUpdateFailure));
static_assert(same(hipErrorStreamCaptureUnsupported, cudaErrorStreamCaptureUnsupported));
static_assert(same(hipErrorCapturedEvent, cudaErrorCapturedEvent));
static_assert(same(hipErrorStreamCaptureWrongThread, cudaErrorStreamCaptureWrongThread));

static_assert(same(hipMemcpyHostToHost, cudaMemcpyHostToHost) && same(hipMemcpyHostToDevice, cudaMemcpyHostToDevice));
static_assert(same(hipMemcpyDeviceToHost, cudaMemcpyDeviceToHost) && same(hipMemcpyDefault, cudaMemcpyDefault));
static_assert(same(hipMemcpyDeviceToDevice, cudaMemcpyDeviceToDevice));
static_assert(same(hipStreamCaptureModeGlobal, cudaStreamCaptureModeGlobal));
static_assert(same(hipStreamCaptureModeThreadLocal, cudaStreamCaptureModeThreadLocal));
static_assert(same(hipStreamCaptureModeRelaxed, cudaStreamCaptureModeRelaxed));
static_assert(same(hipMemLocationTypeDevice, cudaMemLocationTypeDevice));
static_assert(same(hipMemAllocationTypePinned, cudaMemAllocationTypePinned));
static_assert(same(hipMemHandleTypePosixFileDescriptor, cudaMemHandleTypePosixFileDescriptor));

static_assert(sizeof(hipMemAccessDesc) == sizeof(cudaMemAccessDesc));
static_assert(offsetof(hipMemAccessDesc, location) == offsetof(cudaMemAccessDesc, location));
static_assert(offsetof(hipMemAccessDesc, flags) == offsetof(cudaMemAccessDesc, flags));
static_assert(sizeof(hipMemLocation) == sizeof(cudaMemLocation) && sizeof(hipMemLocation) == sizeof(CUmemLocation));
static_assert(sizeof(hipStreamBatchMemOpParams) == sizeof(CUstreamBatchMemOpParams));
static_assert(offsetof(hipStreamBatchMemOpParams, waitValue.value64) ==
              offsetof(CUstreamBatchMemOpParams, waitValue.value64));
static_assert(offsetof(hipStreamBatchMemOpParams, writeValue.flags) ==
              offsetof(CUstreamBatchMemOpParams, writeValue.flags));
static_assert(sizeof(hipGraphEdgeData) == sizeof(cudaGraphEdgeData));
static_assert(sizeof(hipLaunchAttributeValue) == sizeof(CUlaunchAttributeValue));
static_assert(same(hipLaunchAttributePriority, CU_LAUNCH_ATTRIBUTE_PRIORITY));
static_assert(same(hipLaunchAttributeCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE));
static_assert(same(hipLaunchAttributeAccessPolicyWindow, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW));

}  // namespace

hipError_t to_hip(cudaError_t error) {
  return error_of(static_cast<int>(error));
}
hipError_t to_hip(CUresult error) {
  // The driver has neither of the two numbers that the runtime has for textures and channels.
  return error_of(static_cast<int>(error));
}

CUmemorytype to_driver(hipMemoryType type) {
  switch (type) {
    case hipMemoryTypeHost:
      return CU_MEMORYTYPE_HOST;
    case hipMemoryTypeDevice:
      return CU_MEMORYTYPE_DEVICE;
    case hipMemoryTypeArray:
      return CU_MEMORYTYPE_ARRAY;
    case hipMemoryTypeUnified:
    case hipMemoryTypeManaged:
      return CU_MEMORYTYPE_UNIFIED;
    case hipMemoryTypeUnregistered:
      break;
  }
  return static_cast<CUmemorytype>(0);  // none of the driver's: it refuses
}

hipMemoryType to_hip(CUmemorytype type) {
  switch (type) {
    case CU_MEMORYTYPE_HOST:
      return hipMemoryTypeHost;
    case CU_MEMORYTYPE_DEVICE:
      return hipMemoryTypeDevice;
    case CU_MEMORYTYPE_ARRAY:
      return hipMemoryTypeArray;
    case CU_MEMORYTYPE_UNIFIED:
      return hipMemoryTypeUnified;
  }
  return hipMemoryTypeUnregistered;
}

hipMemoryType to_hip(cudaMemoryType type) {
  switch (type) {
    case cudaMemoryTypeHost:
      return hipMemoryTypeHost;
    case cudaMemoryTypeDevice:
      return hipMemoryTypeDevice;
    case cudaMemoryTypeManaged:
      return hipMemoryTypeManaged;
    case cudaMemoryTypeUnregistered:
      break;
  }
  return hipMemoryTypeUnregistered;
}

cudaPitchedPtr to_cuda(const hipPitchedPtr& from) {
  return {from.ptr, from.pitch, from.xsize, from.ysize};
}
hipPitchedPtr to_hip(const cudaPitchedPtr& from) {
  return {from.ptr, from.pitch, from.xsize, from.ysize};
}
cudaExtent to_cuda(const hipExtent& from) {
  return {from.width, from.height, from.depth};
}
hipExtent to_hip(const cudaExtent& from) {
  return {from.width, from.height, from.depth};
}
cudaPos to_cuda(const hipPos& from) {
  return {from.x, from.y, from.z};
}
hipPos to_hip(const cudaPos& from) {
  return {from.x, from.y, from.z};
}

cudaMemLocation to_cuda(const hipMemLocation& from) {
  cudaMemLocation to{};
  to.type = same_number<cudaMemLocationType>(from.type);
  to.id = from.id;
  return to;
}
hipMemLocation to_hip(const cudaMemLocation& from) {
  hipMemLocation to{};
  to.type = same_number<hipMemLocationType>(from.type);
  to.id = from.id;
  return to;
}

// CUDA's `usage` is the first two of HIP's reserved bytes, which must be 0 and are dropped.
cudaMemPoolProps to_cuda(const hipMemPoolProps& from) {
  cudaMemPoolProps to{};
  to.allocType = same_number<cudaMemAllocationType>(from.allocType);
  to.handleTypes = same_number<cudaMemAllocationHandleType>(from.handleTypes);
  to.location = to_cuda(from.location);
  to.win32SecurityAttributes = from.win32SecurityAttributes;
  to.maxSize = from.maxSize;
  return to;
}
hipMemPoolProps to_hip(const cudaMemPoolProps& from) {
  hipMemPoolProps to{};
  to.allocType = same_number<hipMemAllocationType>(from.allocType);
  to.handleTypes = same_number<hipMemAllocationHandleType>(from.handleTypes);
  to.location = to_hip(from.location);
  to.win32SecurityAttributes = from.win32SecurityAttributes;
  to.maxSize = from.maxSize;
  return to;
}

const cudaMemAccessDesc* to_cuda(const hipMemAccessDesc* list) {
  return reinterpret_cast<const cudaMemAccessDesc*>(list);
}
const hipMemAccessDesc* to_hip(const cudaMemAccessDesc* list) {
  return reinterpret_cast<const hipMemAccessDesc*>(list);
}
CUstreamBatchMemOpParams* to_cuda(hipStreamBatchMemOpParams* list) {
  return reinterpret_cast<CUstreamBatchMemOpParams*>(list);
}
hipStreamBatchMemOpParams* to_hip(CUstreamBatchMemOpParams* list) {
  return reinterpret_cast<hipStreamBatchMemOpParams*>(list);
}
const cudaGraphEdgeData* to_cuda(const hipGraphEdgeData* list) {
  return reinterpret_cast<const cudaGraphEdgeData*>(list);
}

CUlaunchAttributeValue to_driver(int id, const hipLaunchAttributeValue& from) {
  CUlaunchAttributeValue to;
  std::memset(&to, 0, sizeof to);
  if (id != hipLaunchAttributeAccessPolicyWindow) {
    std::memcpy(&to, &from, sizeof to);
    return to;
  }
  const hipAccessPolicyWindow& window = from.accessPolicyWindow;
  to.accessPolicyWindow.base_ptr = window.base_ptr;
  to.accessPolicyWindow.num_bytes = window.num_bytes;
  to.accessPolicyWindow.hitRatio = window.hitRatio;
  to.accessPolicyWindow.hitProp = same_number<CUaccessProperty>(window.hitProp);
  to.accessPolicyWindow.missProp = same_number<CUaccessProperty>(window.missProp);
  return to;
}

hipLaunchAttributeValue to_hip(int id, const CUlaunchAttributeValue& from) {
  hipLaunchAttributeValue to;
  std::memset(&to, 0, sizeof to);
  if (id != hipLaunchAttributeAccessPolicyWindow) {
    std::memcpy(&to, &from, sizeof to);
    return to;
  }
  const CUaccessPolicyWindow& window = from.accessPolicyWindow;
  to.accessPolicyWindow.base_ptr = window.base_ptr;
  to.accessPolicyWindow.num_bytes = window.num_bytes;
  to.accessPolicyWindow.hitRatio = window.hitRatio;
  to.accessPolicyWindow.hitProp = same_number<hipAccessProperty>(window.hitProp);
  to.accessPolicyWindow.missProp = same_number<hipAccessProperty>(window.missProp);
  return to;
}

ExtraList::ExtraList(void** from) : given_(from != nullptr) {
  constexpr std::size_t kPairs = 2;
  if (!given_) return;
  for (std::size_t n = 0; n < 2 * kPairs && from[n] != HIP_LAUNCH_PARAM_END; n += 2) {
    entries_[n] = from[n];
    entries_[n + 1] = from[n + 1];
  }
}
static_assert(CU_LAUNCH_PARAM_END == nullptr);

}  // namespace nvidia
