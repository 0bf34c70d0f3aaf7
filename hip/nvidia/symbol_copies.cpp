// Copies to and from variables of device code, as HIP's C functions: copies to and from their places (symbols.h).
//
// Sources: HIP 7.2's header documentation (group Memory); CUDA's documentation of cudaMemcpyToSymbol.
#include "hip/nvidia/errors.h"
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

}  // extern "C"
}  // namespace nvidia
