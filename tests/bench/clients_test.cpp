// The lives of clients on the host model: the streams that are made and the streams that come from the cache.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "bench/client_lives.h"
#include "bench/counting_api.h"
#include "bench/step_runtimes.h"
#include "bench/synthetic.h"
#include "hip/sync/sync.h"

namespace {

constexpr int kLives = 5;

TEST(Clients, WithACacheOnlyTheFirstLifeMakesStreams) {
  const bench::StepRuntime runtime = bench::open_model();
  bench::ClientLives lives(runtime.platform->api(), true);
  for (int i = 0; i < kLives; ++i) ASSERT_TRUE(lives.live().ok());
  const hip::StreamCacheCounts counts = lives.counts();
  EXPECT_EQ(counts.misses, bench::kStreamsOfClient);
  EXPECT_EQ(counts.hits, (kLives - 1) * bench::kStreamsOfClient);
  EXPECT_EQ(counts.destroyed, 0u);
}

TEST(Clients, WithoutOneEveryLifeMakesAndDestroysThemAll) {
  const bench::StepRuntime runtime = bench::open_model();
  bench::CountingApi counting(runtime.platform->api());
  bench::ClientLives lives(counting.table(), false);
  for (int i = 0; i < kLives; ++i) {
    const std::uint64_t before = counting.counts().calls;
    ASSERT_TRUE(lives.live().ok());
    // Made and destroyed, and the current device asked for.
    EXPECT_EQ(counting.counts().calls - before, 3 * bench::kStreamsOfClient);
  }
}

// Threads that share one processor: each is charged all of it, however long it had to wait for its turns.
TEST(Synthetic, ACostIsTheThreadsOwnProcessorTimeWhoeverElseRuns) {
  constexpr int kThreads = 4;
  constexpr std::uint32_t kMicroseconds = 40'000;
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (std::size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);  // threads begin with it
  std::vector<std::int64_t> spent(kThreads);
  std::vector<hip::sync::Thread> threads;
  for (std::int64_t& own : spent) {
    threads.emplace_back([&own] {
      bench::spend(kMicroseconds);
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      own = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    });
  }
  for (hip::sync::Thread& thread : threads) thread.join();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(*std::min_element(spent.begin(), spent.end()), std::int64_t{kMicroseconds} * 1'000);
}

}  // namespace
