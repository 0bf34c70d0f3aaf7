// Programs with several devices: streams, events, memory and kernels of another device, copies between devices, access
// to peers. On the model. Not verified here: the rules of valid programs (device_rules_test.cpp); such programs on
// AMD's runtimes (campaigns, verify/findings).
#include "verify/execute/devices.h"

#include <gtest/gtest.h>

#include "judging.h"

namespace verify {
namespace {

constexpr std::string_view kThere =
    "buffer b0 256\nbuffer b1 256 device=1\nbuffer b2 64 memory=pinned\nbuffer b3 256 device=1\nstream s1 device=1\n"
    "graph g0\n";

std::string there(std::string_view rest) {
  return std::string(kThere) + std::string(rest);
}

const std::string kPrograms[] = {
    // Copies between devices, in both forms, that are patched, set, updated and moved.
    there("memcpy g0.n0 dst=b1+8 src=b0+16 bytes=32 kind=d2d\nmemcpy g0.n1 dst=b0 src=b1+8 bytes=24 kind=default "
          "after=n0\ninstantiate e0 g0\nlaunch e0 s0\nmove b0 b1\npatch e0\nlaunch e0 s0\nread b1\nmove b1=@b3 b3=@b1\n"
          "patch e0\nlaunch e0 s0\nset e0.n0 memcpy dst=b3 src=b0 bytes=8 kind=d2d\nlaunch e0 s0\nread b3"),
    there("memcpy3d g0.n0 dst=b1 src=b0 width=8 height=3 depth=2 dpitch=16 spitch=8 kind=d2d\ninstantiate e0 g0\n"
          "launch e0 s0\nmove b1\npatch e0\nlaunch e0 s0\nset g0.n0 memcpy3d dst=b3 src=b0+8 width=8 height=3 depth=2 "
          "dpitch=16 spitch=8 kind=d2d\nupdate e0 g0\nlaunch e0 s0\nread b3"),
    // Kernels and memsets of the other device, by hand.
    there("kernel g0.n0 inplace_u32 data=b1 n=16 k=3 device=1\nmemset g0.n1 dst=b3 value=7 element=4 width=8\n"
          "memcpy g0.n2 dst=b0 src=b1 bytes=64 kind=d2d after=n0,n1\nkernel g0.n3 inplace_u32 data=b0 n=16 k=5 "
          "after=n2\ninstantiate e0 g0\nlaunch e0 s0\nmove b0 b1 b3\npatch e0\nlaunch e0 s1\nsync device\nread b0\n"
          "set e0.n0 kernel inplace_u32 data=b3 n=4 k=9 device=1\nset e0.n1 memset dst=b1 value=9 element=4 width=2\n"
          "launch e0 s0\nread b3"),
    there("kernel g0.n0 inplace_u32 data=b1 n=4 k=3 device=1 fan=4\ngraph g1\nchild g1.n0 g0\ninstantiate e0 g1\n"
          "move b1\npatch e0\nlaunch e0 s0\nsync device\nclone g2 g1\npatch g1\ninstantiate e1 g1\nlaunch e1 s1\nread "
          "b1"),
    // A capture that goes over to the other device and back.
    there("stream s2\nevent v0\nevent v1 device=1\ncapture s2\non s2 kernel inplace_u32 data=b0 n=8 k=3\nrecord v0 s2\n"
          "wait s1 v0\non s1 kernel inplace_u32 data=b1 n=8 k=5 device=1\non s1 memset dst=b3 value=3 element=1 "
          "width=16\nrecord v1 s1\nwait s2 v1\non s2 memcpy dst=b0 src=b1 bytes=16 kind=d2d\nendcapture s2 g1\n"
          "instantiate e0 g1\nlaunch e0 s0\nmove b0 b1\npatch e0\nlaunch e0 s0\nread b0\nread b3"),
    // Eager work, events across devices, peer copies (they name the device of each end).
    there("event v0\nevent v1 device=1\non s1 kernel inplace_u32 data=b1 n=8 k=3 device=1\nrecord v1 s1\nwait s0 v1\n"
          "on s0 memcpy dst=b0 src=b1 bytes=32 kind=d2d peer=async\nrecord v0 s0\nwait s1 v0\non s1 memcpy dst=b3 "
          "src=b0 bytes=64 kind=d2d\nsync v0\nsync device\non s0 memcpy dst=b1 src=b0 bytes=16 kind=d2d peer=wait\n"
          "read b1\nread b3"),
    there("capture s1\non s1 memcpy dst=b3 src=b0 bytes=64 kind=d2d peer=async\nendcapture s1 g1\ninstantiate e0 g1\n"
          "launch e0 s0\nmove b0 b3\npatch e0\nlaunch e0 s0\nread b3"),
    // Access, and a kernel that reads a peer's memory.
    there("peer can 0 1\npeer can 1 1\npeer enable 0 1\npeer enable 0 1\nkernel g0.n0 axpy_u64 out=b0 in=b1 n=8 a=3\n"
          "instantiate e0 g0\nlaunch e0 s0\nmove b1\npatch e0\nlaunch e0 s0\nread b0\npeer disable 0 1\n"
          "peer disable 0 1"),
    // Calls that are refused: recording an event on a stream of another device, times between devices.
    there("event v0 timing\nevent v1 timing device=1\nrecord v0 s1\nrecord v1 s0\nrecord v0 s0\nrecord v1 s1\n"
          "sync device\nelapsed v0 v1\nelapsed v1 v1\nwait s0 v1"),
    "placement native\n" + there("memcpy g0.n0 dst=b1 src=b0 bytes=64 kind=default\nkernel g0.n1 inplace_u32 data=b1 "
                                 "n=8 k=3 device=1 after=n0\ninstantiate e0 g0\nlaunch e0 s1\nmove b0 b1\npatch e0\n"
                                 "launch e0 s1\nfree b3\nread b1"),
    // A graph of the first device that is launched into a capture of the other one's stream.
    there("kernel g0.n0 inplace_u32 data=b0 n=4 k=3\nmemset g0.n1 dst=b0+128 value=3 element=4 width=4 after=n0\n"
          "instantiate e0 g0\ncapture s1\nlaunch e0 s1\nendcapture s1 g1\ninspect g1\ninstantiate e1 g1\nlaunch e1 s0\n"
          "sync device\nread b0"),
    // A graph of the other device that is launched into a capture of hipStreamPerThread: of the stream's own device.
    there("kernel g0.n0 inplace_u32 data=b1 n=4 k=3 device=1\ninstantiate e0 g0\nstream s2 per_thread\ncapture s2\n"
          "launch e0 s2\nendcapture s2 g1\ninspect g1\ninstantiate e1 g1\nlaunch e1 s1\nsync device\nread b1"),
    // Memory of the other device moves to the address that a memset was given.
    "placement native\nbuffer b0 64\nbuffer b1 64 device=1\ngraph g0\nmemset g0.n0 dst=b0 value=3 element=1 width=1\n"
    "instantiate e0 g0\nmove b0\nmove b1\npatch g0\nupdate e0 g0\nlaunch e0 s0\nread b0",
};

class DeviceProgram : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceProgram, testing::ValuesIn(kPrograms),
                         [](const auto& at) { return "Number" + std::to_string(at.index); });
TEST_P(DeviceProgram, IsValidAndAgreesUnderEveryStrategyAndFailure) {
  agrees_under_every_strategy_and_failure(GetParam());
}

TEST(Devices, WhatIsRefusedIsRefusedAsDocumented) {
  const Observation events = trace_of(kPrograms[8]);
  std::vector<int> codes;
  for (const StepStatus& status : events.statuses) codes.push_back(status.code);
  const std::vector<int> last(codes.end() - 8, codes.end());
  EXPECT_EQ(last,
            (std::vector<int>{hipErrorInvalidHandle, hipErrorInvalidHandle, 0, 0, 0, hipErrorInvalidHandle, 0, 0}));
  const Observation peers = trace_of(kPrograms[7]);
  EXPECT_EQ(peers.statuses[6].seen, "1");
  EXPECT_EQ(peers.statuses[7].seen, "0");
  EXPECT_EQ(peers.statuses[9].code, hipErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(peers.statuses.back().code, hipErrorPeerAccessNotEnabled);
}

TEST(Devices, PatchesOfTheOtherDevicesNodesAreInPlace) {
  const Observation observation = trace_of(kPrograms[2]);
  EXPECT_EQ(observation.fallbacks, 0u);
  EXPECT_EQ(observation.patched_in_place.size(), 1u);
  EXPECT_TRUE(observation.violations.empty());
}

TEST(Devices, AMachineWithFewerOfThemIsUnsupported) {
  struct OneDevice final : ModelPlatform {
    bool need_devices(Id count) override { return count == 1; }
  };
  OneDevice platform;
  Executor subject(platform, StrategyKind::kPatch);
  EXPECT_EQ(subject.run(program_of(kPrograms[0]), {}).observation.unsupported, "2 devices");
  EXPECT_EQ(subject.run(program_of("buffer b0 64\nread b0"), {}).observation.unsupported, "");
}

// The model with its functions looking at which device is current.
int current_at_add = -1, current_at_set = -1, current_at_launch = -1;
int current() {
  int device = -1;
  static_cast<void>(model::abi::InProcess::api().hipGetDevice(&device));
  return device;
}

TEST(Devices, TheNodesDeviceIsCurrentWhileItIsAddedAndSet) {
  OtherBench bench([](hip::Api& api) {
    api.hipGraphAddKernelNode = [](hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, size_t count,
                                   const hipKernelNodeParams* params) {
      current_at_add = current();
      return model::abi::InProcess::api().hipGraphAddKernelNode(node, graph, after, count, params);
    };
    api.hipGraphExecKernelNodeSetParams = [](hipGraphExec_t exec, hipGraphNode_t node,
                                             const hipKernelNodeParams* params) {
      current_at_set = current();
      return model::abi::InProcess::api().hipGraphExecKernelNodeSetParams(exec, node, params);
    };
    api.hipGraphLaunch = [](hipGraphExec_t exec, hipStream_t stream) {
      current_at_launch = current();
      return model::abi::InProcess::api().hipGraphLaunch(exec, stream);
    };
  });
  const auto run = [&](const std::string& rest) {
    current_at_add = current_at_set = current_at_launch = -1;
    const Program program = program_of(there(rest));
    ASSERT_EQ(flaw(program), "");
    EXPECT_TRUE(bench.subject.run(program, {}).observation.violations.empty());
  };
  run("kernel g0.n0 inplace_u32 data=b1 n=4 k=3 device=1\ninstantiate e0 g0\nmove b1\npatch e0\nlaunch e0 s0");
  EXPECT_EQ(current_at_add, 1);
  EXPECT_EQ(current_at_set, 1);
  EXPECT_EQ(current_at_launch, 0);
  run("kernel g0.n0 inplace_u32 data=b0 n=4 k=3\ninstantiate e0 g0\nmove b0\npatch e0\nlaunch e0 s1");
  EXPECT_EQ(current_at_add, 0);
  EXPECT_EQ(current_at_set, 0);
  EXPECT_EQ(current_at_launch, 1);
}

// A patcher that leaves the copy's other end where it was, and a runtime that forgets a device.
TEST(Devices, AStreamThatIsMadeOnTheWrongDeviceIsFoundOut) {
  const Program program = program_of(there("event v1 device=1\nrecord v1 s1\nwait s0 v1"));
  ASSERT_EQ(flaw(program), "");
  const auto judged = [&](void (*change)(hip::Api&)) { return OtherBench(change).judge.judge(program, {}).verdict; };
  EXPECT_EQ(judged([](hip::Api&) {}), VerdictKind::kAgree);
  EXPECT_EQ(judged([](hip::Api& api) {
              api.hipStreamCreateWithFlags = [](hipStream_t* stream, unsigned flags) {
                const hip::Api& model = model::abi::InProcess::api();
                const int before = current();
                static_cast<void>(model.hipSetDevice(0));
                const hipError_t status = model.hipStreamCreateWithFlags(stream, flags);
                static_cast<void>(model.hipSetDevice(before));
                return status;
              };
            }),
            VerdictKind::kDiverge);
}

}  // namespace
}  // namespace verify
