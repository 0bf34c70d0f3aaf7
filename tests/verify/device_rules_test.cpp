// The rules that make a program with several devices valid, and the text of such programs.
#include <gtest/gtest.h>

#include "programs.h"
#include "verify/program/state_devices.h"

namespace verify {
namespace {

constexpr std::string_view kThere =
    "buffer b0 256\nbuffer b1 256 device=1\nbuffer b2 64 memory=pinned\nstream s1 device=1\nstream s2\n"
    "event v0\nevent v1 device=1\ngraph g0\n";

std::string flaw_behind(const std::string& rest) {
  return flaw(program_of(std::string(kThere) + rest));
}

TEST(DeviceRules, WhatIsPrintedIsParsedAgain) {
  const Program program = program_of(std::string(kThere) +
                                     "peer can 0 1\npeer enable 1 0\npeer disable 1 0\n"
                                     "kernel g0.n0 inplace_u32 data=b1 n=4 k=1 device=1\n"
                                     "on s0 memcpy dst=b1 src=b0 bytes=8 kind=d2d peer=async\nsync device\n"
                                     "on s0 memcpy dst=b1 src=b0 bytes=8 kind=d2d peer=wait\n");
  EXPECT_EQ(flaw(program), "");
  EXPECT_EQ(parsed(print_program(program)), program) << print_program(program);
  EXPECT_EQ(devices_needed(program), 2u);
  EXPECT_EQ(devices_needed(program_of("buffer b0 64\n")), 1u);
  EXPECT_EQ(devices_needed(program_of("peer can 3 0\n")), 4u);
  EXPECT_EQ(devices_needed(program_of("graph g0\nalloc g0.n0 b5 64 access=0,2\n")), 3u);
}

TEST(DeviceRules, TextThatNamesNoDeviceIsRefused) {
  for (const char* wrong : {"buffer b9 64 device=4", "stream s9 device=x", "peer may 0 1", "peer can 0", "peer can 0 4",
                            "peer can 0 1 2", "on s0 memcpy dst=b1 src=b0 bytes=8 peer=never",
                            "alloc g0.n0 b9 64 access=0,0", "alloc g0.n0 b9 64 access=4"}) {
    const auto result = parse_program("hgcheck-program 1\n" + std::string(kThere) + wrong + "\n");
    EXPECT_TRUE(std::holds_alternative<ParseError>(result)) << wrong;
  }
}

TEST(DeviceRules, OnlyADevicesMemoryIsOfAnotherDevice) {
  EXPECT_EQ(flaw_behind("buffer b3 64 device=2"), "");
  EXPECT_NE(flaw_behind("buffer b3 64 memory=pinned device=1"), "");
  EXPECT_NE(flaw_behind("buffer b3 64 memory=managed device=1"), "");
  EXPECT_NE(flaw_behind("buffer b3 64 symbol=1 device=1"), "");
  EXPECT_NE(flaw_behind("stream s3 per_thread device=1"), "");
  EXPECT_EQ(flaw_behind("buffer b3 256 device=1\nmove b1=@b3 b3"), "");
  EXPECT_NE(flaw_behind("buffer b3 256\nmove b1=@b3 b3"), "");
}

TEST(DeviceRules, AKernelRunsOnStreamsOfItsDeviceAndACopyOnAny) {
  EXPECT_EQ(flaw_behind("on s1 kernel inplace_u32 data=b1 n=4 k=1 device=1"), "");
  EXPECT_NE(flaw_behind("on s0 kernel inplace_u32 data=b1 n=4 k=1 device=1"), "");
  EXPECT_NE(flaw_behind("on s1 kernel inplace_u32 data=b2 n=4 k=1"), "");
  EXPECT_EQ(flaw_behind("on s1 kernel inplace_u32 data=b2 n=4 k=1 device=1"), "");
  EXPECT_EQ(flaw_behind("on s1 memcpy dst=b0 src=b0+64 bytes=8 kind=d2d"), "");
  EXPECT_EQ(flaw_behind("on s1 memset dst=b1 value=1 width=8"), "");
  EXPECT_NE(flaw_behind("on s0 memset dst=b1 value=1 width=8"), "");
  EXPECT_EQ(flaw_behind("on s1 memset dst=b2 value=1 width=8"), "");
}

TEST(DeviceRules, AKernelReachesAPeersMemoryWhileAccessIsEnabled) {
  const std::string kernel = "on s0 kernel axpy_u64 out=b0 in=b1 n=4 a=1\n";
  EXPECT_NE(flaw_behind(kernel), "");
  EXPECT_EQ(flaw_behind("peer enable 0 1\n" + kernel), "");
  EXPECT_NE(flaw_behind("peer enable 1 0\n" + kernel), "");
  EXPECT_NE(flaw_behind("peer enable 0 1\npeer disable 0 1\n" + kernel), "");
  const std::string graph = "kernel g0.n0 axpy_u64 out=b0 in=b1 n=4 a=1\ngraph g1\nchild g1.n0 g0\ninstantiate e0 g1\n";
  EXPECT_EQ(flaw_behind(graph), "");
  EXPECT_NE(flaw_behind(graph + "launch e0 s0"), "");
  EXPECT_EQ(flaw_behind(graph + "peer enable 0 1\nlaunch e0 s0\nsync device\npeer disable 0 1"), "");
  EXPECT_NE(flaw_behind(graph + "peer enable 0 1\nlaunch e0 s0\npeer disable 0 1"), "");
  EXPECT_EQ(flaw_behind(graph + "capture s2\nlaunch e0 s2\nendcapture s2 g2"), "");
}

TEST(DeviceRules, SettersAndUpdatesKeepDevices) {
  const std::string graph =
      "buffer b3 256 device=1\nbuffer b4 256\nmemcpy g0.n0 dst=b1 src=b0 bytes=8 kind=d2d\n"
      "kernel g0.n1 inplace_u32 data=b3 n=4 k=1 device=1\nmemset g0.n2 dst=b4 value=1 width=8\ninstantiate e0 g0\n";
  EXPECT_EQ(flaw_behind(graph + "set e0.n0 memcpy dst=b3 src=b4 bytes=8 kind=d2d"), "");
  EXPECT_NE(flaw_behind(graph + "set e0.n0 memcpy dst=b4 src=b0 bytes=8 kind=d2d"), "");
  EXPECT_EQ(flaw_behind(graph + "set e0.n1 kernel inplace_u32 data=b1 n=4 k=1 device=1"), "");
  EXPECT_NE(flaw_behind(graph + "set e0.n1 kernel inplace_u32 data=b0 n=4 k=1"), "");
  EXPECT_NE(flaw_behind(graph + "set e0.n2 memset dst=b1 value=1 width=8"), "");
  EXPECT_EQ(flaw_behind(graph + "set g0.n2 memset dst=b1 value=1 width=8"), "");
  EXPECT_NE(flaw_behind(graph + "set g0.n2 memset dst=b1 value=1 width=8\nupdate e0 g0"), "");
  EXPECT_NE(flaw_behind(graph + "set g0.n1 kernel inplace_u32 data=b0 n=4 k=1"), "");
  EXPECT_EQ(flaw_behind(graph + "set g0.n1 kernel inplace_u32 data=b1 n=4 k=2 device=1\nupdate e0 g0"), "");
}

TEST(DeviceRules, WhatHipLeavesOpenIsNoProgram) {
  EXPECT_NE(flaw_behind("eventrecord g0.n0 v1"), "");
  EXPECT_EQ(flaw_behind("eventrecord g0.n0 v0"), "");
  EXPECT_NE(flaw_behind("capture s2\nrecord v1 s2"), "");
  EXPECT_EQ(flaw_behind("record v1 s2\nrecord v0 s1"), "");
  EXPECT_NE(flaw_behind("peer enable 1 1"), "");
  EXPECT_NE(flaw_behind("capture s2\npeer enable 0 1"), "");
  EXPECT_NE(flaw_behind("memcpy g0.n0 dst=b1 src=b0 bytes=8 kind=d2d peer=async"), "");
  EXPECT_NE(flaw_behind("on s0 memcpy dst=b2 src=b0 bytes=8 kind=d2h peer=async"), "");
  EXPECT_NE(flaw_behind("on s2 memcpy dst=b1 src=b0 bytes=8 kind=d2d peer=wait"), "");
  EXPECT_NE(flaw_behind("on s2 memcpy dst=b1 src=b0 bytes=8 kind=d2d\non s0 memcpy dst=b1 src=b0 bytes=8 kind=d2d "
                        "peer=wait"),
            "");
  const std::string memory = "alloc g0.n0 b5 64\nmemset g0.n1 dst=b5 value=1 width=64 after=n0\n";
  const std::string peer =
      "kernel g0.n2 inplace_u32 data=b5 n=4 k=1 device=1 after=n1\ninstantiate e0 g0\nlaunch e0 s0";
  const std::string rest = memory.substr(std::string("alloc g0.n0 b5 64").size());
  EXPECT_NE(flaw_behind(memory + peer), "");
  EXPECT_NE(flaw_behind("alloc g0.n0 b5 64 access=0" + rest + peer), "") << "the other device is not named";
  EXPECT_EQ(flaw_behind("alloc g0.n0 b5 64 access=1" + rest + peer), "");
  EXPECT_NE(flaw_behind(memory + "memcpy g0.n2 dst=b1 src=b5 bytes=8 kind=d2d after=n1"), "");
  EXPECT_EQ(
      flaw_behind(memory + "memcpy g0.n2 dst=b0 src=b5 bytes=8 kind=d2d after=n1\ninstantiate e0 g0\nlaunch e0 s0"),
      "");
  EXPECT_NE(flaw_behind(memory + "instantiate e0 g0\nlaunch e0 s1"), "");
}

TEST(DeviceRules, EachDeviceHasANullStreamOfItsOwn) {
  // s1 is a blocking stream, but not of device 0: nothing orders the two.
  const Program program =
      program_of(std::string(kThere) + "on s1 memcpy dst=b0 src=b1 bytes=8 kind=d2d\nsync device\ninspect g0\n");
  State state;
  for (const Step& step : program.steps) {
    if (std::holds_alternative<Synchronize>(step.command)) break;
    state.apply(step.command);
  }
  EXPECT_TRUE(state.work_races({{0, 0, 8, true}}, kNullStream));
  EXPECT_FALSE(state.work_races({{0, 64, 72, true}}, kNullStream));
  EXPECT_EQ(flaw_behind("capture s1\non s0 memcpy dst=b0 src=b1 bytes=8 kind=d2d\nendcapture s1 g1"), "");
}

}  // namespace
}  // namespace verify
