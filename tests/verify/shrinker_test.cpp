// The shrinker, checked against predicates with a known smallest program. Not verified here: that shrinking keeps a
// finding's property (the campaign's predicate sees to that).
#include "verify/shrink/shrinker.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>

#include "programs.h"
#include "verify/generate/generator.h"

namespace verify {
namespace {

template <class T>
bool has(const Program& program, const std::function<bool(const T&)>& accept = [](const T&) { return true; }) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
    const T* command = std::get_if<T>(&step.command);
    return command != nullptr && accept(*command);
  });
}

template <class Params>
bool has_node(
    const Program& program, const std::function<bool(const Params&)>& accept = [](const Params&) { return true; }) {
  return has<AddNode>(program, [&](const AddNode& node) {
    const auto* params = std::get_if<Params>(&node.params);
    return params != nullptr && accept(*params);
  });
}

bool has_memset(const Program& program) {
  return has_node<MemsetParams>(program);
}
bool moves_two_buffers_at_once(const Program& program) {
  return has<MoveBuffers>(program, [](const MoveBuffers& c) { return c.moves.size() == 2; });
}
bool launches_after_a_patch(const Program& program) {
  std::set<Id> patched;
  for (const Step& step : program.steps) {
    if (const auto* patch = std::get_if<Patch>(&step.command)) {
      if (patch->target == Target::kExec) patched.insert(patch->id);
    } else if (const auto* launch = std::get_if<Launch>(&step.command)) {
      if (patched.contains(launch->exec)) return true;
    }
  }
  return false;
}
bool has_swap(const Program& program) {
  return has<MoveBuffers>(
      program, [](const MoveBuffers& c) { return c.moves.size() == 2 && c.moves[0].onto && c.moves[1].onto; });
}
bool has_kernel_that_takes_an_address(const Program& program) {
  return has_node<KernelParams>(program, [](const KernelParams& p) {
    return std::any_of(p.arguments.begin(), p.arguments.end(),
                       [](const ArgumentValue& v) { return v.kind == ArgumentValue::Kind::kAddressBits; });
  });
}
bool has_strided_copy(const Program& program) {
  return has_node<CopyParams>(program, [](const CopyParams& p) { return !p.linear && p.depth > 1; });
}
bool has_child(const Program& program) {
  return has_node<ChildParams>(program);
}

// A predicate, and the commands of the smallest program that satisfies it: its numbers are `counted_commands`, its
// steps all of them.
struct Fixture {
  const char* name;
  bool (*predicate)(const Program&);
  std::uint64_t counted;
  std::size_t steps;
};
constexpr Fixture kFixtures[] = {
    {"HasAMemset", has_memset, 1, 3},
    {"MovesTwoBuffersAtOnce", moves_two_buffers_at_once, 1, 3},
    {"LaunchesAfterAPatch", launches_after_a_patch, 3, 4},
    {"SwapsTwoBuffers", has_swap, 1, 3},
    {"TakesAnAddressAsAScalar", has_kernel_that_takes_an_address, 1, 7},  // buffers are not merged
    {"CopiesSlices", has_strided_copy, 1, 4},
    {"HasAChildGraph", has_child, 1, 3},
};

class KnownMinimum : public testing::TestWithParam<Fixture> {};
INSTANTIATE_TEST_SUITE_P(Shrinker, KnownMinimum, testing::ValuesIn(kFixtures),
                         [](const auto& at) { return std::string(at.param.name); });

TEST_P(KnownMinimum, IsReachedFromGeneratedPrograms) {
  const Fixture& fixture = GetParam();
  int shrunk = 0;
  for (std::uint64_t index = 0; shrunk < 12; ++index) {
    ASSERT_LT(index, 2000u) << "the generator no longer makes such programs";
    const Program program = campaign_program(21, index, {});
    if (!fixture.predicate(program)) continue;
    ++shrunk;
    const ShrinkResult result = Shrinker().shrink(program, fixture.predicate);
    EXPECT_TRUE(fixture.predicate(result.program));
    EXPECT_EQ(flaw(result.program), "");
    EXPECT_FALSE(result.bound_reached);
    EXPECT_EQ(counted_commands(result.program), fixture.counted) << print_program(result.program);
    EXPECT_LE(result.program.steps.size(), fixture.steps) << print_program(result.program);
    EXPECT_EQ(result.program.setting.placement, Placement::kArena);
  }
}

TEST(Shrinker, TheSmallestMemsetIsWrittenInFull) {
  const Program program = program_of(
      "placement native\nbuffer b0 4096\nbuffer b1 4096 memory=pinned\nstream s1 nonblocking\ngraph g0\n"
      "empty g0.n0\nmemset g0.n1 dst=b1+16 value=77 element=4 width=16 height=3 pitch=128 after=n0\n"
      "instantiate e0 g0\nrepeat 3 launch e0 s1\nread b1\n");
  const ShrinkResult result = Shrinker().shrink(program, has_memset);
  EXPECT_EQ(print_program(result.program),
            "hgcheck-program 1\nplacement arena\nbuffer b1 64\ngraph g0\n"
            "memset g0.n1 dst=b1+0 value=0 element=1 width=1\n");
}

TEST(Shrinker, VariablesThatDoNotMatterAreDropped) {
  const Program program = program_of("environment A=1\nenvironment B=2\nenvironment C=3\nsync device\nsync device\n");
  const ShrinkResult result =
      Shrinker().shrink(program, [](const Program& p) { return p.setting.environment.contains("B"); });
  EXPECT_EQ(print_program(result.program), "hgcheck-program 1\nplacement arena\nenvironment B=2\n");
}

TEST(Shrinker, IdsAreNeverRenumbered) {
  const Program program =
      program_of("buffer b3 64\nbuffer b7 64\ngraph g2\nempty g2.n5\nmemset g2.n9 dst=b7 value=1 width=8");
  const ShrinkResult result = Shrinker().shrink(program, has_memset);
  EXPECT_EQ(
      print_program(result.program),
      "hgcheck-program 1\nplacement arena\nbuffer b7 64\ngraph g2\nmemset g2.n9 dst=b7+0 value=0 element=1 width=1\n");
}

TEST(Shrinker, ACapturedGraphIsBuiltByHandSoThatItsNodesGoOneByOne) {
  const Program program = program_of(
      "buffer b0 64\nbuffer b1 64\nstream s1\nstream s2\nevent v0\ncapture s1\n"
      "on s1 memset dst=b0 value=1 width=4\nevent v1\nrecord v0 s1\nwait s2 v0\n"
      "on s2 memset dst=b1 value=2 width=4\non s1 memset dst=b0+8 value=3 width=4\nrecord v1 s2\nwait s1 v1\n"
      "on s1 host tag=7\nendcapture s1 g1\ninstantiate e1 g1\ndisable e1.n2\nlaunch e1 s0");
  ASSERT_EQ(flaw(program), "");
  const auto disables_the_third = [](const Program& p) {
    return has<EnableNode>(p, [](const EnableNode& c) { return c.node == 2; }) && has<Launch>(p);
  };
  EXPECT_EQ(print_program(Shrinker().shrink(program, disables_the_third).program),
            print_program(program_of("buffer b0 64\ngraph g1\nmemset g1.n2 dst=b0 value=0 width=1\ninstantiate e1 "
                                     "g1\ndisable e1.n2\nlaunch e1 s0")));
}

TEST(Shrinker, MemoryOfStreamsAndOfMallocIsDeclaredWhereThatIsEnough) {
  const auto reads = [](const Program& p) { return has<Read>(p); };
  for (const char* allocation : {"malloc b5 256\n", "malloc_async b5 256 s0\n"}) {
    const Program program = program_of(std::string(allocation) + "write b5 seed=1\nread b5\n");
    EXPECT_EQ(print_program(Shrinker().shrink(program, reads).program),
              "hgcheck-program 1\nplacement arena\nbuffer b5 64\nread b5\n");
  }
}

TEST(Shrinker, AViewOfMappedMemoryIsDeclaredWhereThatIsEnough) {
  const std::string mapped = "reserve r0 2\nphysical h0 1\nmap r0 1 h0\naccess r0 1 readwrite\nview b5 r0 1 4096\n";
  const Program program = program_of(mapped + "write b5 seed=1\nread b5\nunmap r0 1\nrelease h0\nunreserve r0\n");
  EXPECT_EQ(print_program(Shrinker().shrink(program, [](const Program& p) { return has<Read>(p); }).program),
            "hgcheck-program 1\nplacement arena\nbuffer b5 64\nread b5\n");
  const auto reads_a_view = [](const Program& p) { return has<Read>(p) && has<DeclareView>(p); };
  EXPECT_EQ(print_program(Shrinker().shrink(program, reads_a_view).program),
            "hgcheck-program 1\nplacement arena\nreserve r0 2\nphysical h0 1\nmap r0 1 h0\naccess r0 1 readwrite\n"
            "view b5 r0 1 64\nread b5\n");
}

TEST(Shrinker, ARepeatThatIsNotNeededGoes) {
  const Program program = program_of("graph g0\nempty g0.n0\ninstantiate e0 g0\nrepeat 1000 launch e0 s0");
  const auto launches_seven_times = [](const Program& p) {
    return std::any_of(p.steps.begin(), p.steps.end(), [](const Step& step) {
      return std::holds_alternative<Launch>(step.command) && step.repeat >= 7;
    });
  };
  const ShrinkResult result = Shrinker().shrink(program, launches_seven_times);
  EXPECT_EQ(result.program.steps.back().repeat, 7u);
  EXPECT_EQ(result.program.steps.size(), 3u);
}

TEST(Shrinker, AProgramThatIsMinimalStaysAsItIs) {
  const Program program = program_of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0 value=0 width=1");
  EXPECT_TRUE(Shrinker().shrink(program, has_memset).program == program);
}

TEST(Shrinker, ThePredicateIsAskedAboutValidProgramsOnlyAndNeverMoreOftenThanTheBound) {
  for (std::uint64_t index = 0; index < 40; ++index) {
    const Program program = campaign_program(22, index, {});
    for (const std::uint32_t bound : {0U, 1U, 7U, 50U}) {
      std::uint32_t asked = 0;
      const ShrinkResult result = Shrinker(bound).shrink(program, [&](const Program& candidate) {
        ++asked;
        EXPECT_EQ(flaw(candidate), "");
        return !candidate.steps.empty();
      });
      EXPECT_LE(asked, bound);
      EXPECT_EQ(result.runs, asked);
      EXPECT_EQ(result.bound_reached, asked == bound);
      EXPECT_FALSE(result.program.steps.empty());
    }
  }
}

TEST(Shrinker, APredicateThatNothingSimplerSatisfiesGivesTheProgramBack) {
  const Program program = campaign_program(23, 1, {});
  const ShrinkResult result = Shrinker().shrink(program, [&](const Program& p) { return p == program; });
  EXPECT_TRUE(result.program == program);
}

RC_GTEST_PROP(Shrinker, EndsWithAValidProgramThatSatisfiesThePredicateAndIsNoLonger, ()) {
  const Program program = *arbitrary_program({});
  // An arbitrary predicate: a hash of the program's text. It does not guide the descent.
  const std::uint64_t modulus = *rc::gen::inRange<std::uint64_t>(2, 7);
  const auto hash = [&](const Program& p) {
    std::uint64_t sum = 0;
    for (const char c : print_program(p)) sum = sum * 31 + static_cast<unsigned char>(c);
    return sum % modulus;
  };
  const std::uint64_t wanted = hash(program);
  const ShrinkResult result = Shrinker(400).shrink(program, [&](const Program& p) { return hash(p) == wanted; });
  RC_ASSERT(hash(result.program) == wanted);
  RC_ASSERT(flaw(result.program) == "");
  RC_ASSERT(result.program.steps.size() <= program.steps.size());
}

RC_GTEST_PROP(Shrinker, NoSingleSimplificationHelpsAnyMoreWhenItIsDone, ()) {
  const Program program = *arbitrary_program({});
  RC_PRE(has_node<CopyParams>(program));
  const auto predicate = [](const Program& p) {
    return has_node<CopyParams>(p, [](const CopyParams& c) { return c.width >= 3; });
  };
  RC_PRE(predicate(program));
  const ShrinkResult result = Shrinker().shrink(program, predicate);
  RC_ASSERT(!result.bound_reached);
  for (std::size_t i = 0; i < result.program.steps.size(); ++i) {
    Program candidate = result.program;
    candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(i));
    RC_ASSERT(!predicate(drop_invalid(candidate)));
    for (const Step& simpler : simpler_steps(result.program.steps[i])) {
      candidate = result.program;
      candidate.steps[i] = simpler;
      RC_ASSERT(!predicate(drop_invalid(candidate)));
    }
  }
}

TEST(Shrinker, FreeMemoryShrinksToTheLeast) {
  const std::vector<Step> simpler = simpler_steps({DeviceMemory{DeviceMemory::kLeast + 4096}});
  ASSERT_FALSE(simpler.empty());
  EXPECT_EQ(simpler.front().command, Command(DeviceMemory{DeviceMemory::kLeast}));
}

RC_GTEST_PROP(Shrinker, ASimplerStepIsAnotherStep, ()) {
  for (const Step& step : (*arbitrary_program({})).steps) {
    for (const Step& simpler : simpler_steps(step)) RC_ASSERT(!(simpler == step));
  }
}

RC_GTEST_PROP(Shrinker, SimplifyingTheFirstWayOverAndOverEnds, ()) {
  // Every chain of simplifications is finite: no two of them undo each other.
  for (const Step& original : (*arbitrary_program({})).steps) {
    Step step = original;
    int turns = 0;
    for (std::vector<Step> simpler = simpler_steps(step); !simpler.empty(); simpler = simpler_steps(step)) {
      step = simpler[*rc::gen::inRange<std::size_t>(0, simpler.size())];
      RC_ASSERT(++turns < 5000);
    }
  }
}

}  // namespace
}  // namespace verify
