// For the stand-alone CUDA sources of this folder, as check.h is for HIP's. Exit status: 1 while the finding shows, 0
// when the runtime does what is documented, 2 when the case could not run. Build: nvcc finding.cu -o finding
#pragma once

#include <cuda_runtime.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

inline bool finding_shows = false;

#define MUST(call)                                                              \
  do {                                                                          \
    const cudaError_t code_ = (call);                                           \
    if (code_ != cudaSuccess) {                                                 \
      std::printf("cannot run: %s: %s\n", #call, cudaGetErrorString(code_));    \
      std::exit(2);                                                             \
    }                                                                           \
  } while (false)

inline void check(const char* what, long long expected, long long observed) {
  std::printf("expected %s: %lld\nobserved %s: %lld\n", what, expected, what, observed);
  finding_shows = finding_shows || expected != observed;
}

inline int verdict() { return finding_shows ? 1 : 0; }
