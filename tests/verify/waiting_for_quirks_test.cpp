// A program that ended as a known quirk, once more with the host waiting before the commands that may show one.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "judging.h"
#include "verify/quirks/quirk.h"

namespace verify {
namespace {

constexpr Quirk kBusyLaunches[] = {{.id = "made-up",
                                    .title = "title",
                                    .releases = {hip::Release::k7_2},
                                    .strategy = StrategyKind::kPatch,
                                    .triggers = "op=launch busy=1",
                                    .effects = "bytes",
                                    .environment = "",
                                    .gone_around = GoneAround::kNever,
                                    .documented = "d",
                                    .happens = "h",
                                    .evidence = "e",
                                    .advice = "a"}};

// A runtime that loses launches: all, or the ones that begin while an earlier one may still be running.
struct LosesLaunches {
  static inline decltype(hip::Api::hipGraphLaunch) launch;
  static inline decltype(hip::Api::hipDeviceSynchronize) synchronize;
  static inline bool running;

  static void all(hip::Api& api) {
    api.hipGraphLaunch = [](hipGraphExec_t, hipStream_t) { return hipSuccess; };
  }
  static void overlapping(hip::Api& api) {
    launch = std::exchange(api.hipGraphLaunch, [](hipGraphExec_t exec, hipStream_t stream) {
      return std::exchange(running, true) ? hipSuccess : launch(exec, stream);
    });
    synchronize = std::exchange(api.hipDeviceSynchronize, [] {
      running = false;
      return synchronize();
    });
  }
};

TEST(WaitingForQuirks, ADivergenceThatStaysWhenTheHostWaitsBeforeTheTriggerIsAnotherOne) {
  const Program program = valid_program(
      "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=1 k=1\ninstantiate e0 g0\nlaunch e0 s0\n"
      "launch e0 s0\n");
  for (const auto& [loses, verdict] : {std::pair{&LosesLaunches::all, VerdictKind::kDiverge},
                                       std::pair{&LosesLaunches::overlapping, VerdictKind::kAgree}}) {
    LosesLaunches::running = false;
    OtherBench bench(loses);
    bench.judge.know(QuirkSet("7.2", kBusyLaunches), StrategyKind::kPatch);
    EXPECT_EQ(bench.judge.judge(program, {}).verdict, VerdictKind::kKnownQuirk);
    const std::optional<Program> waiting = bench.judge.waiting_for_quirks(program);
    ASSERT_TRUE(waiting);
    EXPECT_EQ(bench.judge.judge(*waiting, {}).verdict, verdict);
  }
}

// Waits stand outside of blocks, and between the repetitions of a step.
TEST(WaitingForQuirks, TheHostWaitsBeforeEachCommandThatMayShowAQuirk) {
  OtherBench bench(&LosesLaunches::all);
  bench.judge.know(QuirkSet("7.2", kBusyLaunches), StrategyKind::kPatch);
  const auto waits_in = [&](const std::string& launches) {
    const std::optional<Program> waiting = bench.judge.waiting_for_quirks(valid_program(
        "buffer b0 64\ngraph g0\nkernel g0.n0 inplace_u32 data=b0+0 n=1 k=1\ninstantiate e0 g0\n" + launches));
    if (!waiting) return std::ptrdiff_t{0};
    return std::ranges::count_if(waiting->steps,
                                 [](const Step& step) { return std::holds_alternative<Synchronize>(step.command); });
  };
  EXPECT_EQ(waits_in("launch e0 s0\n"), 0);
  EXPECT_EQ(waits_in("launch e0 s0\nlaunch e0 s0\nlaunch e0 s0\n"), 2);
  EXPECT_EQ(waits_in("repeat 3 launch e0 s0\n"), 2);
  EXPECT_EQ(waits_in("repeat 3\nlaunch e0 s0\nread b0\nend\n"), 0);
}

}  // namespace
}  // namespace verify
