// Pools, allocations in the order of a stream, and the memory of graphs.
#include "nvidia/calls_fixture.h"

namespace nvidia {
namespace {

class Pools : public CallsTest {
 protected:
  static inline const auto kPool = handle<hipMemPool_t>(0x500);
  hipMemPool_t pool_ = nullptr;
  void* pointer_ = nullptr;
  std::uint64_t value_ = 0;
};

TEST_F(Pools, MemoryInTheOrderOfAStreamIsFreed) {
  void* other = nullptr;
  expect("cudaMallocAsync", {at(&pointer_), 64, at(kStream)}, [&] { return hipMallocAsync(&pointer_, 64, kStream); });
  expect("cudaMallocFromPoolAsync", {at(&other), 65, 0x500, at(kStream)},
         [&] { return hipMallocFromPoolAsync(&other, 65, kPool, kStream); });
  EXPECT_EQ(cuda().alive["device memory"], 2);
  for (void* one : {pointer_, other}) {
    expect("cudaFreeAsync", {at(one), at(kStream)}, [&] { return hipFreeAsync(one, kStream); });
  }
  EXPECT_EQ(cuda().alive["device memory"], 0);
}

TEST_F(Pools, APoolIsMadeAsAskedForAndDestroyed) {
  hipMemPoolProps props{};
  props.allocType = hipMemAllocationTypePinned;
  props.handleTypes = hipMemHandleTypePosixFileDescriptor;
  props.location = {hipMemLocationTypeDevice, 3};
  props.maxSize = 4096;
  props.reserved[0] = 0xff;  // CUDA's `usage`, which HIP does not define
  ASSERT_EQ(hipMemPoolCreate(&pool_, &props), hipSuccess);
  const auto given = last("cudaMemPoolCreate").pointee<cudaMemPoolProps>(1);
  EXPECT_EQ(given.allocType, cudaMemAllocationTypePinned);
  EXPECT_EQ(given.handleTypes, cudaMemHandleTypePosixFileDescriptor);
  EXPECT_EQ(given.location.type, cudaMemLocationTypeDevice);
  EXPECT_EQ(given.location.id, 3);
  EXPECT_EQ(given.maxSize, 4096U);
  EXPECT_EQ(given.usage, 0U);
  EXPECT_EQ(cuda().alive["pool"], 1);
  expect("cudaMemPoolDestroy", {at(pool_)}, [&] { return hipMemPoolDestroy(pool_); });
  EXPECT_EQ(cuda().alive["pool"], 0);
  expect("cudaMemPoolCreate", {at(&pool_), 0}, [&] { return hipMemPoolCreate(&pool_, nullptr); });
}

TEST_F(Pools, OfADevice) {
  expect("cudaDeviceGetDefaultMemPool", {at(&pool_), 3}, [&] { return hipDeviceGetDefaultMemPool(&pool_, 3); });
  expect("cudaDeviceGetMemPool", {at(&pool_), 3}, [&] { return hipDeviceGetMemPool(&pool_, 3); });
  expect("cudaDeviceSetMemPool", {3, 0x500}, [&] { return hipDeviceSetMemPool(3, kPool); });
}

TEST_F(Pools, AttributesAndTrim) {
  expect("cudaMemPoolGetAttribute", {0x500, cudaMemPoolAttrUsedMemHigh, at(&value_)},
         [&] { return hipMemPoolGetAttribute(kPool, hipMemPoolAttrUsedMemHigh, &value_); });
  expect("cudaMemPoolSetAttribute", {0x500, cudaMemPoolAttrReleaseThreshold, at(&value_)},
         [&] { return hipMemPoolSetAttribute(kPool, hipMemPoolAttrReleaseThreshold, &value_); });
  expect("cudaMemPoolTrimTo", {0x500, 77}, [&] { return hipMemPoolTrimTo(kPool, 77); });
}

TEST_F(Pools, AccessBothWays) {
  const hipMemAccessDesc list[] = {{{hipMemLocationTypeDevice, 1}, hipMemAccessFlagsProtReadWrite}};
  expect("cudaMemPoolSetAccess", {0x500, at(list), 1}, [&] { return hipMemPoolSetAccess(kPool, list, 1); });
  EXPECT_EQ(last("cudaMemPoolSetAccess").pointee<cudaMemAccessDesc>(1).flags, cudaMemAccessFlagsProtReadWrite);
  cuda().give("cudaMemPoolGetAccess", 0, cudaMemAccessFlagsProtReadWrite);
  hipMemAccessFlags flags = hipMemAccessFlagsProtNone;
  hipMemLocation location{hipMemLocationTypeDevice, 2};
  expect("cudaMemPoolGetAccess", {kSomewhere, 0x500, kSomewhere},
         [&] { return hipMemPoolGetAccess(&flags, kPool, &location); });
  EXPECT_EQ(flags, hipMemAccessFlagsProtReadWrite);
  EXPECT_EQ(last("cudaMemPoolGetAccess").pointee<cudaMemLocation>(2).id, 2);
  expect("cudaMemPoolGetAccess", {0, 0x500, 0}, [&] { return hipMemPoolGetAccess(nullptr, kPool, nullptr); });
}

TEST_F(Pools, AreSharedBetweenProcesses) {
  int descriptor = 0;
  expect("cudaMemPoolExportToShareableHandle", {at(&descriptor), 0x500, cudaMemHandleTypePosixFileDescriptor, 6},
         [&] { return hipMemPoolExportToShareableHandle(&descriptor, kPool, hipMemHandleTypePosixFileDescriptor, 6); });
  expect(
      "cudaMemPoolImportFromShareableHandle", {at(&pool_), at(&descriptor), cudaMemHandleTypePosixFileDescriptor, 6},
      [&] { return hipMemPoolImportFromShareableHandle(&pool_, &descriptor, hipMemHandleTypePosixFileDescriptor, 6); });
  EXPECT_EQ(cuda().alive["pool"], 1);
  EXPECT_EQ(hipMemPoolDestroy(pool_), hipSuccess);
  EXPECT_EQ(cuda().alive["pool"], 0);
  hipMemPoolPtrExportData data{};
  expect("cudaMemPoolExportPointer", {at(&data), 0x900},
         [&] { return hipMemPoolExportPointer(&data, handle<void*>(0x900)); });
  expect("cudaMemPoolImportPointer", {at(&pointer_), 0x500, at(&data)},
         [&] { return hipMemPoolImportPointer(&pointer_, kPool, &data); });
}

TEST_F(Pools, MemoryOfGraphs) {
  expect("cudaDeviceGetGraphMemAttribute", {3, cudaGraphMemAttrReservedMemHigh, at(&value_)},
         [&] { return hipDeviceGetGraphMemAttribute(3, hipGraphMemAttrReservedMemHigh, &value_); });
  expect("cudaDeviceSetGraphMemAttribute", {3, cudaGraphMemAttrUsedMemHigh, at(&value_)},
         [&] { return hipDeviceSetGraphMemAttribute(3, hipGraphMemAttrUsedMemHigh, &value_); });
  expect("cudaDeviceGraphMemTrim", {3}, [] { return hipDeviceGraphMemTrim(3); });
}

}  // namespace
}  // namespace nvidia
