// Stream-ordered memory and memory pools of the model: lifetime of the memory, reported errors, and pool attributes.
#include "abi_fixture.h"

namespace model::abi {
namespace {

struct StreamMemoryAbiTest : AbiTest {
  void* allocate_on(hipStream_t stream, std::size_t bytes = 64) {
    void* memory = nullptr;
    EXPECT_HIP(api.hipMallocAsync(&memory, bytes, stream));
    return memory;
  }
  void order(hipStream_t before, hipStream_t behind) {
    hipEvent_t event = nullptr;
    EXPECT_HIP(api.hipEventCreateWithFlags(&event, hipEventDisableTiming));
    EXPECT_HIP(api.hipEventRecord(event, before));
    EXPECT_HIP(api.hipStreamWaitEvent(behind, event, 0));
  }
  hipMemPool_t pool() {
    hipMemPoolProps properties{};
    properties.allocType = hipMemAllocationTypePinned;
    properties.location = {hipMemLocationTypeDevice, 0};
    hipMemPool_t made = nullptr;
    EXPECT_HIP(api.hipMemPoolCreate(&made, &properties));
    return made;
  }
  std::uint64_t attribute(hipMemPool_t of, hipMemPoolAttr attribute) {
    std::uint64_t value = 0;
    EXPECT_HIP(api.hipMemPoolGetAttribute(of, attribute, &value));
    return value;
  }

  hipStream_t one = create_stream(hipStreamNonBlocking), other = create_stream(hipStreamNonBlocking);
};

TEST_F(StreamMemoryAbiTest, IsThereForWorkBehindTheAllocationUntilTheFree) {
  void* out = allocate();
  void* memory = allocate_on(one);
  EXPECT_HIP(api.hipMemsetD32Async(memory, 7, 16, one));
  order(one, other);
  EXPECT_HIP(api.hipMemcpyAsync(out, memory, 64, hipMemcpyDeviceToDevice, other));
  EXPECT_HIP(api.hipFreeAsync(memory, other));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(word(out), 7u);
  EXPECT_EQ(instance.runtime().races_seen(), 0u);
  EXPECT_EQ(instance.runtime().live_handles().allocations, 1u);
}

TEST_F(StreamMemoryAbiTest, WorkThatNothingOrdersBehindTheAllocationIsARace) {
  void* memory = allocate_on(one);
  EXPECT_HIP(api.hipMemsetD32Async(memory, 7, 16, other));
  EXPECT_HIP(api.hipStreamSynchronize(one));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(instance.runtime().races_seen(), 1u);
}

TEST_F(StreamMemoryAbiTest, WorkBehindTheFreeIsAFault) {
  void* memory = allocate_on(one);
  EXPECT_HIP(api.hipFreeAsync(memory, one));
  EXPECT_HIP(api.hipMemsetD32Async(memory, 7, 16, one));
  EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorIllegalAddress);
}

TEST_F(StreamMemoryAbiTest, AFreeThatNothingOrdersBehindAUseIsARace) {
  void* memory = allocate_on(one);
  order(one, other);
  EXPECT_HIP(api.hipMemsetD32Async(memory, 7, 16, one));
  EXPECT_HIP(api.hipFreeAsync(memory, other));
  EXPECT_HIP(api.hipStreamSynchronize(one));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(instance.runtime().races_seen(), 1u);
}

// The next owner has the address only when the free has run.
TEST_F(StreamMemoryAbiTest, IsNotHandedOutAgainWhileItsStreamHasNotGotThere) {
  void* memory = allocate_on(one);
  EXPECT_HIP(api.hipFreeAsync(memory, one));
  EXPECT_NE(allocate_on(other), memory);
  EXPECT_HIP(api.hipStreamSynchronize(one));
  EXPECT_EQ(allocate_on(other), memory);
}

TEST_F(StreamMemoryAbiTest, IsFreedOnceAndByWhicheverFunction) {
  void* memory = allocate_on(one);
  EXPECT_HIP(api.hipFree(memory));
  EXPECT_EQ(api.hipFree(memory), hipErrorInvalidValue);
  EXPECT_EQ(api.hipFreeAsync(memory, one), hipErrorInvalidValue);
  memory = allocate_on(one);
  EXPECT_HIP(api.hipFreeAsync(memory, one));
  EXPECT_EQ(api.hipFreeAsync(memory, one), hipErrorInvalidValue);  // before it has run
  EXPECT_EQ(api.hipFree(memory), hipErrorInvalidValue);
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(api.hipFreeAsync(memory, one), hipErrorInvalidValue);
  EXPECT_EQ(instance.runtime().live_handles().allocations, 0u);
}

TEST_F(StreamMemoryAbiTest, ASizeOfZeroIsNoMemoryAndTooMuchIsRefused) {
  void* memory = &memory;
  EXPECT_HIP(api.hipMallocAsync(&memory, 0, one));
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(api.hipMallocAsync(&memory, ~std::size_t{0}, one), hipErrorOutOfMemory);
}

// An enqueued allocation counts as used memory, and an allocation waits for enqueued frees.
TEST_F(StreamMemoryAbiTest, AMachineThatIsFullHasRoomAgainBehindAFree) {
  constexpr std::size_t kCapacity = 4096;
  InProcessOptions options = host_memory_options();
  options.model.memory.capacity = kCapacity;
  InProcess small(options);
  const Activate active(small);
  void *first = nullptr, *second = nullptr;
  EXPECT_HIP(api.hipMallocAsync(&first, kCapacity / 2 + 1, nullptr));
  EXPECT_EQ(api.hipMallocAsync(&second, kCapacity / 2, nullptr), hipErrorOutOfMemory);
  EXPECT_HIP(api.hipFreeAsync(first, nullptr));
  EXPECT_HIP(api.hipMallocAsync(&second, kCapacity / 2, nullptr));
}

TEST_F(StreamMemoryAbiTest, APoolTellsWhatIsUsedAndTheMostThatWas) {
  const hipMemPool_t made = pool();
  void *first = nullptr, *second = nullptr;
  EXPECT_HIP(api.hipMallocFromPoolAsync(&first, 64, made, one));
  EXPECT_HIP(api.hipMallocFromPoolAsync(&second, 100, made, one));
  EXPECT_EQ(attribute(made, hipMemPoolAttrUsedMemCurrent), 164u);
  EXPECT_HIP(api.hipFreeAsync(first, one));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(attribute(made, hipMemPoolAttrUsedMemCurrent), 100u);
  EXPECT_EQ(attribute(made, hipMemPoolAttrReservedMemCurrent), 100u);
  EXPECT_EQ(attribute(made, hipMemPoolAttrUsedMemHigh), 164u);
  std::uint64_t zero = 0;
  EXPECT_HIP(api.hipMemPoolSetAttribute(made, hipMemPoolAttrUsedMemHigh, &zero));
  EXPECT_EQ(attribute(made, hipMemPoolAttrUsedMemHigh), 100u);
  EXPECT_EQ(attribute(made, hipMemPoolReuseAllowOpportunistic), 1u);
  EXPECT_EQ(attribute(made, hipMemPoolAttrReleaseThreshold), 0u);
}

// hipMemPoolDestroy: "the function will return immediately and the resources [...] will be released automatically".
TEST_F(StreamMemoryAbiTest, MemoryOutlivesItsPoolAndTheDevicesCurrentPoolIsThenItsDefault) {
  const hipMemPool_t made = pool();
  hipMemPool_t now = nullptr, standard = nullptr;
  EXPECT_HIP(api.hipDeviceGetDefaultMemPool(&standard, 0));
  EXPECT_HIP(api.hipDeviceSetMemPool(0, made));
  void* memory = allocate_on(one);
  EXPECT_EQ(attribute(made, hipMemPoolAttrUsedMemCurrent), 64u);
  EXPECT_HIP(api.hipMemPoolDestroy(made));
  EXPECT_EQ(api.hipMemPoolDestroy(made), hipErrorInvalidValue);
  EXPECT_HIP(api.hipDeviceGetMemPool(&now, 0));
  EXPECT_EQ(now, standard);
  EXPECT_EQ(instance.runtime().live_handles().pools, 0u);
  EXPECT_HIP(api.hipMemsetD32Async(memory, 9, 16, one));
  EXPECT_HIP(api.hipStreamSynchronize(one));
  EXPECT_EQ(word(memory), 9u);
  EXPECT_HIP(api.hipFreeAsync(memory, one));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(instance.runtime().live_handles().allocations, 0u);
}

TEST_F(StreamMemoryAbiTest, InACaptureItIsTheGraphs) {
  void* out = allocate();
  void *memory = nullptr, *outside = allocate_on(other);
  EXPECT_HIP(api.hipStreamBeginCapture(one, hipStreamCaptureModeGlobal));
  EXPECT_HIP(api.hipMallocAsync(&memory, 64, one));
  EXPECT_HIP(api.hipMemsetD32Async(memory, 5, 16, one));
  EXPECT_HIP(api.hipMemcpyAsync(out, memory, 64, hipMemcpyDeviceToDevice, one));
  EXPECT_EQ(api.hipFreeAsync(outside, one), hipErrorInvalidValue);
  EXPECT_HIP(api.hipFreeAsync(memory, one));
  EXPECT_EQ(api.hipFreeAsync(memory, one), hipErrorInvalidValue);
  hipGraph_t graph = end_capture(one);
  std::vector<hipGraphNode_t> nodes(4);
  std::size_t count = nodes.size();
  EXPECT_HIP(api.hipGraphGetNodes(graph, nodes.data(), &count));
  ASSERT_EQ(count, 4u);
  EXPECT_EQ(type_of(nodes[0]), hipGraphNodeTypeMemAlloc);
  EXPECT_EQ(type_of(nodes[3]), hipGraphNodeTypeMemFree);
  const hipGraphExec_t exec = instantiate(graph);
  run(exec);
  run(exec);
  EXPECT_EQ(word(out), 5u);
}

}  // namespace
}  // namespace model::abi
