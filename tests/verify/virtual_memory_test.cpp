// Virtual memory in programs that run: the bytes that kernels find under views when memory is mapped anew, and races
// through two views of one memory. Not verified here: what a call does that HIP refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judging.h"
#include "verify/execute/placement.h"
#include "verify/subject/subject.h"

namespace verify {
namespace {

using ::testing::HasSubstr;

// Two memories, the first mapped at page 0 of a range; b0 is a view of that page and b1 a buffer.
constexpr std::string_view kMapped =
    "buffer b1 256\nstream s1 nonblocking\nreserve r0 4\nphysical h0 1\nphysical h1 1\nview b0 r0 0 4096\n"
    "map r0 0 h0\naccess r0 0 readwrite\n";
constexpr std::string_view kAdds = "kernel g0.n0 axpy_u64 out=b1+0 in=b0+0 n=32 a=3\n";

std::string mapped_and(std::string_view more) {
  return std::string(kMapped) + std::string(more);
}

// A graph reads the memory that is mapped when it is launched, and the memory that was there keeps its bytes.
const std::string kRemaps = mapped_and(
    "write b0 seed=5\ngraph g0\n" + std::string(kAdds) +
    "memset g0.n1 dst=b0+1024 value=9 element=4 width=16 after=n0\ninstantiate e0 g0\nlaunch e0 s1\nsync s1\n"
    "read b1\nread b0\nunmap r0 0\nmap r0 0 h1\naccess r0 0 readwrite\nlaunch e0 s1\nsync s1\nread b1\nread b0\n"
    "unmap r0 0\nrelease h1\nmap r0 0 h0\naccess r0 0 readwrite\nmove b1\npatch e0\nlaunch e0 s1\nsync s1\nread b1\n"
    "read b0\nunmap r0 0\nrelease h0\nunreserve r0\n");
// One memory under two views: what is written through one is read through the other, one copy crosses two mappings, and
// memory whose handle is released lives on.
const std::string kAliases = mapped_and(
    "map r0 1 h1\naccess r0 1 readwrite\nmap r0 2 h0\naccess r0 2 read\nview b2 r0 2 4096\nview b3 r0 0 8192\n"
    "release h0\non s1 memset dst=b0+0 value=7 element=4 width=8\nsync s1\nread b2\n"
    "on s1 memcpy dst=b3+4064 src=b1+0 bytes=64 kind=d2d\nsync s1\nread b3\nread b2\nunmap r0 0\nread b2\n"
    "unmap r0 2\nunmap r0 1\n");

// Memory with two handles, of which one is released; memory without a handle that gets one, is mapped elsewhere by it,
// and so outlives its first mapping.
const std::string kRetains = mapped_and(
    "retain r0 0\nrelease h0\nmap r0 1 h0\naccess r0 1 read\nview b2 r0 1 4096\nwrite b0 seed=4\nread b2\n"
    "release h0\nunmap r0 0\nretain r0 1\nunmap r0 1\nmap r0 2 h0\naccess r0 2 readwrite\nview b3 r0 2 4096\nread b3\n"
    "release h0\nread b3\nunmap r0 2\n");

// The host's copies of memory to which its own device alone has a right.
const std::string kOnDevice1 =
    "reserve r0 1 device=1\nphysical h0 1 device=1\nmap r0 0 h0\naccess r0 0 readwrite device=1\nview b0 r0 0 4096\n"
    "read b0\nwrite b0 seed=5\nread b0\n";

TEST(VirtualMemoryPrograms, AGraphUsesTheMemoryThatIsMappedWhenItIsLaunched) {
  agrees_under_strategies(program_of(kRemaps), {}, kStrategies);
  agrees_under_strategies(program_of("placement native\n" + kRemaps));
  const Observation seen = trace_of(kRemaps);
  ASSERT_GE(seen.reads.size(), 6U);
  EXPECT_NE(seen.reads[1].bytes, seen.reads[3].bytes);  // b0 over h0, then over h1
  EXPECT_EQ(seen.reads[1].bytes, seen.reads[5].bytes);  // h0 again
  EXPECT_NE(seen.reads[0].bytes, seen.reads[2].bytes);  // what the kernel read
}

TEST(VirtualMemoryPrograms, TwoViewsOfOneMemoryHaveTheSameBytes) {
  agrees_under_strategies(program_of(kAliases), {}, kStrategies);
  const Observation seen = trace_of(kAliases);
  ASSERT_GE(seen.reads.size(), 4U);
  EXPECT_EQ(seen.reads[0].bytes[0], std::byte{7});
  const std::vector<std::byte>&across = seen.reads[1].bytes, &alias = seen.reads[2].bytes;
  EXPECT_TRUE(std::equal(alias.begin(), alias.end(), across.begin()));
  EXPECT_EQ(seen.reads[3].bytes, alias);
}

TEST(VirtualMemoryPrograms, MemoryLivesWhileItHasAHandleOrAMapping) {
  agrees_under_strategies(program_of(kRetains), {}, kStrategies);
  const Observation seen = trace_of(kRetains);
  ASSERT_GE(seen.reads.size(), 3U);
  EXPECT_EQ(seen.reads[1].bytes, seen.reads[0].bytes);
  EXPECT_EQ(seen.reads[2].bytes, seen.reads[0].bytes);
}

TEST(VirtualMemoryPrograms, HandlesThatTheProgramKeepsAreReleasedAtItsEnd) {
  agrees_under_strategies(program_of(mapped_and("retain r0 0\nretain r0 0\nrelease h0\n")), {}, kStrategies);
}

TEST(VirtualMemoryPrograms, ARetainedHandleThatIsOfOtherMemoryDiffers) {
  OtherBench bench([](hip::Api& api) {
    api.hipMemRetainAllocationHandle = [](hipMemGenericAllocationHandle_t* handle, void*) {
      hipMemAllocationProp properties{};
      properties.type = hipMemAllocationTypePinned;
      properties.location = {hipMemLocationTypeDevice, 0};
      return model::abi::InProcess::api().hipMemCreate(handle, kPageBytes, &properties, 0);
    };
  });
  EXPECT_EQ(bench.judge.judge(program_of(kRetains), {}).verdict, VerdictKind::kDiverge);
}

// A baseline that records graphs again has more addresses of graph memory than its subject, whose ranges it is given.
TEST(VirtualMemoryPrograms, RangesAndGraphMemoryDoNotMeetUnderAnyStrategy) {
  Bench bench;
  EXPECT_TRUE(in_agreement(bench.judge.judge(
      parsed("hgcheck-program 1\nplacement native\nreserve r0 5\nphysical h0 1\nmap r0 1 h0\nview b7 r0 1 4096\n"
             "graph g1\nalloc g1.n0 b9 4096 access=0,1\nmemset g1.n1 dst=b9+0 value=1 element=1 width=4096 after=n0\n"
             "memcpy g1.n2 dst=b7+0 src=b9+0 bytes=4096 kind=default after=n0,n1\n"
             "set g1.n2 memcpy dst=b7+0 src=b9+0 bytes=2448 kind=default\nreserve r1 2\n"),
      {})));
}

TEST(VirtualMemoryPrograms, NewMemoryHoldsAPatternOfItsNumber) {
  const Observation seen = trace_of(mapped_and("read b0\nunmap r0 0\nmap r0 0 h1\naccess r0 0 read\nread b0\n"));
  std::vector<std::byte> first(4096), second(4096);
  fill_pattern(0, kSeedOfPhysical, first);
  fill_pattern(1, kSeedOfPhysical, second);
  EXPECT_EQ(seen.reads.at(0).bytes, first);
  EXPECT_EQ(seen.reads.at(1).bytes, second);
  EXPECT_EQ(seen.statuses.back().code, 0);
}

TEST(VirtualMemoryPrograms, ACaptureMindsNoneOfTheCalls) {
  agrees_under_strategies(program_of(
      mapped_and("capture s1\non s1 kernel axpy_u64 out=b1+0 in=b0+0 n=32 a=3\nunmap r0 0\nreserve r1 1\nmap r0 0 h1\n"
                 "access r0 0 readwrite\nrelease h1\nunreserve r1\nendcapture s1 g0\ninspect g0\ninstantiate e0 g0\n"
                 "launch e0 s1\nsync s1\nread b1\nread b0\n")));
}

TEST(VirtualMemoryPrograms, EachCallThatFailsIsReportedAndMadeAgain) {
  for (const char* function : {"hipMemAddressReserve", "hipMemCreate", "hipMemMap", "hipMemSetAccess",
                               "hipMemRetainAllocationHandle", "hipMemRelease", "hipMemUnmap", "hipMemAddressFree"}) {
    const Program program =
        program_of("fail 1 " + std::string(function) + "\n" +
                   mapped_and("read b0\nreserve r1 2\nretain r0 0\nrelease h0\nunmap r0 0\nunreserve r1\n"));
    agrees_under_strategies(program);
    Bench bench;
    EXPECT_EQ(bench.subject.run(program, {}).observation.failures_fired, 1U) << function;
  }
}

TEST(VirtualMemoryPrograms, ADeviceReachesTheMemoryOfAnotherByItsRight) {
  const std::string commands =
      "buffer b1 256 device=1\nstream s1 nonblocking device=1\nreserve r0 1\nphysical h0 1\nview b0 r0 0 4096\n"
      "map r0 0 h0\naccess r0 0 readwrite\n";
  const std::string work = "on s1 kernel axpy_u64 out=b1+0 in=b0+0 n=32 a=3 device=1\nsync s1\nread b1\n";
  EXPECT_THAT(
      flaw(program_of(commands + work)),
      HasSubstr("device 1 has no right to read page 0 of r0, which b0 is a view of: 'access r0 0 read device=1'"));
  agrees_under_strategies(program_of(commands + "access r0 0 read device=1\n" + work + "access r0 0 none device=1\n"));
}

TEST(VirtualMemoryPrograms, UnorderedWorkOnTwoViewsOfOneMemoryIsARace) {
  const std::string work = "stream s2 nonblocking\nview b2 r0 2 4096\n";
  const std::string both =
      "access r0 2 readwrite\non s1 memset dst=b0+0 value=1 width=64\non s2 memset dst=b2+0 value=2 width=64\n"
      "sync device\n";
  const Judgement race = Bench().judge.judge(program_of(mapped_and(work + "map r0 2 h0\n" + both)), {});
  EXPECT_EQ(race.verdict, VerdictKind::kPoisoned) << described(race);
  EXPECT_THAT(described(race), HasSubstr("b0"));
  EXPECT_TRUE(in_agreement(Bench().judge.judge(program_of(mapped_and(work + "map r0 2 h1\n" + both)), {})));
}

TEST(VirtualMemoryPrograms, ARuntimeThatKeepsTheOldMemoryDiffers) {
  OtherBench bench([](hip::Api& api) {
    static int maps = 0;
    maps = 0;
    static hipMemGenericAllocationHandle_t first = nullptr;
    api.hipMemMap = [](void* at, std::size_t bytes, std::size_t offset, hipMemGenericAllocationHandle_t memory,
                       unsigned long long flags) {
      // The harness fills each memory through a mapping: the third mapping is the program's first.
      if (++maps == 3) first = memory;
      return model::abi::InProcess::api().hipMemMap(at, bytes, offset, maps > 3 ? first : memory, flags);
    };
  });
  EXPECT_EQ(bench.judge.judge(program_of(kRemaps), {}).verdict, VerdictKind::kDiverge);
}

TEST(VirtualMemoryPrograms, ARuntimeThatKeepsMemoryOrAddressesLeaks) {
  OtherBench keeps_memory(
      [](hip::Api& api) { api.hipMemRelease = [](hipMemGenericAllocationHandle_t) { return hipSuccess; }; });
  const Judgement memory = keeps_memory.judge.judge(program_of(kAliases), {});
  EXPECT_THAT(described(memory), HasSubstr("physical memories"));
  OtherBench keeps_addresses(
      [](hip::Api& api) { api.hipMemAddressFree = [](void*, std::size_t) { return hipSuccess; }; });
  EXPECT_THAT(described(keeps_addresses.judge.judge(program_of(kRemaps), {})), HasSubstr("reservations"));
}

TEST(VirtualMemoryPrograms, ARuntimeThatReportsAnotherRightDiffers) {
  OtherBench bench([](hip::Api& api) {
    api.hipMemGetAccess = [](unsigned long long* flags, const hipMemLocation*, void*) {
      *flags = hipMemAccessFlagsProtRead;
      return hipSuccess;
    };
  });
  EXPECT_EQ(bench.judge.judge(program_of(kMapped), {}).verdict, VerdictKind::kDiverge);
}

TEST(VirtualMemoryPrograms, ARuntimeWithoutThemOrWithLargerPagesIsUnsupported) {
  OtherBench lacking([](hip::Api& api) { api.hipMemMap = nullptr; });
  EXPECT_EQ(lacking.judge.judge(program_of(kMapped), {}).verdict, VerdictKind::kUnsupported);
  OtherBench without_retain([](hip::Api& api) { api.hipMemRetainAllocationHandle = nullptr; });
  EXPECT_EQ(without_retain.judge.judge(program_of(kRetains), {}).verdict, VerdictKind::kUnsupported);
  EXPECT_EQ(without_retain.judge.judge(program_of(kRemaps), {}).verdict, VerdictKind::kAgree);
  OtherBench larger([](hip::Api& api) {
    api.hipMemGetAllocationGranularity = [](std::size_t* bytes, const hipMemAllocationProp*,
                                            hipMemAllocationGranularity_flags) {
      *bytes = std::size_t{2} << 20;
      return hipSuccess;
    };
  });
  EXPECT_EQ(larger.judge.judge(program_of(kMapped), {}).verdict, VerdictKind::kUnsupported);
  EXPECT_EQ(larger.judge.judge(program_of("physical h0 1\n"), {}).verdict, VerdictKind::kUnsupported);
}

#ifdef HGCHECK_HAVE_AGENT
class VirtualMemoryOnAmd : public ::testing::TestWithParam<const char*> {};

TEST_P(VirtualMemoryOnAmd, ProgramsThatMapAgreeWithTheModel) {
  auto subject = Subject::make({"rocm-soft@" + std::string(GetParam()), StrategyKind::kPatch});
  ASSERT_TRUE(subject.ok() && subject.value()->start());
  ModelPlatform platform;
  Executor baseline(platform, StrategyKind::kRebuild);
  Judge judge(subject.value()->runner(), baseline);
  for (const std::string& commands : {kRemaps, kAliases, kOnDevice1, "placement native\n" + kRemaps}) {
    const Program program = program_of(commands);
    EXPECT_TRUE(in_agreement(judge.judge(program, {}))) << commands;
    EXPECT_TRUE(subject.value()->runner().run(program, {}, {}).observation.unsupported.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Releases, VirtualMemoryOnAmd, ::testing::Values(HGCHECK_RELEASES), [](const auto& release) {
  return "Release" + std::string(1, release.param[0]) + release.param[2];
});
#endif

}  // namespace
}  // namespace verify
