// Stream-ordered memory and pools in programs: the valid commands, the observations, that every strategy keeps the
// memory, and that memory which is reused too early breaks the property of stream order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "judging.h"
#include "verify/execute/placement.h"
#include "verify/generate/generator.h"
#include "verify/properties/causes.h"

namespace verify {
namespace {

constexpr std::string_view kFilled =
    "buffer b0 256\nbuffer b1 256\nstream s1 nonblocking\nstream s2 nonblocking\nevent v0\n"
    "malloc_async b5 256 s1\non s1 memset dst=b5+0 value=7 element=4 width=64\n";

std::string with(std::string_view more) {
  return std::string(kFilled) + std::string(more);
}

TEST(StreamMemoryPrograms, EveryStrategyKeepsItWhereItIsThroughPatchesAndSetters) {
  agrees_under_strategies(program_of(
      with("sync s1\nread b5\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b5+0 n=8 a=3\n"
           "memcpy g0.n1 dst=b5+64 src=b0+0 bytes=64 kind=d2d after=n0\ninspect g0\ninstantiate e0 g0\nlaunch e0 s0\n"
           "move b0\npatch e0\nlaunch e0 s0\nset e0.n0 kernel axpy_u64 out=b0+64 in=b5+64 n=8 a=5\nlaunch e0 s0\n"
           "patch g0\nread b5\nwrite b5 seed=3\nlaunch e0 s0\nread b5\nfree b5\n")));
}

TEST(StreamMemoryPrograms, AFreeInStreamOrderTakesNothingFromTheWorkBeforeIt) {
  agrees_under_strategies(
      program_of(with("on s1 memcpy dst=b0+0 src=b5+0 bytes=256 kind=d2d\nfree_async b5 s1\n"
                      "malloc_async b6 256 s2\non s2 memset dst=b6+0 value=9 width=256\nsync s2\nread b0\n"
                      "record v0 s2\nwait s1 v0\nfree_async b6 s1\n")));
}

TEST(StreamMemoryPrograms, PoolsKeepWhatTheyAreToldAndMemoryOutlivesThem) {
  const std::string commands =
      "pool p0\npool p1 default\nbuffer b0 64\npool_attribute p0 release_threshold=4096\npool_attribute p1 "
      "opportunistic=0\n"
      "pool_attribute p1 follow_events\npool_access p0\npool_use p0\nmalloc_async b5 100 s0\nmalloc_async b6 64 s0 "
      "pool=p1\n"
      "on s0 memset dst=b6+0 value=3 width=64\npool_attribute p0 used\npool_attribute p0 used_high=0\n"
      "pool_attribute p0 reserved\npool_trim p0 0\ndestroy p0\non s0 memset dst=b5+0 value=4 width=100\nread b5\nread "
      "b6\n"
      "pool_use default\nfree_async b5 s0\n";
  agrees_under_strategies(program_of(commands));
  const Observation observation = trace_of(commands);
  std::string seen;
  for (const StepStatus& status : observation.statuses) seen += status.seen.empty() ? "" : status.seen + "; ";
  EXPECT_EQ(seen, "4096; 0; 1; read and write; p0; all of its memory; default; ");
  EXPECT_TRUE(observation.violations.empty());
}

TEST(StreamMemoryPrograms, InACaptureItBelongsToTheGraphLikeMemoryOfAllocationNodes) {
  agrees_under_strategies(
      program_of("buffer b0 256\nbuffer b1 256\nstream s1\ncapture s1\nmalloc_async b5 256 s1\n"
                 "on s1 memset dst=b5+0 value=7 element=4 width=64\non s1 memcpy dst=b0+0 src=b5+0 bytes=256 kind=d2d\n"
                 "free_async b5 s1\nendcapture s1 g0\ninspect g0\ninstantiate e0 g0\nlaunch e0 s1\nmove b0\npatch e0\n"
                 "launch e0 s1\nread b0\n"));
  // Not freed in the graph: launching again is refused until the program does.
  agrees_under_strategies(program_of(
      "buffer b0 256\nstream s1\ncapture s1\nmalloc_async b5 256 s1\non s1 memset dst=b5+0 value=7 width=256\n"
      "endcapture s1 g0\ninstantiate e0 g0\nlaunch e0 s1\nread b5\nlaunch e0 s1\nfree_async b5 s1\nlaunch e0 s1\n"));
}

TEST(StreamMemoryPrograms, MemoryOfMallocIsThereForAllStreamsAtOnceAndFreedByEitherCall) {
  agrees_under_strategies(
      program_of("buffer b0 256\nstream s1 nonblocking\nstream s2 nonblocking\nmalloc b5 256\nmalloc b6 64\n"
                 "on s2 memset dst=b5+0 value=7 element=4 width=64\nsync s2\n"
                 "on s1 memcpy dst=b0+0 src=b5+0 bytes=256 kind=d2d\nfree_async b5 s1\nwrite b6 seed=1\n"
                 "sync device\nread b0\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b6+0 n=8 a=3\n"
                 "instantiate e0 g0\nlaunch e0 s0\nmove b0\npatch e0\nlaunch e0 s0\nread b6\nfree b6\nread b0\n"));
}

TEST(StreamMemoryPrograms, MemoryOfMallocIsOfNoPool) {
  const Observation observation = trace_of("pool p0 default\nmalloc b5 100\npool_attribute p0 used\n");
  EXPECT_EQ(observation.statuses.back().seen, "all of its memory");
  const State state = state_after(program_of("malloc b5 100\nmalloc_async b6 100 s0\n"));
  EXPECT_FALSE(state.buffer(5)->of_pool());
  EXPECT_TRUE(state.buffer(6)->of_pool());
}

TEST(StreamMemoryPrograms, OtherDevicesReachMemoryOfMallocAsTheyReachABuffer) {
  const auto copied = [](const std::string& allocation) {
    return program_of("buffer b0 64 device=1\n" + allocation +
                      "write b5 seed=1\non s0 memcpy dst=b0+0 src=b5+0 bytes=64 kind=default\nsync s0\nread b0\n");
  };
  const Program plain = copied("malloc b5 64\n");
  ASSERT_EQ(flaw(plain), "");
  EXPECT_TRUE(in_agreement(Bench().judge.judge(plain, {})));
  EXPECT_THAT(flaw(copied("malloc_async b5 64 s0\n")), ::testing::HasSubstr("by access descriptors only"));
}

TEST(StreamMemoryPrograms, ARuntimeThatRefusesAMallocThatFitsDiffers) {
  OtherBench bench([](hip::Api& api) {
    api.hipMalloc = [](void** memory, std::size_t bytes) {
      return bytes == 1000 ? hipErrorOutOfMemory : model::abi::InProcess::api().hipMalloc(memory, bytes);
    };
  });
  EXPECT_EQ(bench.judge.judge(program_of("malloc b5 1000\n"), {}).verdict, VerdictKind::kDiverge);
  EXPECT_EQ(bench.judge.judge(program_of("malloc b5 1024\n"), {}).verdict, VerdictKind::kAgree);
}

TEST(StreamMemoryPrograms, MemoryOfMallocThatIsNotGivenBackIsALeak) {
  OtherBench bench([](hip::Api& api) {
    api.hipFree = [](void* memory) { return memory == nullptr ? hipErrorInvalidValue : hipSuccess; };
  });
  const Judgement judgement = bench.judge.judge(program_of("malloc b5 64\nfree b5\n"), {});
  ASSERT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  EXPECT_EQ(judgement.broken.front(), PropertyId::kP8);
}

constexpr std::string_view kShort = "device_memory 67108864\nbuffer b0 256\nmalloc_async b5 20971520 s0\n";

TEST(StreamMemoryPrograms, WhatTheDeviceHasNotIsRefusedAndChangesNothing) {
  const std::string commands =
      std::string(kShort) + "malloc_async b6 50331648 s0\nmalloc_async b6 256 s0\n" +
      "on s0 memset dst=b6+0 value=7 width=256\non s0 memcpy dst=b0+0 src=b6+0 bytes=256 kind=d2d\nsync s0\nread b0\n";
  agrees_under_strategies(program_of(commands));
  const Observation observation = trace_of(commands);
  EXPECT_EQ(observation.statuses[3].code, hipErrorOutOfMemory);
  EXPECT_EQ(observation.statuses[4].code, hipSuccess);
}

TEST(StreamMemoryPrograms, ARefusedMallocLeavesWhatWasThere) {
  const std::string commands =
      "device_memory 67108864\nbuffer b0 256\nmalloc b4 256\nwrite b4 seed=5\nmalloc b5 20971520\n"
      "malloc b6 50331648\nread b4\nmalloc b6 256\non s0 memset dst=b6+0 value=7 width=256\n"
      "on s0 memcpy dst=b0+0 src=b6+0 bytes=256 kind=d2d\nfree_async b5 s0\nsync s0\nread b0\nread b4\n";
  agrees_under_strategies(program_of(commands));
  const Observation observation = trace_of(commands);
  EXPECT_EQ(observation.statuses[4].code, hipSuccess);
  EXPECT_EQ(observation.statuses[5].code, hipErrorOutOfMemory);
  EXPECT_EQ(observation.statuses[7].code, hipSuccess);
  std::vector<std::byte> written(256);
  fill_pattern(4, 5, written);
  EXPECT_EQ(observation.reads.front().bytes, written);
  EXPECT_EQ(observation.reads.at(2).bytes, written);
  EXPECT_EQ(state_after(program_of("device_memory 67108864\nmalloc b6 134217728\n")).buffer(6), nullptr);
}

TEST(StreamMemoryPrograms, AMallocIsRefusedWhatAStreamWasPromised) {
  const Program program = program_of(std::string(kShort) + "malloc b6 50331648\n");
  Bench bench;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RunOptions options;
    options.schedule_seed = seed;
    EXPECT_EQ(bench.subject.run(program, options, {}).observation.statuses[3].code, hipErrorOutOfMemory) << seed;
  }
}

TEST(StreamMemoryPrograms, OnADeviceOfAStatedSizeItIsClearWhatFits) {
  for (const auto& [commands, mentions] : {
           std::pair{"malloc_async b6 33554432 s0\n",
                     "is open: at most 12582912 bytes are certain to fit, more than 48300032 certain not to"},
           {"free b0\nmalloc_async b6 46137345 s0\n", "is open"},
           {"malloc b6 12582913\n", "is open: at most 12582912 bytes are certain to fit"},
           {"malloc b6 12582912\nmalloc_async b7 1 s0\n", "is open: at most 0 bytes are certain to fit"},
           {"malloc b6 12582912\nfree b6\nmalloc b7 1\n", "is open: at most 0 bytes are certain to fit"},
           {"device_memory 134217728\n", "once"},
           {"buffer b6 65536\n", "at most 65536 bytes of buffers, freed ones included"},
           {"pool p0\n", "no more pools"},
           {"graph g0\nalloc g0.n0 b6 64\n", "no memory of graphs"},
           {"on s0 memset dst=b6+0 value=7 width=256\n", "b6"},
       }) {
    EXPECT_THAT(flaw(program_of(std::string(kShort) + commands)), ::testing::HasSubstr(mentions)) << commands;
  }
  EXPECT_TRUE(State().check(DeviceMemory{DeviceMemory::kLeast - 1}));
  EXPECT_THAT(flaw(program_of("malloc b6 64\ndevice_memory 67108864\n")), ::testing::HasSubstr("or malloc allocate"));
}

TEST(StreamMemoryPrograms, WhatNothingOrdersIsPoisoned) {
  for (const std::string_view commands : {"on s2 memset dst=b5+0 value=1 width=8\n",
                                          "sync s1\non s1 memset dst=b5+0 value=1 width=8\nfree_async b5 s2\n"}) {
    const Judgement judgement = Bench().judge.judge(program_of(with(commands)), {});
    EXPECT_EQ(judgement.verdict, VerdictKind::kPoisoned) << commands << described(judgement);
  }
}

TEST(StreamMemoryPrograms, WhatTheRulesForbidIsRefused) {
  for (const auto& [commands, mentions] : {
           std::pair{"malloc_async b5 64 s1\n", "declared already"},
           {"malloc_async b6 0 s1\n", "bytes"},
           {"malloc_async b6 64 s7\n", "s7"},
           {"malloc_async b6 64 s1 pool=p0\n", "p0 is not declared"},
           {"malloc_async b6 64 s1\nread b6\n", "holds anything"},
           {"malloc_async b6 64 s1\non s1 memset dst=b6+0 value=1 width=63\n", "holds anything"},
           {"malloc_async b6 64 s1\nwrite b6 at=0 hex=00\n", "holds anything"},
           {"malloc_async b6 64 s1\ngraph g0\nmemset g0.n0 dst=b6+0 value=1 width=64\n", "holds anything"},
           {"move b5\n", "runtime's business"},
           {"graph g0\nkernel g0.n0 count_only n=8 a=addr(b5) b=0\n", "runtime's business"},
           {"free_async b5 s1\nread b5\n", "freed"},
           {"free b5\nfree_async b5 s1\n", "freed"},
           {"free_async b0 s1\n", "no stream"},
           {"capture s1\nfree_async b5 s1\n", "while a stream captures"},
           {"capture s1\nmalloc_async b6 64 s1\nfree_async b6 s2\n", "while a stream captures"},
           {"capture s1\npool p0\n", "while a stream captures"},
           {"graph g0\ncapture s1 into=g0\nmalloc_async b6 64 s1\n", "captured into"},
           {"capture s1\nmalloc_async b6 64 s1\non s1 memset dst=b6+0 value=1 width=8\n", "holds anything"},
           {"capture s1\nmalloc_async b6 64 s1\nfree_async b6 s1\nfree_async b6 s1\n", "frees b6 already"},
           {"malloc b5 64\n", "declared already"},
           {"malloc b6 0\n", "bytes"},
           {"malloc b6 64\nread b6\n", "holds anything"},
           {"malloc b6 64\ngraph g0\nmemset g0.n0 dst=b6+0 value=1 width=64\n", "holds anything"},
           {"malloc b6 64\nmove b6\n", "runtime's business"},
           {"malloc b6 64\nfree_async b6 s1\nfree b6\n", "freed"},
           {"capture s1\nmalloc b6 64\n", "'unsafe'"},
           {"malloc b6 64\ncapture s1\nfree_async b6 s1\n", "while a stream captures"},
           {"malloc b6 64\ncapture s1\nfree_async b6 s2\n", "capture elsewhere"},
           {"pool p0\npool p0\n", "declared already"},
           {"pool p0 default\npool p1 default\n", "default pool already"},
           {"pool p0 default\ndestroy p0\n", "cannot be destroyed"},
           {"pool p0\ndestroy p0\npool_trim p0 0\n", "was destroyed"},
           {"pool p0\npool_attribute p0 used=0\n", "only tells"},
           {"pool p0\npool_attribute p0 used_high=1\n", "reset to 0"},
           {"pool p0\npool_attribute p0 opportunistic=2\n", "0 or 1"},
       }) {
    const std::string why = flaw(program_of(with(commands)));
    EXPECT_NE(why.find(mentions), std::string::npos) << commands << ": " << why;
  }
}

// P4: each function fails once, says so, and is called again as if nothing had been.
TEST(StreamMemoryPrograms, ACallThatFailsOnceChangesNothing) {
  for (const char* function :
       {"hipMalloc", "hipMallocAsync", "hipMallocFromPoolAsync", "hipFreeAsync", "hipMemPoolCreate",
        "hipMemPoolDestroy", "hipMemPoolSetAttribute", "hipMemPoolTrimTo", "hipDeviceSetMemPool"}) {
    const Program program =
        program_of("fail 1 " + std::string(function) +
                   "\npool p0\npool_attribute p0 release_threshold=64\npool_use p0\nmalloc_async b5 64 s0\n"
                   "malloc_async b6 64 s0 pool=p0\non s0 memset dst=b5+0 value=1 width=64\nread b5\nfree_async b5 s0\n"
                   "malloc b7 64\nfree_async b6 s0\npool_trim p0 0\npool_use default\ndestroy p0\n");
    EXPECT_TRUE(in_agreement(Bench().judge.judge(program, {}))) << function;
  }
}

TEST(StreamMemoryPrograms, MemoryThatIsNotGivenBackIsALeakAndNoMatterOfOrder) {
  OtherBench bench([](hip::Api& api) { api.hipFreeAsync = [](void*, hipStream_t) { return hipSuccess; }; });
  const Judgement judgement = bench.judge.judge(program_of(with("free_async b5 s1\n")), {});
  ASSERT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  EXPECT_EQ(judgement.broken.front(), PropertyId::kP8);
}

// The memory that was freed last, for a runtime that hands it out again at once.
void* g_freed = nullptr;

void hand_out_again_at_once(hip::Api& api) {
  g_freed = nullptr;
  api.hipFreeAsync = [](void* memory, hipStream_t) {
    g_freed = memory;
    return hipSuccess;
  };
  api.hipMallocAsync = [](void** memory, std::size_t bytes, hipStream_t stream) {
    if (g_freed == nullptr) return model::abi::InProcess::api().hipMallocAsync(memory, bytes, stream);
    *memory = std::exchange(g_freed, nullptr);
    return hipSuccess;
  };
}

TEST(StreamMemoryPrograms, MemoryReusedBeforeTheWorkThatUsesItIsAMatterOfStreamOrder) {
  const Program reuses =
      program_of(with("on s1 memcpy dst=b0+0 src=b5+0 bytes=256 kind=d2d\nfree_async b5 s1\n"
                      "malloc_async b6 256 s2\non s2 memset dst=b6+0 value=9 width=256\nsync s2\nread b0\n"));
  OtherBench bench(hand_out_again_at_once);
  const Judgement judgement = bench.judge.judge(reuses, {});
  ASSERT_EQ(judgement.verdict, VerdictKind::kDiverge) << described(judgement);
  EXPECT_EQ(judgement.broken.front(), PropertyId::kS1) << described(judgement);
  EXPECT_GE(judgement.exercised[index_of(PropertyId::kS1)], 1U);
  // Without the stream-ordered frees, the violation is gone.
  const std::optional<Program> keeping = without_stream_ordered_frees(reuses);
  ASSERT_TRUE(keeping.has_value());
  EXPECT_EQ(bench.judge.judge(*keeping, {}).verdict, VerdictKind::kAgree);
}

TEST(StreamMemoryPrograms, TheGeneratorMakesThemAndTheyAgree) {
  std::uint64_t programs = 0, frees = 0, captured = 0, reused = 0, pools = 0, plain = 0;
  for (std::uint64_t index = 0; index < 500; ++index) {
    const Program program = campaign_program(11, index, {.size = 40});
    std::uint64_t allocations = 0;
    bool open = false, freed = false;
    for (const Step& step : program.steps) {
      plain += std::holds_alternative<Malloc>(step.command) ? 1 : 0;
      open = std::holds_alternative<BeginCapture>(step.command) ||
             (open && !std::holds_alternative<EndCapture>(step.command));
      const bool allocates = std::holds_alternative<MallocAsync>(step.command);
      allocations += allocates ? 1 : 0;
      captured += allocates && open ? 1 : 0;
      reused += allocates && freed ? 1 : 0;
      freed = std::holds_alternative<FreeAsync>(step.command);
      frees += freed ? 1 : 0;
      pools += std::holds_alternative<DeclarePool>(step.command) ? 1 : 0;
    }
    if (allocations == 0) continue;
    ++programs;
    EXPECT_TRUE(in_agreement(Bench().judge.judge(program, {}))) << index << "\n" << print_program(program);
  }
  EXPECT_GE(programs, 15U);
  EXPECT_GE(frees, 15U);
  EXPECT_GE(captured, 1U);
  EXPECT_GE(reused, 5U);
  EXPECT_GE(pools, 5U);
  EXPECT_GE(plain, 15U);
}

TEST(StreamMemoryPrograms, TheGeneratorAsksForMoreThanTheDeviceHas) {
  std::uint64_t refused = 0;
  for (std::uint64_t index = 0; index < 3000; ++index) {
    State state;
    for (const Step& step : campaign_program(11, index, {}).steps) {
      refused += std::holds_alternative<Malloc>(step.command) && state.answer(step.command).status != 0 ? 1 : 0;
      for (std::uint32_t k = 0; k < repeats_that_matter(step); ++k) state.apply(step.command);
    }
  }
  EXPECT_GE(refused, 2U);
}

}  // namespace
}  // namespace verify
