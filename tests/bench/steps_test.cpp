// The workloads of the step benchmarks on the host model, or on AMD's runtime (in the program that is built with
// HGCHECK_ON_RUNTIME, for the capsule's loader): their contents, the bytes that every way of running them leaves (the
// same for all ways), and the counts of a step where a step can be counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "bench/step_runtimes.h"
#include "bench/step_session.h"
#include "verify/execute/heap_counter.h"

namespace {

using bench::StepModel;
using bench::StepWay;

struct Steps : testing::Test {
  // `workload`: a StepModel, or StepPairs.
  template <class Workload>
  bench::StepBed& bed(const Workload& workload, StepWay way) {
    hip::Result<std::unique_ptr<bench::StepBed>> made =
        bench::StepBed::make(*runtime().platform, bench::make_step_workload(workload), bench::needs_mapped(way));
    EXPECT_TRUE(made.ok());
    bed_ = std::move(made).value();
    return *bed_;
  }
  // The calls of one step in the steady state.
  template <class Workload>
  bench::StepCounts counts(const Workload& workload, StepWay way) {
    const hip::Result<bench::StepCounts> counts = bench::count_step({.way = way}, bed(workload, way));
    EXPECT_TRUE(counts.ok()) << (counts ? "" : counts.error().message);
    return counts ? counts.value() : bench::StepCounts{};
  }

 private:
#ifdef HGCHECK_ON_RUNTIME
  static bench::StepRuntime& runtime() {
    static std::vector<bench::StepRuntime> runtimes = bench::open_step_runtimes();
    if (runtimes.size() < 2) std::exit(2);  // it has said why
    return runtimes[1];
  }
#else
  bench::StepRuntime& runtime() { return runtime_; }
  bench::StepRuntime runtime_ = bench::open_model();
#endif
  std::unique_ptr<bench::StepBed> bed_;
};

TEST_F(Steps, TheFsdpModelHas728CommandsOfWhich216AreCollectivesAndOneInTenChanges) {
  const bench::StepWorkload workload = bench::make_step_workload(StepModel::kFsdp);
  EXPECT_EQ(workload.commands.size(), 728u);
  EXPECT_EQ(std::count_if(workload.commands.begin(), workload.commands.end(),
                          [](const bench::StepCommand& command) { return command.collective; }),
            216);
  EXPECT_EQ(workload.commands_that_change(), 73u);
}

TEST_F(Steps, EveryBufferOfTheMlpMovesThatIsNoParameter) {
  for (const StepModel model : {StepModel::kMlp, StepModel::kMlpCollectives}) {
    const bench::StepWorkload workload = bench::make_step_workload(model);
    EXPECT_EQ(workload.commands.size(), model == StepModel::kMlp ? 65u : 73u);
    for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
      EXPECT_EQ(workload.moves[i], workload.buffers[i] != bench::BufferRole::kParameter) << i;
    }
  }
}

TEST_F(Steps, EveryCommandReadsWhatWasWrittenBeforeOrComesFromOutside) {
  for (const StepModel model : bench::kStepModels) {
    const bench::StepWorkload workload = bench::make_step_workload(model);
    std::vector<bool> written(workload.buffers.size());
    for (std::size_t i = 0; i < written.size(); ++i) {
      written[i] =
          workload.buffers[i] == bench::BufferRole::kParameter || workload.buffers[i] == bench::BufferRole::kInput;
    }
    for (const bench::StepCommand& command : workload.commands) {
      for (std::size_t i = 1; i < command.buffers.size(); ++i) EXPECT_TRUE(written[command.buffers[i]]);
      written[command.buffers[0]] = true;
    }
    EXPECT_EQ(std::count(written.begin(), written.end(), false), 0);
  }
}

TEST_F(Steps, EveryWayLeavesWhatTheCommandsLeaveWithoutAGraph) {
  for (const StepModel model : bench::kStepModels) {
    for (const StepWay way : bench::kStepWays) {
      const hip::Status checked = bench::check_steps({.way = way}, bed(model, way));
      EXPECT_TRUE(checked.ok()) << name_of(model) << ' ' << name_of(way) << ": "
                                << (checked ? "" : checked.error().message);
    }
  }
}

// Six of 64 commands have both buffers elsewhere at every step. Buffers of two sizes, one of them more than a page.
TEST_F(Steps, OfPairsSoManyCommandsChangeAndEveryWayLeavesTheSameBytesAndCopiesOnlyWhatMoved) {
  for (const std::uint64_t bytes : {std::uint64_t{4096}, std::uint64_t{20000}}) {
    const bench::StepPairs pairs{.commands = 64, .moved_percent = 10, .buffer_bytes = bytes};
    const bench::StepWorkload workload = bench::make_step_workload(pairs);
    EXPECT_EQ(workload.commands.size(), 64u);
    EXPECT_EQ(workload.commands_that_change(), 6u);
    for (const StepWay way :
         {StepWay::kRecordNodes, StepWay::kUpdate, StepWay::kPatch, StepWay::kStabilise, StepWay::kRemap}) {
      const hip::Status checked = bench::check_steps({.way = way}, bed(pairs, way));
      EXPECT_TRUE(checked.ok()) << name_of(way) << ": " << (checked ? "" : checked.error().message);
      const bench::StepCounts step = counts(pairs, way);
      EXPECT_EQ(step.setters, way == StepWay::kPatch ? 6u : 0u) << name_of(way);
      EXPECT_EQ(step.bytes_copied, way == StepWay::kStabilise ? 12 * bytes : 0u) << name_of(way);
    }
  }
}

// The patched step of the issue: 728 commands, of which 73 hold a buffer that moved; with a release's quirks and
// without.
TEST_F(Steps, APatchedStepOf728CommandsSetsTheNodesThatChangeLaunchesOnceAndAllocatesNothing) {
  for (const StepWay way : {StepWay::kPatch, StepWay::kCareful}) {
    const bench::StepCounts step = counts(StepModel::kFsdp, way);
    EXPECT_EQ(step.setters, 73u) << name_of(way);
    EXPECT_EQ(step.launches, 1u) << name_of(way);
    // One more asks for the current device, and one notes the launch; 7.2 must not launch into a capture.
    EXPECT_EQ(step.calls, step.setters + step.launches + (way == StepWay::kCareful ? 3 : 2)) << name_of(way);
    EXPECT_EQ(step.allocations, 0u) << name_of(way);
  }
}

TEST_F(Steps, RecordingAgainAllocatesSoTheCountIsNoConstant) {
  const std::uint64_t allocations = counts(StepModel::kFsdp, StepWay::kRecordNodes).allocations;
  EXPECT_EQ(allocations > 728u, verify::heap_is_counted()) << allocations;
}

TEST_F(Steps, CachedCollectivesAreLaunchedWithoutACaptureAndWithoutAnAllocation) {
  for (const StepModel model : {StepModel::kMlpCollectives, StepModel::kFsdp}) {
    const bench::StepCounts cached = counts(model, StepWay::kCache);
    const bench::StepCounts captured = counts(model, StepWay::kCapture);
    EXPECT_EQ(cached.allocations, 0u) << name_of(model);
    EXPECT_EQ(cached.launches, captured.launches) << name_of(model);
    EXPECT_EQ(cached.setters, captured.setters) << name_of(model);
    EXPECT_GT(captured.calls, cached.calls) << name_of(model);
  }
}

TEST_F(Steps, AStabilisedStepCopiesWhatGoesInAndOutAndAllocatesNothing) {
  for (const StepModel model : bench::kStepModels) {
    const bench::StepCounts step = counts(model, StepWay::kStabilise);
    EXPECT_EQ(step.bytes_copied, 4 * bench::kStepBufferBytes) << name_of(model);
    EXPECT_EQ(step.setters, 0u) << name_of(model);
    EXPECT_EQ(step.launches, 1u) << name_of(model);
    EXPECT_EQ(step.allocations, 0u) << name_of(model);
  }
}

// The moved memory is mapped: unmapped, mapped, given access and checked, once a buffer that moves.
TEST_F(Steps, ARemappedStepMapsEachBufferThatMovedLaunchesOnceAndSetsNothing) {
  for (const StepModel model : bench::kStepModels) {
    const bench::StepWorkload workload = bench::make_step_workload(model);
    const auto moves = static_cast<std::uint64_t>(std::ranges::count(workload.moves, true));
    const bench::StepCounts step = counts(model, StepWay::kRemap);
    EXPECT_EQ(step.setters, 0u) << name_of(model);
    EXPECT_EQ(step.launches, 1u) << name_of(model);
    EXPECT_EQ(step.bytes_copied, 0u) << name_of(model);
    EXPECT_GE(step.calls, 4 * moves) << name_of(model);
    EXPECT_LE(step.calls, 4 * moves + 8) << name_of(model);
  }
}

}  // namespace
