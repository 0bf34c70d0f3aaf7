// The function table: its contents, the instance that its functions act on, and the remembered last error.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

TEST(Table, EveryRequiredFunctionIsThere) {
  EXPECT_TRUE(hip::missing_functions(InProcess::api()).required.empty());
}

TEST(Table, WithoutAnActiveInstanceNothingCanBeCalled) {
  int count = 7;
  EXPECT_EQ(InProcess::api().hipGetDeviceCount(&count), hipErrorNotInitialized);
  EXPECT_EQ(InProcess::api().hipGetLastError(), hipErrorNotInitialized);
  EXPECT_EQ(count, 7);
}

TEST(Table, ActivationsNest) {
  InProcess outer, inner;
  hipGraph_t graph = nullptr;
  const Activate first(outer);
  {
    const Activate second(inner);
    EXPECT_EQ(active(), &inner);
    EXPECT_HIP(InProcess::api().hipGraphCreate(&graph, 0));
  }
  EXPECT_EQ(active(), &outer);
  EXPECT_EQ(outer.runtime().live_handles().graphs, 0u);
  EXPECT_EQ(inner.runtime().live_handles().graphs, 1u);
  EXPECT_EQ(InProcess::api().hipGraphDestroy(graph), hipErrorInvalidValue);
}

using ErrorTest = AbiTest;

TEST_F(ErrorTest, TheLastErrorIsRememberedUntilItIsAskedFor) {
  EXPECT_EQ(api.hipGraphCreate(nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(api.hipStreamDestroy(nullptr), hipErrorInvalidHandle);
  hipGraph_t graph = create_graph();  // success does not wipe it out
  EXPECT_EQ(api.hipPeekAtLastError(), hipErrorInvalidHandle);
  EXPECT_EQ(api.hipGetLastError(), hipErrorInvalidHandle);
  EXPECT_EQ(api.hipGetLastError(), hipSuccess);
  EXPECT_HIP(api.hipGraphDestroy(graph));
}

TEST_F(ErrorTest, NotReadyIsNoError) {
  hipStream_t stream = create_stream(hipStreamNonBlocking);
  EXPECT_HIP(api.hipMemsetAsync(allocate(), 1, 4, stream));
  EXPECT_EQ(api.hipStreamQuery(stream), hipErrorNotReady);
  EXPECT_EQ(api.hipGetLastError(), hipSuccess);
}

TEST_F(ErrorTest, AFaultAnswersEveryLaterCallAndTeardownStillWorks) {
  void* memory = allocate();
  hipStream_t stream = create_stream();
  hipGraph_t graph = create_graph();
  add_kernel(graph, memory, bad_handle<void*>(0x5000), 1);
  hipGraphExec_t exec = instantiate(graph);
  EXPECT_HIP(api.hipGraphLaunch(exec, stream));
  EXPECT_EQ(api.hipStreamSynchronize(stream), hipErrorIllegalAddress);
  int device = 5;
  EXPECT_EQ(api.hipGetDevice(&device), hipErrorIllegalAddress);
  EXPECT_EQ(device, 5);
  EXPECT_EQ(api.hipGraphLaunch(exec, stream), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipGetLastError(), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipGetLastError(), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipGraphExecDestroy(exec), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipGraphDestroy(graph), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipStreamDestroy(stream), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipFree(memory), hipErrorIllegalAddress);
  EXPECT_EQ(api.hipModuleUnload(module), hipErrorIllegalAddress);
  EXPECT_EQ(instance.runtime().live_handles(), LiveHandles{});
}

TEST_F(ErrorTest, AHostFunctionThatCallsHipIsRefused) {
  static hipError_t answer;
  answer = hipSuccess;
  const auto call_hip = [](void*) { answer = InProcess::api().hipDeviceSynchronize(); };
  EXPECT_HIP(api.hipLaunchHostFunc(nullptr, call_hip, nullptr));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(answer, hipErrorNotSupported);
}

TEST_F(ErrorTest, DevicesAreThoseOfTheOptions) {
  InProcessOptions options;
  options.model.devices = 3;
  instance.reset(options);
  int value = 0;
  EXPECT_HIP(api.hipGetDeviceCount(&value));
  EXPECT_EQ(value, 3);
  EXPECT_EQ(api.hipSetDevice(3), hipErrorInvalidDevice);
  EXPECT_EQ(api.hipSetDevice(-1), hipErrorInvalidDevice);
  EXPECT_HIP(api.hipSetDevice(2));
  EXPECT_HIP(api.hipGetDevice(&value));
  EXPECT_EQ(value, 2);
  hipPointerAttribute_t attributes{};
  EXPECT_HIP(api.hipPointerGetAttributes(&attributes, allocate()));
  EXPECT_EQ(attributes.device, 2);
  hipDeviceProp_t properties;
  EXPECT_HIP(api.hipGetDeviceProperties(&properties, 1));
  EXPECT_GT(std::strlen(properties.name), 0u);
  EXPECT_EQ(properties.warpSize, 64);
  EXPECT_EQ(api.hipGetDeviceProperties(&properties, 3), hipErrorInvalidDevice);
  instance.reset({});
  EXPECT_HIP(api.hipGetDevice(&value));
  EXPECT_EQ(value, 0);
}

}  // namespace
}  // namespace model::abi
