// The project's device kernels, compiled for gfx942 and embedded, as an image for hipModuleLoadData.
//
// Exists only in builds that found a clang with the amdgcn target (HGCHECK_HAVE_DEVICE_KERNELS). The kernels and their
// promises are in kernels.inc; their host semantics are in host_kernels.h.
#pragma once

#include <cstddef>
#include <span>

namespace hg {

// An ELF code object, for as long as the program runs. Aligned to 4096 bytes.
[[nodiscard]] std::span<const std::byte> device_code_object();

}  // namespace hg
