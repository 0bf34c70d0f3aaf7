// The systems of hip/ over the host backend: handles of 0, work done at once, the same answers as on a device.
#include "hip/host_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "hip/allocation_count.h"
#include "hip/error_list.h"
#include "hip/event.h"
#include "hip/launcher.h"
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

struct LauncherOfTheHost : testing::Test {
  hip::Launcher launcher{api};
  std::vector<std::uint32_t> data{1, 2, 3};
  const Block block{nullptr, 3, 7};
  std::uint32_t word = 0;
};

TEST_F(LauncherOfTheHost, BringsArraysThereAndBack) {
  const std::array transfers{hip::Transfer{0, data.data(), 12, hip::Direction::kInOut}};
  ASSERT_TRUE(launcher.launch(launch_of(block, transfers)).ok());
  EXPECT_EQ(data, (std::vector<std::uint32_t>{10, 13, 16}));
  EXPECT_EQ(launcher.counts().synchronizations, 1u);
}

TEST_F(LauncherOfTheHost, WithNothingToBringBackDoesNotSynchronise) {
  const std::array transfers{hip::Transfer{0, data.data(), 12, hip::Direction::kIn}};
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(launcher.launch(launch_of(block, transfers)).ok());
  EXPECT_EQ(data, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(launcher.counts().synchronizations, 0u);
  EXPECT_EQ(launcher.counts().contexts, 1u);
}

TEST_F(LauncherOfTheHost, RefusesALaunchWhoseArrayLiesOutsideTheBlock) {
  const std::array outside{hip::Transfer{9, &word, 4, hip::Direction::kIn}};
  EXPECT_EQ(launcher.launch(launch_of(block, outside)).error().code, hipErrorInvalidValue);
  const std::array null{hip::Transfer{0, nullptr, 4, hip::Direction::kIn}};
  EXPECT_EQ(launcher.launch(launch_of(block, null)).error().code, hipErrorInvalidValue);
}

TEST_F(LauncherOfTheHost, RefusesALaunchWhoseArraysHaveMoreBytesThanThereAreBeforeAnythingIsCopied) {
  const std::array large{hip::Transfer{0, &word, SIZE_MAX - 256, hip::Direction::kIn},
                         hip::Transfer{8, &word, 0x200, hip::Direction::kIn}};
  EXPECT_EQ(launcher.launch(launch_of(block, large)).error().code, hipErrorOutOfMemory);
}

TEST_F(LauncherOfTheHost, AllocatesNothingOnTheHostOnceItIsWarm) {
  for (const hip::Direction direction : {hip::Direction::kInOut, hip::Direction::kIn}) {
    const std::array transfers{hip::Transfer{0, data.data(), 12, direction}};
    const auto allocations = [&] {
      const allocation::Counter counter(nullptr);
      for (int i = 0; i < 5; ++i) EXPECT_TRUE(launcher.launch(launch_of(block, transfers)));
      return allocation::Counter::count();
    };
    const std::uint64_t first = allocations();
    if (direction == hip::Direction::kInOut) {
      EXPECT_GT(first, 0u) << "a context is made, and this counts it";
    }
    EXPECT_EQ(allocations(), 0u);
  }
}

// A table on which a launch's work is done when the test says so, with the streams that calls name. Work is done at
// once all the same; what is not is only what its event says.
class Pending {
 public:
  Pending() {
    done.clear();
    streams.clear();
    waited.clear();
    table_.hipEventCreateWithFlags = [](hipEvent_t* event, unsigned) {
      done.push_back(true);
      *event = reinterpret_cast<hipEvent_t>(done.size());
      return hipSuccess;
    };
    table_.hipEventDestroy = [](hipEvent_t) { return hipSuccess; };
    table_.hipEventRecord = [](hipEvent_t event, hipStream_t stream) {
      streams.push_back(stream);
      done[number(event)] = false;
      return hipSuccess;
    };
    table_.hipEventQuery = [](hipEvent_t event) {
      if (failing_queries > 0 && failing_queries-- > 0) return hipErrorUnknown;
      return done[number(event)] ? hipSuccess : hipErrorNotReady;
    };
    table_.hipEventSynchronize = [](hipEvent_t event) {
      waited.push_back(number(event));
      done[number(event)] = true;
      return hipSuccess;
    };
    table_.hipMallocAsync = [](void** out, std::size_t size, hipStream_t stream) {
      streams.push_back(stream);
      return api.hipMallocAsync(out, size, nullptr);
    };
    table_.hipFreeAsync = [](void* memory, hipStream_t stream) {
      streams.push_back(stream);
      return api.hipFreeAsync(memory, nullptr);
    };
    table_.hipMemcpyAsync = [](void* to, const void* from, std::size_t size, hipMemcpyKind kind, hipStream_t stream) {
      streams.push_back(stream);
      return api.hipMemcpyAsync(to, from, size, kind, nullptr);
    };
    table_.hipModuleLaunchKernel = [](hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                      unsigned by, unsigned bz, unsigned shared, hipStream_t stream, void** params,
                                      void** extra) {
      streams.push_back(stream);
      return api.hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, nullptr, params, extra);
    };
  }
  [[nodiscard]] const hip::Api& table() const { return table_; }
  static inline std::vector<bool> done;           // by event, in the order in which contexts are made
  static inline std::vector<std::size_t> waited;  // for these events
  static inline std::vector<hipStream_t> streams;
  static inline int failing_queries = 0;

 private:
  static std::size_t number(hipEvent_t event) { return reinterpret_cast<std::uintptr_t>(event) - 1; }
  hip::Api table_ = api;
};

struct LauncherInFlight : testing::Test {
  hip::Status launch(hip::Launcher& launcher, const hip::StreamRef& stream, std::size_t bytes = 12) {
    const Block block{nullptr, 3, 7};
    const std::array transfers{hip::Transfer{0, data_.data(), bytes, hip::Direction::kIn}};
    return launcher.launch_on(stream, launch_of(block, transfers));
  }
  const Pending pending_;
  const hip::StreamRef stream_ = hip::StreamRef::of_default(pending_.table());
  std::vector<std::uint32_t> data_ = std::vector<std::uint32_t>(4096, 1);
  std::vector<hip::Error> reports_;
};

TEST_F(LauncherInFlight, AnotherContextIsMadeWhileOneIsInFlightAndNoMoreThanThereMayBe) {
  hip::Launcher launcher(pending_.table(), {.max_contexts = 3});
  for (std::uint64_t made = 1; made <= 3; ++made) {
    ASSERT_TRUE(launch(launcher, stream_));
    EXPECT_EQ(launcher.counts().contexts, made);
  }
  EXPECT_EQ(Pending::waited, std::vector<std::size_t>{});
  ASSERT_TRUE(launch(launcher, stream_));
  ASSERT_TRUE(launch(launcher, stream_));
  EXPECT_EQ(launcher.counts().contexts, 3u);
  EXPECT_EQ(launcher.counts().waits, 2u);
  EXPECT_EQ(Pending::waited, (std::vector<std::size_t>{0, 1})) << "the oldest first";
}

TEST_F(LauncherInFlight, OneLaunchThatTakesLongIsInNobodysWay) {
  hip::Launcher launcher(pending_.table(), {.max_contexts = 3});
  ASSERT_TRUE(launch(launcher, stream_));  // this one
  ASSERT_TRUE(launch(launcher, stream_));
  for (int i = 0; i < 10; ++i) {
    Pending::done[1] = true;
    ASSERT_TRUE(launch(launcher, stream_));
    EXPECT_FALSE(Pending::done[1]) << "its context was used again";
  }
  EXPECT_EQ(launcher.counts().contexts, 2u) << "while another one is through with its work none is made";
  ASSERT_TRUE(launch(launcher, stream_));
  EXPECT_EQ(launcher.counts().contexts, 3u);
  for (const std::size_t through : {2, 1, 2}) {
    Pending::done[through] = true;
    ASSERT_TRUE(launch(launcher, stream_));
    EXPECT_FALSE(Pending::done[through]);
  }
  EXPECT_EQ(launcher.counts().waits, 0u);
  EXPECT_EQ(Pending::waited, std::vector<std::size_t>{}) << "nor where no more may be made";
}

TEST_F(LauncherInFlight, AContextThatCannotBeAskedIsToldOfAndTakenForOneInFlight) {
  {
    hip::Launcher launcher(pending_.table(), {.max_contexts = 2, .errors = into(reports_)});
    ASSERT_TRUE(launch(launcher, stream_));
    Pending::done[0] = true;
    Pending::failing_queries = 1;
    ASSERT_TRUE(launch(launcher, stream_));
    EXPECT_EQ(reports_.size(), 1u);
    EXPECT_EQ(launcher.counts().contexts, 2u);
    ASSERT_TRUE(launch(launcher, stream_));
    EXPECT_EQ(launcher.counts().waits, 0u) << "asked once more it answers";
  }
  EXPECT_EQ(reports_.size(), 1u);
}

// In flight, and done: no call names the stream once it may be gone, also where the context's memory grows or goes.
TEST_F(LauncherInFlight, WorkMayOutliveItsStreamButNotTheLauncher) {
  const auto stream = [&](std::uintptr_t handle) {
    return hip::StreamRef(pending_.table(), reinterpret_cast<hipStream_t>(handle), 0);
  };
  for (const bool over : {true, false}) {
    Pending::done.clear();
    Pending::waited.clear();
    {
      hip::Launcher launcher(pending_.table(), {.max_contexts = 1});
      ASSERT_TRUE(launch(launcher, stream(16)));
      Pending::done[0] = over;
      Pending::streams.clear();  // 16 is gone
      ASSERT_TRUE(launch(launcher, stream(32), 16384));
      EXPECT_EQ(Pending::waited.size(), over ? 0u : 1u);
      EXPECT_EQ(std::count(Pending::streams.begin(), Pending::streams.end(), stream(16).handle()), 0);
      EXPECT_GT(std::count(Pending::streams.begin(), Pending::streams.end(), stream(32).handle()), 0);
      Pending::streams.clear();  // and so is 32, with work that the destructor waits for
    }
    EXPECT_EQ(Pending::waited.size(), over ? 1u : 2u);
    EXPECT_EQ(Pending::streams, std::vector<hipStream_t>{nullptr}) << "the memory goes in the default stream's order";
  }
}

// The results are there and so is success; who has to know of the device is told elsewhere.
TEST(HostBackend, ALaunchThatBroughtItsResultsBackSucceedsAlsoWhereTheCallersDeviceCannotBeMadeCurrentAgain) {
  static int current, refusals;
  current = 1;
  refusals = 1;
  hip::Api two = api;
  two.hipGetDevice = [](int* device) { return *device = current, hipSuccess; };
  two.hipSetDevice = [](int device) {
    if (device == 1 && refusals > 0 && refusals-- > 0) return hipErrorUnknown;
    return current = device, hipSuccess;
  };
  std::vector<hip::Error> reports;
  hip::Launcher launcher(two, {.errors = into(reports)});
  std::vector<std::uint32_t> data{1, 2, 3};
  const Block block{nullptr, 3, 7};
  const std::array transfers{hip::Transfer{0, data.data(), 12, hip::Direction::kInOut}};
  EXPECT_TRUE(launcher.launch(launch_of(block, transfers)));
  EXPECT_EQ(data, (std::vector<std::uint32_t>{10, 13, 16}));
  EXPECT_EQ(reports.size(), 1u);
  EXPECT_EQ(current, 1) << "what fails once is tried again";
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
