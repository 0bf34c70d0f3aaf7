// Virtual memory management: reserving, mapping, access, and handles that outlive each other.
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

constexpr size_t kSize = 2 << 20;

struct VirtualMemoryTest : AgentTest {
  void* reserve(size_t size, uint64_t alignment = 0) {
    void* p = nullptr;
    EXPECT_HSA(hsa_amd_vmem_address_reserve_align(&p, size, 0, alignment, 0));
    return p;
  }
  hsa_amd_vmem_alloc_handle_t create(size_t size = kSize) {
    hsa_amd_vmem_alloc_handle_t handle{};
    EXPECT_HSA(hsa_amd_vmem_handle_create(pool(PoolKind::kDevice), size, MEMORY_TYPE_PINNED, 0, &handle));
    return handle;
  }
  hsa_status_t allow(void* p, size_t size, hsa_access_permission_t permission = HSA_ACCESS_PERMISSION_RW) {
    const hsa_amd_memory_access_desc_t access{permission, gpu()};
    return hsa_amd_vmem_set_access(p, size, &access, 1);
  }
};

TEST_F(VirtualMemoryTest, TheSystemSaysThatItIsSupported) {
  bool supported = false;
  ASSERT_HSA(hsa_system_get_info(HSA_AMD_SYSTEM_INFO_VIRTUAL_MEM_API_SUPPORTED, &supported));
  EXPECT_TRUE(supported);
}

TEST_F(VirtualMemoryTest, AReservationIsAlignedAndCountsUntilItIsFreed) {
  void* p = reserve(kSize, 1 << 24);
  EXPECT_EQ(reinterpret_cast<uint64_t>(p) % (1 << 24), 0u);
  EXPECT_EQ(hgagent_counters(HGAGENT_RESERVATIONS), 1u);
  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  ASSERT_HSA(hsa_amd_pointer_info(p, &info, nullptr, nullptr, nullptr));
  EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_RESERVED_ADDR);
  EXPECT_EQ(hsa_amd_vmem_address_free(p, kSize / 2), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  ASSERT_HSA(hsa_amd_vmem_address_free(p, kSize));
  EXPECT_EQ(hgagent_counters(HGAGENT_RESERVATIONS), 0u);
  EXPECT_EQ(hsa_amd_vmem_address_free(p, kSize), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

// AMD's runtime takes a handle for the address of memory of that size, and looks it up by ranges.
TEST_F(VirtualMemoryTest, HandlesAreAsFarApartAsTheirMemoryIsLarge) {
  std::vector<uint64_t> handles;
  for (int i = 0; i < 8; ++i) handles.push_back(create(2 * kSize).handle);
  std::sort(handles.begin(), handles.end());
  for (size_t i = 1; i < handles.size(); ++i) EXPECT_GE(handles[i] - handles[i - 1], 2 * kSize);
  for (const uint64_t handle : handles) EXPECT_HSA(hsa_amd_vmem_handle_release({handle}));
}

TEST_F(VirtualMemoryTest, HandlesAndAllocationsShareTheMemoryOfTheDevice) {
  hgagent_options options = defaults();
  options.device_memory_bytes = 4 * kSize;
  ASSERT_EQ(hgagent_configure(&options), 0);
  const hsa_amd_vmem_alloc_handle_t first = create(2 * kSize);
  void* p = nullptr;
  EXPECT_HSA(hsa_amd_memory_pool_allocate(pool(PoolKind::kDevice), kSize, 0, &p));
  hsa_amd_vmem_alloc_handle_t refused{};
  EXPECT_EQ(hsa_amd_vmem_handle_create(pool(PoolKind::kDevice), 2 * kSize, MEMORY_TYPE_PINNED, 0, &refused),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  uint64_t available = 0;
  EXPECT_HSA(hsa_agent_get_info(gpu(), static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MEMORY_AVAIL), &available));
  EXPECT_EQ(available, kSize);
  void* q = nullptr;
  EXPECT_EQ(hsa_amd_memory_pool_allocate(pool(PoolKind::kDevice), 2 * kSize, 0, &q), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  ASSERT_HSA(hsa_amd_vmem_handle_release(first));
  EXPECT_HSA(hsa_amd_vmem_handle_release(create(2 * kSize)));
  options.device_memory_bytes = 0;
  EXPECT_NE(hgagent_configure(&options), 0);
}

TEST_F(VirtualMemoryTest, MappedMemoryIsUsableOnceAccessIsAllowed) {
  void* p = reserve(kSize);
  const hsa_amd_vmem_alloc_handle_t memory = create();
  ASSERT_HSA(hsa_amd_vmem_map(p, kSize, 0, memory, 0));
  auto* values = static_cast<uint32_t*>(p);
  ASSERT_TRUE(run(create_queue(), "store_value", values, 1u));
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 1u) << "nobody may access a new mapping";
  ASSERT_HSA(allow(p, kSize));
  ASSERT_TRUE(run(create_queue(), "store_value", values, 5u));
  EXPECT_EQ(values[0], 5u);
  hsa_access_permission_t permission = HSA_ACCESS_PERMISSION_NONE;
  ASSERT_HSA(hsa_amd_vmem_get_access(p, &permission, gpu()));
  EXPECT_EQ(permission, HSA_ACCESS_PERMISSION_RW);
  ASSERT_HSA(hsa_amd_vmem_get_access(p, &permission, host()));
  EXPECT_EQ(permission, HSA_ACCESS_PERMISSION_NONE);
  EXPECT_EQ(hsa_amd_vmem_address_free(p, kSize), HSA_STATUS_ERROR_RESOURCE_FREE);
  ASSERT_HSA(hsa_amd_vmem_unmap(p, kSize));
  ASSERT_HSA(hsa_amd_vmem_handle_release(memory));
  ASSERT_HSA(hsa_amd_vmem_address_free(p, kSize));
  EXPECT_EQ(hgagent_counters(HGAGENT_MEMORY_HANDLES), 0u);
}

TEST_F(VirtualMemoryTest, ReadOnlyMappingsRefuseWrites) {
  void* p = reserve(kSize);
  ASSERT_HSA(hsa_amd_vmem_map(p, kSize, 0, create(), 0));
  ASSERT_HSA(allow(p, kSize, HSA_ACCESS_PERMISSION_RO));
  auto* out = allocate(1);
  ASSERT_TRUE(run(create_queue(), "copy_value", out, static_cast<uint32_t*>(p)));
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 0u);
  ASSERT_TRUE(run(create_queue(), "store_value", static_cast<uint32_t*>(p), 1u));
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 1u);
}

TEST_F(VirtualMemoryTest, TwoMappingsOfOneHandleAreTheSameMemory) {
  auto* p = static_cast<uint32_t*>(reserve(2 * kSize));
  auto* second = p + kSize / sizeof(uint32_t);
  const hsa_amd_vmem_alloc_handle_t memory = create();
  ASSERT_HSA(hsa_amd_vmem_map(p, kSize, 0, memory, 0));
  ASSERT_HSA(hsa_amd_vmem_map(second, kSize, 0, memory, 0));
  ASSERT_HSA(allow(p, 2 * kSize));
  p[3] = 33;
  EXPECT_EQ(second[3], 33u);
  EXPECT_EQ(hsa_amd_vmem_map(p, kSize, 0, memory, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT) << "already mapped";
  ASSERT_HSA(hsa_amd_vmem_unmap(p, 2 * kSize));
  ASSERT_HSA(hsa_amd_vmem_handle_release(memory));
}

TEST_F(VirtualMemoryTest, ACopyCrossesTheMappingsOfAReservationThatItMayAccess) {
  auto* p = static_cast<std::byte*>(reserve(2 * kSize));
  ASSERT_HSA(hsa_amd_vmem_map(p, kSize, 0, create(), 0));
  ASSERT_HSA(hsa_amd_vmem_map(p + kSize, kSize, 0, create(), 0));
  auto* from = allocate_zeros(2);
  from[0] = 3;
  from[1] = 4;
  std::byte* to = p + kSize - sizeof(uint32_t);
  const auto copy = [&] {
    const Signal done;
    EXPECT_HSA(hsa_amd_memory_async_copy(to, gpu(), from, gpu(), 2 * sizeof(uint32_t), 0, nullptr, done.get()));
    return done.done();
  };
  ASSERT_HSA(allow(p, 2 * kSize));
  ASSERT_TRUE(copy());
  EXPECT_EQ(std::memcmp(to, from, 2 * sizeof(uint32_t)), 0);
  ASSERT_HSA(allow(p + kSize, kSize, HSA_ACCESS_PERMISSION_RO));
  ASSERT_TRUE(copy());
  EXPECT_NE(last_fault().find("runs over the end"), std::string::npos) << last_fault();
}

TEST_F(VirtualMemoryTest, MemoryLivesAsLongAsItIsMapped) {
  auto* p = static_cast<uint32_t*>(reserve(kSize));
  const hsa_amd_vmem_alloc_handle_t memory = create();
  ASSERT_HSA(hsa_amd_vmem_map(p, kSize, 0, memory, 0));
  ASSERT_HSA(allow(p, kSize));
  p[0] = 8;
  ASSERT_HSA(hsa_amd_vmem_handle_release(memory));
  EXPECT_EQ(p[0], 8u);
  hsa_amd_vmem_alloc_handle_t again{};
  ASSERT_HSA(hsa_amd_vmem_retain_alloc_handle(&again, p + 100));
  ASSERT_HSA(hsa_amd_vmem_unmap(p, kSize));
  ASSERT_HSA(hsa_amd_vmem_map(p, kSize, 0, again, 0));
  ASSERT_HSA(allow(p, kSize));
  EXPECT_EQ(p[0], 8u);
}

TEST_F(VirtualMemoryTest, AnExportedHandleIsTheSameMemoryWhenImported) {
  auto* p = static_cast<uint32_t*>(reserve(2 * kSize));
  const hsa_amd_vmem_alloc_handle_t memory = create();
  int file = -1;
  ASSERT_HSA(hsa_amd_vmem_export_shareable_handle(&file, memory, 0));
  hsa_amd_vmem_alloc_handle_t imported{};
  ASSERT_HSA(hsa_amd_vmem_import_shareable_handle(file, &imported));
  close(file);
  ASSERT_HSA(hsa_amd_vmem_map(p, kSize, 0, memory, 0));
  ASSERT_HSA(hsa_amd_vmem_map(p + kSize / 4, kSize, 0, imported, 0));
  ASSERT_HSA(allow(p, 2 * kSize));
  p[1] = 77;
  EXPECT_EQ(p[kSize / 4 + 1], 77u);
}

TEST_F(VirtualMemoryTest, MisuseIsAnError) {
  auto* p = static_cast<std::byte*>(reserve(kSize));
  const hsa_amd_vmem_alloc_handle_t memory = create();
  EXPECT_EQ(hsa_amd_vmem_map(p, kSize / 2, 0, memory, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_map(p + 4096, kSize, 0, memory, 0), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(hsa_amd_vmem_map(p, kSize, 0, {12345}, 0), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_unmap(p, kSize), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(allow(p, kSize), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  EXPECT_EQ(hsa_amd_vmem_handle_release({12345}), HSA_STATUS_ERROR_INVALID_ALLOCATION);
  hsa_amd_vmem_alloc_handle_t odd{};
  EXPECT_EQ(hsa_amd_vmem_handle_create(pool(PoolKind::kDevice), 100, MEMORY_TYPE_PINNED, 0, &odd),
            HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(VirtualMemoryTest, AnAccessAfterUnmappingIsAUseAfterFree) {
  void* p = reserve(kSize);
  ASSERT_HSA(hsa_amd_vmem_map(p, kSize, 0, create(), 0));
  ASSERT_HSA(allow(p, kSize));
  ASSERT_HSA(hsa_amd_vmem_unmap(p, kSize));
  ASSERT_TRUE(run(create_queue(), "store_value", static_cast<uint32_t*>(p), 1u));
  EXPECT_NE(last_fault().find("use after free"), std::string::npos) << last_fault();
}

}  // namespace
}  // namespace agent_test
