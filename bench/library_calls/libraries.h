// CUDA's driver, cuBLAS and NCCL, opened at run time by the names of CUDA 12 and 13. The few functions that are used
// are declared here with the C interface that NVIDIA documents (cuBLAS: cublasSgemm_v2, cublasGemmEx, cublasSgemv_v2;
// NCCL: ncclAllReduce and ncclCommInitAll), so nothing of CUDA is needed to build. Libraries stay open until the
// program ends.
#pragma once

#include <cstddef>

#include "bench/library_calls/library_graph.h"

namespace bench {

struct Cublas {
  int (*cublasCreate_v2)(void** handle) = nullptr;
  int (*cublasSetStream_v2)(void* handle, void* stream) = nullptr;
  int (*cublasSetWorkspace_v2)(void* handle, void* memory, std::size_t bytes) = nullptr;
  int (*cublasSgemm_v2)(void* handle, int ta, int tb, int m, int n, int k, const float* alpha, const float* a, int lda,
                        const float* b, int ldb, const float* beta, float* c, int ldc) = nullptr;
  int (*cublasGemmEx)(void* handle, int ta, int tb, int m, int n, int k, const void* alpha, const void* a, int a_type,
                      int lda, const void* b, int b_type, int ldb, const void* beta, void* c, int c_type, int ldc,
                      int compute, int algorithm) = nullptr;
  int (*cublasSgemv_v2)(void* handle, int trans, int m, int n, const float* alpha, const float* a, int lda,
                        const float* x, int x_step, const float* beta, float* y, int y_step) = nullptr;
};

struct Nccl {
  int (*ncclCommInitAll)(void** communicators, int count, const int* devices) = nullptr;
  int (*ncclCommDestroy)(void* communicator) = nullptr;
  int (*ncclGroupStart)() = nullptr;
  int (*ncclGroupEnd)() = nullptr;
  int (*ncclAllReduce)(const void* from, void* to, std::size_t count, int type, int operation, void* communicator,
                       void* stream) = nullptr;
};

// An error names the library that cannot be opened, or the function that it lacks.
[[nodiscard]] hip::Result<Driver> open_driver();
[[nodiscard]] hip::Result<Cublas> open_cublas();
[[nodiscard]] hip::Result<Nccl> open_nccl();

}  // namespace bench
