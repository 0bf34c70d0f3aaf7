// hip::RemappedBuffers on the model when calls fail: each in turn, pairs of them, and random ones.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "hip/remapped_model.h"

namespace {

using namespace remapped;
using RemappedFailuresTest = OnTheModel;

TEST_F(RemappedFailuresTest, AStepThatFailsPutsBackTheMappingsThatItChanged) {
  add_memories(4);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  static int maps;
  maps = 0;
  table.hipMemMap = [](void* at, std::size_t size, std::size_t offset, hipMemGenericAllocationHandle_t memory,
                       unsigned long long flags) {
    return ++maps == 2 ? hipErrorOutOfMemory : InProcess::api().hipMemMap(at, size, offset, memory, flags);
  };
  const hip::Result<hip::RemappedStep> failed = step(memory(2), memory(3));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, hipErrorOutOfMemory);
  EXPECT_EQ(failed.error().message.find("again is due"), std::string::npos) << failed.error().message;
  EXPECT_EQ(buffers->counts().put_back, 1u);
  EXPECT_FALSE(buffers->holds(memory(2).number));
  run(work->execs[0]);  // what it was: from memory 0 to memory 1
  EXPECT_EQ(memories->number_in(1), 1u);
  EXPECT_EQ(memories->number_in(3), 0u);
  EXPECT_FALSE(step(memory(2), memory(3)).value().recorded);
}

// AMD's 7.2 and 6.4 answer success for a map that was refused; access and unmap are refused then.
TEST_F(RemappedFailuresTest, AMapThatAnswersSuccessAndMapsNothingIsSeenAndTheAddressesAreReplaced) {
  add_memories(3);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  static int lies;
  lies = 1;
  table.hipMemMap = [](void* at, std::size_t size, std::size_t offset, hipMemGenericAllocationHandle_t memory,
                       unsigned long long flags) {
    return lies-- > 0 ? hipSuccess : InProcess::api().hipMemMap(at, size, offset, memory, flags);
  };
  static int unmaps;
  unmaps = 0;
  table.hipMemUnmap = [](void* at, std::size_t size) { return ++unmaps, InProcess::api().hipMemUnmap(at, size); };
  const hip::Result<hip::RemappedStep> failed = step(memory(0), memory(2));
  ASSERT_FALSE(failed);
  EXPECT_EQ(unmaps, 1) << "6.4 dies where nothing is mapped";
  EXPECT_NE(failed.error().message.find("recording again is due"), std::string::npos) << failed.error().message;
  lies = 0;
  EXPECT_TRUE(step(memory(0), memory(2)).value().recorded);
  EXPECT_EQ(buffers->counts().replaced, 1u);
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(2), 1u);
}

// A wrong variant would take the mappings of before for granted.
TEST_F(RemappedFailuresTest, WherePuttingBackFailsTooTheNextStepReplacesTheAddressesAndRecords) {
  add_memories(4);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  static int maps;
  maps = 0;
  table.hipMemMap = [](void* at, std::size_t size, std::size_t offset, hipMemGenericAllocationHandle_t memory,
                       unsigned long long flags) {
    ++maps;  // of memory 2; of memory 3; back to memory 1; back to memory 0
    return maps == 2 || maps == 4 ? hipErrorOutOfMemory : InProcess::api().hipMemMap(at, size, offset, memory, flags);
  };
  const hip::Result<hip::RemappedStep> failed = step(memory(2), memory(3));
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("recording again is due"), std::string::npos) << failed.error().message;
  EXPECT_EQ(buffers->counts().put_back, 0u);
  EXPECT_TRUE(step(memory(2), memory(3)).value().recorded);
  EXPECT_FALSE(step(memory(2), memory(3)).value().recorded);
  EXPECT_EQ(buffers->counts().replaced, 1u);
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(3), 1u);
  EXPECT_EQ(races(), 0u);
}

// 7.2 confuses a range that is reserved again with the earlier one, so only clear() frees the ranges.
TEST_F(RemappedFailuresTest, WithdrawingAMemoryFreesNoAddressesOfRangesThatAreReplaced) {
  for (const bool before_the_range_is_replaced : {true, false}) {
    start();
    add_memories(4);
    for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
    static int maps, unmaps;
    maps = unmaps = 0;
    const hip::Api whole = table;
    table.hipMemMap = [](void* at, std::size_t size, std::size_t offset, hipMemGenericAllocationHandle_t memory,
                         unsigned long long flags) {
      ++maps;  // of memory 2; of memory 3
      return maps == 2 ? hipErrorOutOfMemory : InProcess::api().hipMemMap(at, size, offset, memory, flags);
    };
    table.hipMemUnmap = [](void* at, std::size_t size) {
      ++unmaps;  // of memory 0; of memory 1; of memory 2, to put memory 0 back
      return unmaps == 3 ? hipErrorUnknown : InProcess::api().hipMemUnmap(at, size);
    };
    EXPECT_FALSE(step(memory(2), memory(3)));
    table.hipMemMap = whole.hipMemMap;
    table.hipMemUnmap = whole.hipMemUnmap;
    const auto ranges = [this] { return instance.runtime().virtual_memory().ranges().size(); };
    if (!before_the_range_is_replaced) EXPECT_TRUE(step(memory(0), memory(1)).value().recorded);
    const std::size_t reserved = ranges();
    EXPECT_EQ(reserved, before_the_range_is_replaced ? 8u : 9u) << "four are the test's own";
    EXPECT_TRUE(buffers->withdraw(memory(3).number));
    EXPECT_TRUE(buffers->holds(memory(2).number)) << "it is another memory that was withdrawn";
    EXPECT_TRUE(buffers->withdraw(memory(2).number));
    EXPECT_FALSE(buffers->holds(memory(2).number));
    EXPECT_EQ(ranges(), reserved);
    if (before_the_range_is_replaced) EXPECT_TRUE(step(memory(0), memory(1)).value().recorded);
    EXPECT_EQ(buffers->counts().replaced, 1u);
    EXPECT_EQ(ranges(), 9u);
    EXPECT_TRUE(buffers->clear());
    EXPECT_EQ(ranges(), 4u);
    EXPECT_EQ(races(), 0u);
  }
}

TEST_F(RemappedFailuresTest, ALaunchThatFailsAndRunsAllTheSameIsWaitedForBeforeItsAddressesChange) {
  add_memories(3);
  const auto launch = std::exchange(table.hipGraphLaunch, [](hipGraphExec_t exec, hipStream_t stream) {
    EXPECT_HIP(InProcess::api().hipGraphLaunch(exec, stream));
    return hipErrorUnknown;
  });
  hipStream_t on = create_stream(hipStreamNonBlocking);
  EXPECT_FALSE(step(memory(0), memory(1), on));
  table.hipGraphLaunch = launch;
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(step(memory(0), memory(2), on));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(1), 1u);
  EXPECT_EQ(races(), 0u);
}

TEST_F(RemappedFailuresTest, ARecordingThatFailsIsMadeByTheNextStep) {
  add_memories(2);
  work->refuses = true;
  EXPECT_EQ(step(memory(0), memory(1)).error().code, hipErrorNotSupported);
  work->refuses = false;
  const hip::RemappedStep done = step(memory(0), memory(1)).value();
  EXPECT_EQ(done.set, 0u);
  EXPECT_TRUE(done.recorded);
  EXPECT_EQ(buffers->counts().kept, 2u);
}

// Five steps on two streams, and a withdrawal. What failed is done once more. Returns whether an error was told.
bool five_steps(RemappedFailuresTest& test, std::array<std::uint32_t, 3>& expected) {
  bool failed = false;
  hipStream_t streams[] = {test.create_stream(hipStreamNonBlocking), test.create_stream(hipStreamNonBlocking)};
  for (std::size_t n = 0; n < 5; ++n) {
    const std::size_t from = n % 3, to = (n + n / 2) % 3;
    bool done = false;
    for (int tries = 0; !done && tries < 4; ++tries) {
      const int before = launches;
      done = test.step(test.memory(from), test.memory(to), streams[n / 2 % 2]).ok();
      failed = failed || !done;
      if (launches != before) expected[to] = expected[from] + 1;  // also if the event behind it could not be recorded
    }
    EXPECT_TRUE(done) << "step " << n;
  }
  for (int tries = 0; test.buffers->holds(test.memory(2).number) && tries < 4; ++tries) {
    failed = !test.buffers->withdraw(test.memory(2).number) || failed;
  }
  EXPECT_FALSE(test.buffers->holds(test.memory(2).number));
  // A destructor tries twice: of the calls of one, at most one may fail.
  for (int tries = 0; failing.size() > 1 && tries < 4 && !test.buffers->clear(); ++tries) failed = true;
  test.buffers.reset();
  return failed || !test.told.empty();
}

TEST_F(RemappedFailuresTest, WhicheverCallFailsItIsToldNothingLeaksAndTheNextStepIsRight) {
  int total = 1000;
  for (int later = 0; later <= 6; ++later) {
    for (int first = 1; first <= total; ++first) {
      start();
      add_memories(3);
      failing = {first};
      if (later != 0) failing.push_back(first + later);
      std::array<std::uint32_t, 3> expected{};
      const bool failed = five_steps(*this, expected);
      if (calls < first) {
        total = first - 1;
        EXPECT_FALSE(failed);
        break;
      }
      ASSERT_TRUE(failed) << "call " << first;
      EXPECT_EQ(instance.runtime().virtual_memory().ranges().size(), 3u) << "call " << first << " and " << later;
      EXPECT_HIP(api.hipDeviceSynchronize());
      for (std::size_t n = 0; n < 3; ++n) EXPECT_EQ(memories->number_in(n), expected[n]) << "call " << first;
      EXPECT_EQ(races(), 0u) << "call " << first << " and " << later;
    }
  }
  EXPECT_GT(total, 40);
}

// ---- random steps

// The reference: memory n holds one number, and a step that succeeds sets that of its second memory.
RC_GTEST_FIXTURE_PROP(RemappedFailuresTest, RandomStepsChangeTheNumbersThatTheReferenceChanges, ()) {
  start();
  const auto count = *rc::gen::inRange<std::size_t>(1, 5).as("memories");
  add_memories(count);
  std::vector<std::uint32_t> expected(count);
  hipStream_t streams[] = {nullptr, create_stream(hipStreamNonBlocking), create_stream()};
  const auto steps = *rc::gen::inRange(1, 30).as("steps");
  for (int n = 0; n < steps; ++n) {
    const auto from = *rc::gen::inRange<std::size_t>(0, count), to = *rc::gen::inRange<std::size_t>(0, count);
    const auto what = *rc::gen::inRange(0, 12).as("what");
    if (what == 0) RC_ASSERT(buffers->withdraw(memory(to).number).ok() && !buffers->holds(memory(to).number));
    if (what == 1) RC_ASSERT(buffers->clear().ok() && !buffers->holds(memory(from).number));
    if (what >= 2 && what < 8) failing = {calls + *rc::gen::inRange(1, 25).as("failing call")};
    if (what == 7) failing.push_back(failing.front() + *rc::gen::inRange(1, 5).as("and another"));
    const int of_launch = launches;
    hipStream_t on = streams[*rc::gen::inRange<std::size_t>(0, std::size(streams)).as("stream")];
    const hip::Result<hip::RemappedStep> done = step(memory(from), memory(to), on);
    failing.clear();
    RC_ASSERT(done.ok() || what >= 2);
    if (launches != of_launch) expected[to] = expected[from] + 1;
    if (done) RC_ASSERT(buffers->holds(memory(from).number) && buffers->holds(memory(to).number));
    if (done) RC_ASSERT(launches == of_launch + 1);
  }
  RC_ASSERT(api.hipDeviceSynchronize() == hipSuccess);
  for (std::size_t n = 0; n < count; ++n) RC_ASSERT(memories->number_in(n) == expected[n]);
  RC_ASSERT(races() == 0u);
  buffers.reset();
  RC_ASSERT(instance.runtime().virtual_memory().ranges().size() == count);
}

}  // namespace
