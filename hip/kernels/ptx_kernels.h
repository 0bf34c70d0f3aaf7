// The project's device kernels as PTX for NVIDIA's GPUs of sm_75 and later, embedded, as an image for cuModuleLoadData.
//
// Exists where device_kernels.h does. The same kernels and variables as the gfx942 code object (kernels.inc).
#pragma once

namespace hg {

// Text with a terminating zero, for as long as the program runs.
[[nodiscard]] const char* ptx_kernels();

}  // namespace hg
