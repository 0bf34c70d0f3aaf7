// CUDA's libraries: releases that name functions otherwise, and libraries that are not there.
#include <gtest/gtest.h>

#include "hip/nvidia/configure.h"
#include "hip/nvidia/cuda.h"

namespace nvidia {
namespace {

// The functions that CUDA 13 renamed are found in either release; the stand-ins lack the other release's names.
TEST(CudaLibraries, FunctionsWithEdgeDataAreFoundInEitherRelease) {
  for (const char* stub : {HGCHECK_CUDA_STUB_12, HGCHECK_CUDA_STUB_13}) {
    const Cuda cuda = load_cuda({stub, stub});
    EXPECT_EQ(cuda.problem, "");
    std::size_t count = 0;
    EXPECT_EQ(cuda.cudaGraphGetEdges(nullptr, nullptr, nullptr, nullptr, &count), cudaSuccess) << stub;
    EXPECT_EQ(cuda.cudaGraphAddDependencies(nullptr, nullptr, nullptr, nullptr, 0), cudaSuccess) << stub;
    EXPECT_EQ(cuda.cudaStreamUpdateCaptureDependencies(nullptr, nullptr, nullptr, 0, 0), cudaSuccess) << stub;
    EXPECT_EQ(cuda.cudaMemPrefetchAsync(nullptr, 0, {}, 0, nullptr), cudaSuccess) << stub;
  }
  EXPECT_EQ(load_cuda({HGCHECK_CUDA_STUB_12, HGCHECK_CUDA_STUB_12}).runtime_version, 12040);
  EXPECT_EQ(load_cuda({HGCHECK_CUDA_STUB_13, HGCHECK_CUDA_STUB_13}).driver_version, 13000);
}

TEST(CudaLibraries, WithoutOneEveryFunctionAnswersNoDevice) {
  for (const CudaLibraries& libraries : {CudaLibraries{"/nowhere/runtime", HGCHECK_CUDA_STUB_13},
                                         CudaLibraries{HGCHECK_CUDA_STUB_13, "/nowhere/driver"}}) {
    const Cuda cuda = load_cuda(libraries);
    EXPECT_NE(cuda.problem.find("/nowhere/"), std::string::npos) << cuda.problem;
    int count = 0;
    EXPECT_EQ(cuda.cudaGetDeviceCount(&count), cudaErrorNoDevice);
    EXPECT_EQ(cuda.cuInit(0), CUDA_ERROR_NO_DEVICE);
  }
}

// In a process of its own: the libraries are chosen once.
TEST(CudaLibrariesDeathTest, WithoutOneHipAnswersNoDevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        if (hgnv_configure("/nowhere/runtime", "/nowhere/driver") != 0) std::exit(1);
        hipGraph_t graph = nullptr;
        if (hipGraphCreate(&graph, 0) != hipErrorNoDevice) std::exit(2);
        if (hipGraphKernelNodeSetParams(nullptr, nullptr) != hipErrorNoDevice) std::exit(3);
        if (hgnv_configure(nullptr, nullptr) == 0) std::exit(4);  // too late
        std::exit(*hgnv_problem() != '\0' ? 0 : 5);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace nvidia
