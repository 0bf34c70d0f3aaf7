// Memory through the C ABI: allocation, copies in every direction, memsets, attributes.
#include <array>

#include "model/abi_fixture.h"

namespace model::abi {
namespace {

using MemoryTest = AbiTest;

TEST_F(MemoryTest, SizeZeroSucceedsAndGivesNull) {
  void* pointer = &pointer;
  EXPECT_HIP(api.hipMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_HIP(api.hipFree(nullptr));
  EXPECT_HIP(api.hipHostFree(nullptr));
  EXPECT_EQ(api.hipMalloc(nullptr, 4), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMalloc(&pointer, ~std::size_t{0}), hipErrorOutOfMemory);
}

TEST_F(MemoryTest, EveryPointerIsFreedItsOwnWayAndOnce) {
  void *device = allocate(), *pinned = nullptr;
  EXPECT_HIP(api.hipHostMalloc(&pinned, 64, 0));
  EXPECT_EQ(api.hipFree(pinned), hipErrorInvalidValue);
  EXPECT_EQ(api.hipHostFree(device), hipErrorInvalidValue);
  EXPECT_EQ(api.hipFree(static_cast<char*>(device) + 1), hipErrorInvalidValue);
  int variable = 0;
  EXPECT_EQ(api.hipFree(&variable), hipErrorInvalidValue);
  EXPECT_HIP(api.hipFree(device));
  EXPECT_HIP(api.hipHostFree(pinned));
  EXPECT_EQ(api.hipFree(device), hipErrorInvalidValue);
  EXPECT_EQ(api.hipHostFree(pinned), hipErrorInvalidValue);
  EXPECT_EQ(instance.runtime().live_handles().allocations, 0u);
}

TEST_F(MemoryTest, CopiesGoInEveryDirection) {
  std::array<unsigned char, 8> in{1, 2, 3, 4, 5, 6, 7, 8}, out{};
  void *a = allocate(), *b = allocate(), *pinned = nullptr;
  EXPECT_HIP(api.hipHostMalloc(&pinned, 8, hipHostMallocMapped));
  EXPECT_HIP(api.hipMemcpy(a, in.data(), 8, hipMemcpyHostToDevice));
  EXPECT_HIP(api.hipMemcpy(b, a, 8, hipMemcpyDeviceToDevice));
  EXPECT_HIP(api.hipMemcpy(pinned, b, 8, hipMemcpyDeviceToHost));
  EXPECT_HIP(api.hipMemcpy(out.data(), pinned, 8, hipMemcpyDefault));
  EXPECT_EQ(in, out);
  EXPECT_EQ(std::memcmp(instance.runtime().memory().view(reinterpret_cast<Address>(pinned), 8), in.data(), 8), 0);
  out = {};
  EXPECT_HIP(api.hipMemcpy(out.data(), in.data(), 8, hipMemcpyHostToHost));
  EXPECT_EQ(in, out);
}

TEST_F(MemoryTest, BadCopiesAreRefusedAndChangeNothing) {
  void *a = allocate(), *b = allocate();
  int host = 5;
  EXPECT_EQ(api.hipMemcpy(nullptr, &host, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemcpy(a, nullptr, 4, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemcpy(a, b, 65, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemcpy(a, &host, 4, static_cast<hipMemcpyKind>(9)), hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(api.hipMemcpy(a, &host, 4, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_HIP(api.hipFree(b));
  EXPECT_EQ(api.hipMemcpy(a, b, 4, hipMemcpyDefault), hipErrorInvalidValue);
  EXPECT_EQ(api.hipMemset(b, 1, 4), hipErrorInvalidValue);
  EXPECT_EQ(word(a), 0u);
  EXPECT_HIP(api.hipMemcpy(a, nullptr, 0, hipMemcpyDefault));
}

TEST_F(MemoryTest, ACopyOfPageableMemoryIsOverWhenTheCallReturns) {
  void* device = allocate();
  hipStream_t stream = create_stream();
  std::uint32_t host = 11;
  EXPECT_HIP(api.hipMemcpyAsync(device, &host, 4, hipMemcpyHostToDevice, stream));
  host = 12;
  EXPECT_EQ(word(device), 11u);
  void *other = allocate(), *pinned = nullptr;
  EXPECT_HIP(api.hipHostMalloc(&pinned, 4, 0));
  EXPECT_HIP(api.hipMemcpyAsync(pinned, device, 4, hipMemcpyDeviceToHost, stream));
  EXPECT_HIP(api.hipMemcpyAsync(other, device, 4, hipMemcpyDeviceToDevice, stream));
  EXPECT_EQ(instance.runtime().pending(), 2u);  // these two need not be over
}

TEST_F(MemoryTest, RowsAreCopiedByPitch) {
  unsigned char in[3][8], out[3][16] = {};
  for (unsigned y = 0; y < 3; ++y) {
    for (unsigned x = 0; x < 8; ++x) in[y][x] = static_cast<unsigned char>(y * 16 + x);
  }
  void* device = nullptr;
  std::size_t pitch = 0;
  EXPECT_HIP(api.hipMallocPitch(&device, &pitch, 5, 3));
  EXPECT_GE(pitch, 5u);
  EXPECT_HIP(api.hipMemcpy2D(device, pitch, in, 8, 5, 3, hipMemcpyHostToDevice));
  EXPECT_HIP(api.hipMemcpy2D(out, 16, device, pitch, 5, 3, hipMemcpyDeviceToHost));
  for (unsigned y = 0; y < 3; ++y) {
    EXPECT_EQ(std::memcmp(in[y], out[y], 5), 0);
    EXPECT_EQ(out[y][5], 0);
  }
  EXPECT_EQ(api.hipMemcpy2D(device, 4, in, 8, 5, 3, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
  EXPECT_EQ(api.hipMemcpy2D(device, pitch, in, 4, 5, 3, hipMemcpyHostToDevice), hipErrorInvalidPitchValue);
  EXPECT_HIP(api.hipMemcpy2D(device, 4, in, 8, 0, 3, hipMemcpyHostToDevice));
  EXPECT_HIP(api.hipMemset2D(device, pitch, 9, 5, 3));
  EXPECT_HIP(api.hipMemcpy2D(out, 16, device, pitch, 5, 3, hipMemcpyDeviceToHost));
  EXPECT_EQ(out[2][4], 9);
}

TEST_F(MemoryTest, MemsetsOfEveryWidthCountElements) {
  void* device = allocate();
  EXPECT_HIP(api.hipMemsetD8(device, 0x11, 3));
  EXPECT_EQ(word(device), 0x00111111u);
  EXPECT_HIP(api.hipMemsetD16(device, 0x2233, 1));
  EXPECT_EQ(word(device), 0x00112233u);
  EXPECT_HIP(api.hipMemsetD32(device, 0x44556677, 1));
  EXPECT_EQ(word(device), 0x44556677u);
  EXPECT_HIP(api.hipMemsetD32Async(device, -1, 16, nullptr));
  EXPECT_EQ(word(device), 0xffffffffu);
  EXPECT_EQ(api.hipMemsetD32(device, 1, 17), hipErrorInvalidValue);
}

TEST_F(MemoryTest, AttributesTellWhatAPointerIs) {
  void *device = allocate(), *pinned = nullptr, *managed = nullptr, *mapped = nullptr;
  int variable = 0;
  EXPECT_HIP(api.hipHostMalloc(&pinned, 8, 0));
  EXPECT_HIP(api.hipMallocManaged(&managed, 8, hipMemAttachGlobal));
  const auto type = [&](const void* pointer) {
    hipPointerAttribute_t attributes{};
    EXPECT_HIP(api.hipPointerGetAttributes(&attributes, pointer));
    return attributes.type;
  };
  EXPECT_EQ(type(device), hipMemoryTypeDevice);
  EXPECT_EQ(type(static_cast<char*>(device) + 63), hipMemoryTypeDevice);
  EXPECT_EQ(type(pinned), hipMemoryTypeHost);
  EXPECT_EQ(type(managed), hipMemoryTypeManaged);
  EXPECT_EQ(type(&variable), hipMemoryTypeUnregistered);
  EXPECT_HIP(api.hipHostGetDevicePointer(&mapped, pinned, 0));
  EXPECT_EQ(mapped, pinned);
  EXPECT_EQ(api.hipHostGetDevicePointer(&mapped, device, 0), hipErrorInvalidValue);
  hipDeviceptr_t base = nullptr;
  std::size_t size = 0;
  EXPECT_HIP(api.hipMemGetAddressRange(&base, &size, static_cast<char*>(device) + 9));
  EXPECT_EQ(base, device);
  EXPECT_EQ(size, 64u);
}

TEST_F(MemoryTest, FlagsAreThoseThatHostMemoryWasAllocatedWith) {
  void *pinned = nullptr, *plain = nullptr;
  unsigned flags = 77;
  EXPECT_HIP(api.hipHostMalloc(&pinned, 64, hipHostMallocPortable | hipHostMallocMapped));
  EXPECT_HIP(api.hipHostMalloc(&plain, 64, hipHostMallocDefault));
  EXPECT_HIP(api.hipHostGetFlags(&flags, static_cast<char*>(pinned) + 63));
  EXPECT_EQ(flags, unsigned{hipHostMallocPortable | hipHostMallocMapped});
  EXPECT_HIP(api.hipHostGetFlags(&flags, plain));
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(api.hipHostGetFlags(&flags, allocate()), hipErrorInvalidValue);
  EXPECT_EQ(api.hipHostGetFlags(&flags, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(api.hipHostGetFlags(nullptr, plain), hipErrorInvalidValue);
  EXPECT_HIP(api.hipHostFree(pinned));
  EXPECT_EQ(api.hipHostGetFlags(&flags, pinned), hipErrorInvalidValue);
}

TEST_F(MemoryTest, MemoryFreedInAStreamIsNotHandedOutBeforeTheStreamGotThere) {
  hipStream_t stream = create_stream(hipStreamNonBlocking);
  void *first = nullptr, *second = nullptr, *third = nullptr;
  EXPECT_HIP(api.hipMallocAsync(&first, 64, stream));
  EXPECT_HIP(api.hipFreeAsync(first, stream));
  EXPECT_HIP(api.hipMalloc(&second, 64));
  EXPECT_NE(first, second);
  EXPECT_HIP(api.hipStreamSynchronize(stream));
  EXPECT_HIP(api.hipMallocAsync(&third, 64, stream));
  EXPECT_EQ(third, first);
}

}  // namespace
}  // namespace model::abi
