// Embeds the PTX that cmake/DeviceKernels.cmake compiled, as device_kernels.cpp does the code object.
#include "hip/kernels/ptx_kernels.h"

// clang-format off
asm(".section .rodata\n"
    ".globl hgcheck_ptx_kernels\n"
    ".type hgcheck_ptx_kernels, @object\n"
    "hgcheck_ptx_kernels:\n"
    ".incbin \"" HGCHECK_PTX_KERNELS "\"\n"
    ".byte 0\n"
    ".size hgcheck_ptx_kernels, . - hgcheck_ptx_kernels\n"
    ".previous\n");
// clang-format on

extern "C" {
// Hidden, so that a symbol of another library cannot replace it.
[[gnu::visibility("hidden")]] extern const char hgcheck_ptx_kernels[];
}

namespace hg {

const char* ptx_kernels() {
  return hgcheck_ptx_kernels;
}

}  // namespace hg
