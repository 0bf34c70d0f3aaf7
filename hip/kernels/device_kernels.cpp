// Embeds the code object that cmake/DeviceKernels.cmake compiled. The assembler includes it, so that a code object of
// any size costs no compile time.
#include "hip/kernels/device_kernels.h"

// clang-format off
asm(".section .rodata\n"
    ".balign 4096\n"
    ".globl hgcheck_device_code_object\n"
    ".type hgcheck_device_code_object, @object\n"
    "hgcheck_device_code_object:\n"
    ".incbin \"" HGCHECK_DEVICE_CODE_OBJECT "\"\n"
    ".globl hgcheck_device_code_object_end\n"
    "hgcheck_device_code_object_end:\n"
    ".byte 0\n"
    ".size hgcheck_device_code_object, hgcheck_device_code_object_end - hgcheck_device_code_object\n"
    ".previous\n");
// clang-format on

extern "C" {
// Hidden, so that their distance is a constant of this library and symbols of other libraries cannot replace them.
[[gnu::visibility("hidden")]] extern const std::byte hgcheck_device_code_object[];
[[gnu::visibility("hidden")]] extern const std::byte hgcheck_device_code_object_end[];
}

namespace hg {

std::span<const std::byte> device_code_object() {
  return {hgcheck_device_code_object, hgcheck_device_code_object_end};
}

}  // namespace hg
