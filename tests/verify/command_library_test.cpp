// Version 2 of hip/patcher_abi.h: a user's command buffer gets every command of a step, and what it did is counted.
#include "verify/execute/command_library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "library_bed.h"
#include "programs.h"
#include "verify/execute/patcher_library.h"
#include "verify/generate/generator.h"
#include "verify/program/text.h"

namespace verify {
namespace {

using Steps = StepCounts;

const std::string kTwoLaunches =
    "buffer b0 256\nbuffer b1 256\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=4 k=1\n"
    "memcpy g0.n1 dst=b1+0 src=b0+0 bytes=16 kind=d2d after=n0\ninstantiate e0 g0\nlaunch e0 s0\n";

TEST(CommandLibrary, AStepIsTakenForEachLaunchAndCounted) {
  LibraryBed updating(UPDATING_COMMANDS), setting(SETTING_COMMANDS);
  const Program moved = program_of(kTwoLaunches + "move b0 b1\npatch e0\nlaunch e0 s0\nlaunch e0 s0\n");
  EXPECT_EQ(updating.judge(moved).verdict, VerdictKind::kAgree);
  EXPECT_EQ(updating.run(moved).steps, (Steps{{"updated", 2}, {"recorded", 1}}));
  EXPECT_EQ(setting.judge(moved).verdict, VerdictKind::kAgree);
  EXPECT_EQ(setting.run(moved).steps, (Steps{{"launched", 1}, {"set", 1}, {"setter calls", 2}, {"recorded", 1}}));
}

TEST(CommandLibrary, OtherCommandsAreRecordedAgain) {
  LibraryBed setting(SETTING_COMMANDS);
  const Program program = program_of(kTwoLaunches + "disable e0.n0\nlaunch e0 s0\nenable e0.n0\nlaunch e0 s0\n");
  EXPECT_EQ(setting.judge(program).verdict, VerdictKind::kAgree);
  EXPECT_EQ(setting.run(program).steps, (Steps{{"recorded", 3}}));
}

TEST(CommandLibrary, NestedBuffersAndTracedCommandsAreHandedOver) {
  LibraryBed updating(UPDATING_COMMANDS);
  const Program program = program_of(
      "buffer b0 256\nbuffer b1 256\ngraph g1\nkernel g1.n0 inplace_u32 data=b0+0 n=4 k=1\ngraph g0\nchild g0.n0 g1\n"
      "kernel g0.n1 inplace_u32 data=b1+0 n=4 k=2 opaque after=n0\ninstantiate e0 g0\nlaunch e0 s0\nmove b0 b1\n"
      "patch e0\nlaunch e0 s0\n");
  EXPECT_EQ(updating.judge(program).verdict, VerdictKind::kAgree);
  EXPECT_EQ(updating.run(program).steps, (Steps{{"updated", 1}, {"recorded", 1}}));
}

TEST(CommandLibrary, ADestroyThatIsRefusedIsMadeAgainByTheLibrary) {
  for (const char* library : {UPDATING_COMMANDS, SETTING_COMMANDS}) {
    const Judgement judgement =
        LibraryBed(library).judge(program_of(kTwoLaunches + "fail 1 hipGraphExecDestroy\ndestroy e0\n"));
    EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << library;
  }
  // A library that makes the call once leaves what it held.
  const std::string destroys = kTwoLaunches + "fail 1 hipGraphDestroy\ndestroy e0\n";
  const Judgement left = LibraryBed(FORGETTING_COMMANDS).judge(program_of(destroys));
  EXPECT_EQ(left.verdict, VerdictKind::kDiverge);
  EXPECT_TRUE(std::ranges::find(left.broken, PropertyId::kP8) != left.broken.end());
  EXPECT_EQ(LibraryBed(FORGETTING_COMMANDS).judge(program_of(kTwoLaunches + "destroy e0\n")).verdict,
            VerdictKind::kAgree);
}

TEST(CommandLibrary, ARefusedStepIsRecordedAndLaunchedByTheHarness) {
  LibraryBed refusing(REFUSING_COMMANDS);
  const Program program = program_of(kTwoLaunches + "move b0\npatch e0\nlaunch e0 s0\n");
  EXPECT_EQ(refusing.judge(program).verdict, VerdictKind::kAgree);
  EXPECT_EQ(refusing.run(program).steps, (Steps{{"refused", 2}, {"refused: it refuses every step", 2}}));
}

TEST(CommandLibrary, ARefusedStepKeepsWhatTheProgramSetAndDisabled) {
  LibraryBed refusing(REFUSING_COMMANDS);
  EXPECT_EQ(refusing
                .judge(program_of(kTwoLaunches +
                                  "set e0.n0 kernel inplace_u32 data=b0+0 n=4 k=9\ndisable e0.n1\nlaunch e0 s0\n"))
                .verdict,
            VerdictKind::kAgree);
}

TEST(CommandLibrary, AnAnswerThatIsNoVersionOrNoWishIsRefusedWithTheRemedy) {
  const auto error_of = [](const char* path) {
    const hip::Result<LoadedLibrary> loaded = load_library(path);
    return loaded ? std::string() : loaded.error().message;
  };
  EXPECT_NE(error_of(UNSHIFTED_COMMANDS).find("answers 0x2, which holds no version"), std::string::npos);
  EXPECT_NE(error_of(WISHING_COMMANDS).find("version 2 knows no wish 0x80"), std::string::npos);
  EXPECT_NE(error_of(FIRST_VERSION_COMMANDS).find("it exports hgcommands_begin"), std::string::npos);
  EXPECT_EQ(error_of(REFUSING_COMMANDS), "");
}

TEST(CommandLibrary, AWrongAnswerIsCountedWithTheFunctionThatGaveIt) {
  const Program program = program_of(kTwoLaunches);
  const auto steps_of = [&program](const char* library) { return LibraryBed(library).run(program).steps; };
  EXPECT_EQ(steps_of(LOST_COMMANDS), (Steps{{"failed: hgcommands_launch says that it went way 99", 1}}));
  EXPECT_EQ(steps_of(ABSENT_COMMANDS), (Steps{{"failed: hgcommands_create returned hipSuccess and a null object", 1}}));
  EXPECT_EQ(steps_of(FAILING_COMMANDS), (Steps{{"failed: hgcommands_update returned hipErrorInvalidValue", 1}}));
  EXPECT_EQ(LibraryBed(FAILING_COMMANDS).judge(program).verdict, VerdictKind::kDiverge);
}

TEST(CommandLibrary, AFunctionThatTheRuntimeLacksIsNamed) {
  const Judgement judgement = LibraryBed(LACKING_COMMANDS).judge(program_of(kTwoLaunches));
  EXPECT_EQ(judgement.verdict, VerdictKind::kUnsupported);
  EXPECT_NE(judgement.reason.find("hipNoSuchFunction"), std::string::npos) << judgement.reason;
}

TEST(CommandLibrary, APatcherInThePlaceOfARuntimeIsToldWhereItBelongs) {
  const hip::Result<hip::LoadedApi> loaded = hip::load_api(UPDATING_COMMANDS);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("as in model:lib="), std::string::npos) << loaded.error().message;
}

TEST(CommandLibrary, ALaunchIntoACaptureIsNoStep) {
  LibraryBed updating(UPDATING_COMMANDS);
  const Program program = program_of(
      kTwoLaunches + "stream s1\ncapture s1\nlaunch e0 s1\nendcapture s1 g1\ninstantiate e1 g1\nlaunch e1 s0\n");
  EXPECT_EQ(updating.judge(program).verdict, VerdictKind::kAgree);
  EXPECT_EQ(updating.run(program).steps, (Steps{{"recorded", 2}}));
}

TEST(CommandLibrary, GraphsWithMemoryOfTheirOwnAreNotHandedOver) {
  LibraryBed updating(UPDATING_COMMANDS);
  const Program program = program_of(
      "buffer b0 256\ngraph g0\nalloc g0.n0 b1 256\nmemset g0.n1 dst=b1+0 value=7 element=1 width=256 after=n0\n"
      "memcpy g0.n2 dst=b0+0 src=b1+0 bytes=256 kind=d2d after=n1\nfree g0.n3 b1 after=n2\ninstantiate e0 g0\n"
      "launch e0 s0\n");
  EXPECT_EQ(updating.judge(program).verdict, VerdictKind::kAgree);
  EXPECT_EQ(updating.run(program).steps, Steps{});
}

// Each thread's work is on its own device, and the library gets both.
TEST(CommandLibrary, CommandsOfSeveralDevicesAreHandedOverToALibraryThatAsksForThem) {
  const Program program = program_of(
      "buffer b0 256\nbuffer b1 256 device=1\nstream s1 device=1\ngraph g0\n"
      "kernel g0.n0 inplace_u32 data=b0+0 n=4 k=1\nkernel g0.n1 inplace_u32 data=b1+0 n=4 k=2 device=1\n"
      "memcpy g0.n2 dst=b1+64 src=b0+0 bytes=16 kind=d2d after=n0\ninstantiate e0 g0\nlaunch e0 s1\nsync s1\n"
      "move b0 b1\npatch e0\nlaunch e0 s0\nset e0.n1 kernel inplace_u32 data=b1+4 n=4 k=9 device=1\nlaunch e0 s1\n");
  LibraryBed updating(UPDATING_COMMANDS), setting(SETTING_COMMANDS), refusing(REFUSING_COMMANDS);
  EXPECT_EQ(updating.judge(program).verdict, VerdictKind::kAgree);
  EXPECT_EQ(updating.run(program).steps, (Steps{{"updated", 2}, {"recorded", 1}}));
  EXPECT_EQ(setting.judge(program).verdict, VerdictKind::kAgree);
  EXPECT_EQ(setting.run(program).steps, (Steps{{"set", 2}, {"setter calls", 4}, {"recorded", 1}}));
  EXPECT_EQ(refusing.judge(program).verdict, VerdictKind::kAgree);
  EXPECT_EQ(refusing.run(program).steps, Steps{}) << "it does not ask for them";
}

TEST(CommandLibrary, ThreadsStepTheCommandBuffersOfTheirDevices) {
  LibraryBed updating(UPDATING_COMMANDS);
  const Program program = program_of(
      "buffer b0 256\nbuffer b1 256 device=1\nstream s1 device=1\nstream s2\ngraph g0\ngraph g1\n"
      "kernel g0.n0 inplace_u32 data=b0+0 n=4 k=1\nkernel g1.n0 inplace_u32 data=b1+0 n=4 k=2 device=1\n"
      "instantiate e0 g0\ninstantiate e1 g1\nthreads\nthread 1\nlaunch e0 s2\nlaunch e0 s2\nthread 2\n"
      "launch e1 s1\nlaunch e1 s1\nend\n");
  EXPECT_EQ(updating.judge(program).verdict, VerdictKind::kAgree);
  EXPECT_EQ(updating.run(program).steps, (Steps{{"updated", 2}, {"recorded", 2}}));
}

// The mistake that setting_commands.cpp states: it compares the addresses of a copy alone.
TEST(CommandLibrary, ACopyThatIsSetToAnotherSizeKeepsTheOldOneInTheWrongLibrary) {
  const Program program =
      program_of(kTwoLaunches + "set e0.n1 memcpy dst=b1+0 src=b0+0 bytes=32 kind=d2d\nlaunch e0 s0\n");
  EXPECT_EQ(LibraryBed(UPDATING_COMMANDS).judge(program).verdict, VerdictKind::kAgree);
  const Judgement wrong = LibraryBed(SETTING_COMMANDS).judge(program);
  EXPECT_EQ(wrong.verdict, VerdictKind::kDiverge);
  ASSERT_FALSE(wrong.broken.empty());
  EXPECT_EQ(wrong.broken.front(), PropertyId::kP3);
}

TEST(CommandLibrary, GeneratedProgramsAgreeWithTheRightLibrary) {
  LibraryBed updating(UPDATING_COMMANDS);
  Steps steps;
  for (std::uint64_t index = 0; index < 400; ++index) {
    const Program program = campaign_program(46, index, {});
    const Judgement judgement = updating.judge(program, {.every_call_fails = index % 8 == 0});
    EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << print_program(program);
    const Observation observation = updating.run(program);
    for (const auto& [what, count] : observation.steps) steps[what] += count;
  }
  EXPECT_GT(steps["updated"], 100U);
  EXPECT_GT(steps["recorded"], 100U);
}

}  // namespace
}  // namespace verify
