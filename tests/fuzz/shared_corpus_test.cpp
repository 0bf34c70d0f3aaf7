// The entries that tasks exchange through a folder, and the signatures that they carry.
#include "fuzz/shared_corpus.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "verify/generate/generator.h"

namespace fuzz {
namespace {

struct SharedCorpusTest : testing::Test {
  std::string folder = (std::filesystem::temp_directory_path() / "hgcheck-shared-XXXXXX").string();
  void SetUp() override { ASSERT_NE(mkdtemp(folder.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  const verify::Program program = verify::campaign_program(1, 0, {});
  static bool offer(SharedCorpus& corpus, const verify::Program& program, const Signature& first,
                    const Signature& second) {
    return corpus.offer(program, first, [&] { return second; });
  }
};

TEST_F(SharedCorpusTest, ProgramsReachTheOtherTaskOnce) {
  SharedCorpus one(folder, false), other(folder, false);
  EXPECT_TRUE(one.due());
  EXPECT_TRUE(offer(one, program, {}, {}));
  EXPECT_FALSE(offer(one, program, {}, {}));
  EXPECT_TRUE(one.exchange().programs.empty());
  EXPECT_FALSE(one.due());
  EXPECT_EQ(other.exchange().programs.size(), 1U);
  EXPECT_TRUE(other.exchange().programs.empty());
  EXPECT_FALSE(offer(other, program, {}, {}));
}

TEST_F(SharedCorpusTest, OnlyNumbersThatTwoRunsShowCountAndTheOthersAreNotLookedForAgain) {
  SharedCorpus corpus(folder, true);
  EXPECT_TRUE(offer(corpus, program, {1, 2}, {1, 3}));
  EXPECT_FALSE(offer(corpus, program, {2, 3}, {2, 3}));
  EXPECT_TRUE(offer(corpus, program, {4}, {4}));
  int runs = 0;
  EXPECT_FALSE(corpus.offer(program, {1, 4}, [&] { return ++runs, Signature(); }));
  EXPECT_EQ(runs, 0) << "nothing was new";
}

TEST_F(SharedCorpusTest, AnEntryHasItsSignature) {
  SharedCorpus one(folder, true), other(folder, true), unguided(folder, false);
  EXPECT_TRUE(offer(one, program, {1, 65535}, {1, 65535}));
  EXPECT_TRUE(one.exchange().problems.empty());
  EXPECT_EQ(other.exchange().programs.size(), 1U);
  EXPECT_FALSE(offer(other, program, {1, 65535}, {1, 65535}));
  EXPECT_TRUE(offer(other, program, {1, 2}, {1, 2}));
  EXPECT_EQ(unguided.exchange().programs.size(), 1U);
  EXPECT_FALSE(offer(unguided, program, {2}, {2}));
}

TEST_F(SharedCorpusTest, AGuidedTaskMutatesMoreWhereMutantsMeetMore) {
  SharedCorpus corpus(folder, true);
  std::uint16_t number = 0;
  int mutants = 0;
  for (std::uint64_t index = 0; index < 1920; ++index) {
    const bool mutant = corpus.wants_mutant(index);
    if (index >= 1600) mutants += static_cast<int>(mutant);
    const Signature signature = mutant ? Signature{++number} : Signature{};
    static_cast<void>(offer(corpus, program, signature, signature));
  }
  EXPECT_GT(mutants, 280);
  EXPECT_LE(mutants, 300) << "one of 16 is generated";
}

}  // namespace
}  // namespace fuzz
