// As much of the header of AMD's HIP tests as an exported test uses, so that the export can be built and run here.
//
// TEST_CASE makes the program's main. A call that fails or a requirement that does not hold ends it with status 1.
#pragma once
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

#define HIP_CHECK(...) HIP_CHECK_ERROR((__VA_ARGS__), hipSuccess)
#define HIP_CHECK_ERROR(call, error)                                                   \
  do {                                                                                 \
    const hipError_t hip_check_status = (call);                                        \
    if (hip_check_status != (error)) {                                                 \
      std::printf("%s\n  expected %s\n  observed %s\n", #call, hipGetErrorName(error), \
                  hipGetErrorName(hip_check_status));                                  \
      std::exit(1);                                                                    \
    }                                                                                  \
  } while (false)
#define REQUIRE(...)                                                  \
  do {                                                                \
    if (!(__VA_ARGS__)) {                                             \
      std::cout << "expected " #__VA_ARGS__ ", observed otherwise\n"; \
      std::exit(1);                                                   \
    }                                                                 \
  } while (false)
#define TEST_CASE(...)     \
  static void test_body(); \
  int main() {             \
    test_body();           \
    return 0;              \
  }                        \
  static void test_body()
