// A crash, a hang or a stack overflow is a verdict on the program that made it, never the end of a campaign.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "fuzz/campaign.h"
#include "fuzz/finding.h"
#include "fuzz/isolate.h"
#include "verify/program/text.h"

namespace {

using testing::HasSubstr;

// The real patcher, except that a patch with moves ends in a disaster.
class Disaster final : public verify::ExecPatcher {
 public:
  Disaster(std::unique_ptr<verify::ExecPatcher> real, void (*strike)()) : real_(std::move(real)), strike_(strike) {}
  hip::PatchResult patch(std::span<const hip::Move> moves) override {
    if (!moves.empty()) strike_();
    return real_->patch(moves);
  }
  void replace(hip::NodeIndex node, hip::NodeRecord record, std::vector<hip::Relocation> relocations) override {
    real_->replace(node, std::move(record), std::move(relocations));
  }
  void replace_all(const hip::Recording& recording, std::span<const hip::DeviceAddress> addresses) override {
    real_->replace_all(recording, addresses);
  }

 private:
  std::unique_ptr<verify::ExecPatcher> real_;
  void (*strike_)();
};

fuzz::SetupOptions struck_by(void (*strike)()) {
  fuzz::SetupOptions options;
  options.patchers = [strike](const verify::PatchTarget& target) -> std::unique_ptr<verify::ExecPatcher> {
    return std::make_unique<Disaster>(verify::graph_patcher_factory()(target), strike);
  };
  return options;
}

void crash() {
  std::raise(SIGKILL);
}
void hang() {
  volatile bool forever = true;
  while (forever) {}
}
// Past any stack in a moment: sanitizers keep their own guard.
int overflow(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : overflow(depth + 1) + frame[0];
}
void overflow_stack() {
  static_cast<void>(overflow(1));
}

verify::Program program_with_a_patch() {
  const char* text =
      "hgcheck-program 1\nbuffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=4 k=1\ninstantiate e0 g0\n"
      "move b0\npatch e0\nlaunch e0 s0\n";
  return std::get<verify::Program>(verify::parse_program(text));
}

verify::Judgement judge(void (*strike)(), double timeout) {
  hip::Result<std::unique_ptr<fuzz::Setup>> setup = fuzz::Setup::make(struck_by(strike));
  EXPECT_TRUE(setup.ok());
  return fuzz::judge_isolated(*setup.value(), program_with_a_patch(), fuzz::all_checks(1), timeout);
}

TEST(Isolation, AProgramThatEndsWellComesBackWithItsJudgement) {
  EXPECT_EQ(judge([] {}, 30).verdict, verify::VerdictKind::kAgree);
}

TEST(Isolation, ACrashIsADivergenceOfP11ThatNamesTheSignal) {
  const verify::Judgement judgement = judge(crash, 30);
  EXPECT_EQ(judgement.verdict, verify::VerdictKind::kDiverge);
  EXPECT_THAT(judgement.broken, testing::ElementsAre(verify::PropertyId::kP11));
  EXPECT_THAT(judgement.differences.at(0).observed, HasSubstr("signal 9"));
}

TEST(Isolation, AStackOverflowIsOneToo) {
  const verify::Judgement judgement = judge(overflow_stack, 60);
  EXPECT_EQ(judgement.verdict, verify::VerdictKind::kDiverge);
  EXPECT_THAT(judgement.broken, testing::ElementsAre(verify::PropertyId::kP11));
}

TEST(Isolation, AHangIsCutOffAndSaysHowLongItWasWaitedFor) {
  const verify::Judgement judgement = judge(hang, 0.5);
  EXPECT_EQ(judgement.verdict, verify::VerdictKind::kDiverge);
  EXPECT_THAT(judgement.differences.at(0).observed, HasSubstr("hung"));
}

fuzz::CampaignOutcome campaign(void (*strike)(), std::uint64_t programs, double timeout) {
  fuzz::CampaignOptions options;
  options.setup = struck_by(strike);
  options.programs = programs;
  options.jobs = 2;
  options.setup.program_timeout = timeout;
  options.shrink_seconds = 10;
  hip::Result<fuzz::CampaignOutcome> outcome =
      fuzz::run_campaign(options, [] { return false; }, [](const fuzz::Progress&) {});
  EXPECT_TRUE(outcome.ok());
  return std::move(outcome).value();
}

TEST(Campaign, GoesOnBehindEveryProgramThatCrashes) {
  const fuzz::CampaignOutcome outcome = campaign(crash, 24, 20);
  const verify::CampaignResult& result = outcome.result;
  EXPECT_EQ(result.programs, 24U);
  EXPECT_GT(result.verdicts.diverge, 0U);
  EXPECT_GT(result.verdicts.agree, 0U) << "programs without a patch end well";
  EXPECT_EQ(result.verdicts.agree + result.verdicts.diverge, 24U);
  ASSERT_EQ(result.findings.size(), 1U) << "one cause, however many programs show it";
  EXPECT_EQ(result.findings[0].property, "P11");
  EXPECT_EQ(result.findings[0].seen, result.verdicts.diverge);
  EXPECT_LE(result.findings[0].commands, 12U) << result.findings[0].program_text;
}

}  // namespace
