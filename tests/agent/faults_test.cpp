// Kernels that fault, the messages about the fault, waits behind it, which must not hang, and failures by count.
#include <atomic>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

struct Told {
  std::atomic<int> events = 0;
  std::atomic<int> callbacks = 0;
  std::atomic<uint64_t> address = 0;
  std::atomic<int> status = 0;
};

hsa_status_t on_event(const hsa_amd_event_t* event, void* data) {
  auto* told = static_cast<Told*>(data);
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
  told->address = event->memory_fault.virtual_address;
  ++told->events;
  return HSA_STATUS_SUCCESS;
}

void on_queue_error(hsa_status_t status, hsa_queue_t*, void* data) {
  auto* told = static_cast<Told*>(data);
  told->status = status;
  ++told->callbacks;
}

struct FaultsTest : AgentTest {
  hsa_queue_t* queue_that_tells(Told& told) {
    hsa_queue_t* queue = nullptr;
    EXPECT_HSA(hsa_queue_create(gpu(), 64, HSA_QUEUE_TYPE_MULTI, on_queue_error, &told, ~0u, ~0u, &queue));
    return queue;
  }
};

TEST_F(FaultsTest, AStalePointerNamesKernelInstructionAddressAndFormerAllocation) {
  for (const uint32_t quarantine : {0u, 1u}) {
    restart_with(&hgagent_options::quarantine, quarantine);
    auto* p = allocate(1024);
    ASSERT_HSA(hsa_amd_memory_pool_free(p));
    ASSERT_TRUE(run(create_queue(), "store_value", p + 5, 1u));
    const std::string text = last_fault();
    char address[32];
    std::snprintf(address, sizeof(address), "0x%llx",
                  static_cast<unsigned long long>(reinterpret_cast<uint64_t>(p + 5)));
    const std::string parts[] = {"kernel 'store_value'", "global_store_dword", address, "use after free", "4096 bytes"};
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
    }
    TearDown();
    SetUp();
  }
}

TEST_F(FaultsTest, AnAccessBehindTheEndNamesTheAllocation) {
  auto* p = allocate(10);
  ASSERT_TRUE(run(create_queue(), "store_value", p + 10, 1u));
  EXPECT_NE(last_fault().find("0 bytes behind the end of allocation"), std::string::npos) << last_fault();
}

TEST_F(FaultsTest, HostMemoryThatIsNotRegisteredIsNotAccessible) {
  uint32_t local = 0;
  ASSERT_TRUE(run(create_queue(), "store_value", &local, 1u));
  EXPECT_EQ(local, 0u);
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 1u);
  void* seen = nullptr;
  ASSERT_HSA(hsa_amd_memory_lock_to_pool(&local, sizeof(local), nullptr, 0, pool(PoolKind::kFine), 0, &seen));
  ASSERT_TRUE(run(create_queue(), "store_value", &local, 2u));
  EXPECT_EQ(local, 2u);
  ASSERT_HSA(hsa_amd_memory_unlock(&local));
}

TEST_F(FaultsTest, AMemoryFaultGoesToTheHandlerOfSystemEvents) {
  Told told;
  ASSERT_HSA(hsa_amd_register_system_event_handler(on_event, &told));
  EXPECT_EQ(hsa_amd_register_system_event_handler(on_event, &told), HSA_STATUS_ERROR);
  hsa_queue_t* queue = queue_that_tells(told);
  ASSERT_TRUE(run(queue, "store_value", uint64_t{64}, 1u));
  EXPECT_EQ(told.events, 1);
  EXPECT_EQ(told.callbacks, 0);
  EXPECT_EQ(told.address, 64u);
  ASSERT_HSA(hsa_queue_destroy(queue));
}

TEST_F(FaultsTest, ATrapGoesToTheCallbackOfTheQueue) {
  Told told;
  ASSERT_HSA(hsa_amd_register_system_event_handler(on_event, &told));
  hsa_queue_t* queue = queue_that_tells(told);
  ASSERT_TRUE(run(queue, "trap", uint64_t{0}));
  EXPECT_EQ(told.events, 0);
  EXPECT_EQ(told.callbacks, 1);
  EXPECT_EQ(told.status, HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_NE(last_fault().find("s_trap"), std::string::npos) << last_fault();
  ASSERT_HSA(hsa_queue_destroy(queue));
}

TEST_F(FaultsTest, WithoutAHandlerOfSystemEventsNothingIsCalled) {
  Told told;
  hsa_queue_t* queue = queue_that_tells(told);
  ASSERT_TRUE(run(queue, "trap", uint64_t{0}));
  EXPECT_EQ(told.callbacks, 0);
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 1u);
  ASSERT_HSA(hsa_queue_destroy(queue));
}

TEST_F(FaultsTest, WithoutAHandlerOfSystemEventsTheQueuesCallbackIsCalledOnDemand) {
  hgagent_options options = defaults();
  options.tell_of_faults = 1;
  ASSERT_EQ(hgagent_configure(&options), 0);
  Told told;
  hsa_queue_t* queue = queue_that_tells(told);
  ASSERT_TRUE(run(queue, "store_value", uint64_t{64}, 1u));
  EXPECT_EQ(told.callbacks, 1);
  EXPECT_EQ(told.status, HSA_STATUS_ERROR_MEMORY_FAULT);
  ASSERT_HSA(hsa_queue_destroy(queue));
}

TEST_F(FaultsTest, BehindAFaultPacketsCompleteWithoutBeingExecuted) {
  auto* p = allocate(1);
  *p = 1;
  hsa_queue_t* queue = create_queue();
  const Signal never;
  launch(queue, "trap", {}, uint64_t{0});
  launch(queue, "store_value", {}, p, 2u);
  barrier_and(queue, {never.get()}, {0});
  EXPECT_TRUE(drain(queue));
  EXPECT_EQ(*p, 1u);
  ASSERT_TRUE(run(create_queue(), "store_value", p, 3u));
  EXPECT_EQ(*p, 3u) << "another queue still works";
}

TEST_F(FaultsTest, AKernelThatNeverEndsMeetsItsBudget) {
  restart_with(&hgagent_options::instruction_budget, 100000);
  ASSERT_TRUE(run(create_queue(), "spin_forever", uint64_t{0}));
  EXPECT_NE(last_fault().find("100000 instructions"), std::string::npos) << last_fault();
}

TEST_F(FaultsTest, ADispatchOfWhatIsNotLoadedIsAFault) {
  hsa_queue_t* queue = create_queue();
  const uint64_t descriptor = kernel("store_value");
  ASSERT_NE(descriptor, 0u);
  ASSERT_HSA(hsa_executable_destroy(executable()));
  auto* slot = static_cast<hsa_kernel_dispatch_packet_t*>(queue->base_address);
  const uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
  const Signal done;
  slot->setup = 1;
  slot->workgroup_size_x = slot->workgroup_size_y = slot->workgroup_size_z = 1;
  slot->grid_size_x = slot->grid_size_y = slot->grid_size_z = 1;
  slot->kernel_object = descriptor;
  slot->completion_signal = done.get();
  std::atomic_ref<uint16_t>(slot->header).store(HSA_PACKET_TYPE_KERNEL_DISPATCH, std::memory_order_release);
  hsa_signal_store_screlease(queue->doorbell_signal, static_cast<int64_t>(index));
  ASSERT_TRUE(done.done());
  EXPECT_NE(last_fault().find("not loaded"), std::string::npos) << last_fault();
  forget_executable();
}

TEST_F(FaultsTest, ThePacketsOfAnUnknownTypeAreAFault) {
  hsa_queue_t* queue = create_queue();
  const Signal never;
  barrier_and(queue, {never.get()}, {0}, 9);
  EXPECT_TRUE(drain(queue));
  EXPECT_NE(last_fault().find("packet of type 9"), std::string::npos) << last_fault();
}

TEST_F(FaultsTest, TheNthCallFailsOnceWithItsError) {
  const uint64_t failed = hgagent_counters(HGAGENT_FAILED_CALLS);
  hgagent_options options = defaults();
  options.fail_allocation = 2;
  options.fail_queue = 1;
  options.fail_signal = 3;
  ASSERT_EQ(hgagent_configure(&options), 0);
  void* p = nullptr;
  EXPECT_HSA(hsa_amd_memory_pool_allocate(pool(PoolKind::kDevice), 64, 0, &p));
  EXPECT_EQ(hsa_amd_memory_pool_allocate(pool(PoolKind::kFine), 64, 0, &p), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_HSA(hsa_amd_memory_pool_allocate(pool(PoolKind::kDevice), 64, 0, &p));
  hsa_queue_t* queue = nullptr;
  EXPECT_EQ(hsa_queue_create(gpu(), 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue),
            HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  static_cast<void>(create_queue());
  hsa_signal_t signals[4] = {};
  EXPECT_HSA(hsa_signal_create(1, 0, nullptr, &signals[0]));
  EXPECT_HSA(hsa_signal_create(1, 0, nullptr, &signals[1]));
  EXPECT_EQ(hsa_signal_create(1, 0, nullptr, &signals[2]), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_HSA(hsa_signal_create(1, 0, nullptr, &signals[3]));
  for (const int i : {0, 1, 3}) EXPECT_HSA(hsa_signal_destroy(signals[i]));
  EXPECT_EQ(hgagent_counters(HGAGENT_FAILED_CALLS), failed + 3);
}

TEST_F(FaultsTest, TheNthCodeObjectFailsToLoad) {
  hgagent_options options = defaults();
  options.fail_code_object = 1;
  ASSERT_EQ(hgagent_configure(&options), 0);
  const std::vector<std::byte> bytes = file_bytes(AGENT_KERNELS);
  const hsa_executable_t executable = create_executable();
  EXPECT_EQ(load(executable, bytes), HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  EXPECT_HSA(load(executable, bytes));
  EXPECT_HSA(hsa_executable_destroy(executable));
}

TEST_F(FaultsTest, UnsupportedFunctionsFailAndSayTheirNameOnce) {
  int file = -1;
  uint64_t offset = 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(hsa_amd_portable_export_dmabuf(&file, 64, &file, &offset),
            static_cast<hsa_status_t>(HSA_STATUS_ERROR_NOT_SUPPORTED));
  EXPECT_EQ(hsa_amd_portable_export_dmabuf(&file, 64, &file, &offset),
            static_cast<hsa_status_t>(HSA_STATUS_ERROR_NOT_SUPPORTED));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said, "hgagent: hsa_amd_portable_export_dmabuf is not supported by this agent\n");
}

}  // namespace
}  // namespace agent_test
