// Copies beside the host: bytes, dependencies, shapes, engines, and the memory that a copy accepts.
#include <algorithm>
#include <numeric>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

struct CopiesTest : AgentTest {
  hsa_status_t copy(void* to, const void* from, size_t size, const std::vector<hsa_signal_t>& after,
                    const Signal& done) {
    return hsa_amd_memory_async_copy(to, gpu(), from, gpu(), size, static_cast<uint32_t>(after.size()),
                                     after.empty() ? nullptr : after.data(), done.get());
  }
};

std::vector<uint32_t> numbers(std::size_t count) {
  std::vector<uint32_t> values(count);
  std::iota(values.begin(), values.end(), 1u);
  return values;
}

TEST_F(CopiesTest, ACopyMovesItsBytesAndSignalsWithTimes) {
  constexpr std::size_t kCount = 3'000'000;  // of several pieces
  const std::vector<uint32_t> values = numbers(kCount);
  auto* from = allocate(kCount, PoolKind::kFine);
  auto* to = allocate(kCount);
  std::copy(values.begin(), values.end(), from);
  const Signal done;
  ASSERT_HSA(copy(to, from, kCount * sizeof(uint32_t), {}, done));
  ASSERT_TRUE(done.done());
  EXPECT_TRUE(std::equal(values.begin(), values.end(), to));
  hsa_amd_profiling_async_copy_time_t time{};
  ASSERT_HSA(hsa_amd_profiling_get_async_copy_time(done.get(), &time));
  EXPECT_LE(time.start, time.end);
  EXPECT_NE(time.start, 0u);
}

TEST_F(CopiesTest, ACopyWaitsForItsDependencies) {
  auto* memory = allocate_zeros(2);
  memory[0] = 1;
  const Signal first, second, done;
  ASSERT_HSA(copy(memory + 1, memory, 4, {first.get(), second.get()}, done));
  EXPECT_FALSE(done.done(2'000'000));
  hsa_signal_subtract_relaxed(first.get(), 1);
  EXPECT_FALSE(done.done(2'000'000));
  memory[0] = 7;
  hsa_signal_subtract_relaxed(second.get(), 1);
  ASSERT_TRUE(done.done());
  EXPECT_EQ(memory[1], 7u);
}

TEST_F(CopiesTest, ACopyThatWaitsDoesNotHoldUpTheNextOneOfItsEngine) {
  auto* memory = allocate(4);
  const Signal never, blocked, done;
  const auto engine = HSA_AMD_SDMA_ENGINE_0;
  const hsa_signal_t dependency = never.get();
  ASSERT_HSA(hsa_amd_memory_async_copy_on_engine(memory, gpu(), memory + 1, gpu(), 4, 1, &dependency, blocked.get(),
                                                 engine, false));
  ASSERT_HSA(hsa_amd_memory_async_copy_on_engine(memory + 2, gpu(), memory + 3, gpu(), 4, 0, nullptr, done.get(),
                                                 engine, false));
  EXPECT_TRUE(done.done());
  EXPECT_EQ(blocked.value(), 1);
  hsa_signal_subtract_relaxed(never.get(), 1);
  EXPECT_TRUE(blocked.done());
}

TEST_F(CopiesTest, AChainOfCopiesAndKernelsPassesAValueOn) {
  auto* memory = allocate_zeros(3, PoolKind::kFine);
  hsa_queue_t* queue = create_queue();
  const Signal stored, copied, done;
  ASSERT_HSA(copy(memory + 1, memory, 4, {stored.get()}, copied));
  barrier_and(queue, {}, {0});
  launch(queue, "store_value", {.completion = stored.get()}, memory, 99u);
  barrier_and(queue, {copied.get()}, {0});
  launch(queue, "copy_value", {.completion = done.get()}, memory + 2, memory + 1);
  ASSERT_TRUE(done.done());
  EXPECT_EQ(memory[2], 99u);
}

TEST_F(CopiesTest, ABoxIsCopiedBetweenPitches) {
  constexpr uint32_t kPitch = 16;
  constexpr uint32_t kSlice = 4 * kPitch;
  auto* from = allocate<uint8_t>(4 * kSlice);
  auto* to = allocate<uint8_t>(4 * kSlice);
  for (uint32_t i = 0; i < 4 * kSlice; ++i) from[i] = static_cast<uint8_t>(i);
  std::fill_n(to, 4 * kSlice, uint8_t{0xee});
  const hsa_pitched_ptr_t source{from, kPitch, kSlice};
  const hsa_pitched_ptr_t target{to, 2 * kPitch, 2 * kSlice};
  const hsa_dim3_t source_at{3, 1, 1};
  const hsa_dim3_t target_at{5, 0, 0};
  const hsa_dim3_t box{4, 2, 2};
  const Signal done;
  ASSERT_HSA(hsa_amd_memory_async_copy_rect(&target, &target_at, &source, &source_at, &box, gpu(), hsaDeviceToDevice, 0,
                                            nullptr, done.get()));
  ASSERT_TRUE(done.done());
  std::vector<uint8_t> expected(4 * kSlice, 0xee);
  for (uint32_t z = 0; z < 2; ++z) {
    for (uint32_t y = 0; y < 2; ++y) {
      for (uint32_t x = 0; x < 4; ++x) {
        expected[5 + x + y * 2 * kPitch + z * 2 * kSlice] =
            static_cast<uint8_t>(3 + x + (1 + y) * kPitch + (1 + z) * kSlice);
      }
    }
  }
  EXPECT_EQ(std::vector<uint8_t>(to, to + 4 * kSlice), expected);
}

TEST_F(CopiesTest, RegisteredHostMemoryMayBeCopiedAndOtherMayNot) {
  std::vector<uint32_t> local = numbers(256);
  auto* to = allocate(256);
  const size_t size = local.size() * sizeof(uint32_t);
  void* seen = nullptr;
  ASSERT_HSA(hsa_amd_memory_lock_to_pool(local.data(), size, nullptr, 0, pool(PoolKind::kFine), 0, &seen));
  EXPECT_EQ(seen, local.data());
  const Signal done;
  ASSERT_HSA(copy(to, seen, size, {}, done));
  ASSERT_TRUE(done.done());
  EXPECT_TRUE(std::equal(local.begin(), local.end(), to));
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 0u);
  ASSERT_HSA(hsa_amd_memory_unlock(local.data()));
  const Signal refused;
  ASSERT_HSA(copy(to, local.data(), size, {}, refused));
  ASSERT_TRUE(refused.done());
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 1u);
  EXPECT_NE(last_fault().find("use after free"), std::string::npos) << last_fault();
}

TEST_F(CopiesTest, HostCopiesOfHsaRefuseFreedMemory) {
  auto* memory = allocate(16);
  uint32_t values[16] = {1, 2, 3};
  ASSERT_HSA(hsa_memory_copy(memory, values, sizeof(values)));
  EXPECT_EQ(memory[2], 3u);
  ASSERT_HSA(hsa_amd_memory_pool_free(memory));
  EXPECT_EQ(hsa_memory_copy(values, memory, sizeof(values)), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(CopiesTest, EnginesAreReported) {
  uint32_t mask = 0;
  ASSERT_HSA(hsa_amd_memory_copy_engine_status(gpu(), host(), &mask));
  EXPECT_NE(mask, 0u);
  ASSERT_HSA(hsa_amd_memory_get_preferred_copy_engine(host(), gpu(), &mask));
  EXPECT_NE(mask, 0u);
}

TEST_F(CopiesTest, ManyCopiesOfTwoEnginesAllArrive) {
  constexpr uint32_t kCopies = 400;
  auto* from = allocate(kCopies, PoolKind::kFine);
  auto* to = allocate(kCopies);
  const Signal done(kCopies);
  for (uint32_t i = 0; i < kCopies; ++i) from[i] = i + 1;
  for (uint32_t i = 0; i < kCopies; ++i) {
    ASSERT_HSA(hsa_amd_memory_async_copy_on_engine(to + i, gpu(), from + i, host(), 4, 0, nullptr, done.get(),
                                                   i % 2 == 0 ? HSA_AMD_SDMA_ENGINE_0 : HSA_AMD_SDMA_ENGINE_1, false));
  }
  ASSERT_TRUE(done.done());
  for (uint32_t i = 0; i < kCopies; ++i) EXPECT_EQ(to[i], i + 1);
  EXPECT_EQ(hgagent_counters(HGAGENT_COPIES), kCopies);
}

}  // namespace
}  // namespace agent_test
