// Copies and sets of memory as HIP's C functions. CUDA's answers.
//
// HIP documents that a copy without `Async` in its name is done when the function returns; CUDA's copy from pageable
// memory to a device returns once the bytes are staged (CUDA, "API synchronization behavior"). Here CUDA's is passed
// on: what a program can see of it, a later call sees in order. hipMemcpyWithStream, which CUDA lacks, is a copy on the
// stream and a wait for the stream (HIP 7.2's header).
// Sources: HIP 7.2's header documentation (group Memory); CUDA's documentation of memory management.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/errors.h"
#include "hip/nvidia/graph_params.h"
#include "hip/nvidia/symbols.h"

namespace nvidia {
namespace {

// A copy to or from a variable of device code is a copy to or from its place; `copy` makes it and answers.
template <class Copy>
hipError_t at_variable(const void* symbol, size_t offset, size_t bytes, Copy copy) {
  std::byte* place = nullptr;
  const hipError_t status = find_in_variable(symbol, offset, bytes, place);
  return status != hipSuccess ? refuse(status) : copy(place);
}

}  // namespace

extern "C" {

// ---- copies of one dimension

hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return answer(cuda().cudaMemcpy(to, from, bytes, to_cuda(kind)));
}
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  return answer(cuda().cudaMemcpyAsync(to, from, bytes, to_cuda(kind), to_cuda(stream)));
}
hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream) {
  const hipError_t code = hipMemcpyAsync(to, from, bytes, kind, stream);
  return code != hipSuccess ? code : answer(cuda().cudaStreamSynchronize(to_cuda(stream)));
}
hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return answer(cuda().cudaMemcpyPeer(to, to_device, from, from_device, bytes));
}
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                              hipStream_t stream) {
  return answer(cuda().cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, to_cuda(stream)));
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t bytes) {
  return answer(cuda_with_context().cuMemcpyHtoD(to_address(to), from, bytes));
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void* from, size_t bytes, hipStream_t stream) {
  return answer(cuda_with_context().cuMemcpyHtoDAsync(to_address(to), from, bytes, to_cuda(stream)));
}
hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes) {
  return answer(cuda_with_context().cuMemcpyDtoH(to, to_address(from), bytes));
}
hipError_t hipMemcpyDtoHAsync(void* to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return answer(cuda_with_context().cuMemcpyDtoHAsync(to, to_address(from), bytes, to_cuda(stream)));
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  return answer(cuda_with_context().cuMemcpyDtoD(to_address(to), to_address(from), bytes));
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t stream) {
  return answer(cuda_with_context().cuMemcpyDtoDAsync(to_address(to), to_address(from), bytes, to_cuda(stream)));
}

// ---- copies of rows

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
  return answer(cuda().cudaMemcpy3D(Given(params).get()));
}
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* params, hipStream_t stream) {
  return answer(cuda().cudaMemcpy3DAsync(Given(params).get(), to_cuda(stream)));
}

// ---- copies to and from variables of device code

hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return at_variable(symbol, offset, bytes, [&](void* place) { return hipMemcpy(place, from, bytes, kind); });
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream) {
  return at_variable(symbol, offset, bytes,
                     [&](void* place) { return hipMemcpyAsync(place, from, bytes, kind, stream); });
}
hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return at_variable(symbol, offset, bytes, [&](const void* place) { return hipMemcpy(to, place, bytes, kind); });
}
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  return at_variable(symbol, offset, bytes,
                     [&](const void* place) { return hipMemcpyAsync(to, place, bytes, kind, stream); });
}

// ---- sets

hipError_t hipMemset(void* to, int value, size_t bytes) {
  return answer(cuda().cudaMemset(to, value, bytes));
}
hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t stream) {
  return answer(cuda().cudaMemsetAsync(to, value, bytes, to_cuda(stream)));
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

// The driver's sets count elements. HIP's 32 bits are an int, CUDA's unsigned.
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
