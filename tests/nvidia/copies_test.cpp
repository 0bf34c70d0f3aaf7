// Copies and sets: each argument arrives where CUDA wants it, and the blocking copy on a stream waits.
#include "nvidia/calls_fixture.h"

namespace nvidia {
namespace {

class Copies : public CallsTest {
 protected:
  void* const to_ = handle<void*>(0x1100);
  void* const from_ = handle<void*>(0x2200);
  const std::uint64_t stream_ = at(kStream);
};
using Sets = Copies;

TEST_F(Copies, OfTheRuntime) {
  constexpr auto kKind = hipMemcpyDeviceToHost;
  expect("cudaMemcpy", {0x1100, 0x2200, 3, 2}, [&] { return hipMemcpy(to_, from_, 3, kKind); });
  expect("cudaMemcpyAsync", {0x1100, 0x2200, 3, 2, stream_},
         [&] { return hipMemcpyAsync(to_, from_, 3, kKind, kStream); });
  expect("cudaMemcpy2D", {0x1100, 11, 0x2200, 22, 5, 6, 2},
         [&] { return hipMemcpy2D(to_, 11, from_, 22, 5, 6, kKind); });
  expect("cudaMemcpy2DAsync", {0x1100, 11, 0x2200, 22, 5, 6, 2, stream_},
         [&] { return hipMemcpy2DAsync(to_, 11, from_, 22, 5, 6, kKind, kStream); });
  expect("cudaMemcpyPeer", {0x1100, 1, 0x2200, 2, 9}, [&] { return hipMemcpyPeer(to_, 1, from_, 2, 9); });
  expect("cudaMemcpyPeerAsync", {0x1100, 1, 0x2200, 2, 9, stream_},
         [&] { return hipMemcpyPeerAsync(to_, 1, from_, 2, 9, kStream); });
}

TEST_F(Copies, OfTheDriver) {
  expect("cuMemcpyHtoD", {0x1100, 0x2200, 3}, [&] { return hipMemcpyHtoD(to_, from_, 3); });
  expect("cuMemcpyDtoH", {0x1100, 0x2200, 3}, [&] { return hipMemcpyDtoH(to_, from_, 3); });
  expect("cuMemcpyDtoD", {0x1100, 0x2200, 3}, [&] { return hipMemcpyDtoD(to_, from_, 3); });
  const std::vector<std::uint64_t> words{0x1100, 0x2200, 3, stream_};
  expect("cuMemcpyHtoDAsync", words, [&] { return hipMemcpyHtoDAsync(to_, from_, 3, kStream); });
  expect("cuMemcpyDtoHAsync", words, [&] { return hipMemcpyDtoHAsync(to_, from_, 3, kStream); });
  expect("cuMemcpyDtoDAsync", words, [&] { return hipMemcpyDtoDAsync(to_, from_, 3, kStream); });
}

TEST_F(Copies, OfABox) {
  hipMemcpy3DParms params{};
  params.dstPos = {1, 2, 3};
  params.srcPtr = {from_, 64, 5, 6};
  params.dstPtr = {to_, 65, 7, 8};
  params.extent = {4, 3, 2};
  params.kind = hipMemcpyHostToDevice;
  expect("cudaMemcpy3D", {kSomewhere}, [&] { return hipMemcpy3D(&params); });
  expect("cudaMemcpy3DAsync", {kSomewhere, stream_}, [&] { return hipMemcpy3DAsync(&params, kStream); });
  for (const char* function : {"cudaMemcpy3D", "cudaMemcpy3DAsync"}) {
    const auto given = last(function).pointee<cudaMemcpy3DParms>(0);
    EXPECT_EQ(given.srcPtr.ptr, from_);
    EXPECT_EQ(given.dstPtr.ptr, to_);
    EXPECT_EQ(given.dstPtr.pitch, 65U);
    EXPECT_EQ(given.dstPos.z, 3U);
    EXPECT_EQ(given.extent.width * 100 + given.extent.height * 10 + given.extent.depth, 432U);
    EXPECT_EQ(given.kind, cudaMemcpyHostToDevice);
  }
  expect("cudaMemcpy3D", {0}, [] { return hipMemcpy3D(nullptr); });
  expect("cudaMemcpy3DAsync", {0, stream_}, [] { return hipMemcpy3DAsync(nullptr, kStream); });
}

TEST_F(Copies, WithAStreamTheCallWaits) {
  ASSERT_EQ(hipMemcpyWithStream(to_, from_, 3, hipMemcpyDefault, kStream), hipSuccess);
  ASSERT_EQ(cuda().calls.size(), 2U);
  EXPECT_EQ(cuda().calls[0].function, "cudaMemcpyAsync");
  EXPECT_EQ(cuda().calls[0].word(3), std::uint64_t{cudaMemcpyDefault});
  EXPECT_EQ(cuda().calls[1].function, "cudaStreamSynchronize");
  EXPECT_EQ(cuda().calls[1].word(0), stream_);
  cuda().answers["cudaStreamSynchronize"] = cudaErrorStreamCaptureUnsupported;
  EXPECT_EQ(hipMemcpyWithStream(to_, from_, 3, hipMemcpyDefault, kStream), hipErrorStreamCaptureUnsupported);
  cuda().calls.clear();
  cuda().answers["cudaMemcpyAsync"] = cudaErrorInvalidValue;
  EXPECT_EQ(hipMemcpyWithStream(to_, from_, 3, hipMemcpyDefault, kStream), hipErrorInvalidValue);
  EXPECT_FALSE(cuda().was_called("cudaStreamSynchronize"));
}

TEST_F(Sets, OfTheRuntime) {
  expect("cudaMemset", {0x1100, 0x1ab, 3}, [&] { return hipMemset(to_, 0x1ab, 3); });
  expect("cudaMemsetAsync", {0x1100, 7, 3, stream_}, [&] { return hipMemsetAsync(to_, 7, 3, kStream); });
  expect("cudaMemset2D", {0x1100, 64, 7, 5, 6}, [&] { return hipMemset2D(to_, 64, 7, 5, 6); });
  expect("cudaMemset2DAsync", {0x1100, 64, 7, 5, 6, stream_},
         [&] { return hipMemset2DAsync(to_, 64, 7, 5, 6, kStream); });
  const hipPitchedPtr box{to_, 64, 8, 9};
  expect("cudaMemset3D", {0, 7, 0}, [&] { return hipMemset3D(box, 7, {4, 3, 2}); });
  expect("cudaMemset3DAsync", {0, 7, 0, stream_}, [&] { return hipMemset3DAsync(box, 7, {4, 3, 2}, kStream); });
  for (const char* function : {"cudaMemset3D", "cudaMemset3DAsync"}) {
    const auto given = last(function).pointee<cudaPitchedPtr>(0);
    EXPECT_EQ(given.ptr, to_);
    EXPECT_EQ(given.pitch * 100 + given.xsize * 10 + given.ysize, 6489U);
    const auto extent = last(function).pointee<cudaExtent>(2);
    EXPECT_EQ(extent.width * 100 + extent.height * 10 + extent.depth, 432U);
  }
}

TEST_F(Sets, OfTheDriver) {
  expect("cuMemsetD8", {0x1100, 0xab, 3}, [&] { return hipMemsetD8(to_, 0xab, 3); });
  expect("cuMemsetD16", {0x1100, 0xabcd, 3}, [&] { return hipMemsetD16(to_, 0xabcd, 3); });
  expect("cuMemsetD32", {0x1100, 0xfffffffe, 3}, [&] { return hipMemsetD32(to_, -2, 3); });
  expect("cuMemsetD8Async", {0x1100, 0xab, 3, stream_}, [&] { return hipMemsetD8Async(to_, 0xab, 3, kStream); });
  expect("cuMemsetD16Async", {0x1100, 0xabcd, 3, stream_}, [&] { return hipMemsetD16Async(to_, 0xabcd, 3, kStream); });
  expect("cuMemsetD32Async", {0x1100, 0xfffffffe, 3, stream_}, [&] { return hipMemsetD32Async(to_, -2, 3, kStream); });
}

TEST_F(Sets, OfTheDriverInRows) {
  expect("cuMemsetD2D8", {0x1100, 64, 0xab, 5, 6}, [&] { return hipMemsetD2D8(to_, 64, 0xab, 5, 6); });
  expect("cuMemsetD2D16", {0x1100, 64, 0xabcd, 5, 6}, [&] { return hipMemsetD2D16(to_, 64, 0xabcd, 5, 6); });
  expect("cuMemsetD2D32", {0x1100, 64, 0xabcdef01, 5, 6}, [&] { return hipMemsetD2D32(to_, 64, 0xabcdef01, 5, 6); });
  expect("cuMemsetD2D8Async", {0x1100, 64, 0xab, 5, 6, stream_},
         [&] { return hipMemsetD2D8Async(to_, 64, 0xab, 5, 6, kStream); });
  expect("cuMemsetD2D16Async", {0x1100, 64, 0xabcd, 5, 6, stream_},
         [&] { return hipMemsetD2D16Async(to_, 64, 0xabcd, 5, 6, kStream); });
  expect("cuMemsetD2D32Async", {0x1100, 64, 0xabcdef01, 5, 6, stream_},
         [&] { return hipMemsetD2D32Async(to_, 64, 0xabcdef01, 5, 6, kStream); });
}

}  // namespace
}  // namespace nvidia
