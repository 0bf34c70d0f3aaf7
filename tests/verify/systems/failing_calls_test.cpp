// Parts that several systems use, with every call of HIP failing in turn: launches into captures and on a graph's own
// device, work that the host does, and nodes of another device. A failure is returned or reported; the caller's device
// is current again, nothing is left behind, and the next step is right. The systems themselves: systems_test.cpp,
// command_buffer_test.cpp, traced_commands_test.cpp, worker_thread_test.cpp.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "command_bed.h"
#include "hip/by_host.h"
#include "hip/captured_launch.h"
#include "hip/graph_patcher.h"
#include "hip/home_stream.h"
#include "verify/execute/records.h"
#include "verify/systems/argument_block.h"

namespace {

constexpr int kHome = 0, kElsewhere = 1;

// A bed on the first device, and a stream of the second one.
struct TwoDevices : CommandBed {
  TwoDevices() {
    on_device(kElsewhere, [&] { return api().hipStreamCreateWithFlags(&there_, hipStreamNonBlocking); });
  }
  ~TwoDevices() {
    EXPECT_EQ(api().hipStreamSynchronize(there_), hipSuccess);
    EXPECT_EQ(api().hipStreamDestroy(there_), hipSuccess);
  }
  hip::StreamRef there() { return {api(), there_, kElsewhere}; }
  void on_device(int device, const std::function<hipError_t()>& call) {
    EXPECT_EQ(api().hipSetDevice(device), hipSuccess);
    EXPECT_EQ(call(), hipSuccess);
    EXPECT_EQ(api().hipSetDevice(kHome), hipSuccess);
  }
  // Whether `work` succeeds while the call is armed. Checks that it returned or reported an error where something
  // failed, and kept the current device.
  template <class Work>
  bool succeeds(FailingCall& call, const Work& work) {
    call.arm(interposer_);
    const bool succeeded = work();
    call.disarm(interposer_);
    EXPECT_EQ(!succeeded || !told_.empty(), call.fired()) << call;
    EXPECT_EQ(current_device(), kHome) << call;
    return succeeded;
  }

  hipStream_t there_ = nullptr;
};

TEST(FailingCalls, ALaunchIntoACaptureLeavesTheCaptureAsItWasOrIsANode) {
  fail_each_call(9u, [](FailingCall& call) {
    TwoDevices bed;
    const BuiltGraph built(bed.api(), CommandBed::of(bed.fill(7)), {bed.at(0)});
    const auto enqueue = [&bed] {
      EXPECT_EQ(bed.api().hipMemsetAsync(reinterpret_cast<void*>(bed.at(1)), 1, 4, bed.there_), hipSuccess);
    };
    EXPECT_EQ(bed.api().hipStreamBeginCapture(bed.there_, hipStreamCaptureModeRelaxed), hipSuccess);
    enqueue();
    const auto launch = [&] { return hip::launch_into_capture(bed.there(), built.graph(), kHome).ok(); };
    const bool launched = bed.succeeds(call, launch);
    enqueue();
    EXPECT_TRUE(launch()) << call << ": the next one";
    enqueue();
    hipGraph_t captured = nullptr;
    EXPECT_EQ(bed.api().hipStreamEndCapture(bed.there_, &captured), hipSuccess) << call;
    ASSERT_NE(captured, nullptr) << call;
    EXPECT_EQ(bed.nodes_in(captured), launched ? 5u : 4u) << call;
    EXPECT_EQ(bed.edges_in(captured), bed.nodes_in(captured) - 1) << call << ": one behind the other";
    EXPECT_EQ(bed.api().hipGraphDestroy(captured), hipSuccess);
  });
}

// The launch comes after the earlier work of the other device's stream and before its later work.
TEST(FailingCalls, AHomeStreamLaunchesInOrderOrSaysSo) {
  for (const bool warm : {false, true}) {
    fail_each_call(warm ? 6u : 14u, [warm](FailingCall& call) {
      TwoDevices bed;
      void* seen = nullptr;
      EXPECT_EQ(bed.api().hipHostMalloc(&seen, CommandBed::kBytes, 0), hipSuccess);
      const auto* first = static_cast<const unsigned char*>(seen);
      void* const place = reinterpret_cast<void*>(bed.at(0));
      {
        const BuiltGraph built(bed.api(), CommandBed::of(bed.fill(7)), {bed.at(0)});
        hip::HomeStream home(bed.api(), kHome, bed.sink());
        const auto step = [&](const std::function<bool()>& launch) {
          EXPECT_EQ(bed.api().hipMemsetAsync(place, 3, CommandBed::kBytes, bed.there_), hipSuccess);
          const bool launched = launch();
          EXPECT_EQ(bed.api().hipMemcpyAsync(seen, place, CommandBed::kBytes, hipMemcpyDeviceToHost, bed.there_),
                    hipSuccess);
          EXPECT_EQ(bed.api().hipStreamSynchronize(bed.there_), hipSuccess);
          if (launched) {
            EXPECT_EQ(*first, 7) << call;
          }
        };
        const auto launch = [&] { return home.launch(built.exec(), bed.there()).ok(); };
        if (warm) step(launch);
        step([&] {
          const bool launched = bed.succeeds(call, launch);
          // A step that failed behind its launch may still be running.
          if (!launched) {
            EXPECT_EQ(bed.api().hipDeviceSynchronize(), hipSuccess);
          }
          return launched;
        });
        bed.told_.clear();
        bool again = false;
        step([&] { return again = launch(); });
        EXPECT_TRUE(again) << call << ": the next one";
        EXPECT_TRUE(bed.told_.empty()) << call;
      }
      EXPECT_EQ(bed.api().hipHostFree(seen), hipSuccess);
      EXPECT_EQ(bed.runtime_.platform().notes().races, 0u) << call;
    });
  }
}

TEST(FailingCalls, AHomeStreamGivesEverythingBackOrSaysSo) {
  fail_each_call(3u, [](FailingCall& call) {
    TwoDevices bed;
    const BuiltGraph built(bed.api(), CommandBed::of(bed.fill(7)), {bed.at(0)});
    std::optional<hip::HomeStream> home(std::in_place, bed.api(), kHome, bed.sink());
    EXPECT_TRUE(home->launch(built.exec(), bed.there()));
    EXPECT_EQ(bed.api().hipDeviceSynchronize(), hipSuccess);
    bed.succeeds(call, [&home] {
      home.reset();
      return true;
    });
  });
}

// A memset, and a copy through pinned memory of its own.
TEST(FailingCalls, WorkOfTheHostIsRecordedOrLeavesNothing) {
  static std::array<unsigned char, CommandBed::kBytes> pageable;
  for (const bool copies : {false, true}) {
    fail_each_call(copies ? 5u : 3u, [copies](FailingCall& call) {
      TwoDevices bed;
      bed.wipe();
      pageable.fill(copies ? 9 : 0);
      hip::RecordedNode node = bed.fill(7);
      const hip::AddressTable addresses = {copies ? bed.at(0) : reinterpret_cast<hip::DeviceAddress>(pageable.data())};
      if (copies) {
        hip::CopyRecord copy;
        copy.params.srcPtr = {pageable.data(), pageable.size(), pageable.size(), 1};
        copy.params.dstPtr = {bed.memory_, pageable.size(), pageable.size(), 1};
        copy.params.extent = {pageable.size(), 1, 1};
        copy.params.kind = hipMemcpyHostToDevice;
        copy.linear = true;
        node = {copy, {}, {{hip::Field::kCopyDestination, 0, 0, 0}}};
      }
      hip::Recording commands;
      for (hip::RecordedNode& each : hip::by_host(node, !copies, bed.sink())) {
        CommandBed::append(commands, std::move(each));
      }
      const auto done = [&] { return copies ? bed.value_at(0) == 9 : pageable[0] == 7; };
      bed.succeeds(call, [&] {
        hip::Result<hip::RecordedGraph> recorded = hip::record_graph(bed.api(), commands, addresses);
        return recorded && hip::destroy_graph(bed.api(), std::exchange(recorded.value().graph, nullptr));
      });
      const BuiltGraph again(bed.api(), commands, addresses);
      EXPECT_FALSE(done());
      EXPECT_EQ(bed.api().hipGraphLaunch(again.exec(), bed.stream_), hipSuccess);
      EXPECT_EQ(bed.api().hipStreamSynchronize(bed.stream_), hipSuccess);
      EXPECT_TRUE(done()) << call;
    });
  }
}

// A kernel of the second device, recorded and patched by a caller that has the first device current.
struct KernelElsewhere : TwoDevices {
  KernelElsewhere() {
    on_device(kElsewhere, [&] { return api().hipMalloc(&far_, 2 * kBytes); });
    verify::ArgumentBlock block("inplace_u32");
    block.set("data", far_).set("n", std::uint32_t{4}).set("k", std::uint32_t{3});
    hip::KernelRecord kernel;
    kernel.function = runtime_.platform().function(block.index(), kElsewhere);
    kernel.block = {64, 1, 1};
    kernel.arguments.assign(block.bytes().begin(), block.bytes().end());
    kernel.slots = verify::slots_of(*verify::find_kernel("inplace_u32"));
    kernel.attributes.priority = 0;
    kernel.device = kElsewhere;
    commands_.add({std::move(kernel), {}, {{hip::Field::kKernelArgument, block.offset("data"), 0, 0}}});
  }
  ~KernelElsewhere() {
    on_device(kElsewhere, [&] { return api().hipFree(far_); });
  }
  hip::DeviceAddress far(std::size_t place) const {
    return reinterpret_cast<hip::DeviceAddress>(far_) + place * kBytes;
  }
  // Whether the launch changes the place, and no other one.
  bool changes_only(hipGraphExec_t exec, std::size_t place) {
    std::array<unsigned char, 2 * kBytes> before{}, after{};
    on_device(kElsewhere, [&] {
      EXPECT_EQ(api().hipMemset(far_, 5, before.size()), hipSuccess);
      EXPECT_EQ(api().hipDeviceSynchronize(), hipSuccess);
      EXPECT_EQ(api().hipGraphLaunch(exec, there_), hipSuccess);
      EXPECT_EQ(api().hipStreamSynchronize(there_), hipSuccess);
      return api().hipMemcpy(after.data(), far_, after.size(), hipMemcpyDeviceToHost);
    });
    before.fill(5);
    const auto same = [&](std::size_t at) {
      return std::memcmp(before.data() + at * kBytes, after.data() + at * kBytes, kBytes) == 0;
    };
    return !same(place) && same(1 - place);
  }

  void* far_ = nullptr;
  hip::Recording commands_;
};

TEST(FailingCalls, ANodeOfAnotherDeviceIsRecordedOrTheGraphIsNot) {
  fail_each_call(6u, [](FailingCall& call) {
    KernelElsewhere bed;
    hip::RecordedGraph graph;
    const bool made = bed.succeeds(call, [&] {
      hip::Result<hip::RecordedGraph> recorded = hip::record_graph(bed.api(), bed.commands_, std::array{bed.far(0)});
      if (recorded) graph = std::move(recorded).value();
      return recorded.ok();
    });
    if (made) {
      EXPECT_EQ(bed.api().hipGraphDestroy(graph.graph), hipSuccess);
    }
  });
}

TEST(FailingCalls, ANodeOfAnotherDeviceIsPatchedOrStaysAsItWas) {
  fail_each_call(4u, [](FailingCall& call) {
    KernelElsewhere bed;
    const BuiltGraph built(bed.api(), bed.commands_, {bed.far(0)});
    hip::GraphPatcher patcher =
        hip::GraphPatcher::of_exec(bed.api(), bed.commands_, built.recorded(), built.exec(), std::array{bed.far(0)});
    const std::array moves{hip::Move{0, bed.far(0), bed.far(1)}};
    const bool patched = bed.succeeds(call, [&] { return patcher.patch(moves).ok(); });
    EXPECT_TRUE(bed.changes_only(built.exec(), patched ? 1 : 0)) << call;
    if (!patched) {
      EXPECT_TRUE(patcher.patch(moves).ok()) << call;
    }
    EXPECT_TRUE(bed.changes_only(built.exec(), 1)) << call;
  });
}

}  // namespace
