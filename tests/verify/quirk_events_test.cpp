// The events that a quirk's triggers match: where a call below the runtime fails, and at launches.
#include <gtest/gtest.h>

#include <utility>

#include "made_up_quirks.h"

namespace verify {
namespace {

TEST(Quirks, ARefusalBelowTheRuntimeExplainsUntilTheHostWaits) {
  const Quirk crashes = made_up("op=stream failing_below=allocation", "crash");
  const QuirkSet quirks("7.2", {&crashes, 1});
  for (const auto& [between, triggered] : {std::pair{"", 1U}, {"sync device\n", 0U}, {"buffer b0 64\n", 1U}}) {
    const Program program = program_of(std::string("fail_below 1 allocation\n") + between + "stream s1\n");
    EXPECT_EQ(triggers_in(program, quirks, StrategyKind::kPatch), triggered) << between;
  }
}

TEST(Quirks, APatchOfNodesWithoutHandlesInstantiates) {
  const Quirk crashes = made_up("op=instantiate failing_below=signal", "crash");
  const QuirkSet quirks("7.2", {&crashes, 1});
  const std::string graph =
      "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 element=1 width=4\ninstantiate e0 g0\n";
  for (const auto& [lost, triggered] : {std::pair{"", 0U}, {"destroy g0\n", 1U}, {"remove g0.n0\n", 1U}}) {
    const Program program = program_of(graph + lost + "fail_below 1 signal\nmove b0\npatch e0\n");
    EXPECT_EQ(triggers_in(program, quirks, StrategyKind::kPatch), triggered) << lost;
  }
}

TEST(Quirks, PatchInstantiatesAgainWhereAKernelIsOpaque) {
  const Quirk crashes = made_up("op=instantiate failing_below=signal", "crash");
  const QuirkSet quirks("7.2", {&crashes, 1});
  for (const auto& [opaque, triggered] : {std::pair{"", 0U}, {" opaque", 1U}}) {
    const Program program =
        program_of("buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=4 k=1" + std::string(opaque) +
                   "\ninstantiate e0 g0\nfail_below 1 signal\nmove b0\npatch e0\n");
    EXPECT_EQ(triggers_in(program, quirks, StrategyKind::kPatch), triggered) << opaque;
  }
}

// A launch of a node that was set in place while it was disabled, and not since.
TEST(Quirks, ANodeThatWasSetWhileItWasDisabledIsToldByTheLaunchThatRunsIt) {
  const Quirk lost = made_up("op=launch set_while_disabled>0", "bytes");
  const QuirkSet quirks("7.2", {&lost, 1});
  const std::string set = "set e0.n0 kernel inplace_u32 data=b0+0 n=4 k=2\n";
  for (const auto& [commands, triggered] : {std::pair{"disable e0.n0\n" + set + "enable e0.n0\n", 1U},
                                            {"disable e0.n0\nupdate e0 g0\nenable e0.n0\n", 1U},
                                            {"disable e0.n0\nmove b0\npatch e0\nenable e0.n0\n", 1U},
                                            {"disable e0.n0\n" + set, 0U},
                                            {"disable e0.n0\n" + set + "enable e0.n0\n" + set, 0U},
                                            {"disable e0.n0\nenable e0.n0\n" + set, 0U}}) {
    const Program program = program_of(
        "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=4 k=1\n"
        "instantiate e0 g0\n" +
        commands + "launch e0 s0\n");
    EXPECT_EQ(triggers_in(program, quirks, StrategyKind::kPatch), triggered) << commands;
    EXPECT_EQ(triggers_in(program, quirks, StrategyKind::kRebuild), 0U) << commands;
  }
}

TEST(Quirks, ACaptureCountsAsBlockingWhereABlockingStreamTakesPart) {
  const Quirk refuses = made_up("op=malloc_async capturing=0 blocking_captures>0", "status=900");
  const QuirkSet quirks("7.2", {&refuses, 1});
  for (const auto& [captures, triggered] : {std::pair{"", 1U}, {" nonblocking", 0U}}) {
    const Program program = program_of("stream s1" + std::string(captures) +
                                       "\nstream s2 nonblocking\ncapture s1\nmalloc_async b0 64 s2\n");
    EXPECT_EQ(triggers_in(program, quirks, StrategyKind::kPatch), triggered) << captures;
  }
}

// A launch that lacks other nodes than an earlier launch, and runs a node that the earlier launch lacked.
TEST(Quirks, NodesThatAreDisabledInPlaceOfOthersAreToldFromFurtherOnes) {
  const Quirk swapped = made_up("op=launch disabled_swapped=1", "bytes");
  const QuirkSet quirks("7.2", {&swapped, 1});
  const std::string begin =
      "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=1 k=1\n"
      "kernel g0.n1 inplace_u32 data=b0+0 n=1 k=1 after=n0\ninstantiate e0 g0\n";
  const std::string first = "disable e0.n0\nlaunch e0 s0\n", other = "enable e0.n0\ndisable e0.n1\nlaunch e0 s0\n";
  for (const auto& [commands, triggered] :
       {std::pair{first + other, 1U},
        {first + "enable e0.n0\nlaunch e0 s0\n" + other, 1U},
        {"disable e0.n0\n" + other, 0U},
        {first + "disable e0.n1\nlaunch e0 s0\n", 0U},
        {first + "enable e0.n0\nlaunch e0 s0\ndisable e0.n0\nlaunch e0 s0\n", 0U}}) {
    EXPECT_EQ(triggers_in(valid_program(begin + commands), quirks, StrategyKind::kPatch), triggered) << commands;
  }
}

TEST(Quirks, EarlierWorkCountsWhereItAndTheLaunchUseTheSameBytesAndOneWrites) {
  const Quirk meets = made_up("op=launch meets_earlier_work=1", "bytes");
  const QuirkSet quirks("7.2", {&meets, 1});
  const std::string begin =
      "buffer b0 64\nbuffer b1 64\nbuffer b2 64\ngraph g0\nmemcpy g0.n0 dst=b1+0 src=b0+0 bytes=4 kind=d2d\n"
      "instantiate e0 g0\n";
  const std::string launch = "launch e0 s0\n";
  for (const auto& [before, triggered] : {std::pair{"on s0 memset dst=b1+0 value=1 element=1 width=4\n", 1U},
                                          {"on s0 memset dst=b0+0 value=1 element=1 width=4\n", 1U},
                                          {"on s0 memset dst=b0+0 value=1 element=1 width=4\nsync device\n", 0U},
                                          {"on s0 memset dst=b2+0 value=1 element=1 width=4\n", 0U},
                                          {"on s0 memcpy dst=b2+0 src=b0+0 bytes=4 kind=d2d\n", 0U}}) {
    EXPECT_EQ(triggers_in(valid_program(begin + before + launch), quirks, StrategyKind::kPatch), triggered) << before;
  }
}

TEST(Quirks, DependentsCountAsJoinedWhereOneDependsOnAnotherNodeToo) {
  const Quirk joined = made_up("op=launch most_joined_dependents>=2", "bytes");
  const QuirkSet quirks("7.2", {&joined, 1});
  const std::string begin = "graph g0\nempty g0.n0\nempty g0.n1\nempty g0.n2 after=n0\n";
  for (const auto& [last, triggered] : {std::pair{"after=n0", 0U}, {"after=n0,n1", 1U}, {"after=n1,n2", 0U}}) {
    const Program program = valid_program(begin + "empty g0.n3 " + last + "\ninstantiate e0 g0\nlaunch e0 s0\n");
    EXPECT_EQ(triggers_in(program, quirks, StrategyKind::kPatch), triggered) << last;
  }
}

// Growth spoils no other run of a program, so programs need not steer around it.

}  // namespace
}  // namespace verify
