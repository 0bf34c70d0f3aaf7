// Signals: values, waits, handlers, the layout that AMD's runtime casts to, and the mailbox of kernels.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "agent/agent_fixture.h"

namespace agent_test {
namespace {

using SignalsTest = AgentTest;

TEST_F(SignalsTest, AHandleIsAnAmdSignalWithItsValue) {
  const Signal s(7);
  EXPECT_EQ(s.amd()->kind, AMD_SIGNAL_KIND_USER);
  EXPECT_EQ(s.amd()->value, 7);
  EXPECT_EQ(s.get().handle % AMD_SIGNAL_ALIGN_BYTES, 0u);
  volatile hsa_signal_value_t* value = nullptr;
  ASSERT_HSA(hsa_amd_signal_value_pointer(s.get(), &value));
  EXPECT_EQ(value, &s.amd()->value);
}

TEST_F(SignalsTest, StoresAddsAndSubtractsAreSeen) {
  const Signal s(1);
  hsa_signal_store_relaxed(s.get(), 10);
  hsa_signal_add_relaxed(s.get(), 5);
  hsa_signal_subtract_relaxed(s.get(), 3);
  EXPECT_EQ(s.value(), 12);
  hsa_signal_silent_store_relaxed(s.get(), 4);
  EXPECT_EQ(s.value(), 4);
}

TEST_F(SignalsTest, AWaitEndsWhenItsConditionHolds) {
  struct Case {
    hsa_signal_condition_t condition;
    int64_t compared, before, after;
  };
  const Case cases[] = {{HSA_SIGNAL_CONDITION_EQ, 3, 1, 3},
                        {HSA_SIGNAL_CONDITION_NE, 1, 1, 2},
                        {HSA_SIGNAL_CONDITION_LT, 1, 1, -5},
                        {HSA_SIGNAL_CONDITION_GTE, 4, 1, 9}};
  for (const Case& c : cases) {
    const Signal s(c.before);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      hsa_signal_store_screlease(s.get(), c.after);
    });
    EXPECT_EQ(hsa_signal_wait_scacquire(s.get(), c.condition, c.compared, kLong, HSA_WAIT_STATE_BLOCKED), c.after);
    other.join();
  }
}

TEST_F(SignalsTest, AWaitGivesUpAfterItsTimeoutAndReturnsTheValue) {
  const Signal s(5);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(hsa_signal_wait_scacquire(s.get(), HSA_SIGNAL_CONDITION_LT, 1, 3'000'000, HSA_WAIT_STATE_BLOCKED), 5);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(3));
  EXPECT_EQ(hsa_signal_wait_scacquire(s.get(), HSA_SIGNAL_CONDITION_LT, 1, 0, HSA_WAIT_STATE_ACTIVE), 5);
}

TEST_F(SignalsTest, EveryWaiterOfOneSignalWakes) {
  const Signal s(1);
  std::atomic<int> woken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      if (s.done()) ++woken;
    });
  }
  hsa_signal_subtract_relaxed(s.get(), 1);
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(woken, 8);
}

TEST_F(SignalsTest, ManySignalsPassAValueBackAndForthWithoutALostWake) {
  constexpr int kRounds = 2000;
  const Signal ping(0);
  const Signal pong(0);
  std::thread other([&] {
    for (int64_t i = 1; i <= kRounds; ++i) {
      hsa_signal_wait_scacquire(ping.get(), HSA_SIGNAL_CONDITION_GTE, i, kLong, HSA_WAIT_STATE_BLOCKED);
      hsa_signal_store_screlease(pong.get(), i);
    }
  });
  for (int64_t i = 1; i <= kRounds; ++i) {
    hsa_signal_store_screlease(ping.get(), i);
    ASSERT_EQ(hsa_signal_wait_scacquire(pong.get(), HSA_SIGNAL_CONDITION_GTE, i, kLong, HSA_WAIT_STATE_BLOCKED), i);
  }
  other.join();
}

struct Calls {
  std::mutex mutex;
  std::vector<int64_t> values;
  int left = 1;  // calls until the handler says that it has had enough
  Signal* done = nullptr;
};

bool record_call(hsa_signal_value_t value, void* data) {
  auto& calls = *static_cast<Calls*>(data);
  const std::lock_guard<std::mutex> lock(calls.mutex);
  calls.values.push_back(value);
  const bool more = --calls.left > 0;
  if (calls.done != nullptr && !more) hsa_signal_subtract_relaxed(calls.done->get(), 1);
  return more;
}

TEST_F(SignalsTest, AHandlerIsCalledOnceWhenItsConditionComesTrue) {
  const Signal s(2);
  Signal done(1);
  Calls calls;
  calls.done = &done;
  ASSERT_HSA(hsa_amd_signal_async_handler(s.get(), HSA_SIGNAL_CONDITION_LT, 1, record_call, &calls));
  hsa_signal_subtract_relaxed(s.get(), 1);
  EXPECT_FALSE(done.done(2'000'000));
  hsa_signal_subtract_relaxed(s.get(), 1);
  ASSERT_TRUE(done.done());
  hsa_signal_subtract_relaxed(s.get(), 1);
  const Signal later(0);
  ASSERT_HSA(hsa_amd_signal_async_handler(later.get(), HSA_SIGNAL_CONDITION_EQ, 0, record_call, &calls));
  // Handlers are called one after another: a second call for the first signal would have come before this one.
  EXPECT_LT(hsa_signal_wait_scacquire(done.get(), HSA_SIGNAL_CONDITION_LT, 0, kLong, HSA_WAIT_STATE_BLOCKED), 0);
  const std::lock_guard<std::mutex> lock(calls.mutex);
  EXPECT_EQ(calls.values, (std::vector<int64_t>{0, 0}));
}

TEST_F(SignalsTest, AHandlerThatReturnsTrueIsCalledAgain) {
  const Signal s(0);
  Signal done(1);
  Calls calls;
  calls.left = 3;
  calls.done = &done;
  ASSERT_HSA(hsa_amd_signal_async_handler(s.get(), HSA_SIGNAL_CONDITION_EQ, 0, record_call, &calls));
  ASSERT_TRUE(done.done());
  const std::lock_guard<std::mutex> lock(calls.mutex);
  EXPECT_EQ(calls.values.size(), 3u);
}

TEST_F(SignalsTest, AHandlerMayRegisterAnotherOne) {
  struct Chain {
    hsa_signal_t signal;
    int left;
    Signal* done;
  };
  const Signal s(0);
  Signal done(1);
  Chain chain{s.get(), 50, &done};
  const auto step = [](hsa_signal_value_t, void* data) {
    auto* c = static_cast<Chain*>(data);
    const auto again = [](hsa_signal_value_t v, void* d) -> bool {
      auto* inner = static_cast<Chain*>(d);
      const bool more = --inner->left > 0;
      if (!more) hsa_signal_subtract_relaxed(inner->done->get(), 1);
      return more && v == 0;
    };
    return hsa_amd_signal_async_handler(c->signal, HSA_SIGNAL_CONDITION_EQ, 0, again, c) != HSA_STATUS_SUCCESS;
  };
  ASSERT_HSA(hsa_amd_signal_async_handler(s.get(), HSA_SIGNAL_CONDITION_EQ, 0, step, &chain));
  EXPECT_TRUE(done.done());
}

TEST_F(SignalsTest, LiveSignalsAreCounted) {
  const uint64_t before = hgagent_counters(HGAGENT_SIGNALS);
  std::vector<hsa_signal_t> signals(2000);
  for (hsa_signal_t& s : signals) ASSERT_HSA(hsa_signal_create(1, 0, nullptr, &s));
  EXPECT_EQ(hgagent_counters(HGAGENT_SIGNALS), before + signals.size());
  std::sort(signals.begin(), signals.end(), [](auto a, auto b) { return a.handle < b.handle; });
  EXPECT_EQ(std::adjacent_find(signals.begin(), signals.end(), [](auto a, auto b) { return a.handle == b.handle; }),
            signals.end());
  for (const hsa_signal_t s : signals) ASSERT_HSA(hsa_signal_destroy(s));
  EXPECT_EQ(hgagent_counters(HGAGENT_SIGNALS), before);
}

TEST_F(SignalsTest, AKernelThatSignalsLikeTheDeviceLibraryWakesAWaiter) {
  const Signal doorbell(0);
  hsa_queue_t* queue = create_queue();
  std::atomic<int64_t> seen = 0;
  std::thread waiter([&] {
    seen = hsa_signal_wait_scacquire(doorbell.get(), HSA_SIGNAL_CONDITION_NE, 0, kLong, HSA_WAIT_STATE_BLOCKED);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto address = [](volatile void* p) { return reinterpret_cast<uint64_t>(p); };
  ASSERT_TRUE(run(queue, "signal_add", address(&doorbell.amd()->value), doorbell.amd()->event_mailbox_ptr,
                  doorbell.amd()->event_id));
  waiter.join();
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace agent_test
