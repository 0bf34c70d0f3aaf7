// Variables of device code that a program registered with __hipRegisterVar, as compilers let it, found by the address
// of their shadow in the host program.
//
// CUDA's runtime knows such variables only from code that nvcc registered, so they are looked up here: the code of the
// registration (this project's kernels; see code_objects.h) is loaded as a module for each device that asks, and the
// variable is found in it by name. Modules stay loaded for good, as registered code does.
#pragma once

#include <cstddef>

#include "hip/nvidia/headers.h"

namespace nvidia {

struct DeviceVariable {
  std::byte* address = nullptr;  // on the current device
  std::size_t size = 0;
};

// hipErrorInvalidSymbol where nobody registered `symbol` (CUDA's documented answer as well).
[[nodiscard]] hipError_t find_variable(const void* symbol, DeviceVariable& variable);

// The same, and [offset, offset + size) must lie in the variable: hipErrorInvalidValue where it does not. `place` is
// the address of `offset`. For copies to and from symbols, which are copies to and from that place.
[[nodiscard]] hipError_t find_in_variable(const void* symbol, std::size_t offset, std::size_t size, std::byte*& place);

}  // namespace nvidia
