// Helpers of test programs that call HIP themselves: checks that end the program, and the kernels of a code object.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdio>
#include <cstdlib>

inline void require(bool holds, const char* what, int line, int status = 0) {
  if (holds) return;
  std::printf("line %d: %s: %d\n", line, what, status);
  std::fflush(stdout);
  std::_Exit(1);
}
inline void require_success(hipError_t status, const char* what, int line) {
  require(status == hipSuccess, what, line, static_cast<int>(status));
}
#define REQUIRE(condition) require(condition, #condition, __LINE__)
#define HIP(call) require_success(call, #call, __LINE__)

struct Kernels {
  hipModule_t module = nullptr;
  explicit Kernels(const char* path) { HIP(hipModuleLoad(&module, path)); }
  hipFunction_t operator[](const char* name) const {
    hipFunction_t f = nullptr;
    HIP(hipModuleGetFunction(&f, module, name));
    return f;
  }
};
