// Collectives of hip::CommandBuffer with ranks that are threads, each with a runtime of its own: the ranks use their
// traces together, and launch together or not at all. Traced commands of one rank: traced_commands_test.cpp.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <vector>

#include "hip/sync/sync.h"
#include "traced_bed.h"

namespace {

using hip::StepDecision;

constexpr std::chrono::minutes kPatience{10};  // so long that no rank counts as absent on a busy machine

// A rank with its command buffer, on its own device. The agreement keeps the ranks in step.
class Rank {
 public:
  Rank(hip::RankAgreement& ranks, int device)
      : bed_(device), buffer_(bed_.api(), {.device = device, .ranks = &ranks, .errors = bed_.sink()}) {
    buffer_.set(bed_.commands(1 << kOpaque | 1 << kCollective));
  }
  hip::Result<hip::CommandStep> step(const TracedBed::Places& places) {
    return buffer_.step(bed_.table(places), bed_.stream());
  }
  hip::CommandBuffer& buffer() { return buffer_; }
  TracedBed& bed() { return bed_; }

 private:
  TracedBed bed_;
  hip::CommandBuffer buffer_;
};
using Steps = std::vector<hip::Result<hip::CommandStep>>;
using Play = std::function<Steps(Rank&)>;

std::array<Steps, 2> two_ranks(const Play& first, const Play& second) {
  hip::ThreadRanks ranks({.ranks = 2, .patience = kPatience});
  std::array<Steps, 2> seen;
  hip::sync::Thread peer([&] {
    Rank rank(ranks, 1);
    seen[1] = second(rank);
  });
  {
    Rank rank(ranks, 0);
    seen[0] = first(rank);
  }
  peer.join();
  return seen;
}

TEST(Collectives, RanksUseTheirTracesTogetherOrAllCapture) {
  const TracedBed::Places here{0, 1, 2};
  const auto seen = two_ranks(
      [&](Rank& rank) { return Steps{rank.step(here), rank.step(here), rank.step(here), rank.step({0, 1, 5})}; },
      [&](Rank& rank) {
        Steps steps{rank.step(here), rank.step(here)};
        rank.buffer().forget(0);
        steps.push_back(rank.step(here));
        steps.push_back(rank.step({4, 1, 2}));
        return steps;
      });
  struct Expected {
    std::uint64_t hits, captured, overruled;  // `overruled` is of rank 0, whose peer forgets; rank 1 is not overruled
    StepDecision decision;
  };
  // The first step captures the other traced command as well.
  const std::array<Expected, 4> expected = {{{0, 2, 0, StepDecision::kRecord},
                                             {1, 0, 0, StepDecision::kLaunch},
                                             {0, 1, 1, StepDecision::kPatch},
                                             {0, 1, 1, StepDecision::kPatch}}};
  for (std::size_t rank = 0; rank < 2; ++rank) {
    for (std::size_t i = 0; i < 4; ++i) {
      SCOPED_TRACE(testing::Message() << rank << " " << i);
      const hip::Result<hip::CommandStep>& step = seen.at(rank).at(i);
      ASSERT_TRUE(step) << step.error().message;
      EXPECT_EQ(step.value().traces.hits, expected.at(i).hits);
      EXPECT_EQ(step.value().traces.captured, expected.at(i).captured);
      EXPECT_EQ(step.value().traces.overruled, rank == 0 ? expected.at(i).overruled : 0);
      EXPECT_EQ(step.value().decision, expected.at(i).decision);
    }
  }
}

// Whichever call of one rank's step fails, the ranks launch together or not at all, and go on together.
TEST(Collectives, ARankThatFailsKeepsItsPeerFromLaunchingAndTheNextStepIsRight) {
  const TracedBed::Places here{0, 1, 2}, there{3, 4, 5};
  fail_each_call(16u, [&](FailingCall& call) {
    std::uint64_t launches = 0;
    const auto last = [&](Rank& rank) {
      rank.bed().wipe();
      hip::Result<hip::CommandStep> step = rank.step(here);
      if (step) rank.bed().expect_bytes(1 << kOpaque | 1 << kCollective, here);
      return step;
    };
    const auto seen = two_ranks(
        [&](Rank& rank) {
          Steps steps{rank.step(here)};
          launches = rank.bed().calls_in("hipGraphLaunch", [&] { steps.push_back(rank.step(there)); });
          steps.push_back(last(rank));
          return steps;
        },
        [&](Rank& rank) {
          Steps steps{rank.step(here)};
          call.arm(rank.bed().interposer_);
          steps.push_back(rank.step(there));
          call.disarm(rank.bed().interposer_);
          steps.push_back(last(rank));
          return steps;
        });
    for (const Steps& steps : seen) {
      ASSERT_EQ(steps.size(), 3u);
      EXPECT_TRUE(steps[0]);
      EXPECT_TRUE(steps[2]) << steps[2].error().message;
    }
    EXPECT_TRUE(seen[1][1] || call.fired());
    // A launch that fails comes after the ranks have agreed: it is the failure of one rank alone.
    if (call.fired() && call.function() == verify::find_function("hipGraphLaunch")) return;
    EXPECT_EQ(seen[0][1].ok(), seen[1][1].ok());
    EXPECT_EQ(launches, seen[0][1] ? 1u : 0u);
  });
}

TEST(Collectives, ARankWhosePeerDoesNotComeIsToldAndLaunchesNothing) {
  hip::ThreadRanks ranks({.ranks = 2, .patience = std::chrono::milliseconds(1)});
  Rank rank(ranks, 0);
  for (int i = 0; i < 2; ++i) {
    const hip::Result<hip::CommandStep> step = rank.step({0, 1, 2});
    ASSERT_FALSE(step);
    EXPECT_EQ(step.error().code, hipErrorLaunchTimeOut);
  }
  EXPECT_EQ(rank.bed().calls_of("hipGraphLaunch"), 0u);
  EXPECT_EQ(rank.bed().calls_of("hipStreamBeginCapture"), 0u);
}

}  // namespace
