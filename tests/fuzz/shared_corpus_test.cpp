// The entries that tasks exchange through a folder, and the signatures that they carry.
#include "fuzz/shared_corpus.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "verify/generate/generator.h"

namespace fuzz {
namespace {

struct SharedCorpusTest : testing::Test {
  std::string folder = (std::filesystem::temp_directory_path() / "hgcheck-shared-XXXXXX").string();
  void SetUp() override { ASSERT_NE(mkdtemp(folder.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  const verify::Program program = verify::campaign_program(1, 0, {});
};

TEST_F(SharedCorpusTest, ProgramsReachTheOtherTaskOnce) {
  SharedCorpus one(folder, "", 30), other(folder, "", 30);
  EXPECT_TRUE(one.due());
  EXPECT_TRUE(one.offer(program, {}));
  EXPECT_FALSE(one.offer(program, {}));
  EXPECT_TRUE(one.news().programs.empty());
  EXPECT_FALSE(one.due());
  EXPECT_EQ(other.news().programs.size(), 1U);
  EXPECT_TRUE(other.news().programs.empty());
  EXPECT_FALSE(other.offer(program, {}));
}

TEST_F(SharedCorpusTest, AGuidedTaskKeepsWhatShowsANewNumber) {
  SharedCorpus corpus(folder, "7.2", 30);
  EXPECT_TRUE(corpus.offer(program, {1, 2}));
  EXPECT_FALSE(corpus.offer(program, {2}));
  EXPECT_TRUE(corpus.offer(program, {2, 4}));
}

TEST_F(SharedCorpusTest, AnEntryHasItsSignature) {
  SharedCorpus one(folder, "7.2", 30), other(folder, "7.2", 30), unguided(folder, "", 30);
  EXPECT_TRUE(one.offer(program, {1, 65535}));
  EXPECT_TRUE(one.news().problems.empty());
  EXPECT_EQ(other.news().programs.size(), 1U);
  EXPECT_FALSE(other.offer(program, {1, 65535}));
  EXPECT_TRUE(other.offer(program, {1, 2}));
  EXPECT_EQ(unguided.news().programs.size(), 1U);
  EXPECT_FALSE(unguided.offer(program, {2}));
}

TEST_F(SharedCorpusTest, NumbersOfAnotherReleaseAreNotRead) {
  SharedCorpus one(folder, "7.2", 30), other(folder, "6.4", 30);
  EXPECT_TRUE(one.offer(program, {1}));
  EXPECT_EQ(other.news().programs.size(), 1U);
  EXPECT_TRUE(other.offer(program, {1}));
}

TEST_F(SharedCorpusTest, ATaskThatIsKilledHasWrittenWhatItFound) {
  SharedCorpus one(folder, "", 30);
  EXPECT_TRUE(one.offer(program, {}));
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(folder) / (entry_name(program) + ".program")));
}

TEST_F(SharedCorpusTest, AFolderThatTakesNothingIsAProblem) {
  SharedCorpus one(folder + "/gone", "", 30);
  EXPECT_TRUE(one.offer(program, {}));
  EXPECT_GE(one.news().problems.size(), 1U);
}

TEST_F(SharedCorpusTest, WithoutAGuideTheIndexDecides) {
  SharedCorpus corpus(folder, "", 30);
  for (std::uint64_t index = 0; index < 100; ++index) {
    EXPECT_EQ(corpus.draw(index).mutant, is_mutant(index));
    EXPECT_EQ(corpus.draw(index).size, 30U);
  }
}

// Draws 3,200 programs of which `pays` show a new number, and counts the last 320 by their way.
std::map<std::pair<bool, std::uint32_t>, int> drawn(SharedCorpus& corpus, const verify::Program& program,
                                                    const std::function<bool(SharedCorpus::Draw)>& pays) {
  std::map<std::pair<bool, std::uint32_t>, int> ways;
  std::uint16_t number = 0;
  for (std::uint64_t index = 0; index < 3200; ++index) {
    const SharedCorpus::Draw draw = corpus.draw(index);
    if (index >= 2880) ++ways[{draw.mutant, draw.size}];
    static_cast<void>(corpus.offer(program, pays(draw) ? Signature{++number} : Signature{}));
  }
  return ways;
}

// Every program takes a millisecond.
std::uint64_t millisecond_later() {
  static std::uint64_t now = 0;
  return now += 1'000'000;
}

TEST_F(SharedCorpusTest, AGuidedTaskDrawsMostInTheWayThatShowsMostThatIsNew) {
  SharedCorpus mutants(folder, "7.2", 30, millisecond_later), large(folder, "7.2", 30, millisecond_later);
  EXPECT_GT((drawn(mutants, program, [](SharedCorpus::Draw draw) { return draw.mutant; })[{true, 30}]), 250)
      << "of 320";
  const auto ways = drawn(large, program, [](SharedCorpus::Draw draw) { return draw.size == 120; });
  EXPECT_GT((ways.at({false, 120})), 250) << "of 320";
  EXPECT_EQ(ways.size(), 5U) << "each way is tried now and then";
}

}  // namespace
}  // namespace fuzz
