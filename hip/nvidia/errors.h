// The answer of a HIP function, from CUDA's, and what hipGetLastError tells of it.
//
// HIP has one last error a thread. CUDA's runtime keeps one of its own functions' calls; the driver keeps none. So the
// driver's is kept here, and the newer of the two is told: an error of one side takes the other side's away.
// hipErrorNotReady is an answer and no error, as in CUDA and HIP.
#pragma once

#include "hip/nvidia/convert.h"

namespace nvidia {

// What a function of CUDA's runtime answered; the driver's.
hipError_t answer(cudaError_t code);
hipError_t answer(CUresult code);
// An error of this library's own, where HIP defines what CUDA does not.
hipError_t refuse(hipError_t code);

}  // namespace nvidia
