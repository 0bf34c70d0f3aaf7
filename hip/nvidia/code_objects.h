// The choice of the code for CUDA in place of the code that a HIP program hands over.
//
// A HIP program hands over code for AMD's GPUs: an ELF file for amdgcn, or a bundle of such files (clang documentation,
// "Clang Offload Bundler"). The project's own kernels are known here byte for byte, and CUDA gets the same kernels as
// PTX (hip/kernels). All other code for AMD's GPUs is refused with hipErrorNoBinaryForGpu ("no kernel image is
// available for execution on the device", HIP). Code that is not for AMD's GPUs (PTX, cubin, a fat binary of CUDA's) is
// passed on.
//
// An image has no size in HIP: its own header says how long it is, and nothing behind the first byte that differs from
// the project's code is read.
#pragma once

#include "hip/nvidia/headers.h"

namespace nvidia {

struct CodeForCuda {
  const void* image = nullptr;      // for CUDA: the given image, or the project's kernels as PTX, ended by a zero
  hipError_t refused = hipSuccess;  // hipErrorNoBinaryForGpu: CUDA gets nothing
};

// `image` may be null, which is CUDA's to refuse.
[[nodiscard]] CodeForCuda code_for_cuda(const void* image);

}  // namespace nvidia
