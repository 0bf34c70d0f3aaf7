// Legal schedules by seed: a seed reorders and delays unordered work, repeats its own order, and breaks no ordering.
#include <algorithm>
#include <memory>
#include <numeric>
#include <set>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

struct ScheduleTest : AgentTest {
  static constexpr uint32_t kLaunches = 8;

  void seed(uint64_t number, uint32_t delay = 0) {
    hgagent_options options = defaults();
    options.schedule_seed = number;
    options.max_delay_us = delay;
    ASSERT_EQ(hgagent_configure(&options), 0);
  }
  // Launches kernels that append 0, 1, ... and rings the doorbell once; returns the order in which the kernels ran.
  std::vector<uint32_t> order_of_launches(bool barrier) {
    auto* list = allocate_zeros(kLaunches + 1, PoolKind::kFine);
    hsa_queue_t* queue = nullptr;
    EXPECT_HSA(hsa_queue_create(gpu(), 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, ~0u, ~0u, &queue));
    for (uint32_t i = 0; i < kLaunches; ++i) {
      launch(queue, "append", {.barrier = barrier, .ring = i + 1 == kLaunches}, list, i);
    }
    EXPECT_TRUE(drain(queue));
    EXPECT_HSA(hsa_queue_destroy(queue));
    EXPECT_EQ(list[0], kLaunches);
    std::vector<uint32_t> order(list + 1, list + 1 + kLaunches);
    EXPECT_HSA(hsa_amd_memory_pool_free(list));
    return order;
  }
  // The order of `seed` in a machine of its own, so that queues have the same numbers each time.
  std::vector<uint32_t> fresh_order(uint64_t number, bool barrier) {
    TearDown();
    SetUp();
    seed(number);
    return order_of_launches(barrier);
  }
};

TEST_F(ScheduleTest, SeedsChooseDifferentOrdersOfLaunchesWithoutBarrierBits) {
  std::vector<uint32_t> sorted(kLaunches);
  std::iota(sorted.begin(), sorted.end(), 0u);
  std::set<std::vector<uint32_t>> orders;
  for (uint64_t number = 1; number <= 6; ++number) {
    const std::vector<uint32_t> order = fresh_order(number, false);
    EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), sorted.begin()));
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 3u);
}

TEST_F(ScheduleTest, TheSameSeedRepeatsItsOrder) {
  for (uint64_t number = 1; number <= 4; ++number) {
    EXPECT_EQ(fresh_order(number, false), fresh_order(number, false)) << number;
  }
}

TEST_F(ScheduleTest, BarrierBitsKeepTheOrderUnderEverySeed) {
  for (uint64_t number = 0; number <= 5; ++number) {
    const std::vector<uint32_t> order = fresh_order(number, true);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << number;
  }
}

TEST_F(ScheduleTest, WithoutASeedNothingIsReordered) {
  const std::vector<uint32_t> order = fresh_order(0, false);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(ScheduleTest, SignalsAreObeyedUnderEverySeed) {
  for (uint64_t number = 1; number <= 20; ++number) {
    seed(number, 300);
    auto* memory = allocate_zeros(4, PoolKind::kFine);
    hsa_queue_t* one = create_queue();
    hsa_queue_t* two = create_queue();
    const Signal stored, copied, done;
    const hsa_signal_t after_store = stored.get();
    barrier_and(two, {copied.get()}, {0});
    launch(two, "copy_value", {.completion = done.get()}, memory + 2, memory + 1);
    ASSERT_HSA(hsa_amd_memory_async_copy(memory + 1, gpu(), memory, gpu(), 4, 1, &after_store, copied.get()));
    launch(one, "store_value", {.completion = stored.get()}, memory, static_cast<uint32_t>(number));
    ASSERT_TRUE(done.done());
    EXPECT_EQ(memory[2], number);
  }
}

TEST_F(ScheduleTest, CopiesOfOneEngineThatNothingOrdersAreReordered) {
  // All copies of one engine wait for the same signal. Their end times show the order in which they ran.
  constexpr uint32_t kCopies = 16;
  bool reordered = false;
  for (uint64_t number = 1; number <= 10 && !reordered; ++number) {
    seed(number, 50);
    const Signal go;
    std::vector<std::unique_ptr<Signal>> done;
    auto* memory = allocate(2 * kCopies, PoolKind::kFine);
    const hsa_signal_t dependency = go.get();
    for (uint32_t i = 0; i < kCopies; ++i) {
      done.push_back(std::make_unique<Signal>());
      ASSERT_HSA(hsa_amd_memory_async_copy_on_engine(memory + i, gpu(), memory + kCopies + i, gpu(), 4, 1, &dependency,
                                                     done.back()->get(), HSA_AMD_SDMA_ENGINE_0, false));
    }
    hsa_signal_subtract_relaxed(go.get(), 1);
    uint64_t last = 0;
    for (const auto& s : done) {
      ASSERT_TRUE(s->done());
      reordered = reordered || s->amd()->end_ts < last;
      last = s->amd()->end_ts;
    }
  }
  EXPECT_TRUE(reordered);
}

TEST_F(ScheduleTest, DelaysAreBounded) {
  seed(3, 1000);
  auto* p = allocate(1);
  hsa_queue_t* queue = create_queue();
  for (uint32_t i = 0; i < 20; ++i) launch(queue, "store_value", {}, p, i);
  uint64_t start = 0;
  uint64_t end = 0;
  ASSERT_HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &start));
  ASSERT_TRUE(drain(queue));
  ASSERT_HSA(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &end));
  EXPECT_LT(end - start, 10'000'000'000u);
  EXPECT_EQ(*p, 19u);
}

}  // namespace
}  // namespace agent_test
