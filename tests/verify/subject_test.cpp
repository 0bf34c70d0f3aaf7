// Subjects by name, and what is listed of them.
#include "verify/execute/subject.h"

#include <gtest/gtest.h>

#include <set>

#include "judging.h"
#include "tiny_patcher.h"

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
    const RunResult result = subject.value()->executor().run(parsed(kExample), {});
    EXPECT_TRUE(result.trace.violations.empty()) << listing.name;
    EXPECT_EQ(result.trace.harness_error, "");
  }
  EXPECT_TRUE(names.contains("model:patch"));
}

TEST(Subject, AnotherPatcherNeedsTheStrategyPatch) {
  EXPECT_TRUE(Subject::make({"model", StrategyKind::kPatch}, factory_of<TinyPatcher>()).ok());
  EXPECT_FALSE(Subject::make({"model", StrategyKind::kRebuild}, factory_of<TinyPatcher>()).ok());
}

}  // namespace
}  // namespace verify
