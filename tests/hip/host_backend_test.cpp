// The systems of hip/ over the host backend: handles of 0, work done at once, the same answers as on a device. Launches
// are in launcher_test.cpp.
#include "hip/host_backend.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "hip/error_list.h"
#include "hip/event.h"
#include "hip/pieces.h"
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

// A table that notes in which stream's order memory is given back, and refuses to take it back when told to.
class Ordered {
 public:
  Ordered() {
    live.clear();
    refused = 0;
    table_.hipMallocAsync = [](void** out, std::size_t size, hipStream_t stream) {
      const hipError_t status = api.hipMallocAsync(out, size, nullptr);
      live.emplace(*out, stream);
      return status;
    };
    table_.hipFreeAsync = [](void* memory, hipStream_t stream) {
      if (refused > 0 && refused-- > 0) return hipErrorUnknown;
      EXPECT_EQ(live.erase(memory), 1u);
      freed_on.push_back(reinterpret_cast<std::uintptr_t>(stream));
      return api.hipFreeAsync(memory, nullptr);
    };
  }
  [[nodiscard]] hip::StreamRef stream(std::uintptr_t handle) const {
    return {table_, reinterpret_cast<hipStream_t>(handle), 0};
  }
  [[nodiscard]] static std::vector<std::uintptr_t> taken_frees() { return std::exchange(freed_on, {}); }
  static inline std::map<void*, hipStream_t> live;  // by the stream that it was taken on
  static inline int refused = 0;

 private:
  static inline std::vector<std::uintptr_t> freed_on;
  hip::Api table_ = api;
};

struct ScratchBuffer : testing::Test {
  ~ScratchBuffer() override { static_cast<void>(Ordered::taken_frees()); }
  using Streams = std::vector<std::uintptr_t>;
  const Ordered ordered_;
  std::vector<hip::Error> reports_;
  const hip::ScratchOptions options_{.errors = into(reports_)};
};

TEST_F(ScratchBuffer, PiecesThatHaveMoreBytesThanThereAreAreAnErrorAndChangeNothing) {
  hip::ScratchBuffer scratch(ordered_.stream(16), options_);
  std::array<void*, 2> pieces{};
  for (const std::size_t most : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 255, SIZE_MAX - 256, SIZE_MAX - 257}) {
    const std::array sizes{most, std::size_t{0x200}};
    EXPECT_EQ(scratch.carve(sizes, pieces).error().code, hipErrorOutOfMemory) << SIZE_MAX - most;
  }
  EXPECT_EQ(scratch.capacity(), 0u);
  EXPECT_EQ(pieces, (std::array<void*, 2>{}));
}

TEST_F(ScratchBuffer, PiecesAreAlignedAsAllocationsAreAndLieApart) {
  hip::ScratchBuffer scratch(ordered_.stream(16), options_);
  const std::array<std::size_t, 5> sizes{1, 300, 0, 256, 5};
  std::array<void*, 5> pieces{};
  ASSERT_TRUE(scratch.carve(sizes, pieces));
  EXPECT_EQ(pieces[2], nullptr);
  std::size_t end = 0;
  for (const std::size_t i : {0, 1, 3, 4}) {
    const auto at =
        static_cast<std::size_t>(static_cast<std::byte*>(pieces[i]) - static_cast<std::byte*>(scratch.data()));
    EXPECT_EQ(at % hip::kPieceAlignment, 0u);
    EXPECT_GE(at, end);
    end = at + sizes[i];
  }
  EXPECT_LE(end, scratch.capacity());
}

TEST_F(ScratchBuffer, MoveAssignmentGivesBackWhatWasThereInItsOwnOrderAndGoesOnInTheOtherOnes) {
  {
    hip::ScratchBuffer from(ordered_.stream(16), options_), to(ordered_.stream(32), options_);
    void* const moved = from.reserve(100).value();
    ASSERT_TRUE(to.reserve(100));
    to = std::move(from);
    EXPECT_EQ(Ordered::taken_frees(), Streams{32});
    EXPECT_EQ(std::tuple(to.data(), to.capacity(), to.stream()), std::tuple(moved, 4096u, ordered_.stream(16)));
    EXPECT_EQ(from.data(), nullptr);  // NOLINT(bugprone-use-after-move): as usable as a new one
    EXPECT_EQ(from.capacity(), 0u);
    ASSERT_TRUE(from.reserve(100));
    EXPECT_NE(from.data(), moved);
  }
  EXPECT_EQ(Ordered::taken_frees(), (Streams{16, 16}));
  EXPECT_TRUE(Ordered::live.empty());
}

// Growing could give back neither the old memory nor the new.
TEST_F(ScratchBuffer, WhatCouldNotBeGivenBackGoesAlongWhenItIsMoved) {
  for (const bool assigned : {false, true}) {
    {
      hip::ScratchBuffer from(ordered_.stream(16), options_);
      ASSERT_TRUE(from.reserve(100));
      Ordered::refused = 2;
      EXPECT_FALSE(from.reserve(5000));
      EXPECT_EQ(Ordered::live.size(), 2u);
      hip::ScratchBuffer to = assigned ? hip::ScratchBuffer(ordered_.stream(32), options_) : std::move(from);
      if (assigned) to = std::move(from);
      EXPECT_TRUE(to.release());
      EXPECT_TRUE(Ordered::live.empty());
      EXPECT_EQ(Ordered::taken_frees(), (Streams{16, 16}));
    }
    EXPECT_EQ(Ordered::taken_frees(), Streams{}) << "nothing is left of it";
  }
}

#ifndef NDEBUG
TEST_F(ScratchBuffer, OnAThreadsOwnStreamItIsThatThreads) {
  hip::ScratchBuffer scratch(ordered_.stream(reinterpret_cast<std::uintptr_t>(hipStreamPerThread)), options_);
  EXPECT_TRUE(scratch.reserve(100));
  const auto elsewhere = [&](auto what) { hip::sync::Thread(what).join(); };
  EXPECT_DEATH(elsewhere([&] { static_cast<void>(scratch.reserve(5000)); }), "on_its_thread");
  elsewhere([&] {
    scratch.rebind(scratch.stream());  // whose work is done
    EXPECT_TRUE(scratch.release());
  });
  EXPECT_TRUE(Ordered::live.empty());
}
#endif

TEST(Pieces, AreRefusedExactlyWhereTheNextCouldNotBeginAnywhere) {
  constexpr std::size_t kLast = SIZE_MAX - 255;
  static_assert(hip::behind_piece(0, 0) == 0 && hip::behind_piece(0, 1) == 256 && hip::behind_piece(256, 256) == 512);
  static_assert(hip::behind_piece(0, kLast) == kLast && hip::behind_piece(0, kLast - 1) == kLast);
  static_assert(!hip::behind_piece(0, kLast + 1) && !hip::behind_piece(kLast, 1) &&
                hip::behind_piece(kLast, 0) == kLast);
  static_assert(hip::behind_piece(kLast - 256, 256) == kLast && !hip::behind_piece(kLast - 256, 257));
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
  for (const unsigned flags : {hipStreamDefault, hipStreamNonBlocking}) {
    hip::StreamCache cache(api);
    for (int i = 0; i < 3; ++i) {
      hip::Result<hip::StreamLease> lease = cache.acquire({.flags = flags});
      ASSERT_TRUE(lease.ok());
      EXPECT_TRUE(lease.value().release().ok());
    }
    EXPECT_EQ(cache.counts().misses, 1u);
    EXPECT_EQ(cache.counts().hits, 2u);
  }
}

struct WorkerThread : testing::Test {
  static std::unique_ptr<hip::WorkerThread> started(const hip::WorkerOptions& options = {}) {
    hip::Result<std::unique_ptr<hip::WorkerThread>> worker = hip::WorkerThread::start(options);
    EXPECT_TRUE(worker.ok());
    return std::move(worker).value();
  }
  std::unique_ptr<hip::WorkerThread> worker = started();
  int ran = 0;
};

TEST_F(WorkerThread, RunsWhatWasPostedInOrderAndDrainsBeforeItEnds) {
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(worker->post([&order, i] { order.push_back(i); }).ok());
  worker.reset();
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(WorkerThread, ACallbackMayPostAndDrainWaitsForThatToo) {
  ASSERT_TRUE(worker->post([&] { ASSERT_TRUE(worker->post([&] { ++ran; }).ok()); }).ok());
  EXPECT_TRUE(worker->drain().ok());
  EXPECT_EQ(ran, 1);
}

TEST_F(WorkerThread, ACallbackThatWaitsForItsOwnWorkerIsToldSo) {
  int code = 0;
  ASSERT_TRUE(worker->post([&] { code = worker->drain().error().code; }).ok());
  EXPECT_TRUE(worker->drain().ok());
  EXPECT_EQ(code, hipErrorNotSupported);
}

TEST_F(WorkerThread, AFullQueueIsAnErrorAndNotAWait) {
  worker = started({.max_queued = 2});
  hip::sync::Mutex gate;
  hip::sync::Atomic<bool> inside = false;
  {
    const hip::sync::LockGuard closed(gate);
    const auto keep_busy = [&] {
      inside = true;
      const hip::sync::LockGuard wait(gate);
    };
    ASSERT_TRUE(worker->post(keep_busy).ok());
    while (!inside) hip::sync::yield();
    EXPECT_TRUE(worker->post([] {}).ok());
    EXPECT_TRUE(worker->post([] {}).ok());
    EXPECT_EQ(worker->post([] {}).error().code, hipErrorOutOfMemory);
    EXPECT_EQ(worker->post_after(hip::StreamRef::of_default(api), [] {}).error().code, hipErrorOutOfMemory);
  }
  EXPECT_TRUE(worker->drain().ok());
}

TEST_F(WorkerThread, RunsACallbackOnceTheStreamIsThere) {
  ASSERT_TRUE(worker->post_after(hip::StreamRef::of_default(api), [&] { ++ran; }).ok());
  EXPECT_TRUE(worker->drain().ok());
  EXPECT_EQ(ran, 1);
}

TEST(StreamRef, KnowsTheHandlesThatMeanAnotherStreamOnAnotherDevice) {
  const auto depends = [](hipStream_t handle) { return hip::StreamRef(api, handle, 0).depends_on_current_device(); };
  EXPECT_TRUE(depends(nullptr));
  EXPECT_TRUE(depends(hipStreamPerThread));
#ifdef hipStreamLegacy
  EXPECT_TRUE(depends(hipStreamLegacy));
#endif
  EXPECT_FALSE(depends(reinterpret_cast<hipStream_t>(std::uintptr_t{16})));
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
