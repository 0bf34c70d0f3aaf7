// Blocks of threads: their text, which of them are valid, and how they are generated, mutated and shrunk.
#include "verify/program/threads.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "programs.h"
#include "verify/generate/generator.h"
#include "verify/generate/mutate.h"
#include "verify/program/blocks.h"
#include "verify/shrink/shrinker.h"

namespace verify {
namespace {

// The objects of the threads in tests.
constexpr std::string_view kBefore =
    "hgcheck-program 1\n"
    "placement arena\n"
    "buffer b0 64\n"
    "buffer b1 64\n"
    "buffer b2 64\n"
    "stream s1 nonblocking\n"
    "stream s2 nonblocking\n"
    "event v0\n"
    "graph g0\n"
    "memset g0.n0 dst=b0+0 value=1 element=1 width=64\n"
    "instantiate e0 g0\n"
    "instantiate e1 g0\n"
    "memset g0.n1 dst=b1+0 value=1 element=1 width=64 after=n0\n";

std::string behind_objects(const std::string& block) {
  return std::string(kBefore) + block;
}

std::string two_threads(const std::string& first, const std::string& second) {
  return behind_objects("threads\nthread 1\n  " + first + "\nthread 2\n  " + second + "\nend\n");
}

const std::string kCapturing = behind_objects(
    "threads\n"
    "thread 1\n"
    "  capture s1 mode=thread\n"
    "  on s1 memcpy dst=b0+0 src=b2+0 bytes=64 kind=d2d\n"
    "  endcapture s1 g1\n"
    "  instantiate e2 g1\n"
    "  repeat 3 launch e2 s1\n"
    "  sync s1\n"
    "  destroy g1\n"
    "thread 2\n"
    "  capture s2 mode=relaxed\n"
    "  on s2 memcpy dst=b1+0 src=b2+0 bytes=64 kind=d2d\n"
    "  endcapture s2 g2\n"
    "  instantiate e3 g2\n"
    "  launch e3 s2\n"
    "end\n"
    "launch e0 s1\n");

TEST(Threads, ThePrintedTextIsTheProgram) {
  const Program program = parsed(kCapturing);
  EXPECT_EQ(print_program(program), kCapturing);
  EXPECT_EQ(flaw(program), "");
  const Step& capture = program.steps[std::ranges::count(kBefore, '\n') - 2];
  EXPECT_EQ(print_command(capture.command), "capture s1 mode=thread thread=1");
  EXPECT_EQ(capture.in.thread, 1u);
}

TEST(Threads, HaveNumbersAndStandInABlock) {
  EXPECT_EQ(parse_error_of("threads\nsync s0\nend\n"), "p:3:1: a block of threads begins with 'thread N'");
  EXPECT_EQ(parse_error_of("thread 1\n"), "p:2:1: 'thread N' stands between 'threads' and 'end'");
  EXPECT_EQ(parse_error_of("repeat 2\nthread 1\n"), "p:3:1: 'thread N' stands between 'threads' and 'end'");
  EXPECT_EQ(parse_error_of("threads\nthread 0\n"), "p:3:8: threads are numbered from 1 to 3");
  EXPECT_NE(parse_error_of("threads\nthread 4\n"), "");
  EXPECT_EQ(parse_error_of("threads\nthread 1\nsync s1 thread=2\nend\n"), "p:4:1: the command stands in thread 1");
  EXPECT_EQ(parse_error_of("threads\nthread 1\nend\n"), "p:4:1: the block is empty");
  EXPECT_EQ(parse_error_of("threads\nrepeat 2\n"), "p:3:1: blocks do not nest");
  EXPECT_EQ(parse_error_of("threads\nthread 1\nsync s1\n"), "p:2:1: the block has no line 'end'");
}

// The object that both threads use and only one may, or nothing.
std::string used_by_both(const std::string& first, const std::string& second) {
  const std::string text = flaw(parsed(two_threads(first, second)));
  std::smatch found;
  const bool told = std::regex_match(text, found, std::regex("line 18: another thread of the block uses (.*), too"));
  return told ? found[1].str() : text;
}

TEST(Threads, ShareOnlyBuffersThatAllOfThemRead) {
  const std::string copy = "on s1 memcpy dst=b0+0 src=b2+0 bytes=64 kind=d2d";
  EXPECT_EQ(used_by_both(copy, "on s2 memcpy dst=b1+0 src=b2+0 bytes=64 kind=d2d"), "");
  EXPECT_EQ(used_by_both(copy, "on s2 memcpy dst=b2+0 src=b1+0 bytes=64 kind=d2d"), "b2");
  EXPECT_EQ(used_by_both(copy, "on s1 memset dst=b1+0 value=1 element=1 width=8"), "s1");
  EXPECT_EQ(used_by_both("record v0 s1", "wait s2 v0"), "v0");
  EXPECT_EQ(used_by_both("instantiate e2 g0", "clone g1 g0"), "g0");
}

TEST(Threads, UseWhatTheirExecutableGraphsUse) {
  EXPECT_EQ(used_by_both("launch e0 s1", "launch e1 s2"), "b0");
  EXPECT_EQ(used_by_both("launch e0 s1", "on s2 memset dst=b1+0 value=1 element=1 width=8"), "");
  EXPECT_EQ(used_by_both("launch e0 s1", "instantiate e2 g0"), "");
  EXPECT_EQ(used_by_both("set e0.n0 memset dst=b0+0 value=2 element=1 width=64", "instantiate e2 g0"), "g0");
}

TEST(Threads, UseTheModulesOfTheirExecutableGraphs) {
  const std::string text = two_threads("launch e2 s1", "launch e3 s2");
  const auto with_kernels = [&text](const std::string& first, const std::string& second) {
    const std::string objects =
        "module m0\nmodule m1\ngraph g2\nkernel g2.n0 inplace_u32 data=b0+0 n=1 k=1 module=" + first +
        "\ninstantiate e2 g2\ngraph g3\nkernel g3.n0 inplace_u32 data=b1+0 n=1 k=1 module=" + second +
        "\ninstantiate e3 g3\n";
    return flaw(parsed(std::string(text).insert(text.find("threads"), objects)));
  };
  EXPECT_EQ(with_kernels("m0", "m1"), "");
  EXPECT_THAT(with_kernels("m0", "m0"), testing::HasSubstr("another thread of the block uses m0, too"));
}

TEST(Threads, HaveMemoryOfTheirGraphsAndStreamsAndPools) {
  const std::string fill = "on s1 memset dst=b9+0 value=7 element=1 width=64";
  for (const std::string& first :
       {std::string("pool p0\nmalloc_async b9 64 s1 pool=p0\npool_attribute p0 used\nfree_async b9 s1\ndestroy p0"),
        std::string("graph g5\nalloc g5.n0 b9 64\nmemset g5.n1 dst=b9+0 value=7 element=1 width=64 after=n0\n"
                    "free g5.n2 b9 after=n1\ninstantiate e5 g5\nlaunch e5 s1\nlaunch e5 s1"),
        "capture s1 mode=thread\nmalloc_async b9 64 s1\n" + fill + "\nfree_async b9 s1\nendcapture s1 g5\n" +
            "instantiate e5 g5\nlaunch e5 s1"}) {
    EXPECT_EQ(flaw(parsed(two_threads(first, "launch e1 s2"))), "") << first;
  }
  const std::string memory = "alloc g0.n2 b9 64 after=n1";
  EXPECT_THAT(flaw(parsed(two_threads(memory, "on s2 memset dst=b9+0 value=1 element=1 width=8"))),
              testing::HasSubstr("b9"));
}

TEST(Threads, BeginWhenNothingIsRunning) {
  const std::string block = "threads\nthread 1\nsync s1\nend\n";
  EXPECT_EQ(flaw(parsed(behind_objects("launch e0 s1\nsync s1\n" + block))), "");
  EXPECT_THAT(flaw(parsed(behind_objects("launch e0 s1\n" + block))),
              testing::HasSubstr("a block of threads begins when nothing is running"));
}

TEST(Threads, ChangeNoExecutableGraphWhileAnotherOneCaptures) {
  const std::string capture = "capture s2 mode=thread\nendcapture s2 g1";
  const char* reason = "an executable graph is not changed in a thread while another thread of the block captures";
  for (const char* change :
       {"update e0 g0", "patch e0", "set e0.n0 memset dst=b0+0 value=2 element=1 width=64", "disable e0.n0"}) {
    EXPECT_THAT(flaw(parsed(two_threads(change, capture))), testing::HasSubstr(reason)) << change;
    EXPECT_THAT(flaw(parsed(two_threads(capture, change))), testing::HasSubstr(reason)) << change;
    EXPECT_EQ(flaw(parsed(two_threads(capture + "\n" + change, "sync s1"))), "") << change;
  }
  EXPECT_EQ(flaw(parsed(two_threads("launch e0 s1", capture))), "");
}

TEST(Threads, CaptureInModeGlobalBesideCallsThatThisDoesNotForbid) {
  const std::string capture = "capture s1\non s1 memcpy dst=b1+0 src=b2+0 bytes=64 kind=d2d\nendcapture s1 g5";
  const auto reason = [](int captures, int calls) {
    return fmt::format(
        "thread {} captures on s1 in mode global, which may forbid a call of thread {}: capture with mode=thread, or "
        "make the call outside of the block",
        captures, calls);
  };
  for (const char* call : {"launch e0 s2", "instantiate e5 g0", "record v0 s2", "malloc_async b9 64 s2",
                           "capture s2 mode=relaxed\nendcapture s2 g6"}) {
    EXPECT_EQ(flaw(parsed(two_threads(capture, call))), "") << call;
    EXPECT_EQ(flaw(parsed(two_threads(call, capture))), "") << call;
  }
  for (const char* call : {"sync s2", "record v0 s2\nsync v0", "pool p0", "alloc g0.n2 b9 64 after=n1"}) {
    EXPECT_THAT(flaw(parsed(two_threads(capture, call))), testing::HasSubstr(reason(1, 2))) << call;
    EXPECT_THAT(flaw(parsed(two_threads(call, capture))), testing::HasSubstr(reason(2, 1))) << call;
  }
  EXPECT_EQ(flaw(parsed(two_threads(capture + "\nsync s1", "launch e0 s2"))), "");
}

TEST(Threads, CallNothingThatConcernsOtherThreads) {
  const auto flaw_of = [](const std::string& command) {
    const std::string text = flaw(parsed(behind_objects("threads\nthread 1\n" + command + "\nend\n")));
    return text.empty() ? "" : text.substr(text.find(": ") + 2);
  };
  const std::string device = "a command that concerns the whole device may not stand in a thread";
  for (const char* command : {"sync device", "read b0", "move b0", "buffer b9 64", "unsafe", "capture_mode relaxed"})
    EXPECT_EQ(flaw_of(command), device) << command;
  EXPECT_EQ(flaw_of("launch e0 s0"), "s0 may not be used in a thread");
  EXPECT_EQ(flaw_of("launch e0 s1\ndestroy v0"), "in a thread, objects are destroyed when nothing is running");
  EXPECT_EQ(flaw_of("graph_memory used"), device);
  EXPECT_EQ(flaw_of("pool p0\npool_use p0"), device);
  EXPECT_EQ(flaw_of("pool p0 default"), device);
  EXPECT_THAT(flaw(parsed(behind_objects("pool p0 default\nthreads\nthread 1\npool_attribute p0 used\nend\n"))),
              testing::HasSubstr("the device's pool may not be named in a thread"));
  EXPECT_EQ(flaw_of("module m0\nunload m0"), "modules are not unloaded in a thread");
  EXPECT_EQ(flaw_of("capture s1 mode=thread\nend\nsync v0\nthreads\nthread 1\nsync v0"),
            "a capture is open where a thread begins or ends");
}

std::size_t threads_of(const Program& program) {
  std::set<Id> threads;
  for (const Step& step : program.steps) threads.insert(step.in.thread);
  return threads.size() - (threads.contains(0) ? 1 : 0);
}

TEST(Threads, ShrinkToThreadsThatMatter) {
  const Program program = parsed(kCapturing);
  const auto count = [](const Program& candidate, auto&& fits) {
    EXPECT_EQ(flaw(candidate), "") << print_program(candidate);
    return std::ranges::count_if(candidate.steps, fits);
  };
  const auto both_capture = [&](const Program& candidate) {
    return threads_of(candidate) == 2 &&
           count(candidate, [](const Step& step) { return std::holds_alternative<EndCapture>(step.command); }) == 2;
  };
  EXPECT_EQ(threads_of(Shrinker().shrink(program, both_capture).program), 2u);
  const auto first_copies = [&](const Program& candidate) {
    return count(candidate, [](const Step& step) { return print_command(step.command).starts_with("launch e2"); }) > 0;
  };
  EXPECT_FALSE(has_blocks(Shrinker().shrink(program, first_copies).program));
  const auto in_a_thread = [&](const Program& candidate) {
    return count(candidate, [](const Step& step) {
             return step.in.thread != 0 && print_command(step.command).starts_with("launch e2");
           }) > 0;
  };
  EXPECT_EQ(threads_of(Shrinker().shrink(program, in_a_thread).program), 1u);
}

TEST(Threads, AreGenerated) {
  std::uint64_t blocks = 0, with_three = 0, with_updates = 0, with_memory = 0, with_nodes = 0, with_pools = 0,
                with_global = 0;
  constexpr std::uint64_t kPrograms = 4000;
  for (std::uint64_t index = 0; index < kPrograms; ++index) {
    const Program program = campaign_program(5, index, {});
    const std::size_t threads = threads_of(program);
    if (threads == 0) continue;
    EXPECT_GE(threads, 2u) << print_program(program);
    EXPECT_EQ(flaw(program), "") << print_program(program);
    const std::string text = print_program(program);
    ++blocks;
    with_three += threads == 3 ? 1 : 0;
    with_updates += text.find("  update") != std::string::npos ? 1 : 0;
    with_memory += text.find("  malloc_async") != std::string::npos ? 1 : 0;
    with_nodes += text.find("  alloc ") != std::string::npos ? 1 : 0;
    with_global += std::ranges::count_if(program.steps, [](const Step& step) {
      const auto* capture = std::get_if<BeginCapture>(&step.command);
      return step.in.thread != 0 && capture != nullptr && capture->mode == CaptureMode::kGlobal;
    });
    with_pools += text.find("  pool ") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(blocks, kPrograms / 400);
  EXPECT_GT(with_three, 0u);
  EXPECT_GT(with_updates, 0u);
  EXPECT_GT(with_memory, 0u);
  EXPECT_GT(with_nodes, 0u);
  EXPECT_GT(with_pools, 0u);
  EXPECT_GT(with_global, 0u);
}

TEST(Threads, SurviveMutation) {
  const GeneratorOptions options;
  const Program base = parsed(kCapturing);
  std::uint64_t kept = 0;
  for (std::uint64_t index = 0; index < 300; ++index) {
    RandomChoices choices = campaign_choices(9, index);
    const Program mutant = mutate_program(base, campaign_program(1, index, options), choices, options);
    EXPECT_EQ(flaw(mutant), "") << print_program(mutant);
    EXPECT_EQ(parsed(print_program(mutant)), mutant);
    kept += threads_of(mutant) != 0 ? 1 : 0;
  }
  EXPECT_GT(kept, 60u);
}

}  // namespace
}  // namespace verify
