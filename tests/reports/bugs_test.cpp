// Grouping of findings into bugs: the traits that findings of one bug share, and the traits that tell two bugs apart.
#include "reports/bugs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/samples.h"

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

verify::Finding finding(const std::string& property, const std::string& program, const std::string& where) {
  verify::Finding made;
  made.property = property;
  made.program_text = program;
  if (!where.empty()) made.differences = {{where, "the end", "00", "01"}};
  return made;
}

TEST(Bugs, ABugIsNamedAfterPropertyNodesSettersAndTheFirstDivergence) {
  const verify::Finding found =
      finding("A2", "graph g0\nmemcpy g0.n0 dst=b0+0\nkernel g0.n1 axpy_u64\non s0 memset dst=b1+0\npatch e0\n",
              "g0.n3 argument at 8 (b2+0)");
  EXPECT_EQ(reports::bug_of(found).name(), "A2; kernel memcpy memset; patch; g#.n# argument at #");
  EXPECT_EQ(reports::bug_of(finding("P7", "endcapture s0 g0\n", "")).name(), "P7; -; endcapture; -");
  EXPECT_EQ(reports::bug_of(finding("C1", "cache acquire 0\ncache release 0\n", "")).name(), "C1; -; cache; -");
}

TEST(Bugs, ProgramsThatDifferInNumbersAndOrderAloneAreOneBug) {
  const std::vector<reports::Bug> bugs =
      reports::bugs_of({finding("P3", "kernel g0.n0\nset g0.n0\n", "b0+16 (3 bytes differ)"),
                        finding("P3", "set e7.n1\nkernel g1.n1\n", "b4+8")});
  ASSERT_EQ(bugs.size(), 1U);
  EXPECT_THAT(bugs[0].findings, ElementsAre(0, 1));
  EXPECT_EQ(bugs[0].seen, 2U);
}

TEST(Bugs, AnotherPropertyNodeSetterOrDivergenceIsAnotherBug) {
  const verify::Finding base = finding("P3", "kernel g0.n0\nset g0.n0\n", "b0+16");
  for (const verify::Finding& other :
       {finding("P4", base.program_text, "b0+16"), finding("P3", "host g0.n0\nset g0.n0\n", "b0+16"),
        finding("P3", "kernel g0.n0\npatch e0\n", "b0+16"), finding("P3", base.program_text, "status")}) {
    EXPECT_EQ(reports::bugs_of({base, other}).size(), 2U) << reports::bug_of(other).name();
  }
}

TEST(Bugs, TheSmallestProgramOfABugComesFirstAndNoFindingIsLost) {
  std::vector<verify::Finding> findings = {samples::finding(0), samples::finding(1), samples::finding(0),
                                           samples::finding(0)};
  findings[2].commands = findings[3].commands = 1;
  const std::vector<reports::Bug> bugs = reports::bugs_of(findings);
  ASSERT_EQ(bugs.size(), 2U);
  EXPECT_THAT(bugs[0].findings, ElementsAre(2, 3, 0));
  EXPECT_THAT(bugs[1].findings, ElementsAre(1));
  EXPECT_THAT(reports::bugs_of({}), IsEmpty());
}

}  // namespace
