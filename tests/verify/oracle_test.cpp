// The oracle: equal observations differ in nothing, and each kind of difference is reported with its place.
#include "verify/oracle/oracle.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <csignal>
#include <tuple>
#include <utility>

#include "judging.h"
#include "verify/generate/generator.h"

namespace verify {
namespace {

// A run of the example, and an observation that a test changes.
struct Comparing : testing::Test {
  Comparing() {
    expected = Bench().baseline.run(program, {}).observation;
    observed = expected;
  }
  std::vector<Difference> differences() { return compare(program, expected, observed); }
  Difference the_only_one() {
    const std::vector<Difference> found = differences();
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Difference{} : found.front();
  }

  Program program = parsed(std::string(kExample) + "host g0.n2 tag=5 after=n1\ninstantiate e1 g0\nupdate e1 g0\n");
  Observation expected, observed;
};

TEST_F(Comparing, EqualTracesDifferInNothing) {
  EXPECT_TRUE(differences().empty());
}

TEST_F(Comparing, WhatIsNoObservationIsNotCompared) {
  observed.violations.push_back({PropertyId::kA1, 0, "x", "y", "z"});
  observed.notes.races = 3;
  observed.calls += 1;
  observed.patches += 1;
  EXPECT_TRUE(differences().empty());
}

TEST_F(Comparing, AHangIsAnotherEffectThanACrashAndBothAreAtTheProcess) {
  using Kind = Death::Kind;
  for (const auto& [death, effect] : {std::pair{Death{Kind::kHung, 0, "late"}, Effect::kHang},
                                      std::pair{Death{Kind::kSignal, SIGSEGV}, Effect::kCrash},
                                      std::pair{Death{.detail = "hung up"}, Effect::kCrash}}) {
    observed.death = death;
    EXPECT_EQ(first_divergence(program, expected, observed), (Divergence{0, effect, 0})) << death.text();
    const Difference difference = the_only_one();
    EXPECT_EQ(std::tuple(difference.place, difference.where, difference.expected, difference.observed),
              std::tuple(Difference::Place::kProcess, "process", "an end", death.text()));
  }
}

TEST_F(Comparing, AStatusIsReportedAtItsCommandByItsName) {
  observed.statuses.at(6).code = hipErrorInvalidValue;
  const Difference difference = the_only_one();
  EXPECT_EQ(std::tuple(difference.where, difference.command, difference.expected, difference.observed),
            std::tuple("status", "launch e0 s0", "hipSuccess", "hipErrorInvalidValue"));
}

TEST_F(Comparing, AnUpdatesResultIsPartOfItsStatus) {
  const std::size_t update = program.steps.size() - 1;
  ASSERT_EQ(expected.statuses.at(update).update_result, hipGraphExecUpdateSuccess);
  observed.statuses.at(update).update_result = hipGraphExecUpdateErrorTopologyChanged;
  const Difference difference = the_only_one();
  EXPECT_EQ(difference.command, "update e1 g0");
  EXPECT_EQ(difference.observed, "hipSuccess, update result " + std::to_string(hipGraphExecUpdateErrorTopologyChanged));
}

TEST_F(Comparing, AByteIsReportedAtItsOffsetWithHowManyDiffer) {
  ASSERT_EQ(program.steps.at(observed.reads.at(0).step).line, 13u);  // "read b1"
  std::vector<std::byte>& bytes = observed.reads.at(0).bytes;
  bytes.at(513) ^= std::byte{0xff};
  bytes.at(600) ^= std::byte{0x01};
  const Difference difference = the_only_one();
  EXPECT_EQ(difference.where, "b1+513 (2 bytes differ)");
  EXPECT_EQ(difference.command, "read b1");
  EXPECT_EQ(difference.expected.size(), 16u * 3 - 1);
  EXPECT_NE(difference.expected.substr(0, 2), difference.observed.substr(0, 2));
  EXPECT_EQ(difference.expected.substr(2), difference.observed.substr(2));
}

TEST_F(Comparing, BytesAtTheEndOfTheProgramAreComparedToo) {
  ASSERT_EQ(observed.reads.back().step, program.steps.size());
  observed.reads.back().bytes.back() ^= std::byte{1};
  const Difference difference = the_only_one();
  EXPECT_EQ(difference.where, "b1+4095 (1 bytes differ)");
  EXPECT_EQ(difference.command, "the end");
}

TEST_F(Comparing, AReadThatOneSideCouldNotMakeIsReported) {
  observed.reads.erase(observed.reads.begin());
  const Difference missing = the_only_one();
  EXPECT_EQ(missing.where, "b1");
  EXPECT_EQ(missing.command, "read b1");
  EXPECT_EQ(missing.observed, "could not be read");
  std::swap(expected, observed);
  EXPECT_EQ(the_only_one().expected, "could not be read");
}

TEST_F(Comparing, AMissingEdgeIsReportedAtItsGraph) {
  observed.topology.at(0).edges.pop_back();
  const Difference difference = the_only_one();
  EXPECT_EQ(difference.where, "topology of g0");
  EXPECT_EQ(difference.expected, "3 nodes, 2 edges");
  EXPECT_EQ(difference.observed, "3 nodes, 1 edges");
}

TEST_F(Comparing, ANodeOfAnotherTypeIsReportedAtItsGraph) {
  observed.topology.at(0).types.at(0) += 1;
  EXPECT_EQ(the_only_one().where, "topology of g0");
}

TEST_F(Comparing, AGraphThatOneSideDoesNotHaveIsReported) {
  observed.topology.clear();
  EXPECT_EQ(the_only_one().observed, "no graph");
}

TEST_F(Comparing, HostFunctionsAreComparedByHowOftenTheyRan) {
  observed.host_tags[5] = 2;
  const Difference difference = the_only_one();
  EXPECT_EQ(difference.where, "host functions");
  EXPECT_EQ(difference.expected, "none ran");
  EXPECT_EQ(difference.observed, "tag 5 x2");
}

TEST_F(Comparing, DifferencesComeInTheOrderStatusBytesTopologyAndNoMoreThanAReportShows) {
  observed.statuses.at(0).code = hipErrorUnknown;
  observed.reads.at(0).bytes.at(0) ^= std::byte{1};
  observed.topology.clear();
  const std::vector<Difference> found = differences();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].where, "status");
  EXPECT_EQ(found[1].where.substr(0, 2), "b1");
  EXPECT_EQ(found[2].where, "topology of g0");
  for (StepStatus& status : observed.statuses) status.code = hipErrorUnknown;
  EXPECT_EQ(differences().size(), kMaxDifferences);
}

RC_GTEST_PROP(Oracle, AnyOneByteThatDiffersIsFound, ()) {
  const Program program = *arbitrary_program({});
  const Observation expected = Bench().baseline.run(program, {}).observation;
  RC_PRE(!expected.reads.empty());
  Observation observed = expected;
  BytesSeen& read = observed.reads[*rc::gen::inRange<std::size_t>(0, observed.reads.size())];
  const std::size_t at = *rc::gen::inRange<std::size_t>(0, read.bytes.size());
  read.bytes[at] ^= std::byte{4};
  const std::vector<Difference> found = compare(program, expected, observed);
  RC_ASSERT(found.size() == 1u);
  RC_ASSERT(found[0].where == "b" + std::to_string(read.buffer) + "+" + std::to_string(at) + " (1 bytes differ)");
}

}  // namespace
}  // namespace verify
