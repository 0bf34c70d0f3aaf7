// Stream memory operations through the C ABI: values that are written and waited for.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

struct MemoryOperationTest : AbiTest {
  hipStream_t stream() { return create_stream(hipStreamNonBlocking); }
  static hipStreamBatchMemOpParams write(void* at, std::uint32_t value) {
    hipStreamBatchMemOpParams params{};
    params.operation = hipStreamMemOpWriteValue32;
    params.writeValue.address = at;
    params.writeValue.value = value;
    return params;
  }
  static hipStreamBatchMemOpParams wait_for(void* at, std::uint32_t value) {
    hipStreamBatchMemOpParams params{};
    params.operation = hipStreamMemOpWaitValue32;
    params.waitValue.address = at;
    params.waitValue.value = value;
    params.waitValue.flags = hipStreamWaitValueEq;
    return params;
  }
};

TEST_F(MemoryOperationTest, AStreamWaitsForWhatAnotherOneWrites) {
  void *flag = allocate(), *out = allocate();
  hipStream_t first = stream(), second = stream();
  EXPECT_HIP(api.hipStreamWaitValue32(first, flag, 7, hipStreamWaitValueGte, ~0u));
  EXPECT_HIP(api.hipMemsetAsync(out, 1, 4, first));
  EXPECT_EQ(api.hipStreamQuery(first), hipErrorNotReady);
  EXPECT_HIP(api.hipStreamWriteValue32(second, flag, 7, 0));
  EXPECT_HIP(api.hipStreamSynchronize(first));
  EXPECT_EQ(word(out), 0x01010101u);
  EXPECT_EQ(word(flag), 7u);
}

TEST_F(MemoryOperationTest, AWaitForWhatNobodyWritesEndsInAFault) {
  void* flag = allocate();
  hipStream_t first = stream();
  EXPECT_HIP(api.hipStreamWaitValue64(first, flag, 1, hipStreamWaitValueEq, ~std::uint64_t{0}));
  EXPECT_EQ(api.hipStreamSynchronize(first), hipErrorLaunchTimeOut);
}

TEST_F(MemoryOperationTest, ComparisonsAreThoseOfTheHeader) {
  void* flag = allocate();
  const auto passes = [&](std::uint32_t value, std::uint32_t wanted, unsigned comparison, std::uint32_t mask) {
    const MemoryOperation wait{true,   4,    reinterpret_cast<Address>(flag),
                               wanted, mask, static_cast<Comparison>(comparison)};
    EXPECT_HIP(api.hipMemcpy(flag, &value, 4, hipMemcpyHostToDevice));
    return satisfied(wait, instance.runtime().memory());
  };
  EXPECT_TRUE(passes(5, 5, hipStreamWaitValueGte, ~0u));
  EXPECT_FALSE(passes(4, 5, hipStreamWaitValueGte, ~0u));
  EXPECT_FALSE(passes(0xf5, 0xf5, hipStreamWaitValueEq, 0xf));
  EXPECT_TRUE(passes(0xf5, 0x5, hipStreamWaitValueEq, 0xf));
  EXPECT_TRUE(passes(6, 2, hipStreamWaitValueAnd, ~0u));
  EXPECT_FALSE(passes(6, 1, hipStreamWaitValueAnd, ~0u));
  EXPECT_FALSE(passes(~0u, 0, hipStreamWaitValueNor, ~0u));
  EXPECT_TRUE(passes(0xf, 0, hipStreamWaitValueNor, ~0u));
}

TEST_F(MemoryOperationTest, ABatchRunsInOrderAndIsANodeLikeAnyOther) {
  void* at = allocate();
  hipStreamBatchMemOpParams list[] = {write(at, 3), wait_for(at, 3), write(static_cast<char*>(at) + 4, 9)};
  EXPECT_HIP(api.hipStreamBatchMemOp(nullptr, 3, list, 0));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(word(static_cast<char*>(at) + 4), 9u);

  hipGraph_t graph = create_graph();
  hipGraphNode_t node = nullptr;
  hipBatchMemOpNodeParams params{}, out{};
  params.count = 3;
  params.paramArray = list;
  EXPECT_HIP(api.hipGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  list[0].writeValue.value = 100;  // the node has its own
  EXPECT_HIP(api.hipGraphBatchMemOpNodeGetParams(node, &out));
  ASSERT_EQ(out.count, 3u);
  EXPECT_EQ(out.paramArray[0].writeValue.value, 3u);
  EXPECT_EQ(out.paramArray[1].operation, hipStreamMemOpWaitValue32);
  hipGraphExec_t exec = instantiate(graph);
  list[0] = write(at, 5), list[1] = wait_for(at, 5), list[2] = write(at, 6);
  EXPECT_HIP(api.hipGraphExecBatchMemOpNodeSetParams(exec, node, &params));
  run(exec);
  EXPECT_EQ(word(at), 6u);
  run(instantiate(graph));
  EXPECT_EQ(word(at), 3u);
  EXPECT_HIP(api.hipGraphBatchMemOpNodeSetParams(node, &params));
  run(instantiate(graph));
  EXPECT_EQ(word(at), 6u);
}

TEST_F(MemoryOperationTest, CaptureRecordsThem) {
  void* at = allocate();
  hipStream_t on = stream();
  EXPECT_HIP(api.hipStreamBeginCapture(on, hipStreamCaptureModeGlobal));
  EXPECT_HIP(api.hipStreamWriteValue64(on, at, 0x100000002, 0));
  hipGraph_t graph = end_capture(on);
  EXPECT_EQ(word(at), 0u);
  run(instantiate(graph));
  EXPECT_EQ(word(at), 2u);
  EXPECT_EQ(word(static_cast<char*>(at) + 4), 1u);
}

}  // namespace
}  // namespace model::abi
