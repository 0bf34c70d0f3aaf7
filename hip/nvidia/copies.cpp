// Copies between memory of the host and of devices, as calls and on streams. CUDA's answers.
//
// Sizes, widths and pitches are bytes. Not here: copies to and from symbols.
// Sources: HIP 7.2's header documentation (group Memory); CUDA's documentation of the runtime and of the driver.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"

namespace nvidia {
extern "C" {

hipError_t hipMemcpy(void* to, const void* from, size_t size, hipMemcpyKind kind) {
  return answer(cuda().cudaMemcpy(to, from, size, to_cuda(kind)));
}
hipError_t hipMemcpyAsync(void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  return answer(cuda().cudaMemcpyAsync(to, from, size, to_cuda(kind), to_cuda(stream)));
}
// CUDA has no such function. In HIP the call returns when the copy has been made. A stream that captures is refused by
// the wait, which ends the capture, as HIP's blocking calls do.
hipError_t hipMemcpyWithStream(void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  const hipError_t code = hipMemcpyAsync(to, from, size, kind, stream);
  return code != hipSuccess ? code : answer(cuda().cudaStreamSynchronize(to_cuda(stream)));
}

hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  return answer(cuda().cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, to_cuda(kind)));
}
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  return answer(
      cuda().cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, to_cuda(kind), to_cuda(stream)));
}

hipError_t hipMemcpy3D(const hipMemcpy3DParms* params) {
  Given given(params);
  return answer(cuda().cudaMemcpy3D(given.get()));
}
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* params, hipStream_t stream) {
  Given given(params);
  return answer(cuda().cudaMemcpy3DAsync(given.get(), to_cuda(stream)));
}

hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t size) {
  return answer(cuda().cudaMemcpyPeer(to, to_device, from, from_device, size));
}
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t size,
                              hipStream_t stream) {
  return answer(cuda().cudaMemcpyPeerAsync(to, to_device, from, from_device, size, to_cuda(stream)));
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t size) {
  return answer(cuda_with_context().cuMemcpyHtoD(to_address(to), from, size));
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, size_t size, hipStream_t stream) {
  return answer(cuda_with_context().cuMemcpyHtoDAsync(to_address(to), from, size, to_cuda(stream)));
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t size) {
  return answer(cuda_with_context().cuMemcpyDtoH(to, to_address(from), size));
}
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t size, hipStream_t stream) {
  return answer(cuda_with_context().cuMemcpyDtoHAsync(to, to_address(from), size, to_cuda(stream)));
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t size) {
  return answer(cuda_with_context().cuMemcpyDtoD(to_address(to), to_address(from), size));
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t size, hipStream_t stream) {
  return answer(cuda_with_context().cuMemcpyDtoDAsync(to_address(to), to_address(from), size, to_cuda(stream)));
}

}  // extern "C"
}  // namespace nvidia
