// Subjects by name, and the list of subjects.
#include "verify/subject/subject.h"

#include <gtest/gtest.h>

#include <set>

#include "judging.h"
#include "tiny_patcher.h"
#include "verify/generate/generator.h"

namespace verify {
namespace {

TEST(Subject, TheModelIsPatchedUnlessSaidOtherwise) {
  const auto name = parse_subject("model");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name.value().strategy, StrategyKind::kPatch);
  EXPECT_EQ(name.value().text(), "model:patch");
}

TEST(Subject, ANameSaysRuntimeAndStrategy) {
  for (const char* text : {"model:patch", "model:rebuild", "model:update"}) {
    const auto name = parse_subject(text);
    ASSERT_TRUE(name.ok()) << text;
    EXPECT_EQ(name.value().text(), text);
    EXPECT_EQ(name.value().runtime, "model");
  }
}

TEST(Subject, WhatIsNoStrategyIsNamedInTheError) {
  const auto name = parse_subject("model:recreate");
  ASSERT_FALSE(name.ok());
  EXPECT_NE(name.error().message.find("recreate"), std::string::npos);
}

TEST(Subject, ALibrarysPathMayHoldColonsAndEndsBeforeAKnownStrategy) {
  const auto named = parse_subject("lib=/opt/a:b/libamdhip64.so:update");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named.value().runtime, "lib=/opt/a:b/libamdhip64.so");
  EXPECT_EQ(named.value().strategy, StrategyKind::kUpdate);
  const auto plain = parse_subject("lib=/opt/a:b");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain.value().runtime, "lib=/opt/a:b");
  EXPECT_EQ(plain.value().strategy, StrategyKind::kPatch);
}

TEST(Subject, WhatIsNoRuntimeIsNamedInTheError) {
  for (const char* text : {"modle:patch", "lib=", "", ":patch"}) {
    EXPECT_FALSE(parse_subject(text).ok()) << text;
  }
  EXPECT_NE(parse_subject("modle:patch").error().message.find("modle"), std::string::npos);
}

TEST(Subject, ALibraryThatIsNotThereIsNamedInTheError) {
  const auto name = parse_subject("lib=/no/such/library.so");
  ASSERT_TRUE(name.ok());
  const auto subject = Subject::make(name.value());
  ASSERT_FALSE(subject.ok());
  EXPECT_NE(subject.error().message.find("/no/such/library.so"), std::string::npos) << subject.error().message;
}

#ifdef HGMODEL_LIBRARY
TEST(Subject, ARuntimeLibraryAgreesWithTheModelAtTheLibrarysAddresses) {
  // The library is the model itself behind HIP's names, so nothing may differ. It has the devices that it is asked for.
  for (const char* strategy : {":patch", ":rebuild", ":update"}) {
    const auto name = parse_subject("lib=" HGMODEL_LIBRARY + std::string(strategy));
    ASSERT_TRUE(name.ok());
    auto subject = Subject::make(name.value());
    ASSERT_TRUE(subject.ok()) << subject.error().message;
    Bench bench;
    Judge judge(subject.value()->runner(), bench.baseline);
    std::uint64_t unsupported =
        0;  // programs that state how little memory the device has, which no library can be told
    for (std::uint64_t index = 0; index < 100; ++index) {
      const Program program = campaign_program(51, index, {});
      const Judgement judgement = judge.judge(program, {});
      if (judgement.verdict == VerdictKind::kUnsupported) {
        ++unsupported;
        continue;
      }
      ASSERT_TRUE(in_agreement(judgement)) << print_program(program);
    }
    EXPECT_LT(unsupported, 5U);
  }
}
#endif

TEST(Subject, EveryAvailableListingCanBeMadeAndRunsTheExample) {
  std::set<std::string> names;
  for (const SubjectListing& listing : list_subjects()) {
    EXPECT_TRUE(names.insert(listing.name).second);
    EXPECT_FALSE(listing.description.empty());
    if (!listing.unavailable.empty() || !listing.name.starts_with("model:")) continue;
    const auto name = parse_subject(listing.name);
    ASSERT_TRUE(name.ok()) << listing.name;
    auto subject = Subject::make(name.value());
    ASSERT_TRUE(subject.ok()) << listing.name;
    const RunResult result = subject.value()->runner().run(parsed(kExample), {});
    EXPECT_TRUE(result.observation.violations.empty()) << listing.name;
    EXPECT_EQ(result.observation.harness_error, "");
  }
  EXPECT_TRUE(names.contains("model:patch"));
}

TEST(Subject, AnotherPatcherNeedsTheStrategyPatch) {
  EXPECT_TRUE(Subject::make({"model", StrategyKind::kPatch}, {factory_of<TinyPatcher>()}).ok());
  EXPECT_FALSE(Subject::make({"model", StrategyKind::kRebuild}, {factory_of<TinyPatcher>()}).ok());
}

}  // namespace
}  // namespace verify
