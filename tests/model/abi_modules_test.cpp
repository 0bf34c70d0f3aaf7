// Modules: the project's own code object, run with its host semantics.
#include "model/abi_fixture.h"
#ifdef HGCHECK_HAVE_DEVICE_KERNELS
#include "hip/kernels/device_kernels.h"
#endif

namespace model::abi {
namespace {

struct ModuleTest : AbiTest {
  ModuleTest() {
    InProcessOptions options = host_memory_options();
    options.kernels = hg::host_kernels();
    instance.reset(options);
  }
};

TEST_F(ModuleTest, WhatIsNoCodeObjectIsAnInvalidImage) {
  alignas(64) static const char text[4096] = "this is not an image";
  hipModule_t loaded = nullptr;
  EXPECT_EQ(api.hipModuleLoadData(&loaded, text), hipErrorInvalidImage);
  EXPECT_EQ(api.hipModuleLoadData(&loaded, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipModuleLoadData(nullptr, text), hipErrorInvalidValue);
  EXPECT_EQ(api.hipModuleLoad(&loaded, "/no/such/file.co"), hipErrorFileNotFound);
  EXPECT_EQ(instance.runtime().live_handles().modules, 0u);
}

#ifdef HGCHECK_HAVE_DEVICE_KERNELS
TEST_F(ModuleTest, EveryKernelOfTheCodeObjectHasHostSemantics) {
  hipModule_t loaded = nullptr;
  EXPECT_HIP(api.hipModuleLoadData(&loaded, hg::device_code_object().data()));
  unsigned count = 0;
  EXPECT_HIP(api.hipModuleGetFunctionCount(&count, loaded));
  EXPECT_EQ(count, hg::host_kernels().size());
  for (const hg::HostKernel& kernel : hg::host_kernels()) {
    hipFunction_t function = nullptr;
    ASSERT_EQ(api.hipModuleGetFunction(&function, loaded, std::string(kernel.name).c_str()), hipSuccess) << kernel.name;
    const Kernel& model_kernel = *instance.function(function)->kernel()->kernel;
    EXPECT_TRUE(model_kernel.semantics) << kernel.name;
    EXPECT_EQ(model_kernel.signature.argument_bytes, kernel.argument_bytes) << kernel.name;
  }
  hipFunction_t function = nullptr;
  EXPECT_EQ(api.hipModuleGetFunction(&function, loaded, "no_such_kernel"), hipErrorNotFound);
}

TEST_F(ModuleTest, UnloadingIsAnUnsafeCallInACaptureAndLoadingIsNot) {
  hipModule_t module = nullptr;
  hipStream_t stream = create_stream();
  hipGraph_t graph = nullptr;
  EXPECT_HIP(api.hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  EXPECT_HIP(api.hipModuleLoadData(&module, hg::device_code_object().data()));
  EXPECT_EQ(api.hipModuleUnload(module), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(api.hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  EXPECT_EQ(instance.runtime().live_handles().modules, 1u);
  EXPECT_HIP(api.hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  EXPECT_HIP(api.hipModuleUnload(module));
  EXPECT_HIP(api.hipStreamEndCapture(stream, &graph));
}

TEST_F(ModuleTest, AKernelOfTheCodeObjectRuns) {
  hipModule_t loaded = nullptr;
  hipFunction_t function = nullptr;
  EXPECT_HIP(api.hipModuleLoadData(&loaded, hg::device_code_object().data()));
  EXPECT_HIP(api.hipModuleGetFunction(&function, loaded, "inplace_u32"));
  void* data = allocate(16);
  std::uint32_t n = 4, k = 3;
  void* arguments[] = {&data, &n, &k};
  EXPECT_HIP(api.hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  const std::uint32_t first = word(data);
  EXPECT_EQ(word(static_cast<char*>(data) + 12), first + 3);  // x * 5 + k + i + f(n), with x = 0
  EXPECT_EQ(instance.runtime().fault(), std::nullopt);
}

TEST_F(ModuleTest, ACooperativeLaunchRunsIfAllItsWorkgroupsFitAndItsNodeHasTheAttribute) {
  hipModule_t loaded = nullptr;
  hipFunction_t function = nullptr;
  EXPECT_HIP(api.hipModuleLoadData(&loaded, hg::device_code_object().data()));
  EXPECT_HIP(api.hipModuleGetFunction(&function, loaded, "inplace_u32"));
  static const char symbol = 0;
  instance.add_kernel(&symbol, *instance.function(function));
  void* data = allocate(16);
  std::uint32_t n = 4, k = 3;
  void* arguments[] = {&data, &n, &k};
  EXPECT_HIP(api.hipModuleLaunchCooperativeKernel(function, 304, 1, 1, 1024, 1, 1, 0, nullptr, arguments));
  const std::uint32_t first = word(data);
  EXPECT_HIP(api.hipLaunchCooperativeKernel(&symbol, dim3(304, 1, 2), dim3(1024), arguments, 0, nullptr));
  EXPECT_NE(word(data), first);
  EXPECT_EQ(api.hipModuleLaunchCooperativeKernel(function, 304, 1, 3, 1024, 1, 1, 0, nullptr, arguments),
            hipErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(api.hipModuleLaunchCooperativeKernel(function, 1U << 31, 1U << 31, 4, 1, 1, 1, 0, nullptr, arguments),
            hipErrorCooperativeLaunchTooLarge)
      << "the product of the sizes is 0 in 64 bits";
  EXPECT_EQ(api.hipModuleLaunchCooperativeKernel(function, 305, 1, 1, 64, 1, 1, 64 * 1024, nullptr, arguments),
            hipErrorCooperativeLaunchTooLarge)
      << "a unit has shared memory for one";
  EXPECT_EQ(api.hipModuleLaunchCooperativeKernel(function, 609, 1, 1, 704, 1, 1, 0, nullptr, arguments),
            hipErrorCooperativeLaunchTooLarge)
      << "a unit has 32 waves, and a workgroup 11";
  EXPECT_EQ(api.hipLaunchCooperativeKernel(&symbol, dim3(609), dim3(1024), arguments, 0, nullptr),
            hipErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(api.hipLaunchCooperativeKernel(&first, dim3(1), dim3(64), arguments, 0, nullptr),
            hipErrorInvalidDeviceFunction);
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  EXPECT_HIP(api.hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  EXPECT_HIP(api.hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
  EXPECT_HIP(api.hipModuleLaunchCooperativeKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, arguments));
  EXPECT_HIP(api.hipLaunchCooperativeKernel(&symbol, dim3(1), dim3(64), arguments, 0, stream));
  EXPECT_HIP(api.hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
  EXPECT_HIP(api.hipStreamEndCapture(stream, &graph));
  hipGraphNode_t nodes[3] = {};
  std::size_t count = 3;
  EXPECT_HIP(api.hipGraphGetNodes(graph, nodes, &count));
  for (int i = 0; i < 3; ++i) {
    hipKernelNodeAttrValue value{};
    EXPECT_HIP(api.hipGraphKernelNodeGetAttribute(nodes[i], hipKernelNodeAttributeCooperative, &value));
    EXPECT_EQ(value.cooperative, i < 2 ? 1 : 0);
  }
}

TEST_F(ModuleTest, AHostFunctionStandsForItsKernel) {
  hipModule_t loaded = nullptr;
  hipFunction_t function = nullptr;
  EXPECT_HIP(api.hipModuleLoadData(&loaded, hg::device_code_object().data()));
  EXPECT_HIP(api.hipModuleGetFunction(&function, loaded, "inplace_u32"));
  static const char symbol = 0, other = 0;
  instance.add_kernel(&symbol, *instance.function(function));
  void* data = allocate(16);
  std::uint32_t n = 4, k = 3;
  void* arguments[] = {&data, &n, &k};
  EXPECT_HIP(api.hipLaunchKernel(&symbol, dim3(1), dim3(64), arguments, 0, nullptr));
  const std::uint32_t first = word(data);
  EXPECT_EQ(word(static_cast<char*>(data) + 12), first + 3);
  EXPECT_EQ(api.hipLaunchKernel(&other, dim3(1), dim3(64), arguments, 0, nullptr), hipErrorInvalidDeviceFunction);
  hipGraph_t graph = nullptr;
  hipGraphNode_t node = nullptr;
  hipKernelNodeParams params{};
  params.func = const_cast<char*>(&symbol);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  EXPECT_HIP(api.hipGraphCreate(&graph, 0));
  EXPECT_HIP(api.hipGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  hipKernelNodeParams read{};
  EXPECT_HIP(api.hipGraphKernelNodeGetParams(node, &read));
  EXPECT_EQ(read.func, &symbol);
  EXPECT_EQ(read.gridDim.x, 1u);
}
#endif

}  // namespace
}  // namespace model::abi
