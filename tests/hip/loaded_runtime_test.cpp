// The promises of the systems of hip/ about threads, libraries and time, on a loaded runtime: libhgmodel.so, and AMD's
// over the software gfx942 (RUNTIME names it). The benches of verify/ drive one thread on one table.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hip/event.h"
#include "hip/kernels/device_kernels.h"
#include "hip/launcher.h"
#include "hip/stream.h"
#include "hip/stream_cache.h"
#include "hip/sync/sync.h"
#include "hip/worker_thread.h"

namespace {

const hip::LoadedApi& runtime() {
  static const hip::LoadedApi loaded = [] {
    hip::Result<hip::LoadedApi> runtime = hip::load_api(RUNTIME);
    if (!runtime) {
      std::fprintf(stderr, "%s\n", runtime.error().message.c_str());
      std::exit(2);
    }
    return std::move(runtime).value();
  }();
  return loaded;
}
const hip::Api& api() {
  return runtime().api;
}

void note(void* out, char what) {
  static_cast<std::string*>(out)->push_back(what);
}

struct Worker : testing::Test {
  Worker() {
    hip::Result<std::unique_ptr<hip::WorkerThread>> started = hip::WorkerThread::start();
    EXPECT_TRUE(started.ok());
    worker_ = std::move(started.value());
  }
  std::unique_ptr<hip::WorkerThread> worker_;
};

// Each thread has a per-thread stream of its own: whoever drains waits for that of the thread that posted, also when it
// has ended.
TEST_F(Worker, ACallbackBehindAnotherThreadsOwnStreamIsWaitedFor) {
  for (const bool ended : {false, true}) {
    std::string order;
    hip::sync::Atomic<bool> posted = false, drained = false;
    hip::sync::Thread client([&] {
      const hip::StreamRef own(api(), hipStreamPerThread, 0);
      EXPECT_TRUE(own.launch_host_function([](void* out) { note(out, 'w'); }, &order));
      EXPECT_TRUE(worker_->post_after(own, [&] { note(&order, 'c'); }));
      posted = true;
      while (!ended && !drained) hip::sync::yield();
    });
    while (!posted) hip::sync::yield();
    if (ended) client.join();
    EXPECT_TRUE(worker_->drain());
    drained = true;
    EXPECT_EQ(order, "wc");
    if (client.joinable()) client.join();
  }
}

// A stream that was waited for has run its host functions: were it otherwise, callbacks would be given up.
TEST_F(Worker, NoCallbackIsGivenUpWhileStreamsWork) {
  constexpr int kRounds = 300;
  hip::Result<hip::Stream> stream = hip::Stream::create(api(), {.device = 0, .flags = hipStreamNonBlocking});
  ASSERT_TRUE(stream.ok());
  int ran = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (const hip::StreamRef on : {stream.value().ref(), hip::StreamRef::of_default(api())}) {
      ASSERT_TRUE(worker_->post_after(on, [&] { ++ran; }));
    }
    const hip::Status drained = worker_->drain();
    ASSERT_TRUE(drained) << drained.error().message;
  }
  EXPECT_EQ(ran, 2 * kRounds);
}

// Its host function would become a node of the graph, and draining would wait for a launch that nobody promised.
TEST_F(Worker, AStreamThatCapturesIsRefusedAndItsGraphHasNoNodeOfIt) {
  hip::Result<hip::Stream> stream = hip::Stream::create(api(), {.device = 0, .flags = hipStreamNonBlocking});
  ASSERT_TRUE(stream.ok());
  const hipStream_t handle = stream.value().ref().handle();
  ASSERT_EQ(api().hipStreamBeginCapture(handle, hipStreamCaptureModeThreadLocal), hipSuccess);
  EXPECT_EQ(worker_->post_after(stream.value(), [] {}).error().code, hipErrorStreamCaptureUnsupported);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(api().hipStreamEndCapture(handle, &graph), hipSuccess);
  std::size_t nodes = 1;
  EXPECT_EQ(api().hipGraphGetNodes(graph, nullptr, &nodes), hipSuccess);
  EXPECT_EQ(nodes, 0U);
  EXPECT_EQ(api().hipGraphDestroy(graph), hipSuccess);
  EXPECT_TRUE(worker_->drain());
  int ran = 0;
  ASSERT_TRUE(worker_->post_after(stream.value(), [&] { ++ran; }));
  EXPECT_TRUE(worker_->drain());
  EXPECT_EQ(ran, 1);
}

TEST(StreamCacheOfTheProcess, IsOneForEverybodyWhoLoadedTheRuntime) {
  constexpr hip::StreamKey kKey{.device = 0, .flags = hipStreamNonBlocking, .priority = 0};
  hip::StreamCache& cache = hip::StreamCache::of_process(runtime());
  const hip::StreamCacheCounts before = cache.counts();
  hipStream_t lent = nullptr;
  {
    hip::Result<hip::StreamLease> lease = cache.acquire(kKey);
    ASSERT_TRUE(lease) << lease.error().message;
    lent = lease.value().ref().handle();
  }
  hip::sync::Thread other([&] {
    hip::StreamCache* again = nullptr;
    {
      const hip::Result<hip::LoadedApi> loaded = hip::load_api(RUNTIME);
      ASSERT_TRUE(loaded) << loaded.error().message;
      again = &hip::StreamCache::of_process(loaded.value());
    }
    // The table that this thread loaded is gone; the cache has its own.
    EXPECT_EQ(again, &cache);
    hip::Result<hip::StreamLease> lease = again->acquire(kKey);
    ASSERT_TRUE(lease) << lease.error().message;
    EXPECT_EQ(lease.value().ref().handle(), lent);
  });
  other.join();
  EXPECT_EQ(cache.counts().misses, before.misses + 1);
  EXPECT_EQ(cache.counts().hits, before.hits + 1);
  EXPECT_EQ(cache.idle(), 1U);
  EXPECT_TRUE(cache.clear());
  EXPECT_EQ(cache.idle(), 0U);
}

TEST(StreamCacheOfTheProcess, IsAnotherForAnotherRuntime) {
  EXPECT_NE(&hip::StreamCache::of_process(runtime()), &hip::StreamCache::of_process(hip::LoadedApi{}));
}

// Checks of the time only that it does not run backwards, which holds on every machine.
TEST(EventElapsed, IsTheTimeBetweenTwoTimedEventsThatAreDone) {
  hip::Result<hip::Stream> stream = hip::Stream::create(api());
  hip::Result<hip::Event> from = hip::Event::create(api(), {.timed = true});
  hip::Result<hip::Event> to = hip::Event::create(api(), {.timed = true});
  hip::Result<hip::Event> untimed = hip::Event::create(api());
  ASSERT_TRUE(stream && from && to && untimed);
  EXPECT_FALSE(hip::Event::elapsed(from.value(), to.value())) << "neither was recorded";
  ASSERT_TRUE(from.value().record(stream.value()));
  ASSERT_TRUE(untimed.value().record(stream.value()));
  ASSERT_TRUE(stream.value().ref().synchronize());
  EXPECT_FALSE(hip::Event::elapsed(from.value(), to.value())) << "the second was not recorded";
  EXPECT_FALSE(hip::Event::elapsed(from.value(), untimed.value())) << "one has no time";
  std::string ran;
  ASSERT_TRUE(stream.value().ref().launch_host_function([](void* out) { note(out, 'w'); }, &ran));
  ASSERT_TRUE(to.value().record(stream.value()));
  ASSERT_TRUE(to.value().synchronize());
  EXPECT_EQ(ran, "w") << "what an event stands for is done when it is";
  const hip::Result<bool> done = to.value().done();
  ASSERT_TRUE(done);
  EXPECT_TRUE(done.value());
  const hip::Result<float> there = hip::Event::elapsed(from.value(), to.value());
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_GE(there.value(), 0.0F);
  const hip::Result<float> back = hip::Event::elapsed(to.value(), from.value());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_LE(back.value(), 0.0F);
}

// Counts, by name, the calls that take or give back something of the runtime's.
class Counted {
 public:
  Counted() {
    calls = {};
#define COUNTED(name)                   \
  under_.name = api().name;             \
  table_.name = [](auto... arguments) { \
    ++calls[#name];                     \
    return under_.name(arguments...);   \
  };
    COUNTED(hipMalloc)
    COUNTED(hipMallocAsync)
    COUNTED(hipHostMalloc)
    COUNTED(hipFree)
    COUNTED(hipFreeAsync)
    COUNTED(hipHostFree)
    COUNTED(hipEventCreateWithFlags)
    COUNTED(hipEventDestroy)
    COUNTED(hipStreamSynchronize)
    COUNTED(hipDeviceSynchronize)
    COUNTED(hipEventSynchronize)
#undef COUNTED
  }
  [[nodiscard]] const hip::Api& table() const { return table_; }
  static inline std::map<std::string, int> calls;

 private:
  hip::Api table_ = api();
  static inline hip::Api under_;
};

// data[i] of the kernel inplace_u32.
struct Arguments {
  std::uint32_t* data = nullptr;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
};

struct Launching : testing::Test {
  void SetUp() override {
    ASSERT_EQ(api().hipModuleLoadData(&module_, hg::device_code_object().data()), hipSuccess);
    ASSERT_EQ(api().hipModuleGetFunction(&function_, module_, "inplace_u32"), hipSuccess);
  }
  void TearDown() override { EXPECT_EQ(api().hipModuleUnload(module_), hipSuccess); }

  // The active stream does it.
  hip::Status launch(hip::Launcher& launcher, hip::Direction direction) {
    const Arguments arguments{nullptr, static_cast<std::uint32_t>(data_.size()), 7};
    const std::array transfers{hip::Transfer{0, data_.data(), data_.size() * sizeof data_[0], direction}};
    hip::KernelLaunch what;
    what.function = function_;
    what.arguments = std::as_bytes(std::span(&arguments, 1));
    what.transfers = transfers;
    return launcher.launch(what);
  }

  hipModule_t module_ = nullptr;
  hipFunction_t function_ = nullptr;
  std::vector<std::uint32_t> data_ = std::vector<std::uint32_t>(300, 1);
};

TEST_F(Launching, OnceItsBuffersAreLargeEnoughALaunchTakesNothingAndGivesNothingBack) {
  constexpr int kLaunches = 10;
  const Counted counted;
  hip::Result<hip::Stream> stream = hip::Stream::create(counted.table());
  ASSERT_TRUE(stream);
  hip::Launcher launcher(counted.table());
  const hip::CurrentStream active(stream.value());
  ASSERT_TRUE(launch(launcher, hip::Direction::kInOut));
  const auto taken = [] {
    int sum = 0;
    for (const char* name : {"hipMalloc", "hipMallocAsync", "hipHostMalloc", "hipEventCreateWithFlags"}) {
      sum += Counted::calls[name];
    }
    return sum;
  };
  EXPECT_GT(taken(), 0) << "the first one made a context, and this counts it";
  Counted::calls.clear();
  for (int i = 0; i < kLaunches; ++i) ASSERT_TRUE(launch(launcher, hip::Direction::kInOut));
  EXPECT_EQ(Counted::calls, (std::map<std::string, int>{{"hipStreamSynchronize", kLaunches}}));
  // With nothing to bring back nothing is waited for, as long as there is a context at rest.
  Counted::calls.clear();
  for (int i = 0; i < kLaunches; ++i) {
    ASSERT_TRUE(launch(launcher, hip::Direction::kIn));
    ASSERT_EQ(api().hipStreamSynchronize(stream.value().ref().handle()), hipSuccess);
  }
  EXPECT_EQ(Counted::calls, (std::map<std::string, int>{}));
}

// Work may outlive the stream, but not the launcher. Contexts whose last stream is destroyed, with its work done or
// not, are used on other streams, grow there, and are freed.
TEST_F(Launching, AContextIsUsedAgainWhenTheStreamOfItsLastLaunchIsGone) {
  hip::Launcher launcher(api(), {.device = 0, .max_contexts = 2}), on_the_default_stream(api());
  for (int round = 0; round < 12; ++round) {
    hip::Result<hip::Stream> stream = hip::Stream::create(api(), {.device = 0, .flags = hipStreamNonBlocking});
    ASSERT_TRUE(stream);
    const std::size_t count = 300 + 2000 * static_cast<std::size_t>(round % 5);
    data_.assign(count, 1);
    ASSERT_TRUE(launch(on_the_default_stream, hip::Direction::kInOut));
    const std::vector<std::uint32_t> expected = std::exchange(data_, std::vector<std::uint32_t>(count, 1));
    const hip::CurrentStream active(stream.value());
    ASSERT_TRUE(launch(launcher, hip::Direction::kInOut));
    EXPECT_EQ(data_, expected) << round;
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(launch(launcher, hip::Direction::kIn));
    if (round % 2 != 0) {
      ASSERT_TRUE(stream.value().ref().synchronize());
    }
    ASSERT_TRUE(stream.value().destroy());
  }
  EXPECT_LE(launcher.counts().contexts, 2U);
}

}  // namespace
