// Kernel nodes: HIP's parameters as the driver gets them, and the driver's as HIP gets them.
#include <array>

#include "hip/nvidia/convert.h"
#include "nvidia/nvidia_fixture.h"

namespace nvidia {
namespace {

class KernelNodes : public NvidiaTest {
 protected:
  std::array<void*, 1> arguments_{};
  hipKernelNodeParams params_{.blockDim = {4, 5, 6},
                              .extra = nullptr,
                              .func = handle<void*>(0x500),
                              .gridDim = {1, 2, 3},
                              .kernelParams = arguments_.data(),
                              .sharedMemBytes = 7};
};

TEST_F(KernelNodes, GoThroughTheDriverFieldByField) {
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(hipGraphAddKernelNode(&node, kGraph, &kNode, 1, &params_), hipSuccess);
  const stub::Call& call = last("cuGraphAddKernelNode");
  const auto given = call.pointee<CUDA_KERNEL_NODE_PARAMS>(4);
  EXPECT_EQ(given.func, handle<CUfunction>(0x500));
  EXPECT_EQ(given.gridDimX * 100 + given.gridDimY * 10 + given.gridDimZ, 123U);
  EXPECT_EQ(given.blockDimX * 100 + given.blockDimY * 10 + given.blockDimZ, 456U);
  EXPECT_EQ(given.sharedMemBytes, 7U);
  EXPECT_EQ(given.kernelParams, arguments_.data());
  EXPECT_EQ(given.extra, nullptr);
  EXPECT_EQ(given.kern, nullptr);
  EXPECT_EQ(given.ctx, nullptr);
  EXPECT_EQ(call.word(1), reinterpret_cast<std::uint64_t>(kGraph));
  EXPECT_EQ(call.pointee<hipGraphNode_t>(2), kNode);
  EXPECT_NE(node, nullptr);
}

TEST_F(KernelNodes, NullParametersAreCudasToRefuse) {
  cuda().answers["cuGraphAddKernelNode"] = CUDA_ERROR_INVALID_VALUE;
  hipGraphNode_t node = nullptr;
  EXPECT_EQ(hipGraphAddKernelNode(&node, kGraph, nullptr, 0, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(last("cuGraphAddKernelNode").word(4), 0U);
}

// CUDA's list lives only during the call, so the test looks at the recorded call of a setter of an executable graph:
// HIP's list is unchanged, and CUDA gets a different list.
TEST_F(KernelNodes, ExtraIsAListOfCudasOwn) {
  std::size_t size = 16;
  std::array<std::byte, 16> buffer{};
  std::array<void*, 5> extra{HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                             HIP_LAUNCH_PARAM_END};
  params_.extra = extra.data();
  params_.kernelParams = nullptr;
  ASSERT_EQ(hipGraphExecKernelNodeSetParams(kExec, kNode, &params_), hipSuccess);
  const auto given = last("cuGraphExecKernelNodeSetParams").pointee<CUDA_KERNEL_NODE_PARAMS>(2);
  EXPECT_NE(given.extra, nullptr);
  EXPECT_NE(given.extra, extra.data());
  EXPECT_EQ(extra[4], HIP_LAUNCH_PARAM_END);
}

TEST_F(KernelNodes, AListForCudaHasHipsEntriesAndEndsInCudasMark) {
  std::size_t size = 16;
  std::array<std::byte, 16> buffer{};
  // In either order, and with a pair left out.
  std::array<void*, 5> both{HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(),
                            HIP_LAUNCH_PARAM_END};
  std::array<void*, 3> one{HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), HIP_LAUNCH_PARAM_END};
  std::array<void*, 1> none{HIP_LAUNCH_PARAM_END};
  ExtraList list(both.data()), shorter(one.data()), empty(none.data()), missing(nullptr);
  EXPECT_EQ(list.get()[0], CU_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(list.get()[1], &size);
  EXPECT_EQ(list.get()[2], CU_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(list.get()[3], buffer.data());
  EXPECT_EQ(list.get()[4], CU_LAUNCH_PARAM_END);
  EXPECT_EQ(shorter.get()[1], buffer.data());
  EXPECT_EQ(shorter.get()[2], CU_LAUNCH_PARAM_END);
  EXPECT_EQ(empty.get()[0], CU_LAUNCH_PARAM_END);
  EXPECT_EQ(missing.get(), nullptr);
}

TEST_F(KernelNodes, AnExtraThatCudaGivesOutEndsInHipsMark) {
  std::size_t size = 16;
  std::array<void*, 5> theirs{CU_LAUNCH_PARAM_BUFFER_POINTER, arguments_.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                              CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS read{};
  read.func = handle<CUfunction>(0x500);
  read.extra = theirs.data();
  cuda().give("cuGraphKernelNodeGetParams", 1, read);
  hipKernelNodeParams got{};
  ASSERT_EQ(hipGraphKernelNodeGetParams(kNode, &got), hipSuccess);
  ASSERT_NE(got.extra, nullptr);
  EXPECT_EQ(got.extra[0], HIP_LAUNCH_PARAM_BUFFER_POINTER);
  EXPECT_EQ(got.extra[1], arguments_.data());
  EXPECT_EQ(got.extra[2], HIP_LAUNCH_PARAM_BUFFER_SIZE);
  EXPECT_EQ(got.extra[3], &size);
  EXPECT_EQ(got.extra[4], HIP_LAUNCH_PARAM_END);
  EXPECT_EQ(theirs[4], CU_LAUNCH_PARAM_END) << "CUDA's own list was written to";
  EXPECT_EQ(hipGraphDestroyNode(kNode), hipSuccess);  // and with it the copy
}

// A graph's nodes are looked up only while there are copies, so an end that asks for none shows that all are gone.
TEST_F(KernelNodes, TheCopyOfAnExtraGoesWithItsNodeOrItsGraph) {
  std::array<void*, 1> theirs{CU_LAUNCH_PARAM_END};
  CUDA_KERNEL_NODE_PARAMS read{};
  read.extra = theirs.data();
  cuda().give("cuGraphKernelNodeGetParams", 1, read);
  cuda().give("cudaGraphGetNodes", 1, kNode);
  cuda().give("cudaGraphGetNodes", 2, std::size_t{1});
  hipKernelNodeParams got{};
  ASSERT_EQ(hipGraphKernelNodeGetParams(kNode, &got), hipSuccess);
  EXPECT_EQ(hipGraphDestroyNode(kNode), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(kGraph), hipSuccess);
  EXPECT_FALSE(cuda().was_called("cudaGraphGetNodes")) << "the copy of a destroyed node is still there";

  ASSERT_EQ(hipGraphKernelNodeGetParams(kNode, &got), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(kGraph), hipSuccess);
  EXPECT_TRUE(cuda().was_called("cudaGraphGetNodes"));
  cuda().calls.clear();
  EXPECT_EQ(hipGraphDestroy(kGraph), hipSuccess);
  EXPECT_FALSE(cuda().was_called("cudaGraphGetNodes")) << "the copy of a destroyed graph's node is still there";
}

TEST_F(KernelNodes, AKernelWithoutAFunctionGetsTheFunctionOfTheCurrentContext) {
  CUDA_KERNEL_NODE_PARAMS read{};
  read.kern = handle<CUkernel>(0x600);
  cuda().give("cuGraphKernelNodeGetParams", 1, read);
  cuda().give("cuKernelGetFunction", 0, handle<CUfunction>(0x700));
  hipKernelNodeParams got{};
  ASSERT_EQ(hipGraphKernelNodeGetParams(kNode, &got), hipSuccess);
  EXPECT_EQ(got.func, handle<void*>(0x700));
  EXPECT_EQ(last("cuKernelGetFunction").word(1), 0x600U);
}

TEST_F(KernelNodes, CopiedAttributesGoFromTheFirstToTheSecond) {
  const auto from = handle<hipGraphNode_t>(0x310), to = handle<hipGraphNode_t>(0x320);
  ASSERT_EQ(hipGraphKernelNodeCopyAttributes(from, to), hipSuccess);
  EXPECT_EQ(last("cuGraphKernelNodeCopyAttributes").word(0), 0x320U);
  EXPECT_EQ(last("cuGraphKernelNodeCopyAttributes").word(1), 0x310U);
}

TEST_F(KernelNodes, AWindowOfAccessKeepsItsFieldsBothWays) {
  hipKernelNodeAttrValue value{};
  value.accessPolicyWindow = {handle<void*>(0x800), hipAccessPropertyPersisting, 0.5F, hipAccessPropertyStreaming, 99};
  ASSERT_EQ(hipGraphKernelNodeSetAttribute(kNode, hipLaunchAttributeAccessPolicyWindow, &value), hipSuccess);
  const auto given = last("cuGraphKernelNodeSetAttribute").pointee<CUlaunchAttributeValue>(2);
  EXPECT_EQ(given.accessPolicyWindow.base_ptr, handle<void*>(0x800));
  EXPECT_EQ(given.accessPolicyWindow.num_bytes, 99U);
  EXPECT_EQ(given.accessPolicyWindow.hitRatio, 0.5F);
  EXPECT_EQ(given.accessPolicyWindow.hitProp, CU_ACCESS_PROPERTY_PERSISTING);
  EXPECT_EQ(given.accessPolicyWindow.missProp, CU_ACCESS_PROPERTY_STREAMING);

  cuda().give("cuGraphKernelNodeGetAttribute", 2, given);
  hipKernelNodeAttrValue got{};
  ASSERT_EQ(hipGraphKernelNodeGetAttribute(kNode, hipLaunchAttributeAccessPolicyWindow, &got), hipSuccess);
  EXPECT_EQ(got.accessPolicyWindow.num_bytes, 99U);
  EXPECT_EQ(got.accessPolicyWindow.missProp, hipAccessPropertyStreaming);
}

}  // namespace
}  // namespace nvidia
