// hip::RemappedBuffers on the model, which reports a mapping that changes under a launch as a race, and an access to
// addresses without memory or right as a fault. Wrong variants, made by a table that lies, have to be reported.
#include "hip/remapped_model.h"

namespace {

using namespace remapped;
using RemappedBuffersTest = OnTheModel;

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
  two_buffers({.patience = std::chrono::milliseconds(200)});
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

// Each wait says how things stand: a launch was made, so the step must not be repeated.
TEST_F(RemappedBuffersTest, AWaitForALaunchWithoutAnEventSaysThatItWasLaunched) {
  add_memories(3);
  two_buffers({.patience = std::chrono::milliseconds(0)});
  const hip::Api whole = table;
  table.hipEventRecord = [](hipEvent_t, hipStream_t) { return hipErrorUnknown; };
  table.hipStreamQuery = [](hipStream_t) { return hipErrorNotReady; };
  hipStream_t on = create_stream(hipStreamNonBlocking);
  const hip::Result<hip::RemappedStep> unmarked = step(memory(0), memory(1), on);
  ASSERT_FALSE(unmarked);
  EXPECT_NE(unmarked.error().message.find("do not launch this step again"), std::string::npos)
      << unmarked.error().message;
  EXPECT_EQ(unmarked.error().message.find("nothing was changed"), std::string::npos) << unmarked.error().message;
  // A step on another stream waits for it before it changes anything.
  table.hipEventRecord = whole.hipEventRecord;
  const hip::Result<hip::RemappedStep> late = step(memory(1), memory(2), create_stream(hipStreamNonBlocking));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, hipErrorNotReady);
  EXPECT_NE(late.error().message.find("nothing was changed"), std::string::npos) << late.error().message;
  EXPECT_EQ(buffers->counts().maps, 2u);
  EXPECT_EQ(work->recordings, 1);
  EXPECT_FALSE(buffers->holds(memory(2).number));
  ASSERT_TRUE(step(memory(1), memory(2), on)) << "the stream orders them";
  table.hipStreamQuery = whole.hipStreamQuery;
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(1), 1u);
  EXPECT_EQ(memories->number_in(2), 2u);
  EXPECT_EQ(races(), 0u);
}

TEST_F(RemappedBuffersTest, AStepThatCannotBePutBehindTheStepBeforeSaysThatItWasNotLaunched) {
  add_memories(2);
  two_buffers({.patience = std::chrono::milliseconds(0)});
  const int before = launches;
  ASSERT_TRUE(step(memory(0), memory(1), create_stream(hipStreamNonBlocking)));
  const hip::Api whole = table;
  table.hipStreamWaitEvent = [](hipStream_t, hipEvent_t, unsigned) { return hipErrorUnknown; };
  table.hipEventQuery = [](hipEvent_t) { return hipErrorNotReady; };
  hipStream_t other = create_stream(hipStreamNonBlocking);
  const hip::Result<hip::RemappedStep> late = step(memory(1), memory(0), other);
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message.find("this step was not launched"), std::string::npos) << late.error().message;
  EXPECT_EQ(late.error().message.find("nothing was changed"), std::string::npos) << late.error().message;
  EXPECT_EQ(launches, before + 1) << "that of the step before";
  table.hipStreamWaitEvent = whole.hipStreamWaitEvent;
  table.hipEventQuery = whole.hipEventQuery;
  ASSERT_TRUE(step(memory(1), memory(0), other));
  EXPECT_EQ(work->recordings, 2);
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(0), 2u);
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
  two_buffers({.patience = std::chrono::milliseconds(0)});  // the destructor's wait has no limit
  add_memories(2);
  hipStream_t on = create_stream(hipStreamNonBlocking);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1), on));
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
  const auto free = std::exchange(table.hipMemAddressFree, [](void*, std::size_t) { return hipErrorUnknown; });
  EXPECT_FALSE(step(from, to)) << "a range that has to be given back is not lost";
  table.hipMemAddressFree = free;
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

// The caller may have destroyed its graphs after clear(), also where there was nothing to reserve again.
TEST_F(RemappedBuffersTest, AfterClearASetWithoutAddressesIsRecordedAgain) {
  struct Counting : hip::RemappedWork {
    int recordings = 0;
    hip::Status record(std::size_t, std::span<void* const>) override { return ++recordings, hip::Status(); }
    hip::Status launch(std::size_t, const hip::StreamRef&) override { return {}; }
  } counting;
  buffers.emplace(table, std::vector<hip::RemappedBuffer>{{}, {}}, hip::RemappedBuffersOptions{.errors = into(told)});
  const auto recorded = [&] {
    return buffers->step(std::array<Memory, 2>{}, hip::StreamRef(table, nullptr, 0), counting).value().recorded;
  };
  for (const bool expected : {true, true, false, false}) EXPECT_EQ(recorded(), expected);
  EXPECT_TRUE(buffers->clear());
  for (const bool expected : {true, true, false, false}) EXPECT_EQ(recorded(), expected);
  EXPECT_EQ(counting.recordings, 4);
}

TEST_F(RemappedBuffersTest, AfterAClearThatFreedNoAddressesEverythingIsRecordedAgain) {
  add_memories(2);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  const auto free = std::exchange(table.hipMemAddressFree, [](void*, std::size_t) { return hipErrorUnknown; });
  EXPECT_FALSE(buffers->clear());
  table.hipMemAddressFree = free;
  for (int n = 0; n < 2; ++n) EXPECT_TRUE(step(memory(0), memory(1)).value().recorded);
  EXPECT_EQ(buffers->counts().reserved, 4u) << "the addresses are used again";
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(races(), 0u);
}

TEST_F(RemappedBuffersTest, AddressesAreNotFreedUnderMemoryThatCouldNotBeUnmapped) {
  add_memories(2);
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  static int freed = 0;
  freed = 0;
  table.hipMemAddressFree = [](void* range, std::size_t bytes) {
    ++freed;
    return InProcess::api().hipMemAddressFree(range, bytes);
  };
  const auto unmap = std::exchange(table.hipMemUnmap, [](void*, std::size_t) { return hipErrorUnknown; });
  EXPECT_FALSE(buffers->clear());
  EXPECT_EQ(freed, 0);
  table.hipMemUnmap = unmap;
  EXPECT_TRUE(buffers->clear());
  EXPECT_GE(freed, 4);
}

// ---- ranks

// Peers that say no in the rounds of `against`, counted from 1, or that do not come any more from round `gone` on.
struct Peers final : hip::RankAgreement {
  hip::Result<bool> all(bool mine) override {
    said.push_back(mine);
    if (said.size() >= gone) return hip::Error{hipErrorNotReady, "a rank did not come"};
    return mine && std::ranges::find(against, said.size()) == against.end();
  }
  std::vector<bool> said;
  std::vector<std::size_t> against;
  std::size_t gone = SIZE_MAX;
};

TEST_F(RemappedBuffersTest, AStepWhosePeersAreNotReadyChangesNothing) {
  add_memories(3);
  Peers peers;
  two_buffers({.ranks = &peers});
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  EXPECT_EQ(peers.said, std::vector<bool>(4, true)) << "two rounds a step";
  peers.against = {5};
  const hip::RemappedBuffersCounts before = buffers->counts();
  const hip::Result<hip::RemappedStep> refused = step(memory(0), memory(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, hipErrorNotReady);
  EXPECT_NE(refused.error().message.find("take the step again"), std::string::npos);
  EXPECT_EQ(buffers->counts().unmaps, before.unmaps);
  EXPECT_FALSE(buffers->holds(memory(2).number));
  EXPECT_EQ(peers.said.size(), 5u) << "no rank comes to the second round";
  ASSERT_TRUE(step(memory(0), memory(2)));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(2), 1u);
  EXPECT_EQ(races(), 0u);
}

TEST_F(RemappedBuffersTest, AStepWhosePeersCouldNotMapPutsBackWhatWasMappedAndDoesNotLaunch) {
  add_memories(3);
  Peers peers;
  two_buffers({.ranks = &peers});
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(memory(0), memory(1)));
  peers.against = {6};
  const int launched = launches;
  ASSERT_FALSE(step(memory(0), memory(2)));
  EXPECT_EQ(launches, launched);
  EXPECT_EQ(buffers->counts().put_back, 1u);
  EXPECT_TRUE(buffers->holds(memory(1).number));
  EXPECT_FALSE(buffers->holds(memory(2).number));
  ASSERT_TRUE(step(memory(0), memory(1)));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(1), 1u);
  EXPECT_EQ(memories->number_in(2), 0u);
  EXPECT_EQ(races(), 0u);
}

TEST_F(RemappedBuffersTest, AFailureOfThisRankIsSaidInTheRoundThatFollowsIt) {
  add_memories(2);
  Peers peers;
  two_buffers({.ranks = &peers});
  EXPECT_EQ(step(memory(0), {}).error().code, hipErrorInvalidValue);
  EXPECT_EQ(peers.said, (std::vector<bool>{false}));
  work->refuses = true;
  EXPECT_EQ(step(memory(0), memory(1)).error().message, "not now");
  EXPECT_EQ(peers.said, (std::vector<bool>{false, true, false}));
  work->refuses = false;
  table.hipMemMap = [](void*, std::size_t, std::size_t, hipMemGenericAllocationHandle_t, unsigned long long) {
    return hipErrorOutOfMemory;
  };
  EXPECT_EQ(step(memory(1), memory(0)).error().code, hipErrorOutOfMemory);
  EXPECT_EQ(peers.said, (std::vector<bool>{false, true, false, true, false}));
}

TEST_F(RemappedBuffersTest, APeerThatDoesNotComeIsAnErrorAndNothingIsLaunched) {
  add_memories(2);
  Peers peers;
  peers.gone = 2;
  two_buffers({.ranks = &peers});
  const int launched = launches;
  EXPECT_EQ(step(memory(0), memory(1)).error().message, "a rank did not come");
  EXPECT_EQ(launches, launched);
}

}  // namespace
