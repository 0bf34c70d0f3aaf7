// hip::RemappedBuffers on the model, which reports a mapping that changes under a launch as a race, and an access to
// addresses without memory or right as a fault. Wrong variants, made by a table that lies, have to be reported.
#include "hip/remapped_buffers.h"

#include <rapidcheck/gtest.h>

#include <optional>

#include "hip/error_list.h"
#include "hip/remapped_bed.h"
#include "model/abi_fixture.h"

namespace {

using hip::RemappedBuffers;
using model::abi::InProcess;
using Memory = hip::PhysicalMemory;

constexpr std::size_t kPage = 4096;

// The calls of the class, by number; the calls in `failing` answer an error and do nothing.
int calls = 0, launches = 0;
std::vector<int> failing;
bool fails_now() {
  return std::ranges::find(failing, ++calls) != failing.end();
}
template <auto kEntry>
void fail_in_turn(hip::Api& api) {
  api.*kEntry = []<class... Arguments>(Arguments... arguments) {
    return fails_now() ? hipErrorUnknown : (InProcess::api().*kEntry)(arguments...);
  };
}
hip::Api failing_api() {
  hip::Api api = InProcess::api();
  fail_in_turn<&hip::Api::hipMemGetAllocationGranularity>(api);
  fail_in_turn<&hip::Api::hipMemAddressReserve>(api);
  fail_in_turn<&hip::Api::hipMemAddressFree>(api);
  fail_in_turn<&hip::Api::hipMemMap>(api);
  fail_in_turn<&hip::Api::hipMemUnmap>(api);
  fail_in_turn<&hip::Api::hipMemSetAccess>(api);
  fail_in_turn<&hip::Api::hipMemGetAccess>(api);
  fail_in_turn<&hip::Api::hipEventCreateWithFlags>(api);
  fail_in_turn<&hip::Api::hipEventRecord>(api);
  fail_in_turn<&hip::Api::hipEventQuery>(api);
  fail_in_turn<&hip::Api::hipEventSynchronize>(api);
  fail_in_turn<&hip::Api::hipEventDestroy>(api);
  fail_in_turn<&hip::Api::hipStreamWaitEvent>(api);
  fail_in_turn<&hip::Api::hipStreamQuery>(api);
  fail_in_turn<&hip::Api::hipGetDevice>(api);
  api.hipGraphLaunch = [](hipGraphExec_t exec, hipStream_t stream) {
    if (fails_now()) return hipErrorUnknown;
    ++launches;
    return InProcess::api().hipGraphLaunch(exec, stream);
  };
  return api;
}

model::abi::InProcessOptions two_devices() {
  model::abi::InProcessOptions options = model::abi::host_memory_options();
  options.model.devices = 2;
  return options;
}

struct RemappedBuffersTest : model::abi::AbiTest {
  RemappedBuffersTest() { start(); }
  ~RemappedBuffersTest() override {
    buffers.reset();
    work.reset();
    memories.reset();
    EXPECT_TRUE(instance.runtime().virtual_memory().ranges().empty());
    EXPECT_EQ(instance.runtime().virtual_memory().memories(), 0u);
  }
  // A fresh model, and everything new.
  void start() {
    buffers.reset();
    work.reset();
    memories.reset();
    calls = 0;
    failing.clear();
    told.clear();
    instance.reset(two_devices());
    module = instance.add_module({model::abi::add_with_tag()});
    EXPECT_HIP(api.hipModuleGetFunction(&add, module, "add"));
    memories.emplace(api, kPage);
    work.emplace(table, [this](hipGraph_t graph, void* out, void* in) { add_kernel(graph, out, in, 1); });
    two_buffers();
  }
  void two_buffers(hip::RemappedBuffersOptions options = {}) {
    options.errors = into(told);
    buffers.emplace(table, std::vector<hip::RemappedBuffer>{{8}, {}, {4}}, options);
  }
  // From the first memory to the second one.
  hip::Result<hip::RemappedStep> step(const Memory& from, const Memory& to, hipStream_t on = nullptr) {
    return buffers->step(std::array{from, Memory{}, to}, hip::StreamRef(table, on, 0), *work);
  }
  void add_memories(std::size_t count) {
    while (memories->size() < count) memories->add();
  }
  const Memory& memory(std::size_t n) const { return (*memories)[n]; }
  std::size_t races() { return instance.runtime().races_seen(); }

  hip::Api table = failing_api();
  std::vector<hip::Error> told;
  std::optional<remapped::Memories> memories;
  std::optional<remapped::OneNode> work;
  std::optional<RemappedBuffers> buffers;
};

TEST_F(RemappedBuffersTest, TwoRecordingsServeEveryStepWhateverMemoryItsBuffersHave) {
  add_memories(4);
  std::array<std::uint32_t, 4> expected{};
  for (std::size_t n = 0; n < 12; ++n) {
    const std::size_t from = n % 4, to = (n * 3 + 1) % 4;
    const hip::Result<hip::RemappedStep> done = step(memory(from), memory(to));
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done.value().set, n % 2);
    EXPECT_EQ(done.value().recorded, n < 2);
    expected[to] = expected[from] + 1;
  }
  EXPECT_HIP(api.hipDeviceSynchronize());
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(memories->number_in(n), expected[n]) << n;
  EXPECT_EQ(races(), 0u);
  EXPECT_EQ(work->recorded_for[0][1], nullptr) << "a buffer without bytes";
  EXPECT_NE(work->recorded_for[0], work->recorded_for[1]);
  const hip::RemappedBuffersCounts counts = buffers->counts();
  EXPECT_EQ(counts.steps, 12u);
  EXPECT_EQ(counts.recorded, 2u);
  EXPECT_EQ(counts.reserved, 4u);
  EXPECT_EQ(counts.waits, 10u) << "the model begins no work before somebody waits";
}

TEST_F(RemappedBuffersTest, AStepMapsOnlyTheMemoryThatChanged) {
  add_memories(3);
  ASSERT_TRUE(step(memory(0), memory(1)));
  ASSERT_TRUE(step(memory(0), memory(1)));
  EXPECT_EQ(buffers->counts().maps, 4u);
  EXPECT_EQ(buffers->counts().kept, 0u);
  ASSERT_TRUE(step(memory(0), memory(2)));
  EXPECT_EQ(buffers->counts().maps, 5u);
  EXPECT_EQ(buffers->counts().accesses, 5u);
  EXPECT_EQ(buffers->counts().unmaps, 1u);
  EXPECT_EQ(buffers->counts().kept, 1u);
}

TEST_F(RemappedBuffersTest, TwoBuffersMayHaveTheSameMemory) {
  add_memories(2);
  for (int n = 0; n < 5; ++n) ASSERT_TRUE(step(memory(0), memory(0)));
  ASSERT_TRUE(step(memory(0), memory(1)));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(0), 5u);
  EXPECT_EQ(memories->number_in(1), 6u);
  EXPECT_EQ(races(), 0u);
}

// Handles are used again: the number tells a new memory from an earlier one.
TEST_F(RemappedBuffersTest, AnotherMemoryWithTheSameHandleIsMapped) {
  add_memories(2);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  Memory again = memory(0);
  again.number = 100;
  ASSERT_TRUE(step(again, memory(1)));
  EXPECT_EQ(buffers->counts().maps, 5u);
  EXPECT_TRUE(buffers->holds(100));
}

// ---- waiting and order

TEST_F(RemappedBuffersTest, ALaunchThatStillRunsIsNotWaitedForWithoutALimit) {
  add_memories(3);
  two_buffers({.patience = std::chrono::milliseconds(3)});
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  const auto query = std::exchange(table.hipEventQuery, [](hipEvent_t) { return hipErrorNotReady; });
  const hip::RemappedBuffersCounts before = buffers->counts();
  const hip::Result<hip::RemappedStep> late = step(memory(1), memory(2));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, hipErrorNotReady);
  EXPECT_NE(late.error().message.find("RemappedBuffersOptions::patience"), std::string::npos);
  EXPECT_EQ(buffers->withdraw(memory(0).number).error().code, hipErrorNotReady);
  EXPECT_EQ(buffers->clear().error().code, hipErrorNotReady);
  EXPECT_EQ(buffers->counts().unmaps, before.unmaps);
  EXPECT_TRUE(buffers->holds(memory(0).number));
  table.hipEventQuery = query;
  ASSERT_TRUE(step(memory(1), memory(2)));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(2), 2u);
  EXPECT_EQ(races(), 0u);
}

// A wrong variant: remapping under a launch in flight.
TEST_F(RemappedBuffersTest, WithoutTheWaitTheModelReportsARace) {
  table.hipEventQuery = [](hipEvent_t) { return hipSuccess; };
  add_memories(3);
  hipStream_t on = create_stream(hipStreamNonBlocking);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1), on));
  EXPECT_EQ(races(), 0u);
  ASSERT_TRUE(step(memory(0), memory(2), on));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_GE(races(), 1u);
}

// A wrong variant: it waits for the launch of two steps ago, and uses the addresses of the last step.
TEST_F(RemappedBuffersTest, WithOneSetOfAddressesTheModelReportsARace) {
  add_memories(4);
  void* range = nullptr;
  EXPECT_HIP(api.hipMemAddressReserve(&range, kPage, 0, nullptr, 0));
  hipGraph_t graph = create_graph();
  add_kernel(graph, range, range, 1);
  hipGraphExec_t exec = instantiate(graph);
  hipStream_t on = create_stream(hipStreamNonBlocking);
  hipEvent_t done[2] = {create_event(), create_event()};
  const hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_HIP(api.hipEventSynchronize(done[n % 2]));
    if (n > 0) {
      EXPECT_HIP(api.hipMemUnmap(range, kPage));
    }
    EXPECT_HIP(api.hipMemMap(range, kPage, 0, memory(n).handle, 0));
    EXPECT_HIP(api.hipMemSetAccess(range, kPage, &access, 1));
    EXPECT_HIP(api.hipGraphLaunch(exec, on));
    EXPECT_HIP(api.hipEventRecord(done[n % 2], on));
  }
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_GE(races(), 1u);
  EXPECT_HIP(api.hipMemUnmap(range, kPage));
  EXPECT_HIP(api.hipMemAddressFree(range, kPage));
}

TEST_F(RemappedBuffersTest, AStepOnAnotherStreamComesBehindTheStepBefore) {
  add_memories(2);
  hipStream_t streams[] = {create_stream(hipStreamNonBlocking), create_stream(hipStreamNonBlocking)};
  for (std::size_t n = 0; n < 6; ++n) ASSERT_TRUE(step(memory(0), memory(0), streams[n * 2 / 3 % 2]));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(0), 6u);
  EXPECT_EQ(races(), 0u);
}

// A wrong variant: both launches use the same memory, at different addresses.
TEST_F(RemappedBuffersTest, WithoutTheOrderOfStreamsTheModelReportsARace) {
  table.hipStreamWaitEvent = [](hipStream_t, hipEvent_t, unsigned) { return hipSuccess; };
  add_memories(1);
  ASSERT_TRUE(step(memory(0), memory(0), create_stream(hipStreamNonBlocking)));
  ASSERT_TRUE(step(memory(0), memory(0), create_stream(hipStreamNonBlocking)));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_GE(races(), 1u);
}

TEST_F(RemappedBuffersTest, TheDestructorGivesEverythingBackBehindTheWorkInFlight) {
  add_memories(2);
  hipStream_t on = create_stream(hipStreamNonBlocking);
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(step(memory(0), memory(1), on));
  buffers.reset();
  EXPECT_EQ(instance.runtime().virtual_memory().ranges().size(), 2u) << "the test's own";
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(1), 1u);
  EXPECT_EQ(races(), 0u);
  EXPECT_TRUE(told.empty());
}

// ---- access of peers

TEST_F(RemappedBuffersTest, EveryDeviceThatTheOptionsNameHasAccess) {
  add_memories(2);
  two_buffers({.devices = {1, 0}});
  ASSERT_TRUE(step(memory(0), memory(1)));
  for (const int device : {0, 1}) {
    unsigned long long flags = 0;
    const hipMemLocation location{hipMemLocationTypeDevice, device};
    EXPECT_HIP(api.hipMemGetAccess(&flags, &location, work->recorded_for[0].front()));
    EXPECT_EQ(flags, 3u) << device;
  }
}

// A wrong variant: access for one device only. The class sees it; where the getter lies, too, the model reports a
// fault.
TEST_F(RemappedBuffersTest, AccessThatWasNotSetOnAPeerIsSeen) {
  table.hipMemSetAccess = [](void* at, std::size_t size, const hipMemAccessDesc* list, std::size_t) {
    return InProcess::api().hipMemSetAccess(at, size, list, 1);
  };
  add_memories(2);
  two_buffers({.devices = {1, 0}});
  const hip::Result<hip::RemappedStep> refused = step(memory(0), memory(1));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("device 0 has no access"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(buffers->holds(memory(0).number));
  table.hipMemGetAccess = [](unsigned long long* flags, const hipMemLocation*, void*) {
    return *flags = 3, hipSuccess;
  };
  ASSERT_TRUE(step(memory(0), memory(1)));
  EXPECT_EQ(api.hipDeviceSynchronize(), hipErrorIllegalAddress);
  EXPECT_EQ(races(), 0u);
  // After a fault nothing answers success any more.
  buffers.reset();
  EXPECT_EQ(instance.runtime().virtual_memory().ranges().size(), 2u) << "the test's own";
  work->execs = {};
  memories->forget();
  instance.reset(two_devices());
}

// ---- sizes

TEST_F(RemappedBuffersTest, MemoryOfAnotherSizeIsRefusedAndNothingIsChanged) {
  buffers.emplace(table, std::vector<hip::RemappedBuffer>{{kPage + 1, 3 * kPage}},
                  hip::RemappedBuffersOptions{.errors = into(told)});
  EXPECT_EQ(buffers->granularity().value(), kPage);
  const auto code = [&](Memory memory) {
    const hip::Result<hip::RemappedStep> done = buffers->step({&memory, 1}, {table, nullptr, 0}, *work);
    return done ? 0 : done.error().code;
  };
  const Memory two = memories->add(2), three = memories->add(3);
  EXPECT_EQ(code(memories->add(1)), hipErrorInvalidValue) << "rounded down";
  EXPECT_EQ(code(memories->add(4)), hipErrorInvalidValue);
  EXPECT_EQ(code({two.handle, 2 * kPage + 8, two.number}), hipErrorInvalidValue);
  EXPECT_EQ(code({nullptr, two.bytes, two.number}), hipErrorInvalidValue);
  EXPECT_EQ(code({two.handle, two.bytes, 0}), hipErrorInvalidValue);
  EXPECT_EQ(buffers->step({}, {table, nullptr, 0}, *work).error().code, hipErrorInvalidValue);
  EXPECT_EQ(buffers->counts().reserved, 0u);
  for (const Memory& memory : {two, three, three, two}) EXPECT_EQ(code(memory), 0);
}

TEST_F(RemappedBuffersTest, AnAddressIsAMultipleOfTheGranularityEvenIfTheRuntimeDoesNotHeedTheAlignment) {
  static constexpr std::size_t kLarge = 16 * kPage;
  table.hipMemGetAllocationGranularity = [](std::size_t* granularity, const hipMemAllocationProp*,
                                            hipMemAllocationGranularity_flags) {
    return *granularity = kLarge, hipSuccess;
  };
  table.hipMemAddressReserve = [](void** out, std::size_t size, std::size_t, void*, unsigned long long) {
    // One page behind a multiple of the granularity.
    void* wish = nullptr;
    EXPECT_HIP(InProcess::api().hipMemAddressReserve(&wish, size + 2 * kLarge, kLarge, nullptr, 0));
    EXPECT_HIP(InProcess::api().hipMemAddressFree(wish, size + 2 * kLarge));
    return InProcess::api().hipMemAddressReserve(out, size, 0, static_cast<char*>(wish) + kPage, 0);
  };
  const Memory from = memories->add(16), to = memories->add(16);
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(step(from, to));
  for (const auto& addresses : work->recorded_for) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(addresses.back()) % kLarge, 0u);
  }
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(1), 1u);
}

TEST_F(RemappedBuffersTest, ARuntimeWithoutVirtualMemoryIsNamed) {
  add_memories(1);
  table.hipMemUnmap = nullptr;
  const hip::Result<hip::RemappedStep> refused = step(memory(0), memory(0));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, hipErrorNotSupported);
  EXPECT_NE(refused.error().message.find("hipMemUnmap"), std::string::npos);
}

// ---- memory that is given up

TEST_F(RemappedBuffersTest, AMemoryThatIsWithdrawnIsMappedNowhereAndTheOthersStay) {
  add_memories(3);
  hipStream_t on = create_stream(hipStreamNonBlocking);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(2), on));
  EXPECT_TRUE(buffers->withdraw(memory(2).number));
  EXPECT_FALSE(buffers->holds(memory(2).number));
  EXPECT_TRUE(buffers->holds(memory(0).number));
  EXPECT_EQ(buffers->counts().unmaps, 2u);
  memories->drop_last();
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1), on));
  EXPECT_EQ(buffers->counts().kept, 2u);
  EXPECT_EQ(work->recordings, 2);
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(races(), 0u);
}

TEST_F(RemappedBuffersTest, AfterClearEverythingIsReservedAndRecordedAgain) {
  add_memories(2);
  ASSERT_TRUE(step(memory(0), memory(1)));
  EXPECT_TRUE(buffers->clear());
  EXPECT_FALSE(buffers->holds(memory(0).number));
  EXPECT_EQ(instance.runtime().virtual_memory().ranges().size(), 2u) << "the test's own";
  for (int n = 0; n < 2; ++n) EXPECT_TRUE(step(memory(0), memory(1)).value().recorded);
}

// ---- failures

TEST_F(RemappedBuffersTest, AStepThatFailsPutsBackTheMappingsThatItChanged) {
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
TEST_F(RemappedBuffersTest, AMapThatAnswersSuccessAndMapsNothingIsSeenAndTheAddressesAreReplaced) {
  add_memories(3);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  static int lies;
  lies = 2;  // the second one is that of putting back
  table.hipMemMap = [](void* at, std::size_t size, std::size_t offset, hipMemGenericAllocationHandle_t memory,
                       unsigned long long flags) {
    return lies-- > 0 ? hipSuccess : InProcess::api().hipMemMap(at, size, offset, memory, flags);
  };
  const hip::Result<hip::RemappedStep> failed = step(memory(0), memory(2));
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("recording again is due"), std::string::npos) << failed.error().message;
  lies = 0;
  EXPECT_TRUE(step(memory(0), memory(2)).value().recorded);
  EXPECT_EQ(buffers->counts().replaced, 1u);
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(2), 1u);
}

TEST_F(RemappedBuffersTest, ARecordingThatFailsIsMadeByTheNextStep) {
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
bool five_steps(RemappedBuffersTest& test, std::array<std::uint32_t, 3>& expected) {
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

TEST_F(RemappedBuffersTest, WhicheverCallFailsItIsToldNothingLeaksAndTheNextStepIsRight) {
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
RC_GTEST_FIXTURE_PROP(RemappedBuffersTest, RandomStepsChangeTheNumbersThatTheReferenceChanges, ()) {
  start();
  const auto count = *rc::gen::inRange<std::size_t>(1, 5).as("memories");
  add_memories(count);
  std::vector<std::uint32_t> expected(count);
  hipStream_t streams[] = {nullptr, create_stream(hipStreamNonBlocking), create_stream()};
  const auto steps = *rc::gen::inRange(1, 30).as("steps");
  for (int n = 0; n < steps; ++n) {
    const auto from = *rc::gen::inRange<std::size_t>(0, count), to = *rc::gen::inRange<std::size_t>(0, count);
    const auto what = *rc::gen::inRange(0, 12).as("what");
    if (what == 0) static_cast<void>(buffers->withdraw(memory(to).number));
    if (what == 1) static_cast<void>(buffers->clear());
    if (what >= 2 && what < 8) failing = {calls + *rc::gen::inRange(1, 25).as("failing call")};
    if (what == 7) failing.push_back(failing.front() + *rc::gen::inRange(1, 5).as("and another"));
    const int of_launch = launches;
    hipStream_t on = streams[*rc::gen::inRange<std::size_t>(0, std::size(streams)).as("stream")];
    const hip::Result<hip::RemappedStep> done = step(memory(from), memory(to), on);
    failing.clear();
    RC_ASSERT(done.ok() || what >= 2);
    if (launches != of_launch) expected[to] = expected[from] + 1;
    if (done) RC_ASSERT(launches == of_launch + 1);
  }
  RC_ASSERT(api.hipDeviceSynchronize() == hipSuccess);
  for (std::size_t n = 0; n < count; ++n) RC_ASSERT(memories->number_in(n) == expected[n]);
  RC_ASSERT(races() == 0u);
  buffers.reset();
  RC_ASSERT(instance.runtime().virtual_memory().ranges().size() == count);
}

}  // namespace
