// Streams and events through the C ABI.
#include "model/abi_fixture.h"

namespace model::abi {
namespace {

using StreamAbiTest = AbiTest;

TEST_F(StreamAbiTest, StreamsKeepTheirFlagsAndPriority) {
  hipStream_t stream = nullptr;
  unsigned flags = 9;
  int priority = 9;
  EXPECT_HIP(api.hipStreamCreateWithPriority(&stream, hipStreamNonBlocking, -1));
  EXPECT_HIP(api.hipStreamGetFlags(stream, &flags));
  EXPECT_HIP(api.hipStreamGetPriority(stream, &priority));
  EXPECT_EQ(flags, hipStreamNonBlocking);
  EXPECT_EQ(priority, -1);
  EXPECT_HIP(api.hipStreamCreateWithPriority(&stream, hipStreamDefault, -100));
  EXPECT_HIP(api.hipStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, -1);  // brought into the range
  EXPECT_EQ(api.hipStreamCreateWithFlags(&stream, 4), hipErrorInvalidValue);
  EXPECT_EQ(api.hipStreamCreate(nullptr), hipErrorInvalidValue);
}

TEST_F(StreamAbiTest, EventFlagsAreChecked) {
  hipEvent_t event = nullptr;
  EXPECT_HIP(api.hipEventCreateWithFlags(&event, hipEventDisableTiming | hipEventBlockingSync));
  EXPECT_EQ(api.hipEventCreateWithFlags(&event, 0x10), hipErrorInvalidValue);
  EXPECT_EQ(api.hipEventCreateWithFlags(&event, hipEventInterprocess), hipErrorInvalidValue);
  EXPECT_EQ(api.hipEventCreateWithFlags(&event, hipEventReleaseToDevice | hipEventReleaseToSystem),
            hipErrorInvalidValue);
  EXPECT_EQ(api.hipEventCreateWithFlags(nullptr, 0), hipErrorInvalidValue);
}

TEST_F(StreamAbiTest, EventsOrderStreams) {
  void* at = allocate();
  hipStream_t one = create_stream(hipStreamNonBlocking), other = create_stream(hipStreamNonBlocking);
  hipEvent_t event = create_event();
  EXPECT_HIP(api.hipEventQuery(event));
  EXPECT_HIP(api.hipMemsetD32Async(at, 5, 1, one));
  EXPECT_HIP(api.hipEventRecord(event, one));
  EXPECT_HIP(api.hipStreamWaitEvent(other, event, 0));
  EXPECT_EQ(api.hipStreamWaitEvent(other, event, 8), hipErrorInvalidValue);
  PackedAdd arguments{at, at, 2, 0};
  EXPECT_HIP(api.hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, other, arguments.pointers, nullptr));
  EXPECT_EQ(api.hipEventQuery(event), hipErrorNotReady);
  EXPECT_HIP(api.hipStreamSynchronize(other));
  EXPECT_HIP(api.hipEventQuery(event));
  EXPECT_HIP(api.hipEventSynchronize(event));
  EXPECT_EQ(word(at), 7u);
}

TEST_F(StreamAbiTest, TheLegacyHandleIsTheNullStream) {
  void* at = allocate();
  EXPECT_HIP(api.hipMemsetAsync(at, 1, 4, hipStreamLegacy));
  EXPECT_EQ(api.hipStreamQuery(nullptr), hipErrorNotReady);
  EXPECT_HIP(api.hipStreamSynchronize(nullptr));
  EXPECT_EQ(word(at), 0x01010101u);
}

TEST_F(StreamAbiTest, HostFunctionsRunInStreamOrder) {
  static std::vector<int> seen;
  seen.clear();
  int first = 1, second = 2;
  const auto note = [](void* number) { seen.push_back(*static_cast<int*>(number)); };
  EXPECT_HIP(api.hipLaunchHostFunc(nullptr, note, &first));
  EXPECT_HIP(api.hipLaunchHostFunc(nullptr, note, &second));
  EXPECT_TRUE(seen.empty());
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(seen, (std::vector<int>{1, 2}));
  EXPECT_EQ(api.hipLaunchHostFunc(nullptr, nullptr, nullptr), hipErrorInvalidValue);
}

TEST_F(StreamAbiTest, LaunchParametersAreChecked) {
  void* out = allocate();
  PackedAdd packed{out, out, 1, 0};
  void** const arguments = packed.pointers;
  EXPECT_EQ(api.hipModuleLaunchKernel(add, 0, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipModuleLaunchKernel(add, 1, 1, 1, 1, 0, 1, 0, nullptr, arguments, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipModuleLaunchKernel(add, 1, 1, 1, 1025, 1, 1, 0, nullptr, arguments, nullptr),
            hipErrorInvalidConfiguration);
  EXPECT_EQ(api.hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), hipErrorInvalidValue);
  EXPECT_HIP(api.hipModuleLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(word(out), 1u);
}

}  // namespace
}  // namespace model::abi
