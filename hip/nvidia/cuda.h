// CUDA's functions as a table, found in its shared libraries at run time.
//
// The library must load on a machine without CUDA, so nothing is linked. At the first HIP call these are opened:
//   driver   hgnv_configure's, else libcuda.so.1
//   runtime  hgnv_configure's, else libcudart.so.13 and then .12 (the other way round where the driver is older than
//   13,
//            which a runtime of 13 refuses), each by its soname and then in /usr/local/cuda/lib64
// Promises: no entry is null. Where a library could not be opened, every function answers cudaErrorNoDevice
// (CUDA_ERROR_NO_DEVICE), which is hipErrorNoDevice; a function that an older release lacks answers
// cudaErrorNotSupported. Does not check: that a symbol has the type that cuda_functions.inc says.
#pragma once

#include <string>
#include <type_traits>

#include "hip/nvidia/headers.h"

namespace nvidia {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
struct Cuda {
#define CUDA_RUNTIME(name) decltype(&::name) name = nullptr;
#define CUDA_DRIVER(name) decltype(&::name) name = nullptr;
#define CUDA_RUNTIME_AS(name, in_12, in_13, ...) std::type_identity_t<__VA_ARGS__>* name = nullptr;
#define CUDA_DRIVER_AS(name, symbol, ...) std::type_identity_t<__VA_ARGS__>* name = nullptr;
#include "hip/nvidia/cuda_functions.inc"
#undef CUDA_RUNTIME
#undef CUDA_DRIVER
#undef CUDA_RUNTIME_AS
#undef CUDA_DRIVER_AS
  int driver_version = 0;   // as cuDriverGetVersion answers: 13000 is 13.0; 0: none
  int runtime_version = 0;  // as cudaRuntimeGetVersion answers; 0: none
  std::string problem;      // why a library could not be opened; empty: both were
};
#pragma GCC diagnostic pop

// The libraries that hgnv_configure named; empty: the names above.
struct CudaLibraries {
  std::string runtime;
  std::string driver;
};

// Opens the libraries and finds the functions. They stay open for good: CUDA's libraries cannot be closed safely.
[[nodiscard]] Cuda load_cuda(const CudaLibraries& libraries);

// The process's table, loaded by the first call.
[[nodiscard]] const Cuda& cuda();
// False where cuda() has loaded the table already.
[[nodiscard]] bool choose_libraries(CudaLibraries libraries);

// The same table, for the driver's functions: they want a current context, which CUDA's runtime gives a thread with its
// first call that needs one. Here the thread gets the primary context of its device. Where there is no device, the
// driver's function says so itself.
[[nodiscard]] const Cuda& cuda_with_context();

}  // namespace nvidia
