// Virtual memory: ranges and handles both ways, properties field by field, and that everything is given back.
#include "nvidia/calls_fixture.h"

namespace nvidia {
namespace {

class VirtualMemory : public CallsTest {
 protected:
  static inline const auto kMemory = handle<hipMemGenericAllocationHandle_t>(0x600);
  static hipMemAllocationProp prop() {
    hipMemAllocationProp made{};
    made.type = hipMemAllocationTypePinned;
    made.requestedHandleTypes = hipMemHandleTypePosixFileDescriptor;
    made.location = {hipMemLocationTypeHostNuma, 3};
    made.win32HandleMetaData = handle<void*>(0x77);
    made.allocFlags = {1, 2, 3};
    return made;
  }
  static void expect_same(const CUmemAllocationProp& given) {
    EXPECT_EQ(given.type, CU_MEM_ALLOCATION_TYPE_PINNED);
    EXPECT_EQ(given.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    EXPECT_EQ(given.location.type, CU_MEM_LOCATION_TYPE_HOST_NUMA);
    EXPECT_EQ(given.location.id, 3);
    EXPECT_EQ(given.win32HandleMetaData, handle<void*>(0x77));
    EXPECT_EQ(given.allocFlags.compressionType, 1);
    EXPECT_EQ(given.allocFlags.gpuDirectRDMACapable, 2);
    EXPECT_EQ(given.allocFlags.usage, 3);
    for (const unsigned char byte : given.allocFlags.reserved) EXPECT_EQ(byte, 0);
  }
  void* range_ = nullptr;
  hipMemGenericAllocationHandle_t memory_ = nullptr;
};

TEST_F(VirtualMemory, IsGivenBack) {
  const hipMemAllocationProp asked = prop();
  ASSERT_EQ(hipMemAddressReserve(&range_, 4096, 0, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipMemCreate(&memory_, 4096, &asked, 0), hipSuccess);
  hipMemGenericAllocationHandle_t again = nullptr;
  ASSERT_EQ(hipMemRetainAllocationHandle(&again, range_), hipSuccess);
  EXPECT_NE(range_, nullptr);
  EXPECT_NE(memory_, nullptr);
  EXPECT_NE(again, nullptr);
  EXPECT_EQ(cuda().alive["range of addresses"], 1);
  EXPECT_EQ(cuda().alive["physical memory"], 2);
  expect("cuMemRelease", {at(memory_)}, [&] { return hipMemRelease(memory_); });
  EXPECT_EQ(hipMemRelease(again), hipSuccess);
  expect("cuMemAddressFree", {at(range_), 4096}, [&] { return hipMemAddressFree(range_, 4096); });
  EXPECT_EQ(cuda().alive["range of addresses"], 0);
  EXPECT_EQ(cuda().alive["physical memory"], 0);
}

TEST_F(VirtualMemory, RangesAndMappings) {
  cuda().give("cuMemAddressReserve", 0, CUdeviceptr{0x7f0000000000});
  expect("cuMemAddressReserve", {kSomewhere, 4096, 64, 0x1000, 5},
         [&] { return hipMemAddressReserve(&range_, 4096, 64, handle<void*>(0x1000), 5); });
  EXPECT_EQ(range_, handle<void*>(0x7f0000000000));
  expect("cuMemMap", {at(range_), 4096, 64, 0x600, 5}, [&] { return hipMemMap(range_, 4096, 64, kMemory, 5); });
  expect("cuMemUnmap", {at(range_), 4096}, [&] { return hipMemUnmap(range_, 4096); });
  const hipMemAccessDesc list[] = {{{hipMemLocationTypeDevice, 1}, hipMemAccessFlagsProtRead}};
  expect("cuMemSetAccess", {at(range_), 4096, at(list), 1}, [&] { return hipMemSetAccess(range_, 4096, list, 1); });
  const auto given = last("cuMemSetAccess").pointee<CUmemAccessDesc>(2);
  EXPECT_EQ(given.location.id, 1);
  EXPECT_EQ(given.flags, CU_MEM_ACCESS_FLAGS_PROT_READ);
  unsigned long long flags = 0;
  expect("cuMemGetAccess", {at(&flags), at(&list[0].location), at(range_)},
         [&] { return hipMemGetAccess(&flags, &list[0].location, range_); });
}

TEST_F(VirtualMemory, PropertiesBothWays) {
  const hipMemAllocationProp asked = prop();
  cuda().give("cuMemCreate", 0, CUmemGenericAllocationHandle{0x6000});
  expect("cuMemCreate", {kSomewhere, 4096, kSomewhere, 5}, [&] { return hipMemCreate(&memory_, 4096, &asked, 5); });
  EXPECT_EQ(memory_, handle<hipMemGenericAllocationHandle_t>(0x6000));
  const auto given = last("cuMemCreate").pointee<CUmemAllocationProp>(2);
  expect_same(given);
  std::size_t granularity = 0;
  expect("cuMemGetAllocationGranularity", {at(&granularity), kSomewhere, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED},
         [&] { return hipMemGetAllocationGranularity(&granularity, &asked, hipMemAllocationGranularityRecommended); });
  expect_same(last("cuMemGetAllocationGranularity").pointee<CUmemAllocationProp>(1));
  cuda().give("cuMemGetAllocationPropertiesFromHandle", 0, given);
  hipMemAllocationProp told{};
  expect("cuMemGetAllocationPropertiesFromHandle", {kSomewhere, 0x600},
         [&] { return hipMemGetAllocationPropertiesFromHandle(&told, kMemory); });
  EXPECT_EQ(told.type, asked.type);
  EXPECT_EQ(told.requestedHandleTypes, asked.requestedHandleTypes);
  EXPECT_EQ(told.location.type, asked.location.type);
  EXPECT_EQ(told.location.id, 3);
  EXPECT_EQ(told.win32HandleMetaData, asked.win32HandleMetaData);
  EXPECT_EQ(told.allocFlags.compressionType * 100 + told.allocFlags.gpuDirectRDMACapable * 10 + told.allocFlags.usage,
            123);
}

TEST_F(VirtualMemory, CudaJudgesNulls) {
  expect("cuMemAddressReserve", {0, 1, 2, 3, 4},
         [] { return hipMemAddressReserve(nullptr, 1, 2, handle<void*>(3), 4); });
  expect("cuMemCreate", {0, 1, 0, 2}, [] { return hipMemCreate(nullptr, 1, nullptr, 2); });
  expect("cuMemRetainAllocationHandle", {0, 0x900},
         [] { return hipMemRetainAllocationHandle(nullptr, handle<void*>(0x900)); });
  expect("cuMemGetAllocationPropertiesFromHandle", {0, 0x600},
         [] { return hipMemGetAllocationPropertiesFromHandle(nullptr, kMemory); });
  expect("cuMemGetAllocationGranularity", {0, 0, 0},
         [] { return hipMemGetAllocationGranularity(nullptr, nullptr, hipMemAllocationGranularityMinimum); });
}

TEST_F(VirtualMemory, ARefusalLeavesTheCallersAlone) {
  range_ = handle<void*>(0x11);
  memory_ = handle<hipMemGenericAllocationHandle_t>(0x22);
  for (const char* function : {"cuMemAddressReserve", "cuMemCreate", "cuMemRetainAllocationHandle"}) {
    cuda().answers[function] = CUDA_ERROR_INVALID_VALUE;
  }
  EXPECT_EQ(hipMemAddressReserve(&range_, 1, 2, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemCreate(&memory_, 1, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipMemRetainAllocationHandle(&memory_, range_), hipErrorInvalidValue);
  EXPECT_EQ(range_, handle<void*>(0x11));
  EXPECT_EQ(memory_, handle<hipMemGenericAllocationHandle_t>(0x22));
}

}  // namespace
}  // namespace nvidia
