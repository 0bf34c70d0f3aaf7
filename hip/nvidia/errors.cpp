// The last error of a thread, of CUDA's runtime and of its driver.
#include "hip/nvidia/errors.h"

#include "hip/nvidia/cuda.h"

namespace nvidia {
namespace {

thread_local hipError_t kept_error = hipSuccess;  // the driver's or this library's own; newer than the runtime's

void keep(hipError_t error) {
  // Takes the runtime's away. A sticky error stays there, and is told as long as the context is lost.
  static_cast<void>(cuda().cudaGetLastError());
  kept_error = error;
}

}  // namespace

hipError_t answer(cudaError_t code) {
  if (code != cudaSuccess && code != cudaErrorNotReady) kept_error = hipSuccess;
  return to_hip(code);
}

hipError_t answer(CUresult code) {
  const hipError_t error = to_hip(code);
  if (error != hipSuccess && error != hipErrorNotReady) keep(error);
  return error;
}

hipError_t refuse(hipError_t code) {
  keep(code);
  return code;
}

}  // namespace nvidia

extern "C" {

hipError_t hipGetLastError() {
  const hipError_t kept = nvidia::kept_error;
  nvidia::kept_error = hipSuccess;
  const hipError_t runtime = nvidia::to_hip(nvidia::cuda().cudaGetLastError());
  return kept != hipSuccess ? kept : runtime;
}

hipError_t hipPeekAtLastError() {
  const hipError_t kept = nvidia::kept_error;
  return kept != hipSuccess ? kept : nvidia::to_hip(nvidia::cuda().cudaPeekAtLastError());
}
}
