// AddressStabilizer over a host table that counts calls and makes any call of a step fail in turn. The stateful
// tests against its model are in tests/verify/systems.
#include "hip/address_stabilizer.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hip/error_list.h"
#include "hip/host_backend.h"
#include "hip/release_quirks.h"
#include "hip/sync/sync.h"

namespace {

using hip::BufferUse;
using hip::StepBuffer;
using Bytes = std::vector<unsigned char>;

// The counters of the table; the call whose number is `failing` fails.
int calls = 0, failing = 0, allocations = 0, frees = 0, events = 0, records = 0, events_waited = 0, devices_waited = 0;
int failing_frees = 0;  // so many of the next ones

// Makes an entry of the host's table fail with `kError` when its turn comes. A call that does not fail adds to a
// counter.
template <auto kEntry, hipError_t kError = hipErrorUnknown, int* kCounter = nullptr, int kAdded = 1>
void fail_in_turn(hip::Api& api) {
  api.*kEntry = []<class... Arguments>(Arguments... arguments) {
    if (++calls == failing) return kError;
    if constexpr (kCounter != nullptr) *kCounter += kAdded;
    return (hip::host_api().*kEntry)(arguments...);
  };
}

hip::Api counting_api() {
  hip::Api api = hip::host_api();
  fail_in_turn<&hip::Api::hipMalloc, hipErrorOutOfMemory, &allocations>(api);
  fail_in_turn<&hip::Api::hipEventCreateWithFlags, hipErrorOutOfMemory, &events>(api);
  fail_in_turn<&hip::Api::hipEventDestroy, hipErrorUnknown, &events, -1>(api);
  fail_in_turn<&hip::Api::hipMemcpyAsync>(api);
  fail_in_turn<&hip::Api::hipEventRecord, hipErrorUnknown, &records>(api);
  fail_in_turn<&hip::Api::hipStreamWaitEvent>(api);
  fail_in_turn<&hip::Api::hipGetDevice>(api);
  api.hipFree = [](void* memory) {
    if (++calls == failing || (failing_frees > 0 && failing_frees-- > 0)) return hipErrorUnknown;
    ++frees;
    return hip::host_api().hipFree(memory);
  };
  return api;
}

// Makes waits take no time, and counts them.
void count_waits(hip::Api& api) {
  api.hipStreamWaitEvent = [](hipStream_t, hipEvent_t, unsigned) { return ++events_waited, hipSuccess; };
  api.hipEventSynchronize = [](hipEvent_t) { return ++events_waited, hipSuccess; };
  api.hipDeviceSynchronize = [] { return ++devices_waited, hipSuccess; };
}

// Returns the numbers of waits for events and for devices since the last call.
std::pair<int, int> taken_waits() {
  return {std::exchange(events_waited, 0), std::exchange(devices_waited, 0)};
}

// to[i] = from[i] + 1, for buffer 0 and the last one.
class AddOne final : public hip::StableWork {
 public:
  explicit AddOne(std::size_t bytes) : bytes_(bytes) {}
  hip::Status record(std::span<void* const> addresses) override {
    ++recordings;
    if (refuses) return hip::Error{hipErrorNotSupported, "not now"};
    for_addresses.assign(addresses.begin(), addresses.end());
    return {};
  }
  hip::Status launch(const hip::StreamRef&) override {
    ++launches;
    const auto* from = static_cast<const unsigned char*>(for_addresses.front());
    auto* to = static_cast<unsigned char*>(for_addresses.back());
    for (std::size_t i = 0; i < bytes_; ++i) to[i] = static_cast<unsigned char>(from[i] + 1);
    if (fails_to_launch) return hip::Error{hipErrorLaunchFailure, "not whole"};
    return {};
  }
  bool refuses = false, fails_to_launch = false;
  int recordings = 0, launches = 0;
  std::vector<void*> for_addresses;

 private:
  std::size_t bytes_;
};

struct AddressStabilizer : testing::Test {
  AddressStabilizer() {
    calls = failing = allocations = frees = events = records = events_waited = devices_waited = failing_frees = 0;
  }
  static StepBuffer buffer(Bytes& bytes, BufferUse use) { return {bytes.data(), bytes.size(), use}; }
  static std::vector<StepBuffer> in_and_out(Bytes& in, Bytes& out) {
    return {buffer(in, BufferUse::kIn), buffer(out, BufferUse::kOut)};
  }

  // A step of command 0 on the default stream.
  hip::Result<hip::StableStep> step(const std::vector<StepBuffer>& buffers, hip::StableWork& work) {
    return stabilizer_.step(0, buffers, stream_, work);
  }
  hip::Result<hip::StableStep> step(const std::vector<StepBuffer>& buffers) { return step(buffers, work_); }

  // Lets streams be numbers: the host's table knows the default stream only.
  void number_streams() {
    api_.hipMemcpyAsync = [](void* to, const void* from, std::size_t size, hipMemcpyKind kind, hipStream_t) {
      return hip::host_api().hipMemcpyAsync(to, from, size, kind, nullptr);
    };
    api_.hipEventRecord = [](hipEvent_t event, hipStream_t) { return hip::host_api().hipEventRecord(event, nullptr); };
  }
  hip::StreamRef stream(std::uintptr_t handle) { return {api_, reinterpret_cast<hipStream_t>(handle), 0}; }

  // Returns whether a call answered an error. A step that failed is done once more.
  bool three_steps_and_a_release() {
    hip::AddressStabilizer stabilizer(api_, options_);
    AddOne work(8);
    bool told = false;
    for (unsigned char step = 0; step < 3; ++step) {
      Bytes in(step == 2 ? 64 : 8, step), out(8, 99);
      const std::vector<StepBuffer> buffers = in_and_out(in, out);
      if (!stabilizer.step(0, buffers, stream_, work).ok()) {
        told = true;
        EXPECT_TRUE(stabilizer.step(0, buffers, stream_, work).ok()) << "after call " << failing;
      }
      EXPECT_EQ(out, Bytes(8, static_cast<unsigned char>(step + 1))) << "call " << failing;
    }
    return !stabilizer.release(0).ok() || told;
  }

  hip::Api api_ = counting_api();
  const hip::StreamRef stream_ = hip::StreamRef::of_default(api_);
  std::vector<hip::Error> reports_;
  hip::AddressStabilizerOptions options_{.device = 0, .errors = into(reports_)};
  AddOne work_{8};
  Bytes in_ = Bytes(8, 1), out_ = Bytes(8, 99);
  const std::vector<StepBuffer> buffers_ = in_and_out(in_, out_);
  hip::AddressStabilizer stabilizer_{api_, options_};
};

TEST_F(AddressStabilizer, MovedBuffersAreReadAndWrittenWhereTheyAreAndNothingIsRecordedAgain) {
  for (unsigned char step = 0; step < 4; ++step) {
    Bytes in(8, step), out(8, 99);
    EXPECT_EQ(stabilizer_.step(7, in_and_out(in, out), stream_, work_).value().recorded, step == 0);
    EXPECT_EQ(out, Bytes(8, static_cast<unsigned char>(step + 1)));
    EXPECT_EQ(in, Bytes(8, step));
  }
  EXPECT_EQ(allocations, 2);
  EXPECT_EQ(stabilizer_.counts().steps, 4u);
  EXPECT_EQ(stabilizer_.counts().bytes_back, 32u);
}

// A step comes behind the one before by its stream or by an event.
TEST_F(AddressStabilizer, AStepWaitsForTheOneBeforeOnlyOnAnotherStream) {
  number_streams();
  count_waits(api_);
  const auto waits = [&](std::uintptr_t handle) {
    taken_waits();
    EXPECT_TRUE(stabilizer_.step(0, buffers_, stream(handle), work_));
    return taken_waits();
  };
  const std::pair none(0, 0), across(1, 0);
  waits(16);  // there is none before
  EXPECT_EQ(waits(16), none);
  EXPECT_EQ(waits(32), across);
  EXPECT_EQ(waits(32), none);
  const auto per_thread = reinterpret_cast<std::uintptr_t>(hipStreamPerThread);
  EXPECT_EQ(waits(per_thread), across);
  EXPECT_EQ(waits(per_thread), across) << "it may be another thread's";
}

// AMD's releases refuse to have a stream wait for an event whose stream has begun to capture since.
TEST_F(AddressStabilizer, WhereTheLastStreamCapturesByNowTheHostWaitsIfTheReleaseLetsIt) {
  static int modes;
  static bool captures, refuses;
  number_streams();
  count_waits(api_);
  api_.hipStreamWaitEvent = [](hipStream_t, hipEvent_t, unsigned) {
    return refuses ? hipErrorStreamCaptureIsolation : hipSuccess;
  };
  api_.hipStreamIsCapturing = [](hipStream_t, hipStreamCaptureStatus* status) {
    *status = captures ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
    return hipSuccess;
  };
  api_.hipThreadExchangeStreamCaptureMode = [](hipStreamCaptureMode*) { return ++modes, hipSuccess; };
  for (const int version : {0, 70253211, 60443483}) {
    const hip::ReleaseQuirks quirks = version == 0 ? hip::ReleaseQuirks() : hip::ReleaseQuirks::of_version(version);
    hip::AddressStabilizerOptions options = options_;
    options.follow_capturing = quirks.of_follow_capturing();
    const bool may_wait = version == 70253211;
    hip::AddressStabilizer stabilizer(api_, options);
    captures = refuses = false;
    EXPECT_TRUE(stabilizer.step(0, buffers_, stream(16), work_));
    refuses = true;
    for (const bool itself : {true, false}) {
      captures = itself;
      events_waited = modes = 0;
      const hip::Result<hip::StableStep> step = stabilizer.step(0, buffers_, stream(32), work_);
      const bool waits = may_wait && !itself;
      EXPECT_EQ(step ? hipSuccess : step.error().code, waits ? hipSuccess : hipErrorStreamCaptureIsolation) << version;
      EXPECT_EQ(std::pair(events_waited, modes), waits ? std::pair(1, 2) : std::pair(0, 0)) << version;
    }
  }
}

// No event marks the end of such a step and its stream cannot be waited for: a later step waits for the device.
TEST_F(AddressStabilizer, AStepBehindOneThatCouldNotBeMarkedWaitsForTheDeviceAndSoDoesRelease) {
  static bool unmarked;
  count_waits(api_);
  api_.hipEventRecord = [](hipEvent_t, hipStream_t) { return unmarked ? hipErrorUnknown : hipSuccess; };
  api_.hipStreamSynchronize = [](hipStream_t) { return unmarked ? hipErrorUnknown : hipSuccess; };
  unmarked = true;
  EXPECT_FALSE(step(buffers_));
  EXPECT_EQ(taken_waits().second, 0);  // the step may wait for an event, which is behind nothing
  unmarked = false;
  EXPECT_TRUE(step(buffers_));
  EXPECT_EQ(taken_waits(), std::pair(0, 1)) << "also on the same stream";
  EXPECT_TRUE(step(buffers_));
  EXPECT_EQ(taken_waits(), std::pair(0, 0)) << "that one is marked";
  unmarked = true;
  EXPECT_FALSE(step(buffers_));
  EXPECT_TRUE(stabilizer_.release(0));
  EXPECT_EQ(taken_waits(), std::pair(0, 1));
}

TEST_F(AddressStabilizer, OneBufferTwiceIsOneAddressTwice) {
  Bytes both(8, 5);
  ASSERT_TRUE(step({buffer(both, BufferUse::kDonated), buffer(both, BufferUse::kOut)}).ok());
  EXPECT_EQ(work_.for_addresses[0], work_.for_addresses[1]);
  EXPECT_EQ(both, Bytes(8, 6));
}

TEST_F(AddressStabilizer, OverlappingSlicesKeepTheirDistanceAndTheirAlignment) {
  AddOne work(16);
  alignas(256) std::array<unsigned char, 256> memory{};
  memory[4] = 10;
  ASSERT_TRUE(step({{&memory[4], 40, BufferUse::kIn}, {&memory[16], 60, BufferUse::kInOut}}, work).ok());
  const auto* first = static_cast<unsigned char*>(work.for_addresses[0]);
  const auto* second = static_cast<unsigned char*>(work.for_addresses[1]);
  EXPECT_EQ(second - first, 12);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % 16, 0u);
  EXPECT_EQ(allocations, 1);
  EXPECT_EQ(memory[16], 11);
  EXPECT_EQ(memory[4], 10);
}

// The contract's own limit: a slice that keeps its alignment cannot keep its place as well.
TEST_F(AddressStabilizer, OverlappingSlicesAreRecordedAgainExactlyWhenTheirAlignmentModulo256Changes) {
  AddOne work(16);
  alignas(256) std::array<unsigned char, 1024> memory{};
  const auto recorded = [&](std::size_t at) {
    return step({{&memory[at], 40, BufferUse::kIn}, {&memory[at + 16], 60, BufferUse::kInOut}}, work).value().recorded;
  };
  EXPECT_TRUE(recorded(32));
  EXPECT_FALSE(recorded(32 + 512));
  EXPECT_TRUE(recorded(16));
  EXPECT_FALSE(recorded(16 + 256));
}

TEST_F(AddressStabilizer, BuffersThatOnlyTouchDoNotShare) {
  std::array<unsigned char, 16> memory{};
  memory[0] = 7;
  ASSERT_TRUE(step({{&memory[0], 8, BufferUse::kIn}, {&memory[8], 8, BufferUse::kOut}}));
  EXPECT_EQ(allocations, 2);
  EXPECT_EQ(memory[8], 8);
}

TEST_F(AddressStabilizer, ADonatedBufferIsReadAndNotCopiedBack) {
  ASSERT_TRUE(step({buffer(in_, BufferUse::kDonated), buffer(out_, BufferUse::kOut)}).ok());
  EXPECT_EQ(out_, Bytes(8, 2));
  EXPECT_EQ(stabilizer_.counts().bytes_in, 8u);
  EXPECT_EQ(stabilizer_.counts().bytes_back, 8u);
}

TEST_F(AddressStabilizer, ABufferThatOutgrowsItsOwnIsRecordedAgainOnceAndKeepsNothingOfTheSmallerOne) {
  Bytes small(8, 1), large(800, 3);
  const std::vector first{buffer(small, BufferUse::kInOut)}, second{buffer(large, BufferUse::kInOut)};
  EXPECT_TRUE(step(first).value().recorded);
  EXPECT_TRUE(step(second).value().recorded);
  EXPECT_FALSE(step(first).value().recorded);
  EXPECT_EQ(small[0], 3);
  EXPECT_EQ(large[7], 4);
  EXPECT_EQ(large[8], 3);
  EXPECT_EQ(allocations - frees, 1);
}

TEST_F(AddressStabilizer, ARecordingThatFailedIsTriedAgainAndNotLaunched) {
  const std::vector buffers{buffer(in_, BufferUse::kInOut)};
  work_.refuses = true;
  EXPECT_EQ(step(buffers).error().code, hipErrorNotSupported);
  EXPECT_EQ(work_.launches, 0);
  work_.refuses = false;
  EXPECT_TRUE(step(buffers).value().recorded);
  EXPECT_EQ(in_, Bytes(8, 2));
}

// F24's own property: whatever a recording that failed has left of the one before is not launched, also where the
// addresses are those again.
TEST_F(AddressStabilizer, ARecordingThatFailedTakesTheOneBeforeWithIt) {
  ASSERT_TRUE(step(buffers_));
  work_.refuses = true;
  EXPECT_FALSE(step({buffer(in_, BufferUse::kIn), buffer(in_, BufferUse::kInOut)})) << "they lie together";
  work_.refuses = false;
  EXPECT_TRUE(step(buffers_).value().recorded);
  EXPECT_EQ(allocations, 2) << "nothing has grown: only the recording was others'";
}

// A region grows, another one cannot, and the first grows once more, into the memory that it had when it was recorded.
TEST_F(AddressStabilizer, MemoryThatMovedAndCameBackIsRecordedForAgain) {
  static std::array<std::array<unsigned char, 1024>, 3> places;
  static std::vector<int> script;  // which one is given out; negative: none
  script = {0, 1, 2, -1, 0, 1};
  api_.hipMalloc = [](void** out, std::size_t) {
    const int place = script.front();
    script.erase(script.begin());
    if (place < 0) return hipErrorOutOfMemory;
    *out = places[static_cast<std::size_t>(place)].data();
    return hipSuccess;
  };
  api_.hipFree = [](void*) { return hipSuccess; };
  Bytes first(64, 1), second(64, 1);
  const auto step_of = [&](std::size_t of_first, std::size_t of_second) {
    return step({{first.data(), of_first, BufferUse::kIn}, {second.data(), of_second, BufferUse::kOut}});
  };
  // By address, so that it is the first in memory that grows before the other one fails.
  if (first.data() > second.data()) first.swap(second);
  ASSERT_TRUE(step_of(8, 8).value().recorded);
  const std::vector<void*> before = work_.for_addresses;
  EXPECT_EQ(step_of(16, 16).error().code, hipErrorOutOfMemory);
  const hip::Result<hip::StableStep> again = step_of(32, 8);
  ASSERT_TRUE(again);
  EXPECT_EQ(work_.for_addresses, before) << "or this tests nothing";
  EXPECT_TRUE(again.value().recorded);
}

// Its copies are under way all the same, and the next step's stream has to come behind them.
TEST_F(AddressStabilizer, ALaunchThatThrowsIsBehindTheMark) {
  struct Throws final : hip::StableWork {
    hip::Status record(std::span<void* const>) override { return {}; }
    hip::Status launch(const hip::StreamRef&) override { throw std::runtime_error("no"); }
  };
  Throws throws;
  EXPECT_THROW((void)step(buffers_, throws), std::runtime_error);
  EXPECT_EQ(records, 1);
  EXPECT_EQ(out_, Bytes(8, 99));
  EXPECT_TRUE(stabilizer_.release(0));
  EXPECT_TRUE(step(buffers_));
  EXPECT_EQ(out_, Bytes(8, 2));
  EXPECT_TRUE(reports_.empty());
}

TEST_F(AddressStabilizer, ALaunchThatFailedLeavesTheCallersBytesAsTheyWere) {
  work_.fails_to_launch = true;
  EXPECT_EQ(step(buffers_).error().code, hipErrorLaunchFailure);
  EXPECT_EQ(work_.launches, 1);
  EXPECT_EQ(out_, Bytes(8, 99));
  EXPECT_EQ(stabilizer_.counts().bytes_back, 0u);
  work_.fails_to_launch = false;
  EXPECT_FALSE(step(buffers_).value().recorded) << "recording has not failed";
  EXPECT_EQ(out_, Bytes(8, 2));
}

// Two devices whose hipFree waits for the memory's own, as AMD's does; with a log of the calls, in order.
class TwoDevices {
 public:
  explicit TwoDevices(hip::Api& api) {
    log.clear();
    owners.clear();
    current = 0;
    api.hipGetDevice = [](int* device) { return *device = current, hipSuccess; };
    api.hipSetDevice = [](int device) {
      if (device > 1) return hipErrorInvalidDevice;
      return current = device, hipSuccess;
    };
    api.hipDeviceSynchronize = [] { return log += "wait" + std::to_string(current) + " ", hipSuccess; };
    api.hipMalloc = [](void** out, std::size_t size) {
      const hipError_t status = hip::host_api().hipMalloc(out, size);
      owners[*out] = current;
      log += "take" + std::to_string(current) + " ";
      return status;
    };
    api.hipFree = [](void* memory) {
      log += "free" + std::to_string(owners.at(memory)) + " ";
      owners.erase(memory);
      return hip::host_api().hipFree(memory);
    };
  }
  static std::string taken_log() { return std::exchange(log, {}); }
  static inline std::map<void*, int> owners;

 private:
  static inline int current;
  static inline std::string log;
};

TEST_F(AddressStabilizer, ABufferOfAnotherDeviceHasItsMemoryThereAndGrowsOnceTheStepBeforeIsOver) {
  const TwoDevices devices(api_);
  Bytes in(64, 1);
  const auto step_of = [&](std::size_t bytes, int device) {
    EXPECT_TRUE(step({{in.data(), bytes, BufferUse::kIn, device}, buffer(out_, BufferUse::kOut)}));
  };
  step_of(8, 1);
  EXPECT_EQ(TwoDevices::owners.at(work_.for_addresses[0]), 1);
  EXPECT_EQ(TwoDevices::owners.at(work_.for_addresses[1]), 0);
  EXPECT_EQ(TwoDevices::taken_log().find("wait"), std::string::npos) << "there is no step before";
  step_of(8, 1);
  EXPECT_EQ(TwoDevices::taken_log(), "");
  step_of(16, 1);
  EXPECT_EQ(TwoDevices::taken_log(), "wait0 take1 free1 ");
  step_of(16, 0);
  TwoDevices::taken_log();
  step_of(32, 0);
  EXPECT_EQ(TwoDevices::taken_log(), "take0 free0 ") << "hipFree waits for that device itself";
  EXPECT_TRUE(stabilizer_.clear());
  EXPECT_TRUE(TwoDevices::owners.empty());
}

TEST_F(AddressStabilizer, BuffersWithoutAnAddressOrOfItsOwnMemoryAreRefused) {
  ASSERT_TRUE(step({buffer(in_, BufferUse::kInOut)}).ok());
  EXPECT_EQ(step({{nullptr, 8, BufferUse::kIn}}).error().code, hipErrorInvalidValue);
  const std::array own{StepBuffer{work_.for_addresses[0], 4, BufferUse::kIn}};
  EXPECT_EQ(stabilizer_.step(1, own, stream_, work_).error().code, hipErrorInvalidValue);
  EXPECT_EQ(work_.launches, 1);
}

TEST_F(AddressStabilizer, ABufferOfNoBytesHasNoAddressAndNoMemory) {
  AddOne work(0);
  ASSERT_TRUE(step({StepBuffer{}}, work).ok());
  EXPECT_EQ(work.for_addresses[0], nullptr);
  EXPECT_EQ(allocations, 0);
}

TEST_F(AddressStabilizer, ReleasingFreesTheCommandsBuffersAndAnswersWhatFails) {
  ASSERT_TRUE(step(buffers_).ok());
  failing_frees = 1;
  EXPECT_EQ(stabilizer_.release(0).error().code, hipErrorUnknown);
  EXPECT_EQ(frees, 1);
  EXPECT_TRUE(stabilizer_.release(0).ok());
  EXPECT_TRUE(step(buffers_).value().recorded);
  EXPECT_TRUE(stabilizer_.clear().ok());
  EXPECT_EQ(frees, allocations);
  EXPECT_EQ(events, 0);
}

TEST_F(AddressStabilizer, ItsDestructorReportsAnErrorAndFreesEverythingOnce) {
  {
    hip::AddressStabilizer stabilizer(api_, options_);
    ASSERT_TRUE(stabilizer.step(0, buffers_, stream_, work_).ok());
    failing_frees = 1;
  }
  EXPECT_EQ(frees, allocations);
  EXPECT_EQ(reports_.size(), 1u);
}

// The call of every number fails once: it is told, nothing is left, and the step after it is right.
TEST_F(AddressStabilizer, EveryCallMayFailOnce) {
  int number = 0;
  do {
    calls = allocations = frees = events = 0;
    failing = ++number;
    reports_.clear();
    const bool told = three_steps_and_a_release();
    if (calls < number) break;
    EXPECT_TRUE(told || !reports_.empty()) << "call " << number;
    EXPECT_EQ(frees, allocations) << "call " << number;
    EXPECT_EQ(events, 0) << "call " << number;
  } while (!HasFailure());
  EXPECT_GT(number, 20);
}

TEST_F(AddressStabilizer, StepsOfManyThreadsAreAsIfOneCameAfterTheOther) {
  constexpr int kThreads = 4, kSteps = 50;
  AddOne work(32);
  std::vector<int> right(kThreads, 0);
  std::vector<hip::sync::Thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int turn = 0; turn < kSteps; ++turn) {
        const auto value = static_cast<unsigned char>(thread * 50 + turn);
        Bytes in(32, value), out(32, 0);
        const bool done = step(in_and_out(in, out), work).ok();
        const auto expected = static_cast<unsigned char>(value + 1);
        if (done && out == Bytes(32, expected)) ++right[static_cast<std::size_t>(thread)];
      }
    });
  }
  for (hip::sync::Thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(kThreads, kSteps));
  EXPECT_EQ(work.recordings, 1);
}

}  // namespace
