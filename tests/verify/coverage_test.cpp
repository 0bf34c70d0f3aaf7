#include "verify/program/coverage.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "programs.h"
#include "verify/generate/generator.h"

namespace verify {
namespace {

Program launched_then(const std::string& commands) {
  Program program = program_of(
      "buffer b0 256\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=4 k=1\ninstantiate e0 g0\nlaunch e0 s0\n" +
      commands);
  EXPECT_EQ(flaw(program), "");
  return program;
}

std::vector<std::uint64_t> counts_of(const Program& program) {
  std::vector<std::uint64_t> counts(coverage_pairs().size(), 0);
  count_pairs(program, counts);
  return counts;
}

std::uint64_t count_of(const Program& program, std::string_view operation, std::string_view state) {
  const std::vector<std::uint64_t> counts = counts_of(program);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (coverage_pairs()[i].operation == operation && coverage_pairs()[i].state == state) return counts[i];
  }
  ADD_FAILURE() << "there is no pair of " << operation << " and " << state;
  return 0;
}

TEST(Coverage, AnExecutableGraphRunsFromItsLaunchUntilTheHostWaits) {
  const Program running = launched_then("launch e0 s0\n");
  EXPECT_EQ(count_of(running, "launch", "exec: never launched"), 1);
  EXPECT_EQ(count_of(running, "launch", "exec: running"), 1);
  EXPECT_EQ(count_of(running, "launch", "exec: idle"), 0);
  const Program waited = launched_then("sync device\nlaunch e0 s0\n");
  EXPECT_EQ(count_of(waited, "launch", "exec: running"), 0);
  EXPECT_EQ(count_of(waited, "launch", "exec: idle"), 1);
}

TEST(Coverage, AMoveMakesAddressesOldUntilThePatch) {
  const Program program = launched_then("move b0\npatch e0\npatch e0\n");
  EXPECT_EQ(count_of(program, "patch exec", "exec: with old addresses"), 1);
  EXPECT_EQ(count_of(program, "patch exec", "exec: was patched"), 1);
  EXPECT_EQ(count_of(program, "move", "buffer: never moved"), 1);
}

TEST(Coverage, AChangedGraphIsChangedForItsEarlierExecutables) {
  const Program program = launched_then("set g0.n0 kernel inplace_u32 data=b0+0 n=4 k=2\nlaunch e0 s0\nupdate e0 g0\n");
  EXPECT_EQ(count_of(program, "launch", "exec: its graph changed since"), 1);
  EXPECT_EQ(count_of(program, "update from", "graph: changed since it was instantiated"), 1);
}

TEST(Coverage, ALaunchMeetsTheMemoryThatWasMappedSinceTheLastOne) {
  const std::string mapped =
      "reserve r0 2\nphysical h0 1\nphysical h1 1\nmap r0 0 h0\naccess r0 0 readwrite\n"
      "view b1 r0 0 256\ngraph g1\nkernel g1.n0 inplace_u32 data=b1 n=4 k=1\ninstantiate e1 g1\nlaunch e1 s0\n"
      "sync device\n";
  const Program same = launched_then(mapped + "launch e1 s0\n");
  EXPECT_EQ(count_of(same, "launch", "exec: over another mapping"), 0);
  EXPECT_EQ(count_of(same, "map", "range: with a view"), 0);
  const Program other =
      launched_then(mapped + "unmap r0 0\nmap r0 0 h1\naccess r0 0 readwrite\nmap r0 1 h1\nlaunch e1 s0\n");
  EXPECT_EQ(count_of(other, "launch", "exec: over another mapping"), 1);
  EXPECT_EQ(count_of(other, "map", "range: nothing is mapped"), 2);
  EXPECT_EQ(count_of(other, "map", "range: named by a graph"), 2);
  EXPECT_EQ(count_of(other, "map", "range: mapped again"), 2);
  EXPECT_EQ(count_of(other, "map the memory", "physical: mapped"), 1);
  EXPECT_EQ(count_of(other, "unmap", "range: with shared memory"), 0);
}

TEST(Coverage, EveryPairIsThereOnceAndHasAMeaning) {
  std::set<std::pair<std::string, std::string>> pairs;
  std::set<std::string_view> names;
  for (const StateMeaning& state : object_states()) {
    EXPECT_FALSE(state.meaning.empty()) << state.name;
    EXPECT_TRUE(names.insert(state.name).second) << state.name;
  }
  for (const CoveragePair& pair : coverage_pairs()) {
    EXPECT_TRUE(pairs.emplace(pair.operation, pair.state).second) << pair.operation << " " << pair.state;
    EXPECT_TRUE(names.contains(pair.state)) << pair.state;
  }
}

std::vector<std::uint32_t> triples_of(const Program& program) {
  std::vector<std::uint64_t> counts(coverage_pairs().size(), 0);
  std::vector<std::uint32_t> triples;
  count_pairs(program, counts, &triples);
  return triples;
}

TEST(Coverage, ATripleNamesTheStatesInWhichTheLastCommandMetTheObject) {
  std::multiset<std::string> launches;
  for (const std::uint32_t triple : triples_of(launched_then("sync device\nlaunch e0 s0\nlaunch e0 s0\n"))) {
    const CoverageTriple& met = coverage_triples()[triple];
    if (met.pair->operation == "launch" && met.pair->state != "exec: one of several") launches.insert(name_of(met));
  }
  EXPECT_EQ(launches, (std::multiset<std::string>{"launch with exec: idle, after exec: never launched",
                                                  "launch with exec: running, after exec: idle"}));
}

void check_pairs(const std::vector<std::uint64_t>& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const CoveragePair& pair = coverage_pairs()[i];
    if (pair.why_not.empty()) {
      EXPECT_NE(counts[i], 0) << pair.operation << " with " << pair.state;
    } else {
      EXPECT_EQ(counts[i], 0) << pair.operation << " with " << pair.state
                              << " is said to be impossible: " << pair.why_not;
    }
  }
}

void check_triples(const std::vector<std::uint64_t>& counts) {
  std::uint64_t met = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const CoverageTriple& triple = coverage_triples()[i];
    met += counts[i] == 0 ? 0 : 1;
    if (triple.excluded) {
      EXPECT_EQ(counts[i], 0) << name_of(triple) << " is said to be impossible";
    }
  }
  EXPECT_GT(met, 6500);  // of the 6,943 when this was written
}

// A defect shows where its program goes: the generator has to go there by itself.
void check_triples_of_findings(const std::vector<std::uint64_t>& counts) {
  std::size_t files = 0;
  for (const auto& finding : std::filesystem::directory_iterator(FINDINGS)) {
    const std::filesystem::path file = finding.path() / "finding.program";
    if (!std::filesystem::exists(file)) continue;
    ++files;
    std::ifstream in(file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    for (const std::uint32_t triple : triples_of(parsed(text))) {
      EXPECT_NE(counts[triple], 0) << finding.path().filename() << ": " << name_of(coverage_triples()[triple]);
    }
  }
  EXPECT_GT(files, 100);
}

// Pairs and triples that are said to be impossible must not occur. All other pairs must occur, so that a gap has a
// meaning. One test for all, because each test runs in a process of its own and the programs take most of the time.
TEST(Coverage, GeneratedProgramsShowWhatIsPossibleAndWhatFindingsNeedAndNothingElse) {
  constexpr std::uint64_t kPrograms = 130000;
  std::vector<std::uint64_t> pairs(coverage_pairs().size(), 0), met(coverage_triples().size(), 0);
  std::vector<std::uint32_t> triples;
  for (std::uint64_t index = 0; index < kPrograms; ++index) {
    triples.clear();
    count_pairs(campaign_program(1, index, {}), pairs, &triples);
    for (const std::uint32_t triple : triples) ++met[triple];
  }
  check_pairs(pairs);
  check_triples(met);
  check_triples_of_findings(met);
}

}  // namespace
}  // namespace verify
