// Systems beside a capture of other work: the calls that they make for themselves are no unsafe calls to the capture
// (hip/beside_captures.h). On the model, and on AMD's runtime 7.2.
#include "hip/beside_captures.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "command_bed.h"
#include "hip/cached_allocator.h"
#include "hip/last_launch.h"
#include "hip/launcher.h"
#include "hip/recording.h"
#include "hip/release_quirks.h"
#include "hip/scratch_buffer.h"
#include "hip/stream_cache.h"
#include "hip/worker_thread.h"
#include "verify/language/kernel_spec.h"

namespace {

constexpr int k72 = 70253211;  // as hipRuntimeGetVersion answers

// The parameter is the host thread that captures: 0 is this one.
class BesideCaptures : public testing::TestWithParam<verify::Id>, protected CommandBed {
 protected:
  // Runs `call` while the bed's second stream is captured; the capture must be whole afterwards.
  void while_captured(const std::function<void()>& call) { while_captured(capturing_, call); }
  void while_captured(hipStream_t captured, const std::function<void()>& call) {
    hipError_t begun = hipErrorUnknown, ended = hipErrorUnknown;
    hipGraph_t graph = nullptr;
    on_capturer([&] { begun = table().hipStreamBeginCapture(captured, hipStreamCaptureModeGlobal); });
    ASSERT_EQ(begun, hipSuccess);
    call();
    on_capturer([&] { ended = table().hipStreamEndCapture(captured, &graph); });
    EXPECT_EQ(ended, hipSuccess) << "the capture was made invalid";
    if (graph != nullptr) {
      EXPECT_EQ(table().hipGraphDestroy(graph), hipSuccess);
    }
  }
  void on_capturer(const std::function<void()>& work) { runtime_.platform().on_thread(GetParam(), work); }
  static const hip::ReleaseQuirk* by_malloc() {
    static const hip::ReleaseQuirks quirks = hip::ReleaseQuirks::of_version(k72);
    return quirks.of_free_async();
  }
  static const verify::KernelSpec& empty_kernel() { return *verify::find_kernel("inplace_u32"); }
  // With arguments of zeros it has no element to work on.
  hip::KernelLaunch launch_of(std::span<const std::byte> arguments, std::span<const hip::Transfer> transfers) {
    hip::KernelLaunch launch;
    launch.function =
        runtime_.platform().function(static_cast<std::size_t>(&empty_kernel() - verify::kernel_catalogue().data()), 0);
    launch.arguments = arguments;
    launch.transfers = transfers;
    return launch;
  }
  const hip::Api& table() { return runtime_.platform().api(); }
  void TearDown() override { EXPECT_EQ(testing::PrintToString(told_), "{}"); }
};

// Shows that the runtime refuses unsafe calls; if it refused none, the other tests would show nothing.
TEST_P(BesideCaptures, AnUnsafeCallIsRefusedUnlessItIsInAScope) {
  void* memory = nullptr;
  while_captured([&] {
    const hip::BesideCaptures beside(api(), sink());
    const hip::BesideCaptures nested(api(), sink());
    EXPECT_EQ(api().hipStreamQuery(stream_), hipSuccess);
    EXPECT_EQ(api().hipStreamSynchronize(stream_), hipSuccess);
    ASSERT_EQ(api().hipMalloc(&memory, kBytes), hipSuccess);
    EXPECT_EQ(api().hipFree(memory), hipSuccess);
  });
  hipError_t ended = hipErrorUnknown;
  hipGraph_t graph = nullptr;
  on_capturer([&] { ASSERT_EQ(table().hipStreamBeginCapture(capturing_, hipStreamCaptureModeGlobal), hipSuccess); });
  { const hip::BesideCaptures over(api(), sink()); }
  EXPECT_EQ(api().hipMalloc(&memory, kBytes), hipErrorStreamCaptureUnsupported) << "the mode from before is back";
  on_capturer([&] { ended = table().hipStreamEndCapture(capturing_, &graph); });
  EXPECT_EQ(ended, hipErrorStreamCaptureInvalidated);
}

TEST_P(BesideCaptures, TheModeFromBeforeIsBackAlsoWhereItIsRefusedOnce) {
  FailingCall back(verify::Function::k_hipThreadExchangeStreamCaptureMode, 2);
  back.arm(interposer_);
  { const hip::BesideCaptures over(api(), sink()); }
  back.disarm(interposer_);
  EXPECT_TRUE(back.fired());
  EXPECT_EQ(std::exchange(told_, {}).size(), 1U);
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  ASSERT_EQ(api().hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
  EXPECT_EQ(mode, hipStreamCaptureModeGlobal);
  ASSERT_EQ(api().hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
}

TEST_P(BesideCaptures, TheStreamCacheKeepsWhatIsIdleAndLendsIt) {
  hip::StreamCache cache(api(), {.errors = sink()});
  hip::Result<hip::StreamLease> before = cache.acquire({});
  ASSERT_TRUE(before);
  while_captured([&] {
    EXPECT_TRUE(before.value().release());
    hip::Result<hip::StreamLease> lease = cache.acquire({});
    ASSERT_TRUE(lease);
    EXPECT_TRUE(lease.value().release());
  });
  EXPECT_EQ(cache.counts().hits, 1U);
  EXPECT_EQ(cache.counts().faulty, 0U);
  EXPECT_EQ(cache.idle(), 1U);
}

TEST_P(BesideCaptures, AWorkerWaitsForWhatIsOwed) {
  auto worker = hip::WorkerThread::start({.errors = sink()});
  ASSERT_TRUE(worker);
  int ran = 0;
  while_captured([&] {
    ASSERT_TRUE(worker.value()->post_after(stream(), [&] { ++ran; }));
    EXPECT_TRUE(worker.value()->drain());
  });
  EXPECT_EQ(ran, 1);
}

TEST_P(BesideCaptures, BuffersGrowAndGo) {
  hip::CachedAllocator allocator(api(), {.errors = sink()});
  while_captured([&] {
    EXPECT_TRUE(allocator.get(1, kBytes));
    EXPECT_TRUE(allocator.get(1, 2 * kBytes));
    EXPECT_TRUE(allocator.clear());
    for (const hip::ReleaseQuirk* const free_async : {static_cast<const hip::ReleaseQuirk*>(nullptr), by_malloc()}) {
      hip::ScratchBuffer scratch(stream(), {.free_async = free_async, .errors = sink()});
      EXPECT_TRUE(scratch.reserve(kBytes));
      EXPECT_TRUE(scratch.reserve(8192));
    }
  });
}

// A graph that is captured on the buffer's own stream uses the memory whenever it is launched.
TEST_P(BesideCaptures, AScratchBufferStaysWhatItIsWhileItsOwnStreamCaptures) {
  hip::ScratchBuffer scratch({api(), capturing_, device()}, {.free_async = by_malloc(), .errors = sink()});
  const hip::Result<void*> memory = scratch.reserve(kBytes);
  ASSERT_TRUE(memory);
  while_captured([&] {
    for (const hip::Status& refused :
         {hip::Status(scratch.reserve(2 * scratch.capacity()).error()), scratch.release()}) {
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().code, hipErrorStreamCaptureUnsupported);
    }
    EXPECT_EQ(scratch.reserve(kBytes).value(), memory.value());
  });
  EXPECT_TRUE(scratch.release());
}

TEST_P(BesideCaptures, AStepThatIsWaitedForIsOver) {
  hip::LastLaunch last(api(), {}, device(), sink());
  const BuiltGraph built(api(), of(fill(7)), {at(0)});
  ASSERT_TRUE(last.launch(built.exec(), stream()));
  while_captured([&] { EXPECT_TRUE(last.wait()); });
  EXPECT_EQ(value_at(0), 7);
}

// AMD's runtime refuses to have a stream wait for an event of a stream that captures by now.
TEST_P(BesideCaptures, AStepComesBehindOneWhoseStreamIsCapturedSince) {
  hip::LastLaunch last(api(), hip::ReleaseQuirks::of_version(k72), device(), sink());
  const BuiltGraph built(api(), of(fill(7)), {at(0)});
  ASSERT_TRUE(last.launch(built.exec(), {api(), capturing_, device()}));
  while_captured([&] {
    const hip::Status launched = last.launch(built.exec(), stream());
    EXPECT_TRUE(launched) << launched.error().message;
  });
  EXPECT_TRUE(last.wait());
  EXPECT_EQ(value_at(0), 7);
}

// Launches wait for contexts, and contexts for their work.
TEST_P(BesideCaptures, LaunchesAreAskedForAndWaitedFor) {
  auto launcher = std::make_unique<hip::Launcher>(api(), hip::LauncherOptions{.max_contexts = 1, .errors = sink()});
  std::array<unsigned char, kBytes> data{};
  const std::array transfers{hip::Transfer{0, data.data(), data.size(), hip::Direction::kIn}};
  const std::vector<std::byte> arguments(empty_kernel().argument_bytes);
  const hip::KernelLaunch launch = launch_of(arguments, transfers);
  while_captured([&] {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(launcher->launch_on(stream(), launch));
    const hip::Status refused = launcher->launch_on({api(), capturing_, device()}, launch);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, hipErrorStreamCaptureUnsupported);
    EXPECT_EQ(launcher->counts().contexts, 1U);
    launcher.reset();  // and its pinned memory
  });
}

// The null stream must get no work then, but it captures nothing either, and freeing memory at once is no work of it.
TEST_P(BesideCaptures, MemoryOfTheNullStreamGoesBesideACaptureOfABlockingOne) {
  hipStream_t blocking = nullptr;
  ASSERT_EQ(api().hipStreamCreate(&blocking), hipSuccess);
  auto launcher = std::make_unique<hip::Launcher>(
      api(), hip::LauncherOptions{.max_contexts = 1, .free_async = by_malloc(), .errors = sink()});
  std::array<unsigned char, kBytes> data{};
  const std::array transfers{hip::Transfer{0, data.data(), data.size(), hip::Direction::kInOut}};
  const std::vector<std::byte> arguments(empty_kernel().argument_bytes);
  EXPECT_TRUE(launcher->launch_on(stream(), launch_of(arguments, transfers)));
  hip::ScratchBuffer scratch({api(), nullptr, device()}, {.free_async = by_malloc(), .errors = sink()});
  EXPECT_TRUE(scratch.reserve(kBytes));
  while_captured(blocking, [&] {
    EXPECT_TRUE(scratch.reserve(2 * scratch.capacity()));
    EXPECT_TRUE(scratch.release());
    launcher.reset();
  });
  EXPECT_EQ(api().hipStreamDestroy(blocking), hipSuccess);
}

INSTANTIATE_TEST_SUITE_P(By, BesideCaptures, testing::Values(verify::Id{0}, verify::Id{1}), [](const auto& test) {
  return std::string(test.param == 0 ? "ThisThread" : "AnotherThread");
});

}  // namespace
