// Errors: numbers that HIP has or lacks, and the last error of a thread, of CUDA's runtime and of its driver.
#include <thread>

#include "nvidia/nvidia_fixture.h"

namespace nvidia {
namespace {

class Errors : public NvidiaTest {
 protected:
  // Through the runtime, and through the driver.
  hipError_t runtime_answers(int error) {
    cuda().answers["cudaGraphLaunch"] = error;
    return hipGraphLaunch(kExec, kStream);
  }
  hipError_t driver_answers(int error) {
    cuda().answers["cuGraphKernelNodeSetParams"] = error;
    return hipGraphKernelNodeSetParams(kNode, nullptr);
  }
};

TEST_F(Errors, NumbersOfBothArePassedOnAndOthersAreUnknown) {
  EXPECT_EQ(runtime_answers(cudaErrorIllegalAddress), hipErrorIllegalAddress);
  EXPECT_EQ(runtime_answers(cudaErrorGraphExecUpdateFailure), hipErrorGraphExecUpdateFailure);
  EXPECT_EQ(runtime_answers(cudaErrorLossyQuery), hipErrorUnknown);
  EXPECT_EQ(driver_answers(CUDA_ERROR_INVALID_HANDLE), hipErrorInvalidHandle);
  EXPECT_EQ(driver_answers(CUDA_ERROR_EXTERNAL_DEVICE), hipErrorUnknown);
  EXPECT_EQ(runtime_answers(cudaErrorInvalidTexture), static_cast<hipError_t>(912));
}

TEST_F(Errors, TheDriversIsToldAsTheRuntimesIs) {
  EXPECT_EQ(driver_answers(CUDA_ERROR_INVALID_VALUE), hipErrorInvalidValue);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(runtime_answers(cudaErrorInvalidConfiguration), hipErrorInvalidConfiguration);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidConfiguration);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidConfiguration);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST_F(Errors, TheNewerOfTheTwoIsTold) {
  EXPECT_EQ(driver_answers(CUDA_ERROR_INVALID_VALUE), hipErrorInvalidValue);
  EXPECT_EQ(runtime_answers(cudaErrorIllegalState), hipErrorIllegalState);
  EXPECT_EQ(hipGetLastError(), hipErrorIllegalState);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(runtime_answers(cudaErrorIllegalState), hipErrorIllegalState);
  EXPECT_EQ(driver_answers(CUDA_ERROR_INVALID_VALUE), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
}

TEST_F(Errors, NotReadyIsNoError) {
  EXPECT_EQ(driver_answers(CUDA_ERROR_NOT_READY), hipErrorNotReady);
  EXPECT_EQ(hipPeekAtLastError(), hipSuccess);
}

TEST_F(Errors, EachThreadHasItsOwn) {
  EXPECT_EQ(driver_answers(CUDA_ERROR_INVALID_VALUE), hipErrorInvalidValue);
  hipError_t elsewhere = hipErrorUnknown;
  std::thread([&elsewhere] { elsewhere = hipPeekAtLastError(); }).join();
  EXPECT_EQ(elsewhere, hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

TEST_F(Errors, VersionsAreCudasNumbers) {
  int runtime = 0, driver = 0;
  EXPECT_EQ(hipRuntimeGetVersion(&runtime), hipSuccess);
  EXPECT_EQ(hipDriverGetVersion(&driver), hipSuccess);
  EXPECT_EQ(runtime, 13000);
  EXPECT_EQ(driver, 13000);
}

}  // namespace
}  // namespace nvidia
