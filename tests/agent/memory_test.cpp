// Memory pools: the values that they report, reuse of addresses, quarantine, guard pages, access, and pointer queries.
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

struct MemoryTest : AgentTest {
  void* take(size_t size, PoolKind kind = PoolKind::kDevice) {
    void* p = nullptr;
    EXPECT_HSA(hsa_amd_memory_pool_allocate(pool(kind), size, 0, &p));
    return p;
  }
  hsa_amd_pointer_info_t about(const void* p) {
    hsa_amd_pointer_info_t info{};
    info.size = sizeof(info);
    EXPECT_HSA(hsa_amd_pointer_info(p, &info, nullptr, nullptr, nullptr));
    return info;
  }
};

// Expects that a write of the host ends the process.
void expect_untouchable(volatile uint8_t* p) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        std::signal(SIGSEGV, SIG_DFL);
        *p = 1;
      },
      "");
}

TEST_F(MemoryTest, TheHostHasThreePoolsAndEveryGfx942Two) {
  for (const PoolKind kind : {PoolKind::kKernarg, PoolKind::kFine, PoolKind::kCoarse, PoolKind::kDevice}) {
    bool allowed = false;
    size_t granule = 0;
    EXPECT_HSA(hsa_amd_memory_pool_get_info(pool(kind), HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed));
    EXPECT_HSA(hsa_amd_memory_pool_get_info(pool(kind), HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_GRANULE, &granule));
    EXPECT_TRUE(allowed);
    EXPECT_EQ(granule, 4096u);
  }
  size_t size = 0;
  EXPECT_HSA(hsa_amd_memory_pool_get_info(pool(PoolKind::kGroup), HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
  EXPECT_EQ(size, 65536u);
  void* p = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(pool(PoolKind::kGroup), 64, 0, &p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(MemoryTest, TheHostMayAccessDeviceMemory) {
  uint32_t access = 0;
  ASSERT_HSA(hsa_amd_agent_memory_pool_get_info(host(), pool(PoolKind::kDevice), HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                                                &access));
  EXPECT_NE(access, uint32_t{HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED});
  auto* p = static_cast<uint8_t*>(take(5000));
  p[0] = 1;
  p[4999] = 2;
  EXPECT_LT(reinterpret_cast<uint64_t>(p), uint64_t{1} << 48);
}

TEST_F(MemoryTest, AFreedAddressIsTheNextOneOfItsSize) {
  void* a = take(10000);
  void* b = take(10000);
  ASSERT_HSA(hsa_amd_memory_pool_free(a));
  ASSERT_HSA(hsa_amd_memory_pool_free(b));
  EXPECT_EQ(take(10000), b);
  EXPECT_EQ(take(10000), a);
}

TEST_F(MemoryTest, AddressesComeBackWhenMoreWaitsThanIsKept) {
  // The blocks have different sizes, so that no freed block fits a later one: freed blocks must be merged to be reused.
  constexpr size_t kFirst = 1 << 20;
  std::set<uint64_t> gigabytes;
  for (size_t i = 0; i < 2000; ++i) {
    void* p = take(kFirst + i * 4096);
    gigabytes.insert(reinterpret_cast<uint64_t>(p) >> 30);
    ASSERT_HSA(hsa_amd_memory_pool_free(p));
  }
  EXPECT_LE(gigabytes.size(), 2u);
}

TEST_F(MemoryTest, QuarantineDoesNotHandOutAFreedAddress) {
  restart_with(&hgagent_options::quarantine, 1);
  std::set<void*> seen;
  for (int i = 0; i < 1000; ++i) {
    void* p = take(10000);
    EXPECT_TRUE(seen.insert(p).second) << "handed out again after " << i;
    ASSERT_HSA(hsa_amd_memory_pool_free(p));
  }
}

TEST_F(MemoryTest, RandomAllocationsNeverOverlapAndKeepTheirBytes) {
  for (const uint32_t quarantine : {0u, 1u}) {
    restart_with(&hgagent_options::quarantine, quarantine);
    std::mt19937_64 random(quarantine + 1);
    std::map<uint64_t, std::pair<size_t, uint8_t>> live;
    for (int step = 0; step < 3000; ++step) {
      if (live.size() < 100 && random() % 3 != 0) {
        const size_t size = random() % 50000 + 1;
        const auto mark = static_cast<uint8_t>(random());
        void* p = take(size);
        std::memset(p, mark, size);
        const auto address = reinterpret_cast<uint64_t>(p);
        const auto next = live.lower_bound(address);
        ASSERT_TRUE(next == live.end() || address + size <= next->first);
        ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second.first <= address);
        live[address] = {size, mark};
      } else if (!live.empty()) {
        auto it = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
        const auto* bytes = reinterpret_cast<const uint8_t*>(it->first);
        ASSERT_EQ(bytes[0], it->second.second);
        ASSERT_EQ(bytes[it->second.first - 1], it->second.second);
        ASSERT_HSA(hsa_amd_memory_pool_free(reinterpret_cast<void*>(it->first)));
        live.erase(it);
      }
    }
    EXPECT_EQ(hgagent_counters(HGAGENT_ALLOCATIONS), live.size());
  }
}

TEST_F(MemoryTest, ThePageBehindAnAllocationCannotBeTouched) {
  expect_untouchable(static_cast<uint8_t*>(take(4096)) + 4096);
}

TEST_F(MemoryTest, QuarantinedMemoryCannotBeTouched) {
  restart_with(&hgagent_options::quarantine, 1);
  auto* p = static_cast<uint8_t*>(take(4096));
  p[0] = 1;
  ASSERT_HSA(hsa_amd_memory_pool_free(p));
  expect_untouchable(p);
}

TEST_F(MemoryTest, MoreThanThePoolHoldsIsOutOfResources) {
  size_t size = 0;
  ASSERT_HSA(hsa_amd_memory_pool_get_info(pool(PoolKind::kDevice), HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
  void* p = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(pool(PoolKind::kDevice), size + 1, 0, &p), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_EQ(hsa_amd_memory_pool_allocate(pool(PoolKind::kDevice), 0, 0, &p), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_HSA(hsa_amd_memory_pool_allocate(pool(PoolKind::kDevice), size / 2, 0, &p));
  EXPECT_EQ(hsa_amd_memory_pool_allocate(pool(PoolKind::kDevice), size / 2 + 1, 0, &p),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  uint64_t available = 0;
  ASSERT_HSA(hsa_agent_get_info(gpu(), static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MEMORY_AVAIL), &available));
  EXPECT_EQ(available, size - size / 2);
}

TEST_F(MemoryTest, FreeingWhatIsNoAllocationIsAnError) {
  auto* p = static_cast<std::byte*>(take(100));
  EXPECT_EQ(hsa_amd_memory_pool_free(p + 16), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_HSA(hsa_amd_memory_pool_free(p));
  EXPECT_EQ(hsa_amd_memory_pool_free(p), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_HSA(hsa_amd_memory_pool_free(nullptr));
  int local = 0;
  EXPECT_EQ(hsa_amd_memory_pool_free(&local), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(MemoryTest, APointerIsDescribedByItsAllocationExactly) {
  auto* p = static_cast<std::byte*>(take(1001));
  const hsa_amd_pointer_info_t inside = about(p + 1000);
  EXPECT_EQ(std::tuple(inside.type, inside.agentBaseAddress, inside.hostBaseAddress, inside.sizeInBytes,
                       inside.agentOwner.handle, inside.global_flags),
            std::tuple(HSA_EXT_POINTER_TYPE_HSA, p, p, 1001u, gpu().handle,
                       uint32_t{HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED}));
  EXPECT_EQ(about(p + 1001).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  ASSERT_HSA(hsa_amd_memory_pool_free(p));
  EXPECT_EQ(about(p).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
}

TEST_F(MemoryTest, RegisteredHostMemoryIsLockedUntilEveryRegistrationIsGone) {
  std::vector<std::byte> memory(10000);
  void* seen = nullptr;
  const auto lock = [&] {
    return hsa_amd_memory_lock_to_pool(memory.data(), memory.size(), nullptr, 0, pool(PoolKind::kFine), 0, &seen);
  };
  EXPECT_EQ(about(memory.data()).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  ASSERT_HSA(lock());
  ASSERT_HSA(lock());
  EXPECT_EQ(hgagent_counters(HGAGENT_LOCKS), 2u);
  const hsa_amd_pointer_info_t info = about(memory.data() + 9999);
  EXPECT_EQ(std::tuple(info.type, info.hostBaseAddress, info.sizeInBytes, info.agentOwner.handle),
            std::tuple(HSA_EXT_POINTER_TYPE_LOCKED, memory.data(), memory.size(), host().handle));
  ASSERT_HSA(hsa_amd_memory_unlock(memory.data()));
  EXPECT_EQ(about(memory.data()).type, HSA_EXT_POINTER_TYPE_LOCKED);
  ASSERT_HSA(hsa_amd_memory_unlock(memory.data()));
  EXPECT_EQ(about(memory.data()).type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  EXPECT_EQ(hsa_amd_memory_unlock(memory.data()), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(MemoryTest, TheAgentsThatMayAccessAPointerAreListed) {
  restart_with(&hgagent_options::agents, 3);
  void* p = take(64);
  const hsa_agent_t second = gpu(1);
  ASSERT_HSA(hsa_amd_agents_allow_access(1, &second, nullptr, p));
  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  uint32_t count = 0;
  hsa_agent_t* agents = nullptr;
  ASSERT_HSA(hsa_amd_pointer_info(p, &info, std::malloc, &count, &agents));
  std::set<uint64_t> handles;
  for (uint32_t i = 0; i < count; ++i) handles.insert(agents[i].handle);
  std::free(agents);
  EXPECT_EQ(handles, (std::set<uint64_t>{host().handle, gpu(0).handle, gpu(1).handle}));
}

TEST_F(MemoryTest, AnotherAgentMayAccessMemoryOnlyWhenAllowed) {
  restart_with(&hgagent_options::agents, 2);
  auto* p = static_cast<uint32_t*>(take(64));
  ASSERT_TRUE(run(create_queue(64, 1), "store_value", p, 1u));
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 1u);
  EXPECT_NE(last_fault().find("agent 2 may not write allocation"), std::string::npos) << last_fault();
  const hsa_agent_t second = gpu(1);
  ASSERT_HSA(hsa_amd_agents_allow_access(1, &second, nullptr, p));
  ASSERT_TRUE(run(create_queue(64, 1), "store_value", p, 2u));
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 1u);
  EXPECT_EQ(*p, 2u);
}

}  // namespace
}  // namespace agent_test
