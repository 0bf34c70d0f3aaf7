// Sets of memory to a value, as calls and on streams. CUDA's answers.
//
// The runtime's functions take sizes and widths in bytes and the value's lowest byte; the driver's take elements of 1,
// 2 or 4 bytes, and a pitch in bytes. Sources: HIP 7.2's header documentation (group Memory); CUDA's documentation of
// the runtime and of the driver.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"

namespace nvidia {
extern "C" {

hipError_t hipMemset(void* to, int value, size_t size) {
  return answer(cuda().cudaMemset(to, value, size));
}
hipError_t hipMemsetAsync(void* to, int value, size_t size, hipStream_t stream) {
  return answer(cuda().cudaMemsetAsync(to, value, size, to_cuda(stream)));
}
hipError_t hipMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return answer(cuda().cudaMemset2D(to, pitch, value, width, height));
}
hipError_t hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return answer(cuda().cudaMemset2DAsync(to, pitch, value, width, height, to_cuda(stream)));
}
hipError_t hipMemset3D(hipPitchedPtr to, int value, hipExtent extent) {
  return answer(cuda().cudaMemset3D(to_cuda(to), value, to_cuda(extent)));
}
hipError_t hipMemset3DAsync(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  return answer(cuda().cudaMemset3DAsync(to_cuda(to), value, to_cuda(extent), to_cuda(stream)));
}

hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  return answer(cuda_with_context().cuMemsetD8(to_address(to), value, count));
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value, size_t count, hipStream_t stream) {
  return answer(cuda_with_context().cuMemsetD8Async(to_address(to), value, count, to_cuda(stream)));
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  return answer(cuda_with_context().cuMemsetD16(to_address(to), value, count));
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value, size_t count, hipStream_t stream) {
  return answer(cuda_with_context().cuMemsetD16Async(to_address(to), value, count, to_cuda(stream)));
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  return answer(cuda_with_context().cuMemsetD32(to_address(to), static_cast<unsigned>(value), count));
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count, hipStream_t stream) {
  return answer(
      cuda_with_context().cuMemsetD32Async(to_address(to), static_cast<unsigned>(value), count, to_cuda(stream)));
}

hipError_t hipMemsetD2D8(hipDeviceptr_t to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return answer(cuda_with_context().cuMemsetD2D8(to_address(to), pitch, value, width, height));
}
hipError_t hipMemsetD2D8Async(hipDeviceptr_t to, size_t pitch, unsigned char value, size_t width, size_t height,
                              hipStream_t stream) {
  return answer(cuda_with_context().cuMemsetD2D8Async(to_address(to), pitch, value, width, height, to_cuda(stream)));
}
hipError_t hipMemsetD2D16(hipDeviceptr_t to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return answer(cuda_with_context().cuMemsetD2D16(to_address(to), pitch, value, width, height));
}
hipError_t hipMemsetD2D16Async(hipDeviceptr_t to, size_t pitch, unsigned short value, size_t width, size_t height,
                               hipStream_t stream) {
  return answer(cuda_with_context().cuMemsetD2D16Async(to_address(to), pitch, value, width, height, to_cuda(stream)));
}
hipError_t hipMemsetD2D32(hipDeviceptr_t to, size_t pitch, unsigned value, size_t width, size_t height) {
  return answer(cuda_with_context().cuMemsetD2D32(to_address(to), pitch, value, width, height));
}
hipError_t hipMemsetD2D32Async(hipDeviceptr_t to, size_t pitch, unsigned value, size_t width, size_t height,
                               hipStream_t stream) {
  return answer(cuda_with_context().cuMemsetD2D32Async(to_address(to), pitch, value, width, height, to_cuda(stream)));
}

}  // extern "C"
}  // namespace nvidia
