// Beginning and end: every order of shutting down, options that come too late, and nothing left behind.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

using LifeTest = AgentTest;

std::filesystem::directory_iterator threads() {
  return std::filesystem::directory_iterator("/proc/self/task");
}
std::ptrdiff_t threads_of_this_process() {
  return std::distance(begin(threads()), end(threads()));
}

TEST(LifeOrderTest, ShuttingDownWhatWasNotInitializedIsAnError) {
  EXPECT_EQ(hsa_shut_down(), HSA_STATUS_ERROR_NOT_INITIALIZED);
  uint64_t value = 0;
  EXPECT_EQ(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &value), HSA_STATUS_ERROR_NOT_INITIALIZED);
  hsa_signal_t signal{0};
  EXPECT_EQ(hsa_signal_create(1, 0, nullptr, &signal), HSA_STATUS_ERROR_NOT_INITIALIZED);
}

TEST_F(LifeTest, InitialisationsAreCounted) {
  ASSERT_HSA(hsa_init());
  ASSERT_HSA(hsa_shut_down());
  const Signal s(3);
  EXPECT_EQ(s.value(), 3);
}

TEST_F(LifeTest, NoThreadIsLeftAfterShuttingDown) {
  const std::ptrdiff_t with_handlers = threads_of_this_process();
  auto* p = allocate(2);
  const Signal done;
  ASSERT_TRUE(run(create_queue(), "store_value", p, 1u));
  static_cast<void>(create_queue());
  ASSERT_HSA(hsa_amd_memory_async_copy(p, gpu(), p + 1, gpu(), 4, 0, nullptr, done.get()));
  ASSERT_TRUE(done.done());
  const unsigned queues_and_engine = AGENT_STEPPED != 0 ? 0 : 3;
  EXPECT_EQ(threads_of_this_process(), with_handlers + static_cast<std::ptrdiff_t>(queues_and_engine));
  EXPECT_EQ(hgagent_counters(HGAGENT_THREADS), queues_and_engine + 1);
  TearDown();
  EXPECT_EQ(threads_of_this_process(), with_handlers - 1);
  SetUp();
}

TEST_F(LifeTest, ThreadsOfTheAgentTakeNoSignalsOfTheProcess) {
  static_cast<void>(create_queue());
  // Blocked signals of every thread, from the kernel. A sanitizer's own thread blocks them as well.
  std::size_t blocking = 0;
  for (const std::filesystem::directory_entry& thread : threads()) {
    std::ifstream status(thread.path() / "status");
    for (std::string word; status >> word;) {
      if (word != "SigBlk:") continue;
      uint64_t blocked = 0;
      status >> std::hex >> blocked;
      blocking += blocked >> (SIGTERM - 1) & 1;
    }
  }
  EXPECT_GE(blocking, hgagent_counters(HGAGENT_THREADS));
  sigset_t mine;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &mine), 0);
  EXPECT_EQ(sigismember(&mine, SIGTERM), 0) << "the program's own threads still take them";
}

TEST_F(LifeTest, QueuesThatAreAliveEndWithTheMachine) {
  hsa_queue_t* busy = nullptr;
  hsa_queue_t* blocked = nullptr;
  ASSERT_HSA(hsa_queue_create(gpu(), 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &busy));
  ASSERT_HSA(hsa_queue_create(gpu(), 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &blocked));
  hsa_signal_t never{0};
  ASSERT_HSA(hsa_signal_create(1, 0, nullptr, &never));
  auto* p = allocate(2);
  launch(busy, "spin_forever", {}, p);
  barrier_and(blocked, {never}, {0});
  hsa_signal_t copied{0};
  ASSERT_HSA(hsa_signal_create(1, 0, nullptr, &copied));
  ASSERT_HSA(hsa_amd_memory_async_copy(p, gpu(), p + 1, gpu(), 4, 1, &never, copied));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto start = std::chrono::steady_clock::now();
  forget_executable();
  TearDown();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(hgagent_counters(HGAGENT_ALLOCATIONS), 0u);
  EXPECT_EQ(hgagent_counters(HGAGENT_FAULTS), 0u) << "being stopped is no fault";
  SetUp();
  EXPECT_HSA(hsa_signal_destroy(never));
  EXPECT_HSA(hsa_signal_destroy(copied));
}

TEST_F(LifeTest, NoHandlerIsCalledAfterShuttingDown) {
  std::atomic<int> calls = 0;
  hsa_signal_t signal{0};
  ASSERT_HSA(hsa_signal_create(1, 0, nullptr, &signal));
  const auto count = [](hsa_signal_value_t, void* data) {
    ++*static_cast<std::atomic<int>*>(data);
    return true;
  };
  ASSERT_HSA(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_LT, 1, count, &calls));
  TearDown();
  hsa_signal_store_relaxed(signal, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(calls, 0);
  SetUp();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(calls, 0);
  EXPECT_HSA(hsa_signal_destroy(signal));
}

TEST_F(LifeTest, AMachineCanBeStartedAgainAndAgain) {
  for (int i = 0; i < 20; ++i) {
    auto* p = allocate(1);
    ASSERT_TRUE(run(create_queue(), "store_value", p, static_cast<uint32_t>(i)));
    EXPECT_EQ(*p, static_cast<uint32_t>(i));
    TearDown();
    SetUp();
  }
}

TEST_F(LifeTest, OptionsThatComeTooLateAreRefusedAndTheOthersAreTaken) {
  hgagent_options options = defaults();
  options.schedule_seed = 5;
  options.instruction_budget = 1000;
  EXPECT_EQ(hgagent_configure(&options), 0);
  options.agents = 2;
  EXPECT_NE(hgagent_configure(&options), 0);
  options = defaults();
  options.quarantine = 1;
  EXPECT_NE(hgagent_configure(&options), 0);
  options = defaults();
  options.agents = 9;
  EXPECT_NE(hgagent_configure(&options), 0);
  options.agents = 0;
  EXPECT_NE(hgagent_configure(&options), 0);
  options = defaults();
  options.size = 4;
  EXPECT_NE(hgagent_configure(&options), 0);
  EXPECT_NE(hgagent_configure(nullptr), 0);
}

TEST_F(LifeTest, AMachineAtRestHasNoThreadsAndIsWokenInAChild) {
  auto* p = allocate_zeros(1);
  hsa_queue_t* queue = create_queue();
  ASSERT_TRUE(run(queue, "store_value", p, 1u));
  ASSERT_GT(threads_of_this_process(), 1);
  ASSERT_EQ(hgagent_rest(), 0);
  EXPECT_EQ(threads_of_this_process(), 1);
  const pid_t child = fork();
  if (child == 0) {
    hgagent_wake();
    _exit(run(queue, "store_value", p, 2u) && *p == 2u ? 9 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 9) << status;
  EXPECT_EQ(*p, 1u) << "the child has memory of its own";
  hgagent_wake();
  ASSERT_TRUE(run(queue, "store_value", p, 3u));
  EXPECT_EQ(*p, 3u);
}

TEST_F(LifeTest, AMachineAtWorkDoesNotRest) {
  auto* p = allocate_zeros(2, PoolKind::kFine);
  const Signal done;
  launch(create_queue(), "wait_for_store", {.completion = done.get()}, p, p + 1);
  EXPECT_EQ(hgagent_rest(), 1);
  std::atomic_ref<uint32_t>(*p).store(1);
  EXPECT_TRUE(done.done());
}

// Each in a process of its own: how it ends is the test.
TEST_F(LifeTest, TheProcessMayEndWithEverythingAlive) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        auto* p = allocate(1);
        static_cast<void>(run(create_queue(), "store_value", p, 1u));
        launch(create_queue(), "spin_forever", {}, p);
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

TEST_F(LifeTest, AHandlerMayEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        hsa_signal_t signal{0};
        static_cast<void>(hsa_signal_create(0, 0, nullptr, &signal));
        const auto end = [](hsa_signal_value_t, void*) -> bool { std::exit(8); };
        static_cast<void>(hsa_amd_signal_async_handler(signal, HSA_SIGNAL_CONDITION_EQ, 0, end, nullptr));
        for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
      },
      testing::ExitedWithCode(8), "");
}

TEST_F(LifeTest, NothingIsLeftOfALoopOfEverything) {
  const uint64_t signals = hgagent_counters(HGAGENT_SIGNALS);
  for (int i = 0; i < 50; ++i) {
    auto* p = allocate(100);
    hsa_queue_t* queue = nullptr;
    ASSERT_HSA(hsa_queue_create(gpu(), 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue));
    ASSERT_TRUE(run(queue, "store_value", p, 1u));
    ASSERT_HSA(hsa_queue_destroy(queue));
    ASSERT_HSA(hsa_amd_memory_pool_free(p));
  }
  EXPECT_EQ(hgagent_counters(HGAGENT_SIGNALS), signals);
  EXPECT_EQ(hgagent_counters(HGAGENT_QUEUES), 0u);
  EXPECT_EQ(hgagent_counters(HGAGENT_ALLOCATIONS), 1u) << "the kernel arguments";
}

}  // namespace
}  // namespace agent_test
