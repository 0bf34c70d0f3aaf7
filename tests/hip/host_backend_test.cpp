// The systems of hip/ over the host backend: handles of 0, work done at once, the same answers as on a device.
#include "hip/host_backend.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "hip/event.h"
#include "hip/launcher.h"
#include "hip/scratch_buffer.h"
#include "hip/stream.h"
#include "hip/stream_cache.h"
#include "hip/sync/sync.h"
#include "hip/worker_thread.h"

namespace {

const hip::Api& api = hip::host_api();

TEST(HostBackend, EveryHandleIsZeroAndOwnedAllTheSame) {
  hip::Result<hip::Stream> stream = hip::Stream::create(api);
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(stream.value().ref().handle(), nullptr);
  EXPECT_TRUE(stream.value().owns());
  hip::Result<hip::Event> event = hip::Event::create(api);
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event.value().handle(), nullptr);
  EXPECT_TRUE(event.value().owns());
  EXPECT_TRUE(stream.value().destroy().ok());
  EXPECT_FALSE(stream.value().owns());
}

TEST(HostBackend, WorkIsDoneWhenTheCallReturns) {
  hip::Result<hip::Event> event = hip::Event::create(api, {.timed = true});
  ASSERT_TRUE(event.ok());
  const hip::StreamRef stream = hip::StreamRef::of_default(api);
  bool ran = false;
  ASSERT_EQ(
      api.hipLaunchHostFunc(stream.handle(), [](void* flag) { *static_cast<bool*>(flag) = true; }, &ran), hipSuccess);
  EXPECT_TRUE(ran);
  EXPECT_TRUE(event.value().record(stream).ok());
  EXPECT_TRUE(event.value().done().value());
  EXPECT_TRUE(stream.wait(event.value()).ok());
  EXPECT_TRUE(stream.idle().value());
  EXPECT_TRUE(stream.synchronize().ok());
  EXPECT_EQ(hip::Event::elapsed(event.value(), event.value()).value(), 0);
}

TEST(HostBackend, AHandleThatIsNotZeroIsNobodys) {
  const auto bad = reinterpret_cast<hipStream_t>(std::uintptr_t{16});
  EXPECT_EQ(hip::StreamRef(api, bad, 0).synchronize().error().code, hipErrorInvalidHandle);
  EXPECT_EQ(api.hipSetDevice(1), hipErrorInvalidDevice);
  EXPECT_EQ(api.hipStreamCreateWithFlags(nullptr, 0), hipErrorInvalidValue);
}

// data[i] = data[i] * 3 + k, from a packed block (data, n, k).
struct Block {
  std::uint32_t* data;
  std::uint32_t n;
  std::uint32_t k;
};
constexpr hip::HostFunction kTimesThree{[](dim3, dim3, const std::byte* bytes, std::size_t size, void**) {
  Block block{};
  ASSERT_EQ(size, sizeof block);
  std::memcpy(&block, bytes, sizeof block);
  for (std::uint32_t i = 0; i < block.n; ++i) block.data[i] = block.data[i] * 3 + block.k;
}};

hip::KernelLaunch launch_of(const Block& block, std::span<const hip::Transfer> transfers) {
  hip::KernelLaunch launch;
  launch.function = hip::host_function(kTimesThree);
  launch.arguments = std::as_bytes(std::span(&block, 1));
  launch.transfers = transfers;
  return launch;
}

TEST(HostBackend, ALauncherBringsArraysThereAndBack) {
  hip::Launcher launcher(api);
  std::vector<std::uint32_t> data{1, 2, 3};
  const Block block{nullptr, 3, 7};
  const std::array transfers{hip::Transfer{0, data.data(), 12, hip::Direction::kInOut}};
  ASSERT_TRUE(launcher.launch(launch_of(block, transfers)).ok());
  EXPECT_EQ(data, (std::vector<std::uint32_t>{10, 13, 16}));
  EXPECT_EQ(launcher.counts().synchronizations, 1u);
}

TEST(HostBackend, ALauncherWithNothingToBringBackDoesNotSynchronise) {
  hip::Launcher launcher(api);
  std::vector<std::uint32_t> data{1, 2, 3};
  const Block block{nullptr, 3, 7};
  const std::array transfers{hip::Transfer{0, data.data(), 12, hip::Direction::kIn}};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(launcher.launch(launch_of(block, transfers)).ok());
  EXPECT_EQ(data, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(launcher.counts().synchronizations, 0u);
  EXPECT_EQ(launcher.counts().contexts, 1u);
}

TEST(HostBackend, ALaunchWhoseArrayLiesOutsideTheBlockIsRefused) {
  hip::Launcher launcher(api);
  std::uint32_t word = 0;
  const Block block{nullptr, 0, 0};
  const std::array outside{hip::Transfer{9, &word, 4, hip::Direction::kIn}};
  EXPECT_EQ(launcher.launch(launch_of(block, outside)).error().code, hipErrorInvalidValue);
  const std::array null{hip::Transfer{0, nullptr, 4, hip::Direction::kIn}};
  EXPECT_EQ(launcher.launch(launch_of(block, null)).error().code, hipErrorInvalidValue);
}

TEST(HostBackend, AScratchBufferGrowsAndKeepsItsPlaceWhereItIsLargeEnough) {
  hip::ScratchBuffer scratch(hip::StreamRef::of_default(api));
  EXPECT_EQ(scratch.reserve(0).value(), nullptr);
  void* const first = scratch.reserve(100).value();
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(scratch.capacity(), 4096u);
  EXPECT_EQ(scratch.reserve(4096).value(), first);
  ASSERT_TRUE(scratch.reserve(4097).ok());
  EXPECT_EQ(scratch.capacity(), 8192u);
  EXPECT_EQ(scratch.reserve(~std::size_t{0}).error().code, hipErrorOutOfMemory);
  EXPECT_EQ(scratch.capacity(), 8192u);
}

TEST(HostBackend, AStreamCacheLendsWhatItWasGivenBack) {
  hip::StreamCache cache(api);
  for (int i = 0; i < 3; ++i) {
    hip::Result<hip::StreamLease> lease = cache.acquire({});
    ASSERT_TRUE(lease.ok());
    EXPECT_TRUE(lease.value().release().ok());
  }
  EXPECT_EQ(cache.counts().misses, 1u);
  EXPECT_EQ(cache.counts().hits, 2u);
}

TEST(WorkerThread, RunsWhatWasPostedInOrderAndDrainsBeforeItEnds) {
  std::vector<int> ran;
  {
    hip::Result<std::unique_ptr<hip::WorkerThread>> worker = hip::WorkerThread::start();
    ASSERT_TRUE(worker.ok());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(worker.value()->post([&ran, i] { ran.push_back(i); }).ok());
  }
  ASSERT_EQ(ran.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(ran[static_cast<std::size_t>(i)], i);
}

TEST(WorkerThread, ACallbackMayPostAndDrainWaitsForThatToo) {
  int ran = 0;
  hip::Result<std::unique_ptr<hip::WorkerThread>> started = hip::WorkerThread::start();
  ASSERT_TRUE(started.ok());
  hip::WorkerThread& worker = *started.value();
  ASSERT_TRUE(worker.post([&] { ASSERT_TRUE(worker.post([&] { ++ran; }).ok()); }).ok());
  EXPECT_TRUE(worker.drain().ok());
  EXPECT_EQ(ran, 1);
}

TEST(WorkerThread, ACallbackThatWaitsForItsOwnWorkerIsToldSo) {
  hip::Result<std::unique_ptr<hip::WorkerThread>> started = hip::WorkerThread::start();
  ASSERT_TRUE(started.ok());
  hip::WorkerThread& worker = *started.value();
  int code = 0;
  ASSERT_TRUE(worker.post([&] { code = worker.drain().error().code; }).ok());
  EXPECT_TRUE(worker.drain().ok());
  EXPECT_EQ(code, hipErrorNotSupported);
}

TEST(WorkerThread, AFullQueueIsAnErrorAndNotAWait) {
  hip::Result<std::unique_ptr<hip::WorkerThread>> started = hip::WorkerThread::start({.max_queued = 2});
  ASSERT_TRUE(started.ok());
  hip::WorkerThread& worker = *started.value();
  hip::sync::Mutex gate;
  hip::sync::Atomic<bool> inside = false;
  {
    const hip::sync::LockGuard closed(gate);
    ASSERT_TRUE(worker
                    .post([&] {
                      inside = true;
                      const hip::sync::LockGuard wait(gate);
                    })
                    .ok());
    while (!inside) hip::sync::yield();
    EXPECT_TRUE(worker.post([] {}).ok());
    EXPECT_TRUE(worker.post([] {}).ok());
    EXPECT_EQ(worker.post([] {}).error().code, hipErrorOutOfMemory);
    EXPECT_EQ(worker.post_after(hip::StreamRef::of_default(api), [] {}).error().code, hipErrorOutOfMemory);
  }
  EXPECT_TRUE(worker.drain().ok());
}

TEST(WorkerThread, RunsACallbackOnceTheStreamIsThere) {
  int ran = 0;
  hip::Result<std::unique_ptr<hip::WorkerThread>> started = hip::WorkerThread::start();
  ASSERT_TRUE(started.ok());
  ASSERT_TRUE(started.value()->post_after(hip::StreamRef::of_default(api), [&] { ++ran; }).ok());
  EXPECT_TRUE(started.value()->drain().ok());
  EXPECT_EQ(ran, 1);
}

TEST(CurrentStream, BelongsToItsThreadAndItsScope) {
  EXPECT_EQ(hip::CurrentStream::get(), std::nullopt);
  const hip::StreamRef outer(api, reinterpret_cast<hipStream_t>(std::uintptr_t{1}), 0);
  const hip::StreamRef inner(api, reinterpret_cast<hipStream_t>(std::uintptr_t{2}), 0);
  const hip::CurrentStream scope(outer);
  {
    const hip::CurrentStream nested(inner);
    EXPECT_EQ(hip::CurrentStream::get(), inner);
    hip::sync::Thread other([] { EXPECT_EQ(hip::CurrentStream::get(), std::nullopt); });
    other.join();
  }
  EXPECT_EQ(hip::CurrentStream::get(), outer);
}

}  // namespace
