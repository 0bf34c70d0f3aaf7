// Memory of a device, pinned memory, managed memory: arguments, flags that CUDA lacks, and that everything is freed.
#include "nvidia/calls_fixture.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // HIP's older names are exported too

namespace nvidia {
namespace {

class Memory : public CallsTest {
 protected:
  void* pointer_ = nullptr;
};

TEST_F(Memory, AllocationsOfADeviceAreFreed) {
  void *plain = nullptr, *rows = nullptr;
  std::size_t pitch = 0;
  hipPitchedPtr box{};
  ASSERT_EQ(hipMalloc(&plain, 7), hipSuccess);
  ASSERT_EQ(hipMallocPitch(&rows, &pitch, 8, 9), hipSuccess);
  ASSERT_EQ(hipMalloc3D(&box, {10, 11, 12}), hipSuccess);
  EXPECT_EQ(cuda().alive["device memory"], 3);
  for (void* one : {plain, rows, box.ptr}) {
    expect("cudaFree", {at(one)}, [&] { return hipFree(one); });
  }
  EXPECT_EQ(cuda().alive["device memory"], 0);
}

TEST_F(Memory, SizesArePassedOn) {
  std::size_t pitch = 0;
  expect("cudaMalloc", {at(&pointer_), 7}, [&] { return hipMalloc(&pointer_, 7); });
  expect("cudaMallocPitch", {at(&pointer_), at(&pitch), 8, 9}, [&] { return hipMallocPitch(&pointer_, &pitch, 8, 9); });
  std::size_t unused = 0, total = 0;
  expect("cudaMemGetInfo", {at(&unused), at(&total)}, [&] { return hipMemGetInfo(&unused, &total); });
}

TEST_F(Memory, ABoxComesBackWhole) {
  hipPitchedPtr box{};
  cuda().give("cudaMalloc3D", 0, cudaPitchedPtr{handle<void*>(0x900), 512, 10, 11});
  expect("cudaMalloc3D", {kSomewhere, 0}, [&] { return hipMalloc3D(&box, {10, 11, 12}); });
  EXPECT_EQ(box.ptr, handle<void*>(0x900));
  EXPECT_EQ(box.pitch, 512U);
  EXPECT_EQ(box.xsize, 10U);
  EXPECT_EQ(box.ysize, 11U);
  const auto extent = last("cudaMalloc3D").pointee<cudaExtent>(1);
  EXPECT_EQ(extent.width * 10000 + extent.height * 100 + extent.depth, 101112U);
}

TEST_F(Memory, ARefusedBoxLeavesTheCallersAlone) {
  cuda().answers["cudaMalloc3D"] = cudaErrorMemoryAllocation;
  hipPitchedPtr box{handle<void*>(0x1), 2, 3, 4};
  EXPECT_EQ(hipMalloc3D(&box, {1, 1, 1}), hipErrorOutOfMemory);
  EXPECT_EQ(box.ptr, handle<void*>(0x1));
  cuda().answers["cudaMalloc3D"] = cudaErrorInvalidValue;
  EXPECT_EQ(hipMalloc3D(nullptr, {1, 1, 1}), hipErrorInvalidValue);
  EXPECT_EQ(last("cudaMalloc3D").word(0), 0U) << "CUDA judges the null";
}

TEST_F(Memory, PinnedMemoryIsFreed) {
  void* host[4] = {};
  ASSERT_EQ(hipHostMalloc(&host[0], 1, hipHostMallocDefault), hipSuccess);
  ASSERT_EQ(hipHostAlloc(&host[1], 2, hipHostAllocDefault), hipSuccess);
  ASSERT_EQ(hipMallocHost(&host[2], 3), hipSuccess);
  ASSERT_EQ(hipMemAllocHost(&host[3], 4), hipSuccess);
  EXPECT_EQ(cuda().alive["pinned memory"], 4);
  expect("cudaFreeHost", {at(host[0])}, [&] { return hipHostFree(host[0]); });
  expect("cudaFreeHost", {at(host[1])}, [&] { return hipFreeHost(host[1]); });
  for (void* one : {host[2], host[3]}) ASSERT_EQ(hipHostFree(one), hipSuccess);
  EXPECT_EQ(cuda().alive["pinned memory"], 0);
}

TEST_F(Memory, FlagsOfAmdsAreNotHandedToCuda) {
  constexpr unsigned kOfBoth = hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined;
  constexpr unsigned kOfAmd =
      hipHostMallocUncached | hipHostMallocNumaUser | hipHostMallocCoherent | hipHostMallocNonCoherent;
  expect("cudaHostAlloc", {at(&pointer_), 64, 7}, [&] { return hipHostMalloc(&pointer_, 64, kOfBoth | kOfAmd); });
  expect("cudaHostAlloc", {at(&pointer_), 65, 0}, [&] { return hipHostAlloc(&pointer_, 65, hipHostAllocUncached); });
  expect("cudaHostAlloc", {at(&pointer_), 66, 0x100}, [&] { return hipHostMalloc(&pointer_, 66, 0x100); });
  expect("cudaMallocHost", {at(&pointer_), 67}, [&] { return hipMallocHost(&pointer_, 67); });
  expect("cudaMallocHost", {at(&pointer_), 68}, [&] { return hipMemAllocHost(&pointer_, 68); });
}

TEST_F(Memory, RegisteredMemoryIsMappedAndPortableByDefault) {
  void* const host = handle<void*>(0x700);
  expect("cudaHostRegister", {0x700, 64, cudaHostRegisterPortable | cudaHostRegisterMapped},
         [&] { return hipHostRegister(host, 64, hipHostRegisterDefault); });
  expect("cudaHostRegister", {0x700, 64, cudaHostRegisterPortable},
         [&] { return hipHostRegister(host, 64, hipHostRegisterPortable); });
  expect("cudaHostRegister", {0x700, 64, cudaHostRegisterReadOnly},
         [&] { return hipHostRegister(host, 64, hipHostRegisterReadOnly); });
  expect("cudaHostUnregister", {0x700}, [&] { return hipHostUnregister(host); });
  unsigned flags = 0;
  expect("cudaHostGetDevicePointer", {at(&pointer_), 0x700, 5},
         [&] { return hipHostGetDevicePointer(&pointer_, host, 5); });
  expect("cudaHostGetFlags", {at(&flags), 0x700}, [&] { return hipHostGetFlags(&flags, host); });
}

// ---- managed memory

class Managed : public CallsTest {
 protected:
  cudaMemLocation advised_at(int device) {
    EXPECT_EQ(hipMemAdvise(handle<void*>(0x800), 16, hipMemAdviseSetPreferredLocation, device), hipSuccess);
    return last("cudaMemAdvise").pointee<cudaMemLocation>(3);
  }
};

TEST_F(Managed, IsFreedAsADevicesMemory) {
  void* pointer = nullptr;
  expect("cudaMallocManaged", {at(&pointer), 64, cudaMemAttachHost},
         [&] { return hipMallocManaged(&pointer, 64, hipMemAttachHost); });
  EXPECT_EQ(cuda().alive["device memory"], 1);
  EXPECT_EQ(hipFree(pointer), hipSuccess);
  EXPECT_EQ(cuda().alive["device memory"], 0);
}

TEST_F(Managed, ADevicesNumberIsALocation) {
  EXPECT_EQ(advised_at(3).type, cudaMemLocationTypeDevice);
  EXPECT_EQ(advised_at(3).id, 3);
  EXPECT_EQ(advised_at(hipCpuDeviceId).type, cudaMemLocationTypeHost);
  EXPECT_EQ(advised_at(hipInvalidDeviceId).type, cudaMemLocationTypeDevice);
  EXPECT_EQ(advised_at(hipInvalidDeviceId).id, hipInvalidDeviceId) << "CUDA judges it";
  expect("cudaMemAdvise", {0x800, 16, cudaMemAdviseUnsetAccessedBy, 0},
         [&] { return hipMemAdvise(handle<void*>(0x800), 16, hipMemAdviseUnsetAccessedBy, 0); });
  expect("cudaMemAdvise", {0x800, 16, 100, 0},
         [&] { return hipMemAdvise(handle<void*>(0x800), 16, hipMemAdviseSetCoarseGrain, 0); });
  expect("cudaMemPrefetchAsync", {0x800, 16, 0, 0, at(kStream)},
         [&] { return hipMemPrefetchAsync(handle<void*>(0x800), 16, 2, kStream); });
  EXPECT_EQ(last("cudaMemPrefetchAsync").pointee<cudaMemLocation>(2).id, 2);
}

TEST_F(Managed, AttributesOfARange) {
  int value = 0, place = 0;
  expect("cudaMemRangeGetAttribute", {at(&value), 4, cudaMemRangeAttributeLastPrefetchLocation, 0x800, 16}, [&] {
    return hipMemRangeGetAttribute(&value, 4, hipMemRangeAttributeLastPrefetchLocation, handle<void*>(0x800), 16);
  });
  void* data[] = {&value, &place};
  std::size_t sizes[] = {4, 4};
  hipMemRangeAttribute attributes[] = {hipMemRangeAttributeReadMostly, hipMemRangeAttributePreferredLocation};
  expect("cudaMemRangeGetAttributes", {at(data), at(sizes), at(attributes), 2, 0x800, 16},
         [&] { return hipMemRangeGetAttributes(data, sizes, attributes, 2, handle<void*>(0x800), 16); });
}

}  // namespace
}  // namespace nvidia
