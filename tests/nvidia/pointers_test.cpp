// Queries about an address: kinds of memory, which CUDA and HIP number differently, ranges, attributes.
#include "nvidia/calls_fixture.h"

namespace nvidia {
namespace {

class Pointers : public CallsTest {
 protected:
  hipPointerAttribute_t attributes_of(cudaMemoryType type) {
    cudaPointerAttributes given{};
    given.type = type;
    given.device = 3;
    given.devicePointer = handle<void*>(0xd0);
    given.hostPointer = handle<void*>(0xe0);
    cuda().give("cudaPointerGetAttributes", 0, given);
    hipPointerAttribute_t got{};
    got.allocationFlags = 99;
    EXPECT_EQ(hipPointerGetAttributes(&got, kPointer), hipSuccess);
    return got;
  }
  int type_told(CUmemorytype type) {
    cuda().give("cuPointerGetAttribute", 0, type);
    int told = -1;
    EXPECT_EQ(hipPointerGetAttribute(&told, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, kPointer), hipSuccess);
    return told;
  }
  void give_range(CUdeviceptr base, std::size_t size) {
    cuda().give("cuMemGetAddressRange", 0, base);
    cuda().give("cuMemGetAddressRange", 1, size);
  }
  static inline void* const kPointer = handle<void*>(0x900);
};

TEST_F(Pointers, AttributesAreTold) {
  const hipPointerAttribute_t device = attributes_of(cudaMemoryTypeDevice);
  EXPECT_EQ(device.type, hipMemoryTypeDevice);
  EXPECT_EQ(device.device, 3);
  EXPECT_EQ(device.devicePointer, handle<void*>(0xd0));
  EXPECT_EQ(device.hostPointer, handle<void*>(0xe0));
  EXPECT_EQ(device.isManaged, 0);
  EXPECT_EQ(device.allocationFlags, 0U);
  EXPECT_EQ(attributes_of(cudaMemoryTypeHost).type, hipMemoryTypeHost);
  EXPECT_EQ(attributes_of(cudaMemoryTypeManaged).type, hipMemoryTypeManaged);
  EXPECT_EQ(attributes_of(cudaMemoryTypeManaged).isManaged, 1);
  EXPECT_EQ(attributes_of(cudaMemoryTypeUnregistered).type, hipMemoryTypeUnregistered);
  hipPointerAttribute_t got{};
  expect("cudaPointerGetAttributes", {kSomewhere, 0x900}, [&] { return hipPointerGetAttributes(&got, kPointer); });
  expect("cudaPointerGetAttributes", {0, 0x900}, [] { return hipPointerGetAttributes(nullptr, kPointer); });
}

TEST_F(Pointers, ARefusalLeavesTheCallersAlone) {
  cuda().answers["cudaPointerGetAttributes"] = cudaErrorInvalidValue;
  hipPointerAttribute_t got{};
  got.device = 7;
  EXPECT_EQ(hipPointerGetAttributes(&got, kPointer), hipErrorInvalidValue);
  EXPECT_EQ(got.device, 7);
}

TEST_F(Pointers, AnAttributeThatIsAMemorysTypeIsConverted) {
  EXPECT_EQ(type_told(CU_MEMORYTYPE_DEVICE), hipMemoryTypeDevice);
  EXPECT_EQ(type_told(CU_MEMORYTYPE_ARRAY), hipMemoryTypeArray);
  EXPECT_EQ(type_told(CU_MEMORYTYPE_UNIFIED), hipMemoryTypeUnified);
  unsigned managed = 0;
  cuda().give("cuPointerGetAttribute", 0, 3U);
  EXPECT_EQ(hipPointerGetAttribute(&managed, HIP_POINTER_ATTRIBUTE_IS_MANAGED, kPointer), hipSuccess);
  EXPECT_EQ(managed, 3U) << "other attributes are passed on";
}

TEST_F(Pointers, AttributesArePassedOn) {
  std::uint64_t value = 0;
  expect("cuPointerGetAttribute", {at(&value), CU_POINTER_ATTRIBUTE_RANGE_SIZE, 0x900},
         [&] { return hipPointerGetAttribute(&value, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, kPointer); });
  expect("cuPointerGetAttribute", {0, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x900},
         [] { return hipPointerGetAttribute(nullptr, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, kPointer); });
  expect("cuPointerSetAttribute", {at(&value), CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, 0x900},
         [&] { return hipPointerSetAttribute(&value, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, kPointer); });
}

TEST_F(Pointers, TheRangeOfAnAddress) {
  give_range(0x800, 4096);
  hipDeviceptr_t base = nullptr;
  std::size_t size = 0;
  expect("cuMemGetAddressRange", {kSomewhere, at(&size), 0x900},
         [&] { return hipMemGetAddressRange(&base, &size, kPointer); });
  EXPECT_EQ(base, handle<void*>(0x800));
  EXPECT_EQ(size, 4096U);
  expect("cuMemGetAddressRange", {0, at(&size), 0x900},
         [&] { return hipMemGetAddressRange(nullptr, &size, kPointer); });
  cuda().answers["cuMemGetAddressRange"] = CUDA_ERROR_NOT_FOUND;
  EXPECT_EQ(hipMemGetAddressRange(&base, &size, kPointer), hipErrorNotFound);
}

TEST_F(Pointers, TheSizeOfAnAllocation) {
  std::size_t size = 0;
  give_range(0x900, 4096);
  expect("cuMemGetAddressRange", {kSomewhere, kSomewhere, 0x900}, [&] { return hipMemPtrGetInfo(kPointer, &size); });
  EXPECT_EQ(size, 4096U);
  give_range(0x800, 8192);
  EXPECT_EQ(hipMemPtrGetInfo(kPointer, &size), hipErrorInvalidValue) << "an address within";
  cuda().answers["cuMemGetAddressRange"] = CUDA_ERROR_NOT_FOUND;
  EXPECT_EQ(hipMemPtrGetInfo(kPointer, &size), hipErrorInvalidValue) << "an address that CUDA does not know";
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
  EXPECT_EQ(size, 4096U);
}

TEST_F(Pointers, TheSizeOfNothingIsNotAskedFor) {
  std::size_t size = 0;
  EXPECT_EQ(hipMemPtrGetInfo(nullptr, &size), hipErrorInvalidValue);
  EXPECT_EQ(hipMemPtrGetInfo(kPointer, nullptr), hipErrorInvalidValue);
  EXPECT_FALSE(cuda().was_called("cuMemGetAddressRange"));
}

}  // namespace
}  // namespace nvidia
