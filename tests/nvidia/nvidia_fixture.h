// Tests of libhip-nvidia.so over the stand-in of CUDA 13.0 (stub_cuda.h), which each test starts anew.
#pragma once

#include <gtest/gtest.h>

#include "hip/nvidia/headers.h"
#include "nvidia/stub_cuda.h"

namespace nvidia {

class NvidiaTest : public testing::Test {
 protected:
  void SetUp() override {
    cuda_ = stub_state();
    ASSERT_NE(cuda_, nullptr) << "libhip-nvidia.so did not open the stand-in";
    static_cast<void>(hipGetLastError());  // of the test before
    *cuda_ = {};
  }

  // The calls that libhip-nvidia.so made to CUDA, and the answers that CUDA shall give.
  [[nodiscard]] stub::State& cuda() { return *cuda_; }
  [[nodiscard]] const stub::Call& last(const char* function) { return cuda_->last(function); }

  // Handles that the stand-in does not look at.
  template <class Handle>
  [[nodiscard]] static Handle handle(std::uintptr_t number) {
    return reinterpret_cast<Handle>(number);
  }
  static inline const auto kGraph = handle<hipGraph_t>(0x100);
  static inline const auto kExec = handle<hipGraphExec_t>(0x200);
  static inline const auto kNode = handle<hipGraphNode_t>(0x300);
  static inline const auto kStream = handle<hipStream_t>(0x400);

 private:
  // The library's state, once a process. Null where something is missing.
  static stub::State* stub_state();

  stub::State* cuda_ = nullptr;
};

}  // namespace nvidia
