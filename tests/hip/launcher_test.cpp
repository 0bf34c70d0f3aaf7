// Launcher over the host backend, and over a table on which a launch's work is done when the test says so.
#include "hip/launcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "hip/allocation_count.h"
#include "hip/error_list.h"
#include "hip/host_backend.h"
#include "hip/stream.h"

namespace {

const hip::Api& api = hip::host_api();

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

constexpr Block kBlock{nullptr, 3, 7};

// A launch of kTimesThree on three words. It refers to the elements of `transfers`.
hip::KernelLaunch launch_of(const std::initializer_list<hip::Transfer>& transfers) {
  hip::KernelLaunch launch;
  launch.function = hip::host_function(kTimesThree);
  launch.arguments = std::as_bytes(std::span(&kBlock, 1));
  launch.transfers = {transfers.begin(), transfers.size()};
  return launch;
}

struct LauncherOfTheHost : testing::Test {
  hip::Launcher launcher{api};
  std::vector<std::uint32_t> data{1, 2, 3};
  std::uint32_t word = 0;
};

TEST_F(LauncherOfTheHost, BringsArraysThereAndBack) {
  ASSERT_TRUE(launcher.launch(launch_of({{0, data.data(), 12, hip::Direction::kInOut}})).ok());
  EXPECT_EQ(data, (std::vector<std::uint32_t>{10, 13, 16}));
  EXPECT_EQ(launcher.counts().synchronizations, 1u);
}

TEST_F(LauncherOfTheHost, WithNothingToBringBackDoesNotSynchronise) {
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(launcher.launch(launch_of({{0, data.data(), 12, hip::Direction::kIn}})).ok());
  }
  EXPECT_EQ(data, (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(launcher.counts().synchronizations, 0u);
  EXPECT_EQ(launcher.counts().contexts, 1u);
}

TEST_F(LauncherOfTheHost, RefusesALaunchWhoseArrayLiesOutsideTheBlock) {
  EXPECT_EQ(launcher.launch(launch_of({{9, &word, 4, hip::Direction::kIn}})).error().code, hipErrorInvalidValue);
  EXPECT_EQ(launcher.launch(launch_of({{0, nullptr, 4, hip::Direction::kIn}})).error().code, hipErrorInvalidValue);
}

TEST_F(LauncherOfTheHost, RefusesALaunchWhoseArraysHaveMoreBytesThanThereAreBeforeAnythingIsCopied) {
  const std::initializer_list<hip::Transfer> large = {{0, &word, SIZE_MAX - 256, hip::Direction::kIn},
                                                      {8, &word, 0x200, hip::Direction::kIn}};
  EXPECT_EQ(launcher.launch(launch_of(large)).error().code, hipErrorOutOfMemory);
}

TEST_F(LauncherOfTheHost, AllocatesNothingOnTheHostOnceItIsWarm) {
  for (const hip::Direction direction : {hip::Direction::kInOut, hip::Direction::kIn}) {
    const auto allocations = [&] {
      const allocation::Counter counter(nullptr);
      for (int i = 0; i < 5; ++i) EXPECT_TRUE(launcher.launch(launch_of({{0, data.data(), 12, direction}})));
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
// once all the same; only its event says otherwise.
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
      noted(stream);
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
      return api.hipMallocAsync(out, size, noted(stream));
    };
    table_.hipFreeAsync = [](void* memory, hipStream_t stream) { return api.hipFreeAsync(memory, noted(stream)); };
    table_.hipMemcpyAsync = [](void* to, const void* from, std::size_t size, hipMemcpyKind kind, hipStream_t stream) {
      return api.hipMemcpyAsync(to, from, size, kind, noted(stream));
    };
    table_.hipModuleLaunchKernel = [](hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                      unsigned by, unsigned bz, unsigned shared, hipStream_t stream, void** params,
                                      void** extra) {
      return api.hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, noted(stream), params, extra);
    };
  }
  [[nodiscard]] const hip::Api& table() const { return table_; }
  static inline std::vector<bool> done;           // by event, in the order in which contexts are made
  static inline std::vector<std::size_t> waited;  // for these events
  static inline std::vector<hipStream_t> streams;
  static inline int failing_queries = 0;

 private:
  // Returns the only stream that the host's table knows.
  static hipStream_t noted(hipStream_t stream) { return streams.push_back(stream), nullptr; }
  static std::size_t number(hipEvent_t event) { return reinterpret_cast<std::uintptr_t>(event) - 1; }
  hip::Api table_ = api;
};

struct LauncherInFlight : testing::Test {
  hip::Status launch(hip::Launcher& launcher, const hip::StreamRef& stream, std::size_t bytes = 12) {
    return launcher.launch_on(stream, launch_of({{0, data_.data(), bytes, hip::Direction::kIn}}));
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

// The launch succeeds because its results are there. The error sink is told of the device.
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
  EXPECT_TRUE(launcher.launch(launch_of({{0, data.data(), 12, hip::Direction::kInOut}})));
  EXPECT_EQ(data, (std::vector<std::uint32_t>{10, 13, 16}));
  EXPECT_EQ(reports.size(), 1u);
  EXPECT_EQ(current, 1) << "what fails once is tried again";
}

}  // namespace
