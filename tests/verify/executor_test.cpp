// The executor and the judge on the model: the effects of programs, and the verdicts on them. Not verified here: the
// properties themselves (properties_test.cpp) and their detectors (detectors_test.cpp).
#include "verify/run/executor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "eager.h"
#include "judging.h"
#include "verify/generate/generator.h"

namespace verify {
namespace {

TEST(Executor, TheExampleAgreesUnderEveryStrategyAndSchedule) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    agrees_under_strategies(parsed(kExample), {.schedule_seed = seed, .every_call_fails = true, .however_built = true});
  }
}

TEST(Executor, NoGeneratedProgramHasADataRaceFaultsOrIsRefused) {
  Bench bench;
  for (std::uint64_t index = 0; index < 1500; ++index) {
    const Program program = campaign_program(41, index, {.size = index % 10 == 0 ? 100U : 30U});
    ASSERT_TRUE(in_agreement(bench.judge.judge(program, {.schedule_seed = index % 3, .isolation = false})))
        << print_program(program);
  }
}

TEST(HostThreads, RunTheWorkOfSeveralAtTheSameTime) {
  HostThreads threads;
  hip::sync::Atomic<int> begun{0};
  const auto meet = [&begun] {
    ++begun;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (begun < 2 && std::chrono::steady_clock::now() < limit) hip::sync::yield();
    EXPECT_EQ(begun, 2);
  };
  threads.run({{1, meet}, {3, meet}});
  threads.run(1, [&begun] { begun = 0; });
  EXPECT_EQ(begun, 0);
}

// A hipStreamQuery that answers 'not ready' where no second thread calls it in time.
hip::sync::Atomic<int> querying{0};
std::chrono::milliseconds patience{0};
hipError_t query_together(hipStream_t) {
  ++querying;
  const auto limit = std::chrono::steady_clock::now() + patience;
  while (querying < 2 && std::chrono::steady_clock::now() < limit) hip::sync::yield();
  return querying < 2 ? hipErrorNotReady : hipSuccess;
}

// Threads of a block overlap here. The model cannot take calls of two threads, so they call nothing but the query.
class OverlappingPlatform final : public ModelPlatform {
 public:
  OverlappingPlatform() : api_(ModelPlatform::api()) { api_.hipStreamQuery = query_together; }
  [[nodiscard]] const hip::Api& api() const override { return api_; }
  void on_threads(const std::map<Id, std::function<void()>>& works) override { Platform::on_threads(works); }

 private:
  hip::Api api_;
};

bool queries_meet(const std::string& before, std::chrono::milliseconds time) {
  querying = 0;
  patience = time;
  OverlappingPlatform platform;
  Executor executor(platform, StrategyKind::kPatch);
  const Program program =
      program_of(before + "stream s1\nstream s2\nthreads\nthread 1\nquery s1\nthread 2\nquery s2\nend\n");
  return std::ranges::none_of(executor.run(program, {}).observation.statuses,
                              [](const StepStatus& status) { return status.code == hipErrorNotReady; });
}

TEST(Executor, ThreadsOfABlockOverlapUnlessCallsFailByTheirNumber) {
  EXPECT_TRUE(queries_meet("", std::chrono::seconds(60)));
  EXPECT_FALSE(queries_meet("fail 1 hipGraphLaunch\n", std::chrono::milliseconds(1)));
  EXPECT_FALSE(queries_meet("fail_below 1 allocation\n", std::chrono::milliseconds(1)));
}

RC_GTEST_PROP(Executor, TheSameProgramAndOptionsGiveTheSameTrace, ()) {
  Bench bench;
  const Program program = *arbitrary_program({});
  const RunOptions options{.schedule_seed = *rc::gen::inRange<std::uint64_t>(0, 100)};
  const RunResult once = bench.subject.run(program, options), twice = bench.subject.run(program, options);
  RC_ASSERT(compare(program, once.observation, twice.observation).empty());
  RC_ASSERT(once.script == twice.script);
  RC_ASSERT(once.observation.calls == twice.observation.calls);
  RC_ASSERT(once.observation.exercised == twice.observation.exercised);
}

RC_GTEST_PROP(Executor, EveryStepHasAStatusAndEveryLiveBufferIsReadAtTheEnd, ()) {
  Bench bench;
  const Program program = *arbitrary_program({});
  const Observation observation = bench.subject.run(program, {}).observation;
  RC_ASSERT(observation.statuses.size() == program.steps.size());
  std::set<Id> live, seen;
  for (const Step& step : program.steps) {
    if (const auto* declared = std::get_if<DeclareBuffer>(&step.command)) live.insert(declared->buffer);
    if (const auto* freed = std::get_if<Free>(&step.command)) live.erase(freed->buffer);
  }
  for (const BytesSeen& read : observation.reads) {
    if (read.step == program.steps.size()) seen.insert(read.buffer);
  }
  RC_ASSERT(seen == live);
}

RC_GTEST_PROP(Executor, FreshAddressesChangeNothingButAddresses, ()) {
  Bench bench;
  const Program program = without_addresses(*arbitrary_program({}));
  RunOptions options;
  const Observation repeating = bench.subject.run(program, options).observation;
  options.fresh_addresses = true;
  RC_ASSERT(compare(program, repeating, bench.subject.run(program, options).observation).empty());
}

// Small programs, each with one thing that is easily got wrong; all of them agree.
constexpr std::string_view kSmall[] = {
    "",
    "graph g0\ninstantiate e0 g0\nlaunch e0 s0",
    "graph g0\ninstantiate e0 g0\npatch e0\nupdate e0 g0\nlaunch e0 s0",
    "graph g0\nempty g0.n0 fan=300\nempty g0.n1 fan=2 after=n0\ninstantiate e0 g0\nlaunch e0 s0",
    "buffer b0 4096\ngraph g0\nmemset g0.n0 dst=b0 value=3 width=4 fan=64\ninstantiate e0 g0\nmove b0\npatch e0\n"
    "launch e0 s0",
    "graph g0\ngraph g1\nchild g1.n0 g0 nest=63\ninstantiate e0 g1\nlaunch e0 s0",
    "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\ngraph g1\nchild g1.n0 g0 nest=40\n"
    "instantiate e0 g1\nmove b0\npatch e0\nrepeat 3 launch e0 s0",
    "buffer b0 64 memory=pinned\ngraph g0\nhost g0.n0 tag=7 mem=b0 bytes=64\ninstantiate e0 g0\nlaunch e0 s0\nread b0",
    "buffer b0 64 memory=pageable\nbuffer b1 64\ngraph g0\nmemcpy g0.n0 dst=b1 src=b0 bytes=64 kind=h2d\n"
    "memcpy g0.n1 dst=b0 src=b1 bytes=32 kind=default after=n0\ninstantiate e0 g0\nmove b0 b1\npatch e0\nlaunch e0 s0",
    "buffer b0 64\nbuffer b1 64\ngraph g0\nkernel g0.n0 axpy_u64 out=b0 in=b1 n=8 a=1 opaque\ninstantiate e0 g0\n"
    "move b0=@b1 b1=@b0\npatch e0\npatch g0\ninstantiate e1 g0\nlaunch e0 s0\nlaunch e1 s0",
    "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=addr(b0)\ninstantiate e0 g0\nmove b0\npatch e0\n"
    "patch g0\nlaunch e0 s0\ndestroy e0\ninstantiate e1 g0\nlaunch e1 s0",
    "buffer b0 64\nstream s1 nonblocking\nevent v0\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\n"
    "instantiate e0 g0\nlaunch e0 s1\nrecord v0 s1\nwait s0 v0\nlaunch e0 s0\nsync v0\nsync s1\ndestroy s1\ndestroy v0",
    "buffer b0 64\ngraph g0\nempty g0.n0\ngraph g1\nempty g1.n0\nempty g1.n1\ninstantiate e0 g0\nupdate e0 g1\n"
    "launch e0 s0",
    "placement native\nbuffer b0 64\nbuffer b1 64\nfree b0\nbuffer b2 64\ngraph g0\n"
    "memset g0.n0 dst=b2 value=1 width=64\ninstantiate e0 g0\nrepeat 5 move b1=@b2 b2=@b1\npatch e0\nlaunch e0 s0",
    // A child is set while other nodes have their buffers at old addresses: the patch still has to set these nodes.
    "buffer b1 64\nbuffer b2 64\nbuffer b3 64\ngraph g0\ngraph g1\nmemcpy g0.n0 dst=b3 src=b1 bytes=16 kind=d2d\n"
    "memcpy g1.n0 dst=b1 src=b2 bytes=16 kind=d2d\nchild g1.n1 g0 after=n0\ninstantiate e1 g1\nmove b2\n"
    "set e1.n1 child g0\npatch e1\nwrite b2 seed=7\nlaunch e1 s0",
};

class SmallProgram : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Executor, SmallProgram, testing::ValuesIn(kSmall),
                         [](const auto& at) { return "Number" + std::to_string(at.index); });

TEST_P(SmallProgram, IsValidAndAgreesUnderEveryStrategy) {
  agrees_whatever_fails(program_of(GetParam()));
}

// The word that the kernel left behind tells which bits the scalar had.
std::uint64_t k_of_inplace(const Observation& observation) {
  std::uint32_t word = 0;
  std::memcpy(&word, observation.reads.back().bytes.data(), 4);
  return word;
}

TEST(Executor, AFrozenAddressKeepsItsBitsAndIsTheSameUnderEveryStrategy) {
  const std::string head = "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=1 k=addr(b0)\n";
  const std::string tail = "instantiate e0 g0\nlaunch e0 s0\nread b0";
  const std::uint64_t unmoved = k_of_inplace(trace_of(head + tail));
  const std::uint64_t moved = k_of_inplace(trace_of(head + "move b0\npatch g0\n" + tail));
  const std::uint64_t later = k_of_inplace(trace_of("buffer b0 64\nmove b0\n" + head.substr(13) + tail));
  EXPECT_EQ(unmoved, moved);
  EXPECT_NE(unmoved, later);
}

TEST(Executor, AHostFunctionIsCountedByItsTag) {
  const Observation observation =
      trace_of("graph g0\nhost g0.n0 tag=3\nhost g0.n1 tag=4 fan=2\ninstantiate e0 g0\nrepeat 5 launch e0 s0");
  EXPECT_EQ(observation.host_tags, (std::map<std::uint32_t, std::uint64_t>{{3, 5}, {4, 10}}));
}

TEST(Executor, APatchOfAnOpaqueNodeFallsBackToRecordingAgain) {
  const Observation observation = trace_of(
      "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1 opaque\ninstantiate e0 g0\nmove b0\n"
      "patch e0\nlaunch e0 s0");
  EXPECT_EQ(observation.patches, 1u);
  EXPECT_EQ(observation.fallbacks, 1u);
  EXPECT_GE(observation.exercised[index_of(PropertyId::kA7)], 1u);
}

TEST(Executor, ACommandInWhichACallFailsIsRunAgain) {
  Bench bench;
  const Program program = program_of(
      "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0 n=4 k=1\ninstantiate e0 g0\nfail 2 hipGraphLaunch\n"
      "launch e0 s0\nlaunch e0 s0\nread b0");
  const RunResult failing = bench.subject.run(program, {});
  EXPECT_EQ(failing.observation.failures_fired, 1u);
  for (const StepStatus& status : failing.observation.statuses) EXPECT_EQ(status.code, 0);
  const RunResult plain = bench.subject.run(program, {.failures = false}, failing.script);
  EXPECT_EQ(plain.observation.failures_fired, 0u);
  EXPECT_TRUE(compare(program, plain.observation, failing.observation).empty());
}

// ---- eager execution is a meaningful reference: its bytes differ when a node is left out

TEST(Eager, TheExampleLeavesWhatTheModelLeaves) {
  Bench bench;
  const Program program = without_addresses(parsed(kExample));
  const Observation observation = bench.subject.run(program, {}).observation;
  const std::vector<BytesSeen> by_hand = run_eagerly(program);
  ASSERT_EQ(observation.reads.size(), by_hand.size());
  for (std::size_t i = 0; i < by_hand.size(); ++i) EXPECT_EQ(observation.reads[i].bytes, by_hand[i].bytes) << i;
  Program shorter = program;
  shorter.steps.erase(shorter.steps.begin() + 4);  // the copy
  EXPECT_NE(run_eagerly(shorter).front().bytes, by_hand.front().bytes);
}

// ---- verdicts

TEST(Judge, AProgramWithADataRaceIsPoisonedAndNoDivergence) {
  Bench bench;
  const std::string head = "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=1 width=8\n";
  const std::string tail = "instantiate e0 g0\nlaunch e0 s0";
  const Judgement raced = bench.judge.judge(program_of(head + "memset g0.n1 dst=b0 value=2 width=8\n" + tail), {});
  EXPECT_EQ(raced.verdict, VerdictKind::kPoisoned) << described(raced);
  EXPECT_NE(raced.reason.find("race"), std::string::npos);
  EXPECT_NE(raced.reason.find("written by e0.n0 in line "), std::string::npos) << raced.reason;
  EXPECT_NE(raced.reason.find("written by e0.n1 in line "), std::string::npos) << raced.reason;
  EXPECT_TRUE(
      in_agreement(bench.judge.judge(program_of(head + "memset g0.n1 dst=b0 value=2 width=8 after=n0\n" + tail), {})));
}

TEST(Judge, ADataRaceIsToldInTheWordsOfTheProgram) {
  Bench bench;
  const auto race_of = [&](const std::string& text) { return bench.judge.judge(program_of(text), {}).reason; };
  const auto two_launches = [](const std::string& buffer) {
    return "buffer " + buffer + " 64\nstream s1\nstream s2\ngraph g0\nmemset g0.n0 dst=" + buffer +
           " value=1 width=8\ninstantiate e0 g0\ninstantiate e1 g0\nlaunch e0 s1\nlaunch e1 s2\n";
  };
  const std::string words =
      "data race: b0+0 to b0+8: written by e0.n0 in line 9 'launch e0 s1', written by e1.n0 in line 10 'launch e1 s2'";
  EXPECT_EQ(race_of(two_launches("b0")), words);
  EXPECT_EQ(race_of(two_launches("b0") + "move b0\nbuffer b1 64\n"), words) << "b1 is where b0 was";
  EXPECT_EQ(race_of("buffer b0 64\nfree b0\n" + two_launches("b1")),
            "data race: b1+0 to b1+8: written by e0.n0 in line 11 'launch e0 s1', "
            "written by e1.n0 in line 12 'launch e1 s2'");
}

TEST(Judge, AFailureOfAFunctionThatHipDoesNotHaveIsUnsupported) {
  Bench bench;
  const Judgement judgement = bench.judge.judge(program_of("fail 1 hipNoSuchFunction\nsync device"), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kUnsupported);
  EXPECT_EQ(judgement.reason, "hipNoSuchFunction");
  EXPECT_EQ(bench.judge.judge(program_of("fail 1 hipGraphLaunch\nsync device"), {}).verdict, VerdictKind::kAgree);
}

TEST(Judge, WhatTheBaselineRefusesIsDiscardedAndNoDivergence) {
  OtherTable refusing([](hip::Api& table) {
    table.hipGraphInstantiate = [](hipGraphExec_t*, hipGraph_t, hipGraphNode_t*, char*, std::size_t) {
      return hipErrorNotSupported;
    };
  });
  ModelPlatform platform;
  Executor subject(platform, StrategyKind::kPatch), baseline(refusing, StrategyKind::kRebuild);
  const Judgement judgement = Judge(subject, baseline).judge(program_of("graph g0\ninstantiate e0 g0"), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kDiscarded) << described(judgement);
  EXPECT_NE(judgement.reason.find("hipErrorNotSupported"), std::string::npos);
}

// A patcher that refuses every move as if the executor had mixed up addresses.
struct RefusesMoves final : ExecPatcher {
  explicit RefusesMoves(const PatchTarget&) {}
  hip::PatchResult patch(std::span<const hip::Move>) override {
    return hip::PatchError{hip::PatchFailure::kBadMove, 0, "not where I have it"};
  }
  void replace(hip::NodeIndex, hip::NodeRecord, std::vector<hip::Relocation>) override {}
  void replace_all(const hip::Recording&, std::span<const hip::DeviceAddress>) override {}
};

TEST(Judge, AMoveThatThePatcherCannotPlaceIsTheHarnesssError) {
  Bench bench(StrategyKind::kPatch, [](const PatchTarget& target) -> std::unique_ptr<ExecPatcher> {
    return std::make_unique<RefusesMoves>(target);
  });
  const Judgement judgement = bench.judge.judge(parsed(kExample), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kHarnessError);
  EXPECT_EQ(judgement.reason, "not where I have it");
}

// ---- functions of user objects that come late

constexpr std::string_view kObject = "userobject u0\ngraph g0\nretain u0 g0 move\n";

// The function and the data of the runtime's one user object, and the thread that runs the function when told to.
struct Late {
  hipHostFn_t function = nullptr;
  void* data = nullptr;
  std::thread thread;
};
Late late;

hipError_t create_late(hipUserObject_t* object, void* data, hipHostFn_t function, unsigned references, unsigned flags) {
  late.function = function;
  late.data = data;
  const hipHostFn_t delayed = [](void*) {
    late.thread = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      late.function(late.data);
    });
  };
  return model::abi::InProcess::api().hipUserObjectCreate(object, nullptr, delayed, references, flags);
}

TEST(UserObjects, AFunctionThatRunsOnAnotherThreadIsWaitedFor) {
  OtherBench bench([](hip::Api& api) { api.hipUserObjectCreate = create_late; });
  const Observation observation = bench.subject.run(program_of(kObject), {}).observation;
  ASSERT_TRUE(late.thread.joinable());
  late.thread.join();
  EXPECT_TRUE(observation.violations.empty());
}

TEST(UserObjects, AFunctionThatNeverRunsIsALeak) {
  OtherBench bench([](hip::Api& api) {
    api.hipUserObjectCreate = [](hipUserObject_t* object, void*, hipHostFn_t, unsigned references, unsigned flags) {
      return model::abi::InProcess::api().hipUserObjectCreate(object, nullptr, [](void*) {}, references, flags);
    };
  });
  const Observation observation = bench.subject.run(program_of(kObject), {}).observation;
  ASSERT_EQ(observation.violations.size(), 1u);
  EXPECT_EQ(observation.violations.front().property, PropertyId::kP8);
  EXPECT_EQ(observation.violations.front().observed, "the function of u0 ran 0 times");
}

TEST(Judge, AnAgreementBreaksNothingAndDiffersInNothing) {
  const Judgement judgement = Bench().judge.judge(parsed(kExample), {});
  EXPECT_EQ(judgement.verdict, VerdictKind::kAgree);
  EXPECT_TRUE(judgement.broken.empty());
  EXPECT_TRUE(judgement.violations.empty());
  EXPECT_TRUE(judgement.differences.empty());
  for (const PropertyId id :
       {PropertyId::kA1, PropertyId::kA2, PropertyId::kA4, PropertyId::kA5, PropertyId::kA6, PropertyId::kP1,
        PropertyId::kP2, PropertyId::kP3, PropertyId::kP5, PropertyId::kP8, PropertyId::kP12}) {
    EXPECT_GE(judgement.exercised[index_of(id)], 1u) << property(id).name;
  }
  for (const PropertyId id : {PropertyId::kA7, PropertyId::kP4, PropertyId::kP9}) {
    EXPECT_EQ(judgement.exercised[index_of(id)], 0u) << property(id).name;
  }
}

}  // namespace
}  // namespace verify
