// Several devices through the C ABI: the device of each object, waiting for one device, access to peers.

#include "model/abi_fixture.h"

namespace model::abi {
namespace {

struct DevicesTest : AbiTest {
  DevicesTest() {
    InProcessOptions options = host_memory_options();
    options.model.devices = 3;
    instance.reset(options);
  }
  hipStream_t stream_of(int device) {
    EXPECT_HIP(api.hipSetDevice(device));
    hipStream_t stream = create_stream(hipStreamNonBlocking);
    EXPECT_HIP(api.hipSetDevice(0));
    return stream;
  }
  hipEvent_t event_of(int device) {
    EXPECT_HIP(api.hipSetDevice(device));
    hipEvent_t event = create_event();
    EXPECT_HIP(api.hipSetDevice(0));
    return event;
  }
};

TEST_F(DevicesTest, MemoryIsThatOfTheDeviceThatWasCurrent) {
  void* memory = nullptr;
  EXPECT_HIP(api.hipSetDevice(2));
  EXPECT_HIP(api.hipMalloc(&memory, 64));
  EXPECT_HIP(api.hipSetDevice(0));
  hipPointerAttribute_t attributes{};
  EXPECT_HIP(api.hipPointerGetAttributes(&attributes, memory));
  EXPECT_EQ(attributes.device, 2);
  EXPECT_HIP(api.hipFree(memory));
}

TEST_F(DevicesTest, AnEventIsRecordedOnStreamsOfItsOwnDeviceAlone) {
  hipStream_t first = stream_of(0), second = stream_of(1);
  hipEvent_t event = event_of(1);
  EXPECT_EQ(api.hipEventRecord(event, first), hipErrorInvalidHandle);
  EXPECT_EQ(api.hipEventRecord(event, nullptr), hipErrorInvalidHandle);
  EXPECT_HIP(api.hipEventRecord(event, second));
  EXPECT_HIP(api.hipStreamWaitEvent(first, event, 0));
  EXPECT_HIP(api.hipEventSynchronize(event));
}

TEST_F(DevicesTest, ThereIsNoTimeBetweenEventsOfTwoDevices) {
  hipStream_t first = stream_of(0), second = stream_of(1);
  hipEvent_t here = event_of(0), there = event_of(1);
  EXPECT_HIP(api.hipEventRecord(here, first));
  EXPECT_HIP(api.hipEventRecord(there, second));
  EXPECT_HIP(api.hipEventSynchronize(here));
  EXPECT_HIP(api.hipEventSynchronize(there));
  float milliseconds = 0;
  EXPECT_EQ(api.hipEventElapsedTime(&milliseconds, here, there), hipErrorInvalidHandle);
  EXPECT_HIP(api.hipEventElapsedTime(&milliseconds, there, there));
}

TEST_F(DevicesTest, WaitingForADeviceIsNotWaitingForAnother) {
  hipStream_t stream = stream_of(1);
  void* memory = allocate();
  EXPECT_HIP(api.hipMemcpyPeerAsync(memory, 0, static_cast<char*>(memory) + 32, 1, 8, stream));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(instance.runtime().pending(), 1u);
  EXPECT_HIP(api.hipSetDevice(1));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(instance.runtime().pending(), 0u);
  EXPECT_HIP(api.hipSetDevice(0));
}

TEST_F(DevicesTest, AccessIsEnabledOnceAndOneWay) {
  int can = -1;
  EXPECT_HIP(api.hipDeviceCanAccessPeer(&can, 0, 1));
  EXPECT_EQ(can, 1);
  EXPECT_HIP(api.hipDeviceCanAccessPeer(&can, 1, 1));
  EXPECT_EQ(can, 0);
  EXPECT_EQ(api.hipDeviceCanAccessPeer(&can, 0, 3), hipErrorInvalidDevice);
  EXPECT_EQ(api.hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
  EXPECT_HIP(api.hipDeviceEnablePeerAccess(1, 0));
  EXPECT_EQ(api.hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
  EXPECT_HIP(api.hipDeviceEnablePeerAccess(2, 0));
  EXPECT_HIP(api.hipSetDevice(1));
  EXPECT_EQ(api.hipDeviceDisablePeerAccess(0), hipErrorPeerAccessNotEnabled);
  EXPECT_EQ(api.hipDeviceEnablePeerAccess(1, 0), hipErrorInvalidDevice);
  EXPECT_HIP(api.hipSetDevice(0));
  EXPECT_HIP(api.hipDeviceDisablePeerAccess(1));
  EXPECT_EQ(api.hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
}

// A memset belongs to the device of the memory that it was given, not of the memory that lies at that address now.
TEST_F(DevicesTest, AMemsetStaysOnItsDeviceThoughAnotherOnesMemoryTakesItsPlace) {
  void *first = allocate(), *taking = nullptr, *other = allocate();
  hipMemsetParams params{.dst = first, .elementSize = 1, .height = 1, .pitch = 4, .value = 7, .width = 4};
  hipGraph_t graph = create_graph();
  hipGraphNode_t node = nullptr;
  EXPECT_HIP(api.hipGraphAddMemsetNode(&node, graph, nullptr, 0, &params));
  hipGraphExec_t exec = instantiate(graph);
  EXPECT_HIP(api.hipFree(first));
  EXPECT_HIP(api.hipSetDevice(1));
  instance.runtime().memory().place_next(reinterpret_cast<Address>(first));
  EXPECT_HIP(api.hipMalloc(&taking, 64));
  EXPECT_HIP(api.hipSetDevice(0));
  ASSERT_EQ(taking, first);
  EXPECT_EQ(api.hipGraphExecMemsetNodeSetParams(exec, node, &params), hipErrorInvalidValue);
  params.dst = other;
  EXPECT_HIP(api.hipGraphExecMemsetNodeSetParams(exec, node, &params));
  EXPECT_HIP(api.hipGraphExecDestroy(exec));
  EXPECT_HIP(api.hipGraphDestroy(graph));
}

TEST_F(DevicesTest, ACopyBetweenPeersIsCapturedLikeAnother) {
  hipStream_t stream = stream_of(1);
  void* memory = allocate();
  EXPECT_HIP(api.hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed));
  EXPECT_HIP(api.hipMemcpyPeerAsync(memory, 0, static_cast<char*>(memory) + 32, 1, 8, stream));
  hipGraph_t graph = end_capture(stream);
  EXPECT_EQ(node_count(graph), 1u);
  EXPECT_HIP(api.hipGraphDestroy(graph));
}

}  // namespace
}  // namespace model::abi
