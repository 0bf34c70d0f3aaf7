// Copies to and from variables of device code, as HIP's C functions: copies to and from their places (symbols.h).
//
// Sources: HIP 7.2's header documentation (group Memory); CUDA's documentation of cudaMemcpyToSymbol.
#include "hip/nvidia/cuda.h"
#include "hip/nvidia/symbols.h"

namespace nvidia {
extern "C" {

hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return with_place(Side::kTo, symbol, bytes, offset, kind,
                    [&](void* place) { return answer(cuda().cudaMemcpy(place, from, bytes, to_cuda(kind))); });
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream) {
  return with_place(Side::kTo, symbol, bytes, offset, kind, [&](void* place) {
    return answer(cuda().cudaMemcpyAsync(place, from, bytes, to_cuda(kind), to_cuda(stream)));
  });
}
hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind) {
  return with_place(Side::kFrom, symbol, bytes, offset, kind,
                    [&](const void* place) { return answer(cuda().cudaMemcpy(to, place, bytes, to_cuda(kind))); });
}
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  return with_place(Side::kFrom, symbol, bytes, offset, kind, [&](const void* place) {
    return answer(cuda().cudaMemcpyAsync(to, place, bytes, to_cuda(kind), to_cuda(stream)));
  });
}

}  // extern "C"
}  // namespace nvidia
