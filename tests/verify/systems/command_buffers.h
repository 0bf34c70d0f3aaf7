// What tests of hip::CommandBuffer share.
#pragma once

#include "command_bed.h"
#include "hip/command_buffer.h"
#include "hip/rank_agreement.h"

class CommandBuffers : public testing::Test, protected CommandBed {
 protected:
  hip::RecordedNode captured(int value) { return hip::captured_command(capturing_, {0}, filling(value)); }
  void expect(hip::CommandBuffer& buffer, std::size_t place, hip::StepDecision decision, hip::StepReason reason) {
    const std::array addresses{at(place)};
    const hip::Result<hip::CommandStep> step = buffer.step(addresses, stream());
    ASSERT_TRUE(step) << step.error().message;
    EXPECT_EQ(step.value().decision, decision);
    EXPECT_EQ(step.value().reason, reason);
  }
};

// Counts its rounds.
class CountedRanks final : public hip::RankAgreement {
 public:
  hip::Result<bool> all(bool mine) override {
    ++rounds;
    return mine;
  }
  int rounds = 0;
};
