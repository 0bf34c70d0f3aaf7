// Stream capture as programs of HIP see it.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

struct CapturesTest : AbiTest {
  CapturesTest() { EXPECT_HIP(api.hipStreamCreate(&stream)); }
  void begin(hipStreamCaptureMode mode = hipStreamCaptureModeGlobal) {
    EXPECT_HIP(api.hipStreamBeginCapture(stream, mode));
  }
  hipGraph_t end() { return end_capture(stream); }
  hipStreamCaptureStatus status() {
    hipStreamCaptureStatus found = hipStreamCaptureStatusNone;
    EXPECT_HIP(api.hipStreamIsCapturing(stream, &found));
    return found;
  }
  hipStream_t stream = nullptr;
};

TEST_F(CapturesTest, CopiesMemsetsKernelsAndHostFunctionsBecomeNodes) {
  void *a = allocate(), *b = allocate();
  static int calls = 0;
  std::uint32_t out = 0, in = 20;
  PackedAdd arguments{b, a, 5, 1};
  begin();
  EXPECT_HIP(api.hipMemcpyAsync(a, &in, 4, hipMemcpyHostToDevice, stream));
  EXPECT_HIP(api.hipMemsetAsync(b, 0xff, 4, stream));
  EXPECT_HIP(api.hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, arguments.pointers, nullptr));
  EXPECT_HIP(api.hipMemcpyAsync(&out, b, 4, hipMemcpyDeviceToHost, stream));
  EXPECT_HIP(api.hipLaunchHostFunc(stream, [](void*) { ++calls; }, nullptr));
  hipGraph_t graph = end();
  EXPECT_EQ(out, 0u);
  EXPECT_EQ(node_count(graph), 5u);
  hipGraphExec_t exec = instantiate(graph);
  in = 30;
  run(exec), run(exec);
  EXPECT_EQ(out, 36u);
  EXPECT_EQ(calls, 2);
}

TEST_F(CapturesTest, AnExternalRecordAndWaitAreNodesAndOfAnyOtherStreamPlain) {
  hipEvent_t recorded = create_event(), waited = create_event();
  begin();
  EXPECT_HIP(api.hipEventRecordWithFlags(recorded, stream, hipEventRecordExternal));
  EXPECT_HIP(api.hipStreamWaitEvent(stream, waited, hipEventWaitExternal));
  hipGraph_t graph = end();
  hipGraphNode_t nodes[2] = {};
  std::size_t count = 2;
  EXPECT_HIP(api.hipGraphGetNodes(graph, nodes, &count));
  ASSERT_EQ(count, 2u);
  hipEvent_t event = nullptr;
  EXPECT_HIP(api.hipGraphEventRecordNodeGetEvent(nodes[0], &event));
  EXPECT_EQ(event, recorded);
  EXPECT_HIP(api.hipGraphEventWaitNodeGetEvent(nodes[1], &event));
  EXPECT_EQ(event, waited);
  hipGraphNode_t before = nullptr;
  EXPECT_HIP(api.hipGraphNodeGetDependencies(nodes[1], &before, &(count = 1)));
  EXPECT_EQ(before, nodes[0]);
  EXPECT_HIP(api.hipEventRecordWithFlags(recorded, stream, hipEventRecordExternal));
  EXPECT_HIP(api.hipStreamWaitEvent(nullptr, recorded, hipEventWaitExternal));
  EXPECT_HIP(api.hipEventSynchronize(recorded));
  EXPECT_EQ(api.hipEventRecordWithFlags(recorded, stream, 2), hipErrorInvalidValue);
  EXPECT_EQ(api.hipStreamWaitEvent(stream, recorded, 2), hipErrorInvalidValue);
}

TEST_F(CapturesTest, InformationIsThatOfTheStream) {
  unsigned long long first = 0, second = 0;
  hipStreamCaptureStatus found = hipStreamCaptureStatusActive;
  EXPECT_HIP(api.hipStreamGetCaptureInfo(stream, &found, &first));
  EXPECT_EQ(found, hipStreamCaptureStatusNone);
  void* a = allocate();
  begin();
  EXPECT_HIP(api.hipMemsetAsync(a, 1, 4, stream));
  hipGraph_t graph = nullptr;
  const hipGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  EXPECT_HIP(api.hipStreamGetCaptureInfo_v2(stream, &found, &first, &graph, &nodes, &count));
  EXPECT_EQ(found, hipStreamCaptureStatusActive);
  ASSERT_EQ(count, 1u);
  hipGraphNode_t own = nullptr;
  const hipMemsetParams params = set(a, 7);
  const hipGraphNode_t before = nodes[0];
  EXPECT_HIP(api.hipGraphAddMemsetNode(&own, graph, &before, 1, &params));
  EXPECT_HIP(api.hipStreamUpdateCaptureDependencies(stream, &own, 1, hipStreamSetCaptureDependencies));
  EXPECT_HIP(api.hipMemsetAsync(a, 2, 4, stream));
  EXPECT_EQ(end(), graph);
  std::size_t edges = 0;
  EXPECT_HIP(api.hipGraphGetEdges(graph, nullptr, nullptr, &edges));
  EXPECT_EQ(edges, 2u);
  begin();
  EXPECT_HIP(api.hipStreamGetCaptureInfo(stream, &found, &second));
  EXPECT_NE(first, second);
  EXPECT_EQ(api.hipStreamUpdateCaptureDependencies(stream, &own, 1, 0), hipErrorInvalidValue);
  (void)end();
}

TEST_F(CapturesTest, UnsafeCallsAreRefusedAndMakeItInvalid) {
  void* pointer = nullptr;
  begin();
  EXPECT_EQ(api.hipMalloc(&pointer, 16), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(status(), hipStreamCaptureStatusInvalidated);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(api.hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  begin();
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  EXPECT_HIP(api.hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, hipStreamCaptureModeGlobal);
  EXPECT_HIP(api.hipMalloc(&pointer, 16));
  EXPECT_HIP(api.hipThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
  EXPECT_EQ(status(), hipStreamCaptureStatusActive);
  EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(status(), hipStreamCaptureStatusInvalidated);
}

TEST_F(CapturesTest, HostMemoryIsUnsafeAndMemoryInformationAndLimitsAreNot) {
  static char registered[64], fresh[64];
  void* pinned = nullptr;
  hipGraph_t graph = nullptr;
  std::size_t unused = 0, total = 0;
  EXPECT_HIP(api.hipHostRegister(registered, sizeof registered, 0));
  begin();
  EXPECT_HIP(api.hipMemGetInfo(&unused, &total));
  EXPECT_HIP(api.hipDeviceSetLimit(hipLimitStackSize, 2048));
  EXPECT_EQ(status(), hipStreamCaptureStatusActive);
  EXPECT_EQ(api.hipHostMalloc(&pinned, 64, 0), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(status(), hipStreamCaptureStatusInvalidated);
  EXPECT_EQ(api.hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  begin();
  EXPECT_EQ(api.hipHostRegister(fresh, sizeof fresh, 0), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(status(), hipStreamCaptureStatusInvalidated);
  EXPECT_EQ(api.hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  begin();
  EXPECT_EQ(api.hipHostUnregister(registered), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(status(), hipStreamCaptureStatusInvalidated);
  EXPECT_EQ(api.hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  begin(hipStreamCaptureModeRelaxed);
  EXPECT_HIP(api.hipHostUnregister(registered));
  EXPECT_EQ(status(), hipStreamCaptureStatusActive);
  std::size_t stack = 0;
  EXPECT_HIP(api.hipDeviceGetLimit(&stack, hipLimitStackSize));
  EXPECT_EQ(stack, 2048u);
  instance.reset({});
  EXPECT_HIP(api.hipDeviceGetLimit(&stack, hipLimitStackSize));
  EXPECT_EQ(stack, 16384u);
}

TEST_F(CapturesTest, BlockingCallsAreRefused) {
  void *a = allocate(), *b = allocate();
  begin(hipStreamCaptureModeRelaxed);
  EXPECT_EQ(api.hipMemcpyWithStream(a, b, 4, hipMemcpyDeviceToDevice, stream), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(status(), hipStreamCaptureStatusInvalidated);
  hipGraph_t graph = nullptr;
  EXPECT_EQ(api.hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  begin(hipStreamCaptureModeRelaxed);
  EXPECT_EQ(api.hipMemcpy(a, b, 4, hipMemcpyDeviceToDevice), hipErrorStreamCaptureImplicit);
  EXPECT_EQ(status(), hipStreamCaptureStatusInvalidated);
}

TEST_F(CapturesTest, BlockingCallsGoByTheNullStreamAndNotByTheMode) {
  void *a = allocate(), *b = allocate();
  hipStream_t apart = nullptr;
  EXPECT_HIP(api.hipStreamCreateWithFlags(&apart, hipStreamNonBlocking));
  for (const auto mode : {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed}) {
    begin(mode);
    EXPECT_EQ(api.hipMemset(a, 1, 4), hipErrorStreamCaptureImplicit);
    hipGraph_t graph = nullptr;
    EXPECT_EQ(api.hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
    EXPECT_HIP(api.hipStreamBeginCapture(apart, mode));
    EXPECT_HIP(api.hipMemset(a, 1, 4));
    EXPECT_HIP(api.hipMemcpy(a, b, 4, hipMemcpyDeviceToDevice));
    EXPECT_HIP(api.hipStreamEndCapture(apart, &graph));
    EXPECT_EQ(node_count(graph), 0u);
  }
}

TEST_F(CapturesTest, ABlockingCopyOnAnotherStreamIsAnUnsafeCall) {
  void *a = allocate(), *b = allocate();
  hipStream_t other = create_stream();
  begin(hipStreamCaptureModeRelaxed);
  EXPECT_HIP(api.hipMemcpyWithStream(a, b, 4, hipMemcpyDeviceToDevice, other));
  (void)end();
  begin();
  EXPECT_EQ(api.hipMemcpyWithStream(a, b, 4, hipMemcpyDeviceToDevice, other), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(status(), hipStreamCaptureStatusInvalidated);
}

TEST_F(CapturesTest, WaitingForAnotherStreamIsAnUnsafeCall) {
  hipStream_t other = create_stream();
  begin(hipStreamCaptureModeRelaxed);
  EXPECT_HIP(api.hipStreamSynchronize(other));
  (void)end();
  begin();
  EXPECT_EQ(api.hipStreamSynchronize(other), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(status(), hipStreamCaptureStatusInvalidated);
}

TEST_F(CapturesTest, WaitingForACapturingStreamInvalidatesItsOwnCaptureAndNoOther) {
  hipStream_t other = create_stream();
  for (const auto call : {api.hipStreamSynchronize, api.hipStreamQuery}) {
    begin();
    EXPECT_HIP(api.hipStreamBeginCapture(other, hipStreamCaptureModeGlobal));
    EXPECT_EQ(call(other), hipErrorStreamCaptureUnsupported);
    EXPECT_EQ(status(), hipStreamCaptureStatusActive);
    hipGraph_t graph = nullptr;
    EXPECT_EQ(api.hipStreamEndCapture(other, &graph), hipErrorStreamCaptureInvalidated);
    (void)end();
  }
}

TEST_F(CapturesTest, TheDeviceIsNotWaitedForInAnyMode) {
  for (const auto mode : {hipStreamCaptureModeGlobal, hipStreamCaptureModeThreadLocal, hipStreamCaptureModeRelaxed}) {
    begin(mode);
    EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
    hipGraph_t graph = nullptr;
    EXPECT_EQ(api.hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  }
}

TEST_F(CapturesTest, AskingTheNullStreamIsRefusedAndChangesNothing) {
  begin();
  hipStreamCaptureStatus found = hipStreamCaptureStatusNone;
  EXPECT_EQ(api.hipStreamIsCapturing(nullptr, &found), hipErrorStreamCaptureImplicit);
  EXPECT_EQ(status(), hipStreamCaptureStatusActive);
  (void)end();
}

TEST_F(CapturesTest, DependenciesThatWereReplacedNeedNotBeJoined) {
  void* a = allocate();
  hipStream_t side = create_stream();
  hipEvent_t event = create_event();
  begin();
  EXPECT_HIP(api.hipEventRecord(event, stream));
  EXPECT_HIP(api.hipStreamWaitEvent(side, event, 0));
  EXPECT_HIP(api.hipMemsetAsync(a, 1, 4, side));
  EXPECT_HIP(api.hipEventRecord(event, side));
  EXPECT_HIP(api.hipStreamWaitEvent(stream, event, 0));
  EXPECT_HIP(api.hipStreamUpdateCaptureDependencies(stream, nullptr, 0, hipStreamSetCaptureDependencies));
  EXPECT_EQ(node_count(end()), 1u);
}

TEST_F(CapturesTest, ArgumentsAreLookedAt) {
  hipGraph_t graph = nullptr;
  EXPECT_EQ(api.hipStreamBeginCapture(stream, static_cast<hipStreamCaptureMode>(3)), hipErrorInvalidValue);
  EXPECT_EQ(api.hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(api.hipStreamEndCapture(stream, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipStreamEndCapture(stream, &graph), hipErrorIllegalState);
  EXPECT_EQ(api.hipStreamIsCapturing(stream, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipThreadExchangeStreamCaptureMode(nullptr), hipErrorInvalidValue);
}

TEST_F(CapturesTest, ThePerThreadStreamCaptures) {
  void* a = allocate();
  EXPECT_HIP(api.hipStreamBeginCapture(hipStreamPerThread, hipStreamCaptureModeGlobal));
  EXPECT_HIP(api.hipMemsetAsync(a, 3, 4, hipStreamPerThread));
  run(instantiate(end_capture(hipStreamPerThread)));
  EXPECT_EQ(word(a), 0x03030303u);
}

}  // namespace
}  // namespace model::abi
