// The functions of configure.h.
#include "hip/nvidia/configure.h"

#include "hip/nvidia/cuda.h"

extern "C" {

int hgnv_configure(const char* runtime, const char* driver) {
  return nvidia::choose_libraries({runtime == nullptr ? "" : runtime, driver == nullptr ? "" : driver}) ? 0 : 1;
}

const char* hgnv_problem() {
  return nvidia::cuda().problem.c_str();
}
}
