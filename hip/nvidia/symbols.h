// Variables and kernels of device code that a program registered with __hipRegisterVar and __hipRegisterFunction, as
// compilers let it, found by the address of their shadow, or of their host function, in the host program.
//
// CUDA's runtime knows such symbols only from code that nvcc registered, so they are looked up here: the code of the
// registration (this project's kernels; see code_objects.h) is loaded as a module for each device that asks, and the
// variable or the kernel is found in it by name. Modules stay loaded until the device is reset, as registered code
// does.
#pragma once

#include <cstddef>

#include "hip/nvidia/errors.h"
#include "hip/nvidia/headers.h"

namespace nvidia {

struct DeviceVariable {
  std::byte* address = nullptr;  // on the current device
  std::size_t size = 0;
};

// hipErrorInvalidSymbol where nobody registered `symbol` (CUDA's documented answer as well).
[[nodiscard]] hipError_t find_variable(const void* symbol, DeviceVariable& variable);

// The kernel's function on the current device. hipErrorInvalidDeviceFunction where nobody registered `host_function`,
// or its code has no such kernel (CUDA's documented answer as well).
[[nodiscard]] hipError_t find_kernel(const void* host_function, CUfunction& function);

// Kernel nodes name a kernel by its host function or by a function of a module: the function for CUDA, which is null,
// and so CUDA's to refuse, where a registered kernel cannot be found on the current device. And the way back.
[[nodiscard]] CUfunction function_of(void* kernel);
[[nodiscard]] void* as_registered(CUfunction function);

// The device is about to be reset, and modules end with its context.
void forget_modules(int device);

// Which end of a copy the variable is.
enum class Side { kTo, kFrom };

// The place of a copy to or from a variable: the address of its byte `offset`. In this order, as CUDA documents for
// cudaMemcpyToSymbol: hipErrorInvalidMemcpyDirection where `kind` does not lead to (from) a device's memory,
// find_variable's errors, and hipErrorInvalidValue where [offset, offset + size) does not lie in the variable.
[[nodiscard]] hipError_t find_in_variable(Side side, const void* symbol, std::size_t size, std::size_t offset,
                                          hipMemcpyKind kind, std::byte*& place);

// Hands the place to `copy`, a function that makes the copy and answers. An error is HIP's last error.
template <class Copy>
hipError_t with_place(Side side, const void* symbol, std::size_t size, std::size_t offset, hipMemcpyKind kind,
                      Copy copy) {
  std::byte* place = nullptr;
  const hipError_t status = find_in_variable(side, symbol, size, offset, kind, place);
  return status != hipSuccess ? refuse(status) : copy(place);
}

}  // namespace nvidia
