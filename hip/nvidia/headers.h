// CUDA's and HIP's headers in one translation unit: CUDA 12.4 to 13 and HIP 7.2.
//
// Both define C vector types, `dim3` and words such as __global__. CUDA's come first; its words are undefined, HIP's
// vector types are left out by their own guard, and HIP's dim3 is called hip_dim3 (12 bytes, as CUDA's).
// Every file of hip/nvidia takes either header from here and nowhere else.
#pragma once

// clang-format off
#include <cuda.h>
#include <cuda_runtime_api.h>

#undef __host__
#undef __device__
#undef __global__
#undef __forceinline__
#undef __shared__
#undef __constant__
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1  // the types of AMD's release: a subject is built against them
#endif
#ifndef __HIP_DISABLE_CPP_FUNCTIONS__
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1  // C++ overloads would hide the C functions that are defined here
#endif
#define HIP_INCLUDE_HIP_AMD_DETAIL_HIP_VECTOR_TYPES_H
#define dim3 hip_dim3
#include <hip/hip_runtime_api.h>
#undef dim3
// clang-format on

#if CUDART_VERSION < 12040
#error "hip/nvidia wants the headers of CUDA 12.4 or later"
#endif
