// The lives of clients on the host model: what is made and what comes from the cache.
#include <gtest/gtest.h>

#include "bench/client_lives.h"
#include "bench/counting_api.h"
#include "bench/step_runtimes.h"

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

}  // namespace
