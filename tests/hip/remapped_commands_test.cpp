// hip::RemappedCommands on the model: commands are recorded once for each set of addresses, and every step works on the
// memory that it names.
#include "hip/remapped_commands.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "hip/remapped_model.h"
#include "hip/traced_command.h"

namespace {

using namespace remapped;

constexpr hip::BufferIndex kIn = 0, kOut = 1;

class RemappedCommandsTest : public OnTheModel {
 protected:
  RemappedCommandsTest() {
    buffers.reset();
    commands.emplace(table, std::vector<hip::RemappedBuffer>{{8}, {8}},
                     hip::RemappedBuffersOptions{.errors = into(told)},
                     hip::CommandBufferOptions{.errors = into(told)});
  }
  ~RemappedCommandsTest() override { commands.reset(); }

  // out[0] = in[0] + amount, then out[1] = in[0], copied.
  [[nodiscard]] hip::Recording adding(std::uint32_t amount) const {
    hip::KernelRecord kernel;
    kernel.function = add;
    kernel.arguments.resize(21);
    std::memcpy(kernel.arguments.data() + 16, &amount, sizeof amount);
    hip::CopyRecord copy;
    copy.linear = true;
    copy.params.extent = {4, 1, 1};
    copy.params.kind = hipMemcpyDeviceToDevice;
    hip::Recording recording;
    recording.add({kernel, {}, {{hip::Field::kKernelArgument, 0, kOut}, {hip::Field::kKernelArgument, 8, kIn}}});
    recording.add({copy, {0}, {{hip::Field::kCopyDestination, 0, kOut, 4}, {hip::Field::kCopySource, 0, kIn}}});
    return recording;
  }
  hip::Result<hip::CommandStep> step(std::size_t in, std::size_t out) {
    return commands->step(std::array{memory(in), memory(out)}, hip::StreamRef(table, nullptr, 0));
  }
  [[nodiscard]] std::uint64_t recorded(std::size_t set) const {
    return commands->counts(set).decisions[static_cast<std::size_t>(hip::StepDecision::kRecord)];
  }
  [[nodiscard]] std::uint64_t launched(std::size_t set) const {
    return commands->counts(set).decisions[static_cast<std::size_t>(hip::StepDecision::kLaunch)];
  }

  std::optional<hip::RemappedCommands> commands;
};

TEST_F(RemappedCommandsTest, EachSetIsRecordedOnceAndEveryStepUsesItsOwnMemory) {
  add_memories(4);
  commands->set(adding(1));
  std::array<std::uint32_t, 4> expected{};
  for (std::size_t n = 0; n < 12; ++n) {
    const std::size_t in = n % 4, out = (n * 3 + 1) % 4;
    const hip::Result<hip::CommandStep> done = step(in, out);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done.value().decision, n < 2 ? hip::StepDecision::kRecord : hip::StepDecision::kLaunch) << n;
    expected[out] = expected[in] + 1;
  }
  EXPECT_HIP(api.hipDeviceSynchronize());
  for (std::size_t n = 0; n < 4; ++n) EXPECT_EQ(memories->number_in(n), expected[n]) << n;
  EXPECT_EQ(races(), 0U);
  for (std::size_t set = 0; set < 2; ++set) {
    EXPECT_EQ(recorded(set), 1U);
    EXPECT_EQ(launched(set), 5U);
  }
  EXPECT_TRUE(told.empty());
}

TEST_F(RemappedCommandsTest, OtherCommandsAreRecordedForBothSets) {
  add_memories(2);
  commands->set(adding(1));
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(step(0, 1));
  commands->set(adding(10));
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(step(0, 1));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(1), 10U);
  EXPECT_EQ(recorded(0) + recorded(1), 4U);
  EXPECT_EQ(races(), 0U);
}

TEST_F(RemappedCommandsTest, AfterClearTheCommandsGoToTheNewAddresses) {
  add_memories(3);
  commands->set(adding(2));
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(0, 1));
  ASSERT_TRUE(commands->mappings().clear());
  EXPECT_FALSE(commands->mappings().holds(memory(0).number));
  for (int n = 0; n < 3; ++n) ASSERT_TRUE(step(1, 2));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(2), 4U);
  EXPECT_EQ(races(), 0U);
}

TEST_F(RemappedCommandsTest, AStepThatFailsAnswersItsErrorAndTheNextOneIsRight) {
  add_memories(3);
  commands->set(adding(1));
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(0, 1));
  const auto map = std::exchange(table.hipMemMap, [](void*, std::size_t, std::size_t, hipMemGenericAllocationHandle_t,
                                                     unsigned long long) { return hipErrorOutOfMemory; });
  EXPECT_FALSE(step(0, 2));
  table.hipMemMap = map;
  const auto launch = std::exchange(table.hipGraphLaunch, [](hipGraphExec_t, hipStream_t) { return hipErrorUnknown; });
  const hip::Result<hip::CommandStep> refused = step(0, 2);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, hipErrorUnknown);
  table.hipGraphLaunch = launch;
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(0, 2));
  EXPECT_HIP(api.hipDeviceSynchronize());
  EXPECT_EQ(memories->number_in(2), 1U);
  EXPECT_EQ(races(), 0U);
}

TEST_F(RemappedCommandsTest, OneAgreementServesTheMappingsAndTheCommands) {
  struct Alone final : hip::RankAgreement {
    hip::Result<bool> all(bool mine) override {
      ++rounds;
      return mine;
    }
    int rounds = 0;
  } ranks;
  commands.emplace(table, std::vector<hip::RemappedBuffer>{{8}, {8}}, hip::RemappedBuffersOptions{.ranks = &ranks},
                   hip::CommandBufferOptions{.ranks = &ranks});
  add_memories(2);
  commands->set(adding(1));
  for (int n = 0; n < 4; ++n) ASSERT_TRUE(step(0, 1));
  EXPECT_EQ(ranks.rounds, 8) << "there is no collective, so the commands come to no round of their own";
}

// A collective among the commands: the mappings' two rounds come first in each step, then the round about the
// collective's trace, and then the round before the launch. The peer's answers are a script; it says yes where the
// script has no answer.
class RemappedCollectiveTest : public RemappedCommandsTest {
 protected:
  enum Round : std::size_t { kWaited, kMapped, kTrace, kReady, kRounds };
  static constexpr std::uint32_t kFilled = 0x07070707;

  struct Peer final : hip::RankAgreement {
    hip::Result<bool> all(bool mine) override {
      said.push_back(mine);
      const bool theirs = said.size() != refuses;
      return mine && theirs;
    }
    std::size_t refuses = 0;  // the number of the round, from 1; 0: none
    std::vector<bool> said;   // by this rank
  };

  RemappedCollectiveTest() {
    commands.emplace(table, std::vector<hip::RemappedBuffer>{{8}, {8}},
                     hip::RemappedBuffersOptions{.errors = into(told), .ranks = &peer},
                     hip::CommandBufferOptions{.ranks = &peer, .errors = into(told)});
    EXPECT_HIP(api.hipStreamCreateWithFlags(&capturing, hipStreamNonBlocking));
    add_memories(3);
    commands->set(adding_then_meeting());
  }
  ~RemappedCollectiveTest() override {
    commands.reset();
    EXPECT_HIP(api.hipStreamDestroy(capturing));
  }

  // As adding(1), and then the collective fills the first number of the buffer that was read.
  hip::Recording adding_then_meeting() {
    hip::TracedWork work{.command = 1, .stream = capturing, .buffers = {kIn}, .work = {}, .collective = true};
    work.work = [this](hipStream_t on, std::span<const hip::DeviceAddress> addresses) {
      void* const first = reinterpret_cast<void*>(addresses[kIn]);
      return hip::called(table.hipMemsetAsync(first, kFilled & 0xff, sizeof kFilled, on), "hipMemsetAsync");
    };
    hip::RecordedNode collective = hip::traced_command(std::move(work));
    collective.dependencies = {1};
    hip::Recording recording = adding(1);
    recording.add(std::move(collective));
    return recording;
  }
  // The peer says no in this round of the next step.
  void refuse(Round round) { peer.refuses = peer.said.size() + round + 1; }
  void expect_number(std::size_t n, std::uint32_t number) {
    EXPECT_HIP(api.hipDeviceSynchronize());
    EXPECT_EQ(memories->number_in(n), number);
  }

  Peer peer;
  hipStream_t capturing = nullptr;
};

TEST_F(RemappedCollectiveTest, ItsTraceIsMadeOnceForEachSetAndEveryStepComesToFourRounds) {
  for (std::size_t n = 0; n < 6; ++n) {
    const hip::Result<hip::CommandStep> done = step(n % 3, (n + 1) % 3);
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_EQ(peer.said.size(), (n + 1) * kRounds);
    EXPECT_EQ(peer.said[n * kRounds + kTrace], n >= 2) << "a trace is ready from the set's second step on";
    EXPECT_EQ(done.value().traces.captured, n < 2 ? 1U : 0U);
    EXPECT_EQ(done.value().traces.hits, n < 2 ? 0U : 1U);
    expect_number(n % 3, kFilled);
    expect_number((n + 1) % 3, static_cast<std::uint32_t>(n + 1));
  }
  EXPECT_EQ(races(), 0U);
  EXPECT_TRUE(told.empty());
}

TEST_F(RemappedCollectiveTest, ARankWhosePeerHasToCaptureCapturesAsWell) {
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(0, 1));
  refuse(kTrace);
  const hip::Result<hip::CommandStep> overruled = step(2, 1);
  ASSERT_TRUE(overruled) << overruled.error().message;
  EXPECT_EQ(overruled.value().traces.overruled, 1U);
  EXPECT_EQ(overruled.value().traces.captured, 1U);
  expect_number(2, kFilled);
  expect_number(1, 1);
  ASSERT_TRUE(step(0, 1));
  const hip::Result<hip::CommandStep> next = step(0, 1);
  ASSERT_TRUE(next);
  EXPECT_EQ(next.value().traces.hits, 1U);
}

// The peer knows as well that it launches nothing, so neither of them comes to the rounds of the collective.
TEST_F(RemappedCollectiveTest, AfterAPeerThatCannotMapNothingIsLaunchedAndTheNextStepIsRight) {
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(0, 1));
  const int before = launches;
  for (const Round round : {kWaited, kMapped}) {
    refuse(round);
    const std::size_t said = peer.said.size();
    const hip::Result<hip::CommandStep> refused = step(2, 1);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, hipErrorNotReady);
    EXPECT_EQ(peer.said.size(), said + round + 1);
    EXPECT_FALSE(commands->mappings().holds(memory(2).number)) << "the mapping was put back";
  }
  EXPECT_EQ(launches, before);
  ASSERT_TRUE(step(2, 1));
  expect_number(2, kFilled);
  expect_number(1, 1);
  EXPECT_EQ(races(), 0U);
}

TEST_F(RemappedCollectiveTest, AfterAPeerThatIsNotReadyNothingIsLaunchedAndTheNextStepIsRight) {
  for (int n = 0; n < 2; ++n) ASSERT_TRUE(step(0, 1));
  const int before = launches;
  refuse(kReady);
  EXPECT_FALSE(step(2, 1));
  EXPECT_EQ(launches, before);
  ASSERT_TRUE(step(2, 1));
  expect_number(2, kFilled);
  expect_number(1, 1);
  EXPECT_EQ(races(), 0U);
}

}  // namespace
