// Functions that convert their arguments and call another HIP function, libhgmodel.so only. Sources: HIP's header
// documentation.
#include "model/abi/context.h"

namespace {

// A side of the driver's 3D copy.
hipPitchedPtr pitched(hipMemoryType type, const void* host, hipDeviceptr_t device, std::size_t pitch, std::size_t width,
                      std::size_t height) {
  const void* base = type == hipMemoryTypeHost ? host : device;
  return {const_cast<void*>(base), pitch, width, height};
}

bool to_plain(const HIP_MEMCPY3D* copy, hipMemcpy3DParms* out) {
  if (copy == nullptr || copy->srcMemoryType == hipMemoryTypeArray || copy->dstMemoryType == hipMemoryTypeArray) {
    return false;
  }
  *out = {};
  out->srcPtr =
      pitched(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcPitch, copy->WidthInBytes, copy->srcHeight);
  out->dstPtr =
      pitched(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstPitch, copy->WidthInBytes, copy->dstHeight);
  out->srcPos = {copy->srcXInBytes, copy->srcY, copy->srcZ};
  out->dstPos = {copy->dstXInBytes, copy->dstY, copy->dstZ};
  out->extent = {copy->WidthInBytes, copy->Height, copy->Depth};
  out->kind = hipMemcpyDefault;
  return true;
}

}  // namespace

extern "C" {

hipError_t hipModuleLoadFatBinary(hipModule_t* module, const void* image) {
  return hipModuleLoadData(module, image);
}

hipError_t hipDrvMemcpy3D(const HIP_MEMCPY3D* copy) {
  hipMemcpy3DParms plain;
  return to_plain(copy, &plain) ? hipMemcpy3D(&plain) : hipErrorInvalidValue;
}

hipError_t hipDrvMemcpy3DAsync(const HIP_MEMCPY3D* copy, hipStream_t stream) {
  hipMemcpy3DParms plain;
  return to_plain(copy, &plain) ? hipMemcpy3DAsync(&plain, stream) : hipErrorInvalidValue;
}

}  // extern "C"
