// The status of a HIP function, from the status of CUDA's, and its effect on hipGetLastError.
//
// HIP has one last error a thread. CUDA's runtime keeps one of its own functions' calls; the driver keeps none. So the
// driver's is kept here, and the newer of the two is told: an error of one side takes the other side's away.
// hipErrorNotReady is an answer and no error, as in CUDA and HIP.
#pragma once

#include "hip/nvidia/convert.h"

namespace nvidia {

// Returns HIP's code for a result of CUDA's runtime or of CUDA's driver, and updates HIP's last error.
hipError_t answer(cudaError_t code);
hipError_t answer(CUresult code);
// Returns an error of this library's own for a case that HIP defines and CUDA does not, and updates HIP's last error.
hipError_t refuse(hipError_t code);

}  // namespace nvidia
