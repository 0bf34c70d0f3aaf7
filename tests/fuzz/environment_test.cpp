// The variables that a campaign sets for the runtimes under test.
#include <gtest/gtest.h>

#include "fuzz/corpus.h"
#include "fuzz/memory_tables.h"
#include "fuzz/setup.h"
#include "verify/program/text.h"

namespace {

using verify::Environment;

TEST(CampaignEnvironment, AProgramHasTheCampaignsVariablesAndNotThoseOfTheCorpus) {
  const auto parsed = verify::parse_program("hgcheck-program 1\nenvironment A=1\nbuffer b0 64\nwrite b0 seed=1\n");
  const fuzz::Corpus corpus = fuzz::Corpus::of({std::get<verify::Program>(parsed)}, {});
  verify::GeneratorOptions options;
  for (const bool mutant : {false, true}) {
    EXPECT_EQ(fuzz::program_of(corpus, 1, 3, options, mutant).setting.environment, Environment{});
  }
  options.environments.stated = {{"B", "2"}};
  for (const bool mutant : {false, true}) {
    EXPECT_EQ(fuzz::program_of(corpus, 1, 3, options, mutant).setting.environment, options.environments.stated);
  }
}

TEST(CampaignEnvironment, CampaignsWithOtherVariablesAreOtherCampaigns) {
  const fuzz::CampaignIdentity plain;
  fuzz::CampaignIdentity stated, drawn, both;
  stated.environment = {"A=1", "B=2"};
  both.environment = {"B=2", "A=1"};
  EXPECT_EQ(text_of(stated), text_of(both));
  both.draws_environment = drawn.draws_environment = true;
  const std::set<std::string> texts = {text_of(plain), text_of(stated), text_of(drawn), text_of(both)};
  EXPECT_EQ(texts.size(), 4u);
  EXPECT_EQ(text_of(plain).find("false"), std::string::npos) << "as before there were variables: " << text_of(plain);
}

TEST(CampaignEnvironment, ASubjectInThisProcessTakesNone) {
  fuzz::SetupOptions options;
  EXPECT_TRUE(fuzz::Setup::make(options).ok());
  options.draw_environment = true;
  EXPECT_FALSE(fuzz::Setup::make(options).ok());
}

}  // namespace
