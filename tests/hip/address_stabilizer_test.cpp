// AddressStabilizer over a host table that counts what it gives out and fails any call of a step in turn. The stateful
// tests against its model are in tests/verify/systems.
#include "hip/address_stabilizer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
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

// The counters of the table; the call whose number is `failing` fails.
int calls = 0, failing = 0, allocations = 0, frees = 0, events = 0;
int failing_frees = 0;  // so many of the next ones

bool fails() {
  return ++calls == failing;
}

hip::Api counting_api() {
  hip::Api api = hip::host_api();
  api.hipMalloc = [](void** out, std::size_t size) {
    if (fails()) return hipErrorOutOfMemory;
    ++allocations;
    return hip::host_api().hipMalloc(out, size);
  };
  api.hipFree = [](void* memory) {
    if (fails() || (failing_frees > 0 && failing_frees-- > 0)) return hipErrorUnknown;
    ++frees;
    return hip::host_api().hipFree(memory);
  };
  api.hipMemcpyAsync = [](void* to, const void* from, std::size_t size, hipMemcpyKind kind, hipStream_t stream) {
    return fails() ? hipErrorUnknown : hip::host_api().hipMemcpyAsync(to, from, size, kind, stream);
  };
  api.hipEventCreateWithFlags = [](hipEvent_t* out, unsigned flags) {
    if (fails()) return hipErrorOutOfMemory;
    ++events;
    return hip::host_api().hipEventCreateWithFlags(out, flags);
  };
  api.hipEventDestroy = [](hipEvent_t event) {
    if (fails()) return hipErrorUnknown;
    --events;
    return hip::host_api().hipEventDestroy(event);
  };
  api.hipEventRecord = [](hipEvent_t event, hipStream_t stream) {
    return fails() ? hipErrorUnknown : hip::host_api().hipEventRecord(event, stream);
  };
  api.hipStreamWaitEvent = [](hipStream_t stream, hipEvent_t event, unsigned flags) {
    return fails() ? hipErrorUnknown : hip::host_api().hipStreamWaitEvent(stream, event, flags);
  };
  api.hipGetDevice = [](int* device) { return fails() ? hipErrorUnknown : hip::host_api().hipGetDevice(device); };
  return api;
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
  AddressStabilizer() { calls = failing = allocations = frees = events = failing_frees = 0; }
  static StepBuffer buffer(std::vector<unsigned char>& bytes, BufferUse use) {
    return {bytes.data(), bytes.size(), use};
  }

  // A step of command 0 on the default stream.
  hip::Result<hip::StableStep> step(std::span<const StepBuffer> buffers) {
    return stabilizer_.step(0, buffers, stream_, work_);
  }

  // Whether an error was answered. What failed is done once more.
  bool three_steps_and_a_release() {
    hip::AddressStabilizer stabilizer(api_, options_);
    AddOne work(8);
    bool told = false;
    for (unsigned char step = 0; step < 3; ++step) {
      std::vector<unsigned char> in(step == 2 ? 64 : 8, step), out(8, 99);
      const std::array buffers{buffer(in, BufferUse::kIn), buffer(out, BufferUse::kOut)};
      if (!stabilizer.step(0, buffers, stream_, work).ok()) {
        told = true;
        EXPECT_TRUE(stabilizer.step(0, buffers, stream_, work).ok()) << "after call " << failing;
      }
      EXPECT_EQ(out, std::vector<unsigned char>(8, static_cast<unsigned char>(step + 1))) << "call " << failing;
    }
    return !stabilizer.release(0).ok() || told;
  }

  const hip::Api api_ = counting_api();
  const hip::StreamRef stream_ = hip::StreamRef::of_default(api_);
  std::vector<hip::Error> reports_;
  hip::AddressStabilizerOptions options_{.device = 0, .errors = into(reports_)};
  AddOne work_{8};
  std::vector<unsigned char> in_ = std::vector<unsigned char>(8, 1), out_ = std::vector<unsigned char>(8, 99);
  const std::array<StepBuffer, 2> buffers_{buffer(in_, BufferUse::kIn), buffer(out_, BufferUse::kOut)};
  hip::AddressStabilizer stabilizer_{api_, options_};
};

TEST_F(AddressStabilizer, MovedBuffersAreReadAndWrittenWhereTheyAreAndNothingIsRecordedAgain) {
  hip::AddressStabilizer stabilizer(api_, options_);
  AddOne work(8);
  for (unsigned char step = 0; step < 4; ++step) {
    std::vector<unsigned char> in(8, step), out(8, 99);
    const std::array buffers{buffer(in, BufferUse::kIn), buffer(out, BufferUse::kOut)};
    EXPECT_EQ(stabilizer.step(7, buffers, stream_, work).value().recorded, step == 0);
    EXPECT_EQ(out, std::vector<unsigned char>(8, static_cast<unsigned char>(step + 1)));
    EXPECT_EQ(in, std::vector<unsigned char>(8, step));
  }
  EXPECT_EQ(allocations, 2);
  EXPECT_EQ(stabilizer.counts().steps, 4u);
  EXPECT_EQ(stabilizer.counts().bytes_back, 32u);
}

// To which streams are numbers.
hip::Api with_streams(hip::Api api) {
  api.hipMemcpyAsync = [](void* to, const void* from, std::size_t size, hipMemcpyKind kind, hipStream_t) {
    return hip::host_api().hipMemcpyAsync(to, from, size, kind, nullptr);
  };
  api.hipEventRecord = [](hipEvent_t event, hipStream_t) { return hip::host_api().hipEventRecord(event, nullptr); };
  return api;
}

// A step comes behind the one before by its stream or by an event.
TEST_F(AddressStabilizer, AStepWaitsForTheOneBeforeOnlyOnAnotherStream) {
  static int events_waited = 0, devices_waited = 0;
  hip::Api api = with_streams(api_);
  api.hipStreamWaitEvent = [](hipStream_t, hipEvent_t, unsigned) {
    ++events_waited;
    return hipSuccess;
  };
  api.hipDeviceSynchronize = [] {
    ++devices_waited;
    return hipSuccess;
  };
  const auto stream = [&](std::uintptr_t handle) {
    return hip::StreamRef(api, reinterpret_cast<hipStream_t>(handle), 0);
  };
  hip::AddressStabilizer stabilizer(api, options_);
  const auto waits = [&](const hip::StreamRef& on) {
    events_waited = devices_waited = 0;
    EXPECT_TRUE(stabilizer.step(0, buffers_, on, work_));
    return std::pair(events_waited, devices_waited);
  };
  const std::pair none(0, 0), across(1, 0);
  waits(stream(16));  // there is none before
  EXPECT_EQ(waits(stream(16)), none);
  EXPECT_EQ(waits(stream(32)), across);
  EXPECT_EQ(waits(stream(32)), none);
  const auto per_thread = reinterpret_cast<std::uintptr_t>(hipStreamPerThread);
  EXPECT_EQ(waits(stream(per_thread)), across);
  EXPECT_EQ(waits(stream(per_thread)), across) << "it may be another thread's";
}

// AMD's releases refuse to have a stream wait for an event whose stream has begun to capture since.
TEST_F(AddressStabilizer, WhereTheLastStreamCapturesByNowTheHostWaitsIfTheReleaseLetsIt) {
  static int events_waited, modes;
  static bool captures, refuses;
  hip::Api api = with_streams(api_);
  api.hipStreamWaitEvent = [](hipStream_t, hipEvent_t, unsigned) {
    return refuses ? hipErrorStreamCaptureIsolation : hipSuccess;
  };
  api.hipStreamIsCapturing = [](hipStream_t, hipStreamCaptureStatus* status) {
    *status = captures ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
    return hipSuccess;
  };
  api.hipThreadExchangeStreamCaptureMode = [](hipStreamCaptureMode*) { return ++modes, hipSuccess; };
  api.hipEventSynchronize = [](hipEvent_t) { return ++events_waited, hipSuccess; };
  for (const int version : {0, 70253211, 60443483}) {
    const hip::ReleaseQuirks quirks = version == 0 ? hip::ReleaseQuirks() : hip::ReleaseQuirks::of_version(version);
    hip::AddressStabilizerOptions options = options_;
    options.follow_capturing = quirks.of_follow_capturing();
    const bool may_wait = version == 70253211;
    hip::AddressStabilizer stabilizer(api, options);
    AddOne work(8);
    captures = refuses = false;
    EXPECT_TRUE(stabilizer.step(0, buffers_, {api, reinterpret_cast<hipStream_t>(16), 0}, work));
    refuses = true;
    for (const bool itself : {true, false}) {
      captures = itself;
      events_waited = modes = 0;
      const hip::Result<hip::StableStep> step =
          stabilizer.step(0, buffers_, {api, reinterpret_cast<hipStream_t>(32), 0}, work);
      const bool waits = may_wait && !itself;
      EXPECT_EQ(step.ok(), waits) << version;
      if (!step) {
        EXPECT_EQ(step.error().code, hipErrorStreamCaptureIsolation);
      }
      EXPECT_EQ(std::pair(events_waited, modes), waits ? std::pair(1, 2) : std::pair(0, 0)) << version;
    }
  }
}

// A step that could neither be marked nor waited for is behind nothing that a later one could wait for but the device.
TEST_F(AddressStabilizer, AStepBehindOneThatCouldNotBeMarkedWaitsForTheDeviceAndSoDoesRelease) {
  static int events_waited, devices_waited;
  static bool unmarked;
  events_waited = devices_waited = 0;
  hip::Api api = api_;
  api.hipEventRecord = [](hipEvent_t, hipStream_t) { return unmarked ? hipErrorUnknown : hipSuccess; };
  api.hipStreamSynchronize = [](hipStream_t) { return unmarked ? hipErrorUnknown : hipSuccess; };
  api.hipStreamWaitEvent = [](hipStream_t, hipEvent_t, unsigned) { return ++events_waited, hipSuccess; };
  api.hipEventSynchronize = [](hipEvent_t) { return ++events_waited, hipSuccess; };
  api.hipDeviceSynchronize = [] { return ++devices_waited, hipSuccess; };
  const hip::StreamRef stream(api, nullptr, 0);
  hip::AddressStabilizer stabilizer(api, options_);
  unmarked = true;
  EXPECT_FALSE(stabilizer.step(0, buffers_, stream, work_));
  EXPECT_EQ(devices_waited, 0);
  unmarked = false;
  events_waited = 0;  // of the first step, for an event behind nothing
  EXPECT_TRUE(stabilizer.step(0, buffers_, stream, work_));
  EXPECT_EQ(std::pair(events_waited, devices_waited), std::pair(0, 1)) << "also on the same stream";
  EXPECT_TRUE(stabilizer.step(0, buffers_, stream, work_));
  EXPECT_EQ(devices_waited, 1) << "that one is marked";
  unmarked = true;
  EXPECT_FALSE(stabilizer.step(0, buffers_, stream, work_));
  EXPECT_TRUE(stabilizer.release(0));
  EXPECT_EQ(std::pair(events_waited, devices_waited), std::pair(0, 2));
}

TEST_F(AddressStabilizer, OneBufferTwiceIsOneAddressTwice) {
  std::vector<unsigned char> both(8, 5);
  const std::array buffers{buffer(both, BufferUse::kDonated), buffer(both, BufferUse::kOut)};
  ASSERT_TRUE(step(buffers).ok());
  EXPECT_EQ(work_.for_addresses[0], work_.for_addresses[1]);
  EXPECT_EQ(both, std::vector<unsigned char>(8, 6));
}

TEST_F(AddressStabilizer, OverlappingSlicesKeepTheirDistanceAndTheirAlignment) {
  AddOne work(16);
  alignas(256) std::array<unsigned char, 256> memory{};
  memory[4] = 10;
  const std::array buffers{StepBuffer{&memory[4], 40, BufferUse::kIn}, StepBuffer{&memory[16], 60, BufferUse::kInOut}};
  ASSERT_TRUE(stabilizer_.step(0, buffers, stream_, work).ok());
  const auto* first = static_cast<unsigned char*>(work.for_addresses[0]);
  const auto* second = static_cast<unsigned char*>(work.for_addresses[1]);
  EXPECT_EQ(second - first, 12);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % 16, 0u);
  EXPECT_EQ(allocations, 1);
  EXPECT_EQ(memory[16], 11);
  EXPECT_EQ(memory[4], 10);
}

// The contract's own limit: what keeps its alignment cannot keep its place as well.
TEST_F(AddressStabilizer, OverlappingSlicesAreRecordedAgainExactlyWhenTheirAlignmentModulo256Changes) {
  AddOne work(16);
  alignas(256) std::array<unsigned char, 1024> memory{};
  const auto recorded = [&](std::size_t at) {
    const std::array buffers{StepBuffer{&memory[at], 40, BufferUse::kIn},
                             StepBuffer{&memory[at + 16], 60, BufferUse::kInOut}};
    return stabilizer_.step(0, buffers, stream_, work).value().recorded;
  };
  EXPECT_TRUE(recorded(32));
  EXPECT_FALSE(recorded(32 + 512));
  EXPECT_TRUE(recorded(16));
  EXPECT_FALSE(recorded(16 + 256));
}

TEST_F(AddressStabilizer, BuffersThatOnlyTouchDoNotShare) {
  std::array<unsigned char, 16> memory{};
  memory[0] = 7;
  const std::array buffers{StepBuffer{&memory[0], 8, BufferUse::kIn}, StepBuffer{&memory[8], 8, BufferUse::kOut}};
  ASSERT_TRUE(step(buffers));
  EXPECT_EQ(allocations, 2);
  EXPECT_EQ(memory[8], 8);
}

TEST_F(AddressStabilizer, ADonatedBufferIsReadAndNotCopiedBack) {
  std::vector<unsigned char> donated(8, 1), out(8, 0);
  const std::array buffers{buffer(donated, BufferUse::kDonated), buffer(out, BufferUse::kOut)};
  ASSERT_TRUE(step(buffers).ok());
  EXPECT_EQ(out, std::vector<unsigned char>(8, 2));
  EXPECT_EQ(stabilizer_.counts().bytes_in, 8u);
  EXPECT_EQ(stabilizer_.counts().bytes_back, 8u);
}

TEST_F(AddressStabilizer, ABufferThatOutgrowsItsOwnIsRecordedAgainOnceAndKeepsNothingOfTheSmallerOne) {
  std::vector<unsigned char> small(8, 1), large(800, 3);
  const std::array first{buffer(small, BufferUse::kInOut)}, second{buffer(large, BufferUse::kInOut)};
  EXPECT_TRUE(step(first).value().recorded);
  EXPECT_TRUE(step(second).value().recorded);
  EXPECT_FALSE(step(first).value().recorded);
  EXPECT_EQ(small[0], 3);
  EXPECT_EQ(large[7], 4);
  EXPECT_EQ(large[8], 3);
  EXPECT_EQ(allocations - frees, 1);
}

TEST_F(AddressStabilizer, ARecordingThatFailedIsTriedAgainAndNotLaunched) {
  std::vector<unsigned char> bytes(8, 1);
  const std::array buffers{buffer(bytes, BufferUse::kInOut)};
  work_.refuses = true;
  EXPECT_EQ(step(buffers).error().code, hipErrorNotSupported);
  EXPECT_EQ(work_.launches, 0);
  work_.refuses = false;
  EXPECT_TRUE(step(buffers).value().recorded);
  EXPECT_EQ(bytes, std::vector<unsigned char>(8, 2));
}

// F24's own property: whatever a recording that failed has left of the one before is not launched, also where the
// addresses are those again.
TEST_F(AddressStabilizer, ARecordingThatFailedTakesTheOneBeforeWithIt) {
  std::vector<unsigned char> one(8, 1), other(8, 5);
  const std::array apart{buffer(one, BufferUse::kIn), buffer(other, BufferUse::kOut)};
  const std::array together{buffer(one, BufferUse::kIn), buffer(one, BufferUse::kInOut)};
  ASSERT_TRUE(step(apart));
  work_.refuses = true;
  EXPECT_FALSE(step(together));
  work_.refuses = false;
  EXPECT_TRUE(step(apart).value().recorded);
  EXPECT_EQ(allocations, 2) << "nothing has grown: only the recording was others'";
}

// A region grows, another one cannot, and the first grows once more, into the memory that it had when it was recorded.
TEST_F(AddressStabilizer, MemoryThatMovedAndCameBackIsRecordedForAgain) {
  static std::array<std::array<unsigned char, 1024>, 3> places;
  static std::vector<int> script;  // which one is given out; negative: none
  script = {0, 1, 2, -1, 0, 1};
  hip::Api api = api_;
  api.hipMalloc = [](void** out, std::size_t) {
    const int place = script.front();
    script.erase(script.begin());
    if (place < 0) return hipErrorOutOfMemory;
    *out = places[static_cast<std::size_t>(place)].data();
    return hipSuccess;
  };
  api.hipFree = [](void*) { return hipSuccess; };
  hip::AddressStabilizer stabilizer(api, options_);
  const hip::StreamRef stream(api, nullptr, 0);
  AddOne work(8);
  std::vector<unsigned char> first(64, 1), second(64, 1);
  const auto step = [&](std::size_t of_first, std::size_t of_second) {
    const std::array buffers{StepBuffer{first.data(), of_first, BufferUse::kIn},
                             StepBuffer{second.data(), of_second, BufferUse::kOut}};
    return stabilizer.step(0, buffers, stream, work);
  };
  // By address, so that it is the first in memory that grows before the other one fails.
  if (first.data() > second.data()) first.swap(second);
  ASSERT_TRUE(step(8, 8).value().recorded);
  const std::vector<void*> before = work.for_addresses;
  EXPECT_EQ(step(16, 16).error().code, hipErrorOutOfMemory);
  const hip::Result<hip::StableStep> again = step(32, 8);
  ASSERT_TRUE(again);
  EXPECT_EQ(work.for_addresses, before) << "or this tests nothing";
  EXPECT_TRUE(again.value().recorded);
}

// Its copies are under way all the same, and the next step's stream has to come behind them.
TEST_F(AddressStabilizer, ALaunchThatThrowsIsBehindTheMark) {
  static int records;
  records = 0;
  hip::Api api = api_;
  api.hipEventRecord = [](hipEvent_t event, hipStream_t stream) {
    ++records;
    return hip::host_api().hipEventRecord(event, stream);
  };
  struct Throws final : hip::StableWork {
    hip::Status record(std::span<void* const>) override { return {}; }
    hip::Status launch(const hip::StreamRef&) override { throw std::runtime_error("no"); }
  };
  Throws throws;
  hip::AddressStabilizer stabilizer(api, options_);
  EXPECT_THROW((void)stabilizer.step(0, buffers_, hip::StreamRef::of_default(api), throws), std::runtime_error);
  EXPECT_EQ(records, 1);
  EXPECT_EQ(out_, std::vector<unsigned char>(8, 99));
  EXPECT_TRUE(stabilizer.release(0));
  EXPECT_TRUE(stabilizer.step(0, buffers_, hip::StreamRef::of_default(api), work_));
  EXPECT_EQ(out_, std::vector<unsigned char>(8, 2));
  EXPECT_TRUE(reports_.empty());
}

TEST_F(AddressStabilizer, ALaunchThatFailedLeavesTheCallersBytesAsTheyWere) {
  work_.fails_to_launch = true;
  EXPECT_EQ(step(buffers_).error().code, hipErrorLaunchFailure);
  EXPECT_EQ(work_.launches, 1);
  EXPECT_EQ(out_, std::vector<unsigned char>(8, 99));
  EXPECT_EQ(stabilizer_.counts().bytes_back, 0u);
  work_.fails_to_launch = false;
  EXPECT_FALSE(step(buffers_).value().recorded) << "recording has not failed";
  EXPECT_EQ(out_, std::vector<unsigned char>(8, 2));
}

// Two devices whose hipFree waits for the memory's own, as AMD's does: what was called, in order.
class TwoDevices {
 public:
  TwoDevices() {
    log.clear();
    owners.clear();
    current = 0;
    api_.hipGetDevice = [](int* device) { return *device = current, hipSuccess; };
    api_.hipSetDevice = [](int device) {
      if (device > 1) return hipErrorInvalidDevice;
      return current = device, hipSuccess;
    };
    api_.hipDeviceSynchronize = [] { return log += "wait" + std::to_string(current) + " ", hipSuccess; };
    api_.hipMalloc = [](void** out, std::size_t size) {
      const hipError_t status = hip::host_api().hipMalloc(out, size);
      owners[*out] = current;
      log += "take" + std::to_string(current) + " ";
      return status;
    };
    api_.hipFree = [](void* memory) {
      log += "free" + std::to_string(owners.at(memory)) + " ";
      owners.erase(memory);
      return hip::host_api().hipFree(memory);
    };
  }
  [[nodiscard]] const hip::Api& api() const { return api_; }
  static std::string taken_log() { return std::exchange(log, {}); }
  static inline std::map<void*, int> owners;

 private:
  hip::Api api_ = hip::host_api();
  static inline int current;
  static inline std::string log;
};

TEST_F(AddressStabilizer, ABufferOfAnotherDeviceHasItsMemoryThereAndGrowsOnceTheStepBeforeIsOver) {
  const TwoDevices devices;
  hip::AddressStabilizer stabilizer(devices.api(), options_);
  const hip::StreamRef stream(devices.api(), nullptr, 0);
  AddOne work(8);
  std::vector<unsigned char> in(64, 1), out(64, 0);
  const auto step = [&](std::size_t bytes, int device) {
    const std::array buffers{StepBuffer{in.data(), bytes, BufferUse::kIn, device},
                             StepBuffer{out.data(), 8, BufferUse::kOut, 0}};
    EXPECT_TRUE(stabilizer.step(0, buffers, stream, work));
  };
  step(8, 1);
  EXPECT_EQ(TwoDevices::owners.at(work.for_addresses[0]), 1);
  EXPECT_EQ(TwoDevices::owners.at(work.for_addresses[1]), 0);
  EXPECT_EQ(TwoDevices::taken_log().find("wait"), std::string::npos) << "there is no step before";
  step(8, 1);
  EXPECT_EQ(TwoDevices::taken_log(), "");
  step(16, 1);
  EXPECT_EQ(TwoDevices::taken_log(), "wait0 take1 free1 ");
  step(16, 0);
  TwoDevices::taken_log();
  step(32, 0);
  EXPECT_EQ(TwoDevices::taken_log(), "take0 free0 ") << "hipFree waits for that device itself";
  EXPECT_TRUE(stabilizer.clear());
  EXPECT_TRUE(TwoDevices::owners.empty());
}

TEST_F(AddressStabilizer, BuffersWithoutAnAddressOrOfItsOwnMemoryAreRefused) {
  std::vector<unsigned char> bytes(8, 1);
  const std::array good{buffer(bytes, BufferUse::kInOut)};
  ASSERT_TRUE(step(good).ok());
  const std::array missing{StepBuffer{nullptr, 8, BufferUse::kIn}};
  EXPECT_EQ(step(missing).error().code, hipErrorInvalidValue);
  const std::array own{StepBuffer{work_.for_addresses[0], 4, BufferUse::kIn}};
  EXPECT_EQ(stabilizer_.step(1, own, stream_, work_).error().code, hipErrorInvalidValue);
  EXPECT_EQ(work_.launches, 1);
}

TEST_F(AddressStabilizer, ABufferOfNoBytesHasNoAddressAndNoMemory) {
  AddOne work(0);
  const std::array buffers{StepBuffer{}};
  ASSERT_TRUE(stabilizer_.step(0, buffers, stream_, work).ok());
  EXPECT_EQ(work.for_addresses[0], nullptr);
  EXPECT_EQ(allocations, 0);
}

TEST_F(AddressStabilizer, ReleasingFreesTheCommandsBuffersAndAnswersWhatFails) {
  std::vector<unsigned char> in(8, 1), out(8, 0);
  const std::array buffers{buffer(in, BufferUse::kIn), buffer(out, BufferUse::kOut)};
  ASSERT_TRUE(step(buffers).ok());
  failing_frees = 1;
  EXPECT_EQ(stabilizer_.release(0).error().code, hipErrorUnknown);
  EXPECT_EQ(frees, 1);
  EXPECT_TRUE(stabilizer_.release(0).ok());
  EXPECT_TRUE(step(buffers).value().recorded);
  EXPECT_TRUE(stabilizer_.clear().ok());
  EXPECT_EQ(frees, allocations);
  EXPECT_EQ(events, 0);
}

TEST_F(AddressStabilizer, ItsDestructorReportsAnErrorAndFreesEverythingOnce) {
  {
    hip::AddressStabilizer stabilizer(api_, options_);
    AddOne work(8);
    std::vector<unsigned char> in(8, 1), out(8, 0);
    const std::array buffers{buffer(in, BufferUse::kIn), buffer(out, BufferUse::kOut)};
    ASSERT_TRUE(stabilizer.step(0, buffers, stream_, work).ok());
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
  hip::AddressStabilizer stabilizer(api_, options_);
  AddOne work(32);
  std::vector<int> right(kThreads, 0);
  std::vector<hip::sync::Thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int step = 0; step < kSteps; ++step) {
        const auto value = static_cast<unsigned char>(thread * 50 + step);
        std::vector<unsigned char> in(32, value), out(32, 0);
        const std::array buffers{buffer(in, BufferUse::kIn), buffer(out, BufferUse::kOut)};
        const bool done = stabilizer.step(0, buffers, stream_, work).ok();
        const auto expected = static_cast<unsigned char>(value + 1);
        if (done && out == std::vector<unsigned char>(32, expected)) ++right[static_cast<std::size_t>(thread)];
      }
    });
  }
  for (hip::sync::Thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<int>(kThreads, kSteps));
  EXPECT_EQ(work.recordings, 1);
}

}  // namespace
