// hip::RemappedCommands on the model: commands are recorded once for each set of addresses, and every step works on the
// memory that it names.
#include "hip/remapped_commands.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>

#include "hip/remapped_model.h"

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

}  // namespace
