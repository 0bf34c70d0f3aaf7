// Captures on the model: P6, P7 and P9's pair, sentence by sentence, the detectors against runtimes that are wrong in
// one thing, and captured graphs as graphs like any other.
#include "verify/properties/captures.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "judging.h"
#include "verify/generate/generator.h"
#include "verify/oracle/stream_variants.h"

namespace verify {
namespace {

constexpr const char* kObjects =
    "buffer b0 256\nbuffer b1 256\nbuffer b2 64 memory=pinned\nstream s1 nonblocking\nstream s2\nevent v0\nevent v1\n";
constexpr const char* kForked =
    "capture s1\non s1 kernel axpy_u64 out=b0+0 in=b1+0 n=8 a=addr(b0+8)\nrecord v0 s1\nwait s2 v0\n"
    "on s2 memset dst=b1+64 value=7 element=2 width=8\non s1 memcpy dst=b0+128 src=b1+0 bytes=64 kind=d2d\n"
    "on s1 host tag=3 mem=b2+0 bytes=16\nrecord v1 s2\nwait s1 v1\ncapture_info s1\nendcapture s1 g1\n";

Program with_objects(const std::string& commands) {
  return program_of(kObjects + commands);
}

bool captures(const Program& program) {
  return std::any_of(program.steps.begin(), program.steps.end(),
                     [](const Step& step) { return std::holds_alternative<BeginCapture>(step.command); });
}

// Draws programs of a random campaign until `wanted` holds for one.
Program program_with(const std::function<bool(const Program&)>& wanted) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::uint64_t index = 0;
  while (!wanted(campaign_program(seed, index, {}))) ++index;
  return campaign_program(seed, index, {});
}

// Returns the number of violations of one property in an observation.
std::size_t violations_of(const Observation& observation, PropertyId id) {
  return static_cast<std::size_t>(std::count_if(observation.violations.begin(), observation.violations.end(),
                                                [id](const Violation& v) { return v.property == id; }));
}

Observation run_on(Platform& platform, const Program& program) {
  Executor executor(platform, StrategyKind::kRebuild);
  return executor.run(program, {}).observation;
}

TEST(Captures, ACapturedGraphIsPatchedSetAndUpdatedLikeAnyOther) {
  const Program program = with_objects(
      std::string(kForked) +
      "instantiate e0 g1\nlaunch e0 s1\nsync s1\nmove b0=@b1 b1=@b0\npatch e0\nlaunch e0 s1\nread b0\n"
      "set e0.n1 memset dst=b1+64 value=9 element=2 width=8\nlaunch e0 s1\nread b1\nmove b0\npatch g1\npatch e0\n"
      "update e0 g1\nlaunch e0 s2\nread b0");
  for (const StrategyKind strategy : kUsersStrategies) {
    const Judgement judgement = Bench(strategy).judge.judge(program, {.every_call_fails = true, .however_built = true});
    EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << described(judgement);
    EXPECT_GE(judgement.exercised[index_of(PropertyId::kP6)], 1u);
    EXPECT_GE(judgement.exercised[index_of(PropertyId::kP7)], 10u);
  }
}

TEST(Captures, WhatIsCapturedIntoAGraphAndLaunchedIntoACaptureRunsInItsPlace) {
  Bench bench;
  const Program program = with_objects(
      "graph g0\nmemset g0.n0 dst=b0+0 value=1 width=64 fan=2\ncapture s1 into=g0 after=n0\n"
      "on s1 kernel inplace_u32 data=b0+0 n=4 k=3\nendcapture s1 g0\ninstantiate e0 g0\ncapture s2 mode=relaxed\n"
      "on s2 memset dst=b0+0 value=9 width=16\nlaunch e0 s2\non s2 kernel inplace_u32 data=b0+0 n=8 k=5 thread=1\n"
      "endcapture s2 g1 thread=2\ninstantiate e1 g1\nlaunch e1 s1\nread b0\nmove b0\npatch e1\nlaunch e1 s0\nread b0");
  EXPECT_TRUE(in_agreement(bench.judge.judge(program, {.however_built = true})));
}

// Frameworks add nodes of their own to the graph that a stream captures into.
constexpr const char* kByHand =
    "capture s1\non s1 memset dst=b0+0 value=3 element=1 width=64\n"
    "on s1 kernel inplace_u32 data=b0+0 n=8 k=3 by_hand\nrecord v0 s1\nwait s2 v0\non s2 empty by_hand\n"
    "on s2 memcpy dst=b1+0 src=b0+0 bytes=32 kind=d2d by_hand\nmalloc_async b5 64 s1 by_hand\n"
    "on s1 memset dst=b5+0 value=7 element=1 width=64 by_hand\non s1 memcpy dst=b0+64 src=b5+0 bytes=64 kind=d2d\n"
    "free_async b5 s1 by_hand\nrecord v1 s2\nwait s1 v1\non s1 host tag=3 mem=b2+0 bytes=16 by_hand\n"
    "capture_info s1\nendcapture s1 g1\n";

TEST(Captures, NodesThatAreAddedByHandAreNodesLikeTheCapturedOnes) {
  const Program program = with_objects(std::string(kByHand) +
                                       "inspect g1\ninstantiate e0 g1\nlaunch e0 s1\nsync s1\nread b0\nread b1\n"
                                       "set e0.n0 memset dst=b0+0 value=4 element=1 width=64\nlaunch e0 s2\n"
                                       "sync device\nmove b0 b1\npatch e0\nlaunch e0 s1\nread b0\nread b1");
  agrees_under_strategies(program, {.every_call_fails = true, .however_built = true});
}

TEST(Captures, NodesAreAddedByHandToAGraphThatIsCapturedIntoAndBehindOtherNodes) {
  const Program program = with_objects(
      "graph g0\nmemset g0.n0 dst=b0+0 value=1 width=64 fan=2\ngraph g7\nmemset g7.n0 dst=b1+64 value=2 width=8\n"
      "capture s1 into=g0 after=n0\non s1 child g7 by_hand\n"
      "on s1 kernel inplace_u32 data=b0+0 n=4 k=3 by_hand\ncapture_after s1 none\n"
      "on s1 memset dst=b1+0 value=9 width=16 by_hand\ncapture_after s1 n2 add\ncapture_info s1\n"
      "endcapture s1 g0\ninstantiate e0 g0\nlaunch e0 s1\nread b0\nmove b0\npatch e0\nlaunch e0 s0\nread b1");
  agrees_under_strategies(program, {.every_call_fails = true, .however_built = true});
}

TEST(Captures, AStreamThatDoesNotComeBehindANodeByHandIsSeen) {
  OtherBench bench(
      [](hip::Api& api) {
        api.hipStreamUpdateCaptureDependencies = [](hipStream_t, hipGraphNode_t*, std::size_t, unsigned) {
          return hipSuccess;
        };
      },
      StrategyKind::kRebuild);
  EXPECT_EQ(bench.judge.judge(with_objects(kByHand), {}).verdict, VerdictKind::kDiverge);
}

// hipEventRecordExternal and hipEventWaitExternal: work of another stream behind v2 runs after the node at each launch.
constexpr const char* kExternal =
    "event v2\ncapture s1\non s1 memset dst=b0+0 value=3 element=1 width=64\non s1 eventrecord v2\n"
    "on s1 eventwait v1\non s1 memcpy dst=b1+0 src=b0+64 bytes=64 kind=d2d\ncapture_info s1\nendcapture s1 g1\n"
    "instantiate e0 g1\non s2 memset dst=b0+64 value=5 element=1 width=64\nrecord v1 s2\nlaunch e0 s1\n"
    "wait s2 v2\non s2 memcpy dst=b1+64 src=b0+0 bytes=64 kind=d2d\nsync device\nread b1\ninspect g1\n";

TEST(Captures, ExternalRecordsAndWaitsBecomeEventNodesThatOrderLaunches) {
  const Program program = with_objects(std::string(kExternal) + "move b0 b1\npatch e0\nlaunch e0 s1\nread b1");
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    agrees_under_strategies(program, {.schedule_seed = seed, .every_call_fails = true, .however_built = true});
  }
}

TEST(Captures, AnExternalRecordThatIsDroppedIsSeen) {
  OtherBench bench(
      [](hip::Api& api) { api.hipEventRecordWithFlags = [](hipEvent_t, hipStream_t, unsigned) { return hipSuccess; }; },
      StrategyKind::kRebuild);
  EXPECT_EQ(bench.judge.judge(with_objects(kExternal), {}).verdict, VerdictKind::kDiverge);
}

// NVIDIA's runtime destroys the graph of a program together with the stream that captures into it.
TEST(Captures, AnOpenCaptureIntoAGraphIsEndedIfItCanEndAndItsStreamIsDestroyedOtherwise) {
  static decltype(hip::Api::hipStreamDestroy) destroy = nullptr;
  static decltype(hip::Api::hipStreamIsCapturing) is_capturing = nullptr;
  OtherBench bench(
      [](hip::Api& api) {
        destroy = api.hipStreamDestroy;
        is_capturing = api.hipStreamIsCapturing;
        api.hipStreamDestroy = [](hipStream_t stream) {
          hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
          const bool free = is_capturing(stream, &status) == hipSuccess && status == hipStreamCaptureStatusNone;
          return free ? destroy(stream) : hipErrorUnknown;
        };
      },
      StrategyKind::kRebuild);
  const std::string open = "graph g0\ncapture s1 into=g0\non s1 memset dst=b0+0 value=1 width=4\n";
  EXPECT_TRUE(in_agreement(bench.judge.judge(with_objects(open), {})));
  EXPECT_EQ(bench.judge.judge(with_objects(open + "query s1"), {}).verdict, VerdictKind::kHarnessError);
}

TEST(Captures, AnExternalRecordOrWaitStandsOnlyWhereTheStreamCapturesAndTheGraphHasNoOtherUseOfTheEvent) {
  const std::string capture = "capture s1\n";
  EXPECT_NE(flaw(with_objects("on s1 eventrecord v0")), "");
  EXPECT_NE(flaw(with_objects("on s1 eventwait v0")), "");
  EXPECT_EQ(flaw(with_objects(capture + "on s1 eventrecord v0")), "");
  EXPECT_NE(flaw(with_objects(capture + "on s1 eventrecord v0\non s1 eventwait v0")), "");
  EXPECT_NE(flaw(with_objects(capture + "record v0 s1\non s1 eventrecord v0")), "");
  EXPECT_NE(flaw(with_objects(capture + "on s1 eventrecord v0\ndestroy v0")), "");
}

TEST(StreamVariants, LaunchesOfOneExecutableGraphOnTwoStreamsAreNoEagerWork) {
  const std::string begin =
      "buffer b0 64\nstream s1 nonblocking\nstream s2 nonblocking\ngraph g0\n"
      "memset g0.n0 dst=b0+0 value=7 element=1 width=64\ninstantiate e0 g0\nlaunch e0 s1\n";
  EXPECT_FALSE(launched_eagerly(program_of(begin + "launch e0 s2\n")));
  EXPECT_TRUE(launched_eagerly(program_of(begin + "launch e0 s1\n")));
  EXPECT_TRUE(launched_eagerly(program_of(begin + "sync s1\nlaunch e0 s2\n")));
}

TEST(StreamVariants, WhatOrdersOtherStreamsIsNotReplacedByNothing) {
  const auto eager = [](const std::string& node, const std::string& stream) {
    const std::string program =
        "stream s1\ngraph g0\n" + node + "instantiate e0 g0\nlaunch e0 " + stream + "\nlaunch e0 " + stream + "\n";
    return launched_eagerly(program_of(program)).has_value();
  };
  EXPECT_FALSE(eager("empty g0.n0\n", "s0"));
  EXPECT_TRUE(eager("empty g0.n0\n", "s1"));
  EXPECT_TRUE(eager("", "s0"));
  EXPECT_TRUE(eager("empty g0.n0\nhost g0.n1 tag=1\n", "s0"));
}

TEST(Captures, AnOpaqueKernelIsCapturedAndHonestlyRecordedAgain) {
  Bench bench;
  const Program program = with_objects(
      "capture s1\non s1 kernel inplace_u32 data=b0+0 n=4 k=3 opaque\nendcapture s1 g0\ninstantiate e0 g0\n"
      "launch e0 s1\nread b0\nmove b0\npatch e0\nlaunch e0 s1\nread b0");
  const Judgement judgement = bench.judge.judge(program, {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kAgree) << described(judgement);
  EXPECT_GE(judgement.exercised[index_of(PropertyId::kA7)], 1u);
}

// P6
RC_GTEST_PROP(P6, ReplayingObservesTheSameAsRunningTheOperationsEagerly, ()) {
  const Program program =
      program_with([](const Program& candidate) { return launched_eagerly(candidate).has_value(); });
  const std::optional<StreamVariant> variant = launched_eagerly(program);
  RC_ASSERT(flaw(variant->program) == "");
  Bench bench(StrategyKind::kRebuild);
  const RunOptions options{.failures = false};
  const RunResult replayed = bench.subject.run(program, options);
  RC_ASSERT(replayed.observation.notes.races == 0u);
  const RunResult eager = bench.baseline.run(variant->program, options, replayed.script);
  const auto differences =
      compare(program, replayed.observation, in_terms_of(program, *variant, replayed.observation, eager.observation));
  RC_ASSERT(differences.empty());
}

TEST(P6, ARuntimeThatRunsWhatItCapturesIsCaught) {
  OtherTable hasty([](hip::Api& api) {
    api.hipLaunchHostFunc = [](hipStream_t stream, hipHostFn_t function, void* data) {
      function(data);
      return model::abi::InProcess::api().hipLaunchHostFunc(stream, function, data);
    };
  });
  const Program program = with_objects("capture s1\non s1 host tag=3\nendcapture s1 g0");
  EXPECT_EQ(violations_of(run_on(hasty, program), PropertyId::kP6), 1u);
  ModelPlatform model;
  EXPECT_EQ(violations_of(run_on(model, program), PropertyId::kP6), 0u);
}

TEST(P6, ARuntimeWhoseReplayIsNotItsEagerWorkIsNamedAfterIt) {
  OtherBench bench([](hip::Api& api) {
    api.hipMemsetAsync = [](void* dst, int value, size_t size, hipStream_t stream) {
      return model::abi::InProcess::api().hipMemsetAsync(dst, value + 1, size, stream);
    };
  });
  const Judgement judgement = bench.judge.judge(
      with_objects("graph g0\nmemset g0.n0 dst=b0+0 value=1 width=8\ninstantiate e0 g0\nlaunch e0 s1"),
      {.however_built = true});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiverge);
  EXPECT_EQ(broken_names(judgement), "P6") << described(judgement);
}

// P7
RC_GTEST_PROP(P7, CaptureFollowsItsStateMachine, ()) {
  const Program program = program_with([](const Program& candidate) { return captures(candidate); });
  ModelPlatform model;
  const Observation observation = run_on(model, program);
  RC_ASSERT(violations_of(observation, PropertyId::kP7) == 0u);
  RC_ASSERT(observation.exercised[index_of(PropertyId::kP7)] != 0u);
  RC_ASSERT(observation.harness_error.empty());
}

TEST(P7, EveryRuleIsWhatTheModelAnswers) {
  ModelPlatform model;
  for (const char* commands :
       {"capture s0",
        "capture s1\ncapture s1",
        "endcapture s1 g0",
        "capture s1\nquery s1\ncapture_info s1\nendcapture s1 g0",
        "capture s1\nsync device\nendcapture s1 g0\ncapture s1\nendcapture s1 g0",
        "capture s2\ncapture_info s0",
        "capture s2\non s0 memset dst=b0+0 value=1 width=4\nendcapture s2 g0",
        "capture s1\nrecord v0 s1\nwait s2 v0\nendcapture s2 g0\non s2 memset dst=b0+0 value=1 width=4\nendcapture s1 "
        "g0",
        "capture s1\nrecord v0 s1\nsync v0\nendcapture s1 g0\nquery v0\nrecord v0 s1\nsync v0\nquery v0",
        "capture s1\ncapture s2\nrecord v0 s1\nwait s2 v0\nendcapture s1 g0\nendcapture s2 g0",
        "record v0 s2\nsync v0\ncapture s1\nwait s1 v0\nendcapture s1 g0",
        "capture s1 mode=thread\nunsafe thread=1\nunsafe",
        "capture s1\nunsafe call=host_malloc\nendcapture s1 g0",
        "capture s1\nunsafe call=host_register\nendcapture s1 g0",
        "capture s1 mode=relaxed\nunsafe call=host_malloc\nunsafe call=host_register\nendcapture s1 g0",
        "capture s1\nunsafe call=memory_info\nunsafe call=device_limit\nendcapture s1 g0",
        "capture_mode relaxed thread=1\ncapture s1\nunsafe thread=1\ncapture_mode global thread=1\nunsafe thread=1",
        "capture s1\nendcapture s1 g0 thread=1\nendcapture s1 g0",
        "capture s1\nrecord v0 s1\nwait s2 v0\ndestroy s2",

        "capture s1\ndestroy s1\ncapture s2\nendcapture s2 g0",
        "elapsed v0 v1",
        "capture s1\non s1 host tag=1\non s1 host tag=2\ncapture_after s1 n0\non s1 host tag=3\ncapture_info s1\n"
        "capture_after s1 n1 add\ncapture_info s1\ncapture_after s1 none\ncapture_info s1\nendcapture s1 g0"}) {
    const Program program = with_objects(commands);
    ASSERT_EQ(flaw(program), "") << commands;
    const Observation observation = run_on(model, program);
    EXPECT_EQ(violations_of(observation, PropertyId::kP7), 0u)
        << commands << "\n"
        << (observation.violations.empty()
                ? ""
                : observation.violations[0].where + " expected " + observation.violations[0].expected + ", observed " +
                      observation.violations[0].observed);
    EXPECT_GE(observation.exercised[index_of(PropertyId::kP7)], commands == std::string("elapsed v0 v1") ? 0u : 1u);
  }
}

// A second try would end a capture that is not there any more.
TEST(P4, AnEndOfACaptureThatIsRefusedByTheRulesIsNotTriedAgainAfterAFailure) {
  const Program program = with_objects("capture s1\nsync s1\nfail 1 hipStreamEndCapture\nendcapture s1 g1");
  ASSERT_EQ(flaw(program), "");
  Bench bench;
  EXPECT_TRUE(in_agreement(bench.judge.judge(program, {})));
  EXPECT_EQ(bench.subject.run(program, {}).observation.failures_fired, 1U);
}

TEST(P7, WhatOtherRulesAnswerWhileSomethingCapturesIsNoViolation) {
  const std::string begun =
      "graph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=0 k=0\ninstantiate e0 g0\ngraph g2\nempty g2.n0\n"
      "empty g2.n1 after=n0\ncapture s1\n";
  for (const char* command :
       {"inspect g0", "disable e0.n0", "find g2 g0.n0", "edge g2.n0 after=n1 cycle\ninstantiate e1 g2"}) {
    EXPECT_TRUE(in_agreement(Bench(StrategyKind::kPatch).judge.judge(with_objects(begun + command), {}))) << command;
  }
}

TEST(P7, ARuntimeThatLetsTheDeviceBeWaitedForIsCaught) {
  OtherTable lenient([](hip::Api& api) {
    api.hipDeviceSynchronize = [] {
      const bool capturing = !model::abi::active()->runtime().captures().empty();
      return capturing ? hipSuccess : model::abi::InProcess::api().hipDeviceSynchronize();
    };
  });
  const Observation observation = run_on(lenient, with_objects("capture s1\nsync device\nendcapture s1 g0"));
  EXPECT_EQ(violations_of(observation, PropertyId::kP7), 2u);  // it was not refused, and the capture is not invalid
}

// Objects are looked at before a command that is going to be refused. This runtime refuses none of the repetitions.
TEST(P4, TheObjectsAreLookedAtBeforeOneRepetitionOfAStep) {
  static int looks;
  looks = 0;
  OtherTable lenient([](hip::Api& api) {
    api.hipDeviceSynchronize = [] { return hipSuccess; };
    api.hipGraphExecGetFlags = [](hipGraphExec_t exec, unsigned long long* flags) {
      ++looks;
      return model::abi::InProcess::api().hipGraphExecGetFlags(exec, flags);
    };
  });
  run_on(lenient, with_objects("graph g0\nempty g0.n0\ninstantiate e0 g0\ncapture s1\nrepeat 5 sync device"));
  EXPECT_EQ(looks, 1);
}

TEST(P4, NodesOfAGraphThatAFailedCaptureMayHaveDestroyedAreNotAskedAbout) {
  static bool failed;
  static int asked;
  failed = false, asked = 0;
  OtherTable watched([](hip::Api& api) {
    api.hipStreamEndCapture = [](hipStream_t stream, hipGraph_t* graph) {
      const hipError_t status = model::abi::InProcess::api().hipStreamEndCapture(stream, graph);
      failed = failed || status != hipSuccess;
      return status;
    };
    api.hipGraphNodeGetEnabled = [](hipGraphExec_t exec, hipGraphNode_t node, unsigned* enabled) {
      asked += failed ? 1 : 0;
      return model::abi::InProcess::api().hipGraphNodeGetEnabled(exec, node, enabled);
    };
  });
  run_on(watched, with_objects("graph g0\nmemset g0.n0 dst=b0+0 value=1 width=64\ninstantiate e0 g0\n"
                               "capture s1 into=g0 after=n0\nquery s1\nendcapture s1 g0"));
  EXPECT_TRUE(failed);
  EXPECT_EQ(asked, 0);
}

// The kernel behind a refused memset is not taken for it.
TEST(Captures, NothingIsSetInWhatWasCapturedWhereACallOfItWasRefused) {
  static int sets;
  OtherTable refuses([](hip::Api& api) {
    api.hipMemsetAsync = [](void*, int, std::size_t, hipStream_t) { return hipErrorNotSupported; };
    api.hipGraphMemsetNodeSetParams = [](hipGraphNode_t, const hipMemsetParams*) {
      ++sets;
      return hipSuccess;
    };
  });
  const std::string captured =
      "on s1 memset dst=b0+0 value=7 element=1 width=64\non s1 kernel inplace_u32 data=b0+0 n=0 k=0\nendcapture s1 "
      "g1\n";
  for (const std::string& commands :
       {"capture s1\n" + captured + "set g1.n0 memset dst=b0+0 value=9 element=1 width=64",
        "graph g1\nempty g1.n0\ncapture s1 into=g1 after=n0\n" + captured +
            "set g1.n1 memset dst=b0+0 value=9 element=1 width=64"}) {
    const Program program = with_objects(commands);
    ASSERT_EQ(flaw(program), "") << commands;
    sets = 0;
    const Observation observation = run_on(refuses, program);
    EXPECT_TRUE(std::any_of(observation.statuses.begin(), observation.statuses.end(), [](const StepStatus& status) {
      return status.code == hipErrorNotSupported;
    })) << commands;
    EXPECT_EQ(sets, 0) << commands;
  }
}

// P12
RC_GTEST_PROP(P12, WhatANodeWritesIsSeenByTheNodesAfterItAndByTheHostAfterSynchronisingForEveryMemoryKind, ()) {
  // A memset, then copies through memory of any kinds, as nodes or as eager work; the host reads every buffer.
  const auto kinds = *rc::gen::container<std::vector<int>>(3, rc::gen::inRange(0, 3));
  const bool eager = *rc::gen::arbitrary<bool>();
  const char* const kMemory[] = {"device", "pinned", "pageable"};
  std::string text = "buffer b0 64 memory=" + std::string(kMemory[kinds[0] % 2]) + "\n";  // a memset reaches it
  for (int i = 1; i < 3; ++i)
    text += "buffer b" + std::to_string(i) + " 64 memory=" + kMemory[kinds[static_cast<std::size_t>(i)]] + "\n";
  text += "stream s1 nonblocking\ngraph g0\n";
  const auto node = [&](const std::string& word, int n) {
    return eager ? "on s1 " + word : word + " g0.n" + std::to_string(n);
  };
  const auto after = [&](int n) { return eager || n == 0 ? "\n" : " after=n" + std::to_string(n - 1) + "\n"; };
  text += node("memset", 0) + " dst=b0+0 value=165 width=64" + after(0);
  text += node("memcpy", 1) + " dst=b1+0 src=b0+0 bytes=64 kind=default" + after(1);
  if (eager) text += "sync s1\n";  // pageable memory may be read at once
  text += node("memcpy", 2) + " dst=b2+0 src=b1+0 bytes=64 kind=default" + after(2);
  if (!eager) text += "instantiate e0 g0\nlaunch e0 s1\n";
  const Program program = program_of(text + "read b0\nread b1\nread b2");
  RC_ASSERT(flaw(program) == "");
  ModelPlatform model;
  const Observation observation = run_on(model, program);
  RC_ASSERT(observation.violations.empty());
  for (const BytesSeen& seen : observation.reads) RC_ASSERT(seen.bytes == std::vector<std::byte>(64, std::byte{165}));
}

TEST(P12, AHostThatSeesOtherBytesThanTheRuntimeIsCaught) {
  std::vector<std::byte> by_host(4, std::byte{1}), by_runtime(4, std::byte{1});
  Violations found;
  EXPECT_TRUE(detect_p12({7, 2, by_host, by_runtime}, found));
  EXPECT_TRUE(found.empty());
  by_host[3] = std::byte{0};
  EXPECT_TRUE(detect_p12({7, 2, by_host, by_runtime}, found));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].where, "b2+3");
  EXPECT_EQ(found[0].property, PropertyId::kP12);
}

// P9
RC_GTEST_PROP(P9, AGraphThatIsRecordedByHandObservesTheSameAsTheCapturedOne, ()) {
  const Program program =
      program_with([](const Program& candidate) { return recorded_by_hand(candidate).has_value(); });
  const std::optional<StreamVariant> variant = recorded_by_hand(program);
  RC_ASSERT(flaw(variant->program) == "");
  Bench bench(StrategyKind::kPatch);
  const RunOptions options{.failures = false};
  const RunResult captured = bench.subject.run(program, options);
  const RunResult by_hand = bench.baseline.run(variant->program, options, captured.script);
  RC_ASSERT(
      compare(program, captured.observation, in_terms_of(program, *variant, captured.observation, by_hand.observation))
          .empty());
}

TEST(StreamVariants, ACaptureInWhichMemoryIsUnmappedIsNotRecordedByHand) {
  const std::string mapped =
      "buffer b0 64\nreserve r0 1\nphysical h0 1\nmap r0 0 h0\naccess r0 0 readwrite\n"
      "view b1 r0 0 64\nstream s1\ncapture s1\n"
      "on s1 memcpy dst=b0+0 src=b1+0 bytes=1 kind=d2d\n";
  EXPECT_TRUE(recorded_by_hand(program_of(mapped + "endcapture s1 g0\nunmap r0 0\n")));
  EXPECT_FALSE(recorded_by_hand(program_of(mapped + "unmap r0 0\nendcapture s1 g0\n")));
}

TEST(StreamVariants, ACaptureInWhichMemoryIsFreedIsNotRecordedByHand) {
  const std::string captured =
      "malloc_async b1 64 s0\non s0 memset dst=b1+0 value=0 element=1 width=64\n"
      "stream s1 nonblocking\ncapture s1 mode=relaxed\non s1 memset dst=b1+0 value=1 element=1 width=64\n";
  EXPECT_TRUE(recorded_by_hand(program_of(captured + "endcapture s1 g0\nfree_async b1 s0\n")));
  EXPECT_FALSE(recorded_by_hand(program_of(captured + "free_async b1 s0\nendcapture s1 g0\n")));
}

}  // namespace
}  // namespace verify
