// Graphs, nodes that are no kernels, executable graphs and captures: parameters both ways, results that HIP lacks, and
// that everything that is made is ended.
#include <array>

#include "nvidia/nvidia_fixture.h"

namespace nvidia {
namespace {

class Graphs : public NvidiaTest {
 protected:
  hipGraphExecUpdateResult updated_as(cudaGraphExecUpdateResult result) {
    cudaGraphExecUpdateResultInfo info{};
    info.result = result;
    info.errorNode = handle<cudaGraphNode_t>(0x310);
    info.errorFromNode = handle<cudaGraphNode_t>(0x320);
    cuda().give("cudaGraphExecUpdate", 2, info);
    hipGraphExecUpdateResult got = hipGraphExecUpdateSuccess;
    EXPECT_EQ(hipGraphExecUpdate(kExec, kGraph, &error_node_, &got), hipSuccess);
    return got;
  }
  hipGraphNode_t error_node_ = nullptr;
};

TEST_F(Graphs, WhatIsMadeIsEnded) {
  hipGraph_t graph = nullptr, clone = nullptr, captured = nullptr;
  hipGraphExec_t exec = nullptr;
  ASSERT_EQ(hipGraphCreate(&graph, 0), hipSuccess);
  ASSERT_EQ(hipGraphClone(&clone, graph), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(kStream, hipStreamCaptureModeRelaxed), hipSuccess);
  ASSERT_EQ(hipStreamEndCapture(kStream, &captured), hipSuccess);
  ASSERT_EQ(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0), hipSuccess);
  EXPECT_EQ(cuda().alive["graph"], 3);
  EXPECT_EQ(cuda().alive["executable graph"], 1);
  for (hipGraph_t one : {graph, clone, captured}) EXPECT_EQ(hipGraphDestroy(one), hipSuccess);
  EXPECT_EQ(hipGraphExecDestroy(exec), hipSuccess);
  EXPECT_EQ(cuda().alive["graph"], 0);
  EXPECT_EQ(cuda().alive["executable graph"], 0);
}

TEST_F(Graphs, TypesThatCudaNumbersOtherwise) {
  hipGraphNodeType type = hipGraphNodeTypeCount;
  cuda().give("cuGraphNodeGetType", 1, CU_GRAPH_NODE_TYPE_MEM_FREE);
  EXPECT_EQ(hipGraphNodeGetType(kNode, &type), hipSuccess);
  EXPECT_EQ(type, hipGraphNodeTypeMemFree);
  cuda().give("cuGraphNodeGetType", 1, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
  EXPECT_EQ(hipGraphNodeGetType(kNode, &type), hipSuccess);
  EXPECT_EQ(type, hipGraphNodeTypeBatchMemOp);
  cuda().give("cuGraphNodeGetType", 1, CU_GRAPH_NODE_TYPE_CONDITIONAL);
  EXPECT_EQ(hipGraphNodeGetType(kNode, &type), hipErrorNotSupported);
  EXPECT_EQ(hipGetLastError(), hipErrorNotSupported);
}

TEST_F(Graphs, ResultsOfAnUpdate) {
  EXPECT_EQ(updated_as(cudaGraphExecUpdateErrorTopologyChanged), hipGraphExecUpdateErrorTopologyChanged);
  EXPECT_EQ(error_node_, handle<hipGraphNode_t>(0x310));
  EXPECT_EQ(updated_as(cudaGraphExecUpdateErrorUnsupportedFunctionChange),
            hipGraphExecUpdateErrorUnsupportedFunctionChange);
  EXPECT_EQ(updated_as(cudaGraphExecUpdateErrorAttributesChanged), hipGraphExecUpdateErrorParametersChanged);
  EXPECT_EQ(updated_as(static_cast<cudaGraphExecUpdateResult>(9)), hipGraphExecUpdateError);
}

TEST_F(Graphs, AnUpdateWithoutAnOutputIsNotAskedFor) {
  hipGraphNode_t node = nullptr;
  EXPECT_EQ(hipGraphExecUpdate(kExec, kGraph, &node, nullptr), hipErrorInvalidValue);
  EXPECT_FALSE(cuda().was_called("cudaGraphExecUpdate"));
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidValue);
}

TEST_F(Graphs, AMemsetKeepsItsFieldsBothWays) {
  const hipMemsetParams params{handle<void*>(0x900), 2, 3, 64, 0xdae6, 5};
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(hipGraphAddMemsetNode(&node, kGraph, nullptr, 0, &params), hipSuccess);
  const auto given = last("cudaGraphAddMemsetNode").pointee<cudaMemsetParams>(4);
  EXPECT_EQ(given.dst, handle<void*>(0x900));
  EXPECT_EQ(given.elementSize, 2U);
  EXPECT_EQ(given.height, 3U);
  EXPECT_EQ(given.pitch, 64U);
  EXPECT_EQ(given.value, 0xdae6U) << "CUDA's answer to a value that is too wide is passed on";
  EXPECT_EQ(given.width, 5U);
  cuda().give("cudaGraphMemsetNodeGetParams", 1, given);
  hipMemsetParams got{};
  ASSERT_EQ(hipGraphMemsetNodeGetParams(kNode, &got), hipSuccess);
  EXPECT_EQ(std::memcmp(&got.dst, &params.dst, sizeof got.dst), 0);
  EXPECT_EQ(got.width * 1000 + got.height * 100 + got.elementSize, 5302U);
  EXPECT_EQ(got.pitch, 64U);
}

TEST_F(Graphs, ADriversCopyNumbersMemoryInItsOwnWay) {
  HIP_MEMCPY3D params{};
  params.srcMemoryType = hipMemoryTypeArray;
  params.dstMemoryType = hipMemoryTypeManaged;
  params.dstDevice = handle<void*>(0xa00);
  params.WidthInBytes = 8;
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(hipDrvGraphAddMemcpyNode(&node, kGraph, nullptr, 0, &params, handle<hipCtx_t>(0xb00)), hipSuccess);
  const auto given = last("cuGraphAddMemcpyNode").pointee<CUDA_MEMCPY3D>(4);
  EXPECT_EQ(given.srcMemoryType, CU_MEMORYTYPE_ARRAY);
  EXPECT_EQ(given.dstMemoryType, CU_MEMORYTYPE_UNIFIED);
  EXPECT_EQ(given.dstDevice, 0xa00U);
  EXPECT_EQ(last("cuGraphAddMemcpyNode").word(5), 0xb00U);
}

TEST_F(Graphs, AnAllocationsAddressComesBack) {
  hipMemAllocNodeParams params{};
  params.poolProps.allocType = hipMemAllocationTypePinned;
  params.poolProps.location = {hipMemLocationTypeDevice, 1};
  params.bytesize = 4096;
  cudaMemAllocNodeParams made{};
  made.dptr = handle<void*>(0xd00);
  cuda().give("cudaGraphAddMemAllocNode", 4, made);
  hipGraphNode_t node = nullptr;
  ASSERT_EQ(hipGraphAddMemAllocNode(&node, kGraph, nullptr, 0, &params), hipSuccess);
  EXPECT_EQ(params.dptr, handle<void*>(0xd00));
  const auto given = last("cudaGraphAddMemAllocNode").pointee<cudaMemAllocNodeParams>(4);
  EXPECT_EQ(given.bytesize, 4096U);
  EXPECT_EQ(given.poolProps.location.id, 1);
}

TEST_F(Graphs, AGenericKernelGoesThroughTheDriverAndACopyThroughTheRuntime) {
  hipGraphNode_t node = nullptr;
  alignas(hipGraphNodeParams) std::array<std::byte, sizeof(hipGraphNodeParams)>
      bytes{};  // it has no constructor in C++
  auto& params = reinterpret_cast<hipGraphNodeParams&>(bytes);
  params.type = hipGraphNodeTypeKernel;
  params.kernel.func = handle<void*>(0x500);
  params.kernel.gridDim = {3, 1, 1};
  ASSERT_EQ(hipGraphAddNode(&node, kGraph, nullptr, 0, &params), hipSuccess);
  const auto kernel = last("cuGraphAddNode_v2").pointee<CUgraphNodeParams>(5);
  EXPECT_EQ(kernel.type, CU_GRAPH_NODE_TYPE_KERNEL);
  EXPECT_EQ(kernel.kernel.func, handle<CUfunction>(0x500));
  EXPECT_EQ(kernel.kernel.gridDimX, 3U);

  bytes = {};
  params.type = hipGraphNodeTypeMemcpy;
  params.memcpy.copyParams.extent = {7, 1, 1};
  params.memcpy.copyParams.kind = hipMemcpyDefault;
  ASSERT_EQ(hipGraphExecNodeSetParams(kExec, kNode, &params), hipSuccess);
  const stub::Call& call = last("cudaGraphExecNodeSetParams");
  std::array<int, sizeof(cudaGraphNodeParams) / sizeof(int)> words{};
  static_assert(sizeof words == sizeof(cudaGraphNodeParams));
  words = call.pointee<decltype(words)>(2);
  EXPECT_EQ(words[0], cudaGraphNodeTypeMemcpy);

  params.type = hipGraphNodeTypeMemcpyToSymbol;  // CUDA's 13 is a conditional node
  EXPECT_EQ(hipGraphNodeSetParams(kNode, &params), hipErrorInvalidValue);
  EXPECT_FALSE(cuda().was_called("cudaGraphNodeSetParams"));
}

TEST_F(Graphs, CaptureTellsStateIdAndDependencies) {
  cuda().give("cudaStreamGetCaptureInfo", 1, cudaStreamCaptureStatusInvalidated);
  cuda().give("cudaStreamGetCaptureInfo", 2, 77ULL);
  cuda().give("cudaStreamGetCaptureInfo", 6, std::size_t{3});
  hipStreamCaptureStatus state = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  std::size_t count = 0;
  ASSERT_EQ(hipStreamGetCaptureInfo_v2(kStream, &state, &id, nullptr, nullptr, &count), hipSuccess);
  EXPECT_EQ(state, hipStreamCaptureStatusInvalidated);
  EXPECT_EQ(id, 77U);
  EXPECT_EQ(count, 3U);
  EXPECT_EQ(last("cudaStreamGetCaptureInfo").word(5), 0U) << "edge data was asked for";
}

}  // namespace
}  // namespace nvidia
