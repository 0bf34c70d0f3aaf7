// The catalogue of quirks: every entry is complete and readable, and its triggers and effects explain what they say.
// Not verified here: that a quirk shows on the releases that it names (quirks_on_releases_test.cpp).
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <utility>

#include "made_up_quirks.h"
#include "verify/errors/error_cases.h"
#include "verify/generate/generator.h"
#include "verify/quirks/known_quirks.h"

namespace verify {
namespace {

TEST(Quirks, EveryEntryIsReadAndHasAValidProgram) {
  EXPECT_GT(quirks().size(), 100U);
  for (const Quirk& quirk : quirks()) {
    EXPECT_EQ(flaw_of(quirk).value_or(""), "") << quirk.id;
    EXPECT_EQ(flaw(regression(quirk)), "") << quirk.id;
  }
}

TEST(Quirks, ATextThatIsNoTriggerOrEffectIsNamed) {
  EXPECT_EQ(flaw_of(made_up("op=launch node=memset", "bytes status=1")), std::nullopt);
  for (const auto& [triggers, effects, mentions] :
       std::initializer_list<std::array<const char*, 3>>{{"op=lunch", "bytes", "op=lunch"},
                                                         {"colour=red", "bytes", "colour=red"},
                                                         {"op", "bytes", "compares nothing"},
                                                         {"", "bytes", "no trigger"},
                                                         {"op=launch", "", "no effect"},
                                                         {"op=launch", "bites", "bites"},
                                                         {"op=launch", "status=red", "status=red"}}) {
    const std::optional<std::string> flaw = flaw_of(made_up(triggers, effects));
    ASSERT_TRUE(flaw) << triggers;
    EXPECT_NE(flaw->find(mentions), std::string::npos) << *flaw;
  }
}

constexpr std::string_view kMemset =
    "buffer b0 64\n"
    "graph g0\n"
    "memset g0.n0 dst=b0 value=1 element=1 width=4\n"
    "instantiate e0 g0\n"
    "launch e0 s0\n";

TEST(Quirks, ACommandThatIsRepeatedMeetsWhatItLeftItself) {
  const Quirk busy[] = {made_up("op=launch busy=1", "bytes corrupts")};
  const QuirkSet known("7.2", busy);
  const std::string begin(kMemset.substr(0, kMemset.find("launch")));
  const Divergence bytes{5, Effect::kBytes, 0};
  EXPECT_EQ(known.explain(program_of(begin + "launch e0 s0\n"), StrategyKind::kPatch, bytes), nullptr);
  EXPECT_NE(known.explain(program_of(begin + "repeat 2 launch e0 s0\n"), StrategyKind::kPatch, bytes), nullptr);
  EXPECT_FALSE(known.corrupts(program_of(begin + "launch e0 s0\n"), StrategyKind::kPatch));
  EXPECT_TRUE(known.corrupts(program_of(begin + "repeat 2 launch e0 s0\n"), StrategyKind::kPatch));
}

TEST(Quirks, NodesThatALibraryGetsAsGraphsMayBeChildrenOfItsGraphs) {
  const Quirk children[] = {made_up("op=launch node=child child_nodes>0 child_depth=1 nodes=2", "crash")};
  const QuirkSet all("7.2", children);
  const KnownQuirks of_patch{all}, of_commands{all, ways_of_commands()};
  const auto explained = [](const KnownQuirks& known, const std::string& node) {
    const Program program =
        program_of("buffer b0 64\ngraph g0\nempty g0.n0\n" + node + "instantiate e0 g0\nlaunch e0 s0\n");
    return known.explain(program, {program.steps.size() - 1, Effect::kCrash, 0}) != nullptr;
  };
  const std::string kernel = "kernel g0.n1 inplace_u32 data=b0+0 n=4 k=1";
  const std::string batch = "batch g0.n1 do=write32:b0+0:7";
  for (const std::string& traced : {kernel + " opaque\n", kernel + "\nattribute g0.n1 priority=1\n", batch + "\n"}) {
    EXPECT_TRUE(explained(of_commands, traced)) << traced;
    EXPECT_FALSE(explained(of_patch, traced)) << traced;
  }
  EXPECT_FALSE(explained(of_commands, kernel + "\n"));
}

TEST(Quirks, ALibraryMakesItsRequestsWhenTheProgramLaunches) {
  const Quirk setters[] = {made_up("op=patch node=memset", "status=1")};
  const QuirkSet all("7.2", setters);
  const KnownQuirks of_patch{all}, of_commands{all, ways_of_commands()};
  const Program program = program_of(std::string(kMemset) + "move b0\npatch e0\nlaunch e0 s0\n");
  const Divergence at_patch{6, Effect::kStatus, 1}, at_launch{7, Effect::kStatus, 1}, other{7, Effect::kStatus, 2};
  EXPECT_NE(of_patch.explain(program, at_patch), nullptr);
  EXPECT_EQ(of_patch.explain(program, at_launch), nullptr);
  EXPECT_NE(of_commands.explain(program, at_launch), nullptr);
  EXPECT_EQ(of_commands.explain(program, other), nullptr);
}

TEST(Quirks, ADivergenceIsExplainedByAnEventBeforeItAndOfThatKind) {
  const Quirk memset = made_up("op=launch node=memset element=1", "bytes");
  const Quirk wider = made_up("op=launch node=memset element>1;op=launch node=memcpy", "bytes");
  const Quirk status = made_up("op=launch node=memset", "status=1");
  const Program program = program_of(kMemset);
  const Divergence bytes = other_bytes(program);
  EXPECT_TRUE(explains(memset, program, bytes));
  EXPECT_FALSE(explains(memset, program, bytes, StrategyKind::kPatch, "6.4")) << "another release";
  EXPECT_FALSE(explains(wider, program, bytes)) << "another shape";
  EXPECT_FALSE(explains(memset, program, {3, Effect::kBytes, 0})) << "before the launch";
  EXPECT_FALSE(explains(memset, program, {5, Effect::kHang, 0})) << "another effect";
  EXPECT_TRUE(explains(status, program, {4, Effect::kStatus, 1}));
  EXPECT_FALSE(explains(status, program, {4, Effect::kStatus, 2})) << "another status";
  EXPECT_FALSE(explains(status, program, {3, Effect::kStatus, 1})) << "another command";
}

// The threads of a block run at the same time.
TEST(Quirks, ADivergenceInAThreadIsExplainedByAnEventOfItsBlockOnABlockingStream) {
  const Quirk launches = made_up("op=launch thread>0 stream_blocks=1", "hang");
  const auto explained = [&](const std::string& stream, const std::string& last) {
    const std::string objects =
        "buffer b0 64\nstream s1\nstream s2" + stream + "\ngraph g0\nempty g0.n0\ninstantiate e0 g0\n";
    return explains(launches, valid_program(objects + "threads\nthread 1\nsync s1\nthread 2\n" + last),
                    {6, Effect::kHang, 0});
  };
  EXPECT_TRUE(explained("", "launch e0 s2\nend"));
  EXPECT_FALSE(explained(" nonblocking", "launch e0 s2\nend"));
  EXPECT_FALSE(explained("", "sync s2\nend\nlaunch e0 s2"));
}

TEST(Quirks, AnAllocationThatIsRefusedBesideACaptureOfAnotherThreadIsExplained) {
  const auto explained = [](const std::string& begin, const std::string& end) {
    const std::string calls = "malloc_async b0 64 s2\nfree_async b0 s2\n";
    const Program program = valid_program("stream s1\nstream s2 nonblocking\n" + begin + calls + end);
    return QuirkSet("6.4").explain(program, StrategyKind::kPatch, {2, Effect::kStatus, 900}) != nullptr;
  };
  EXPECT_TRUE(explained("threads\nthread 1\n", "thread 2\ncapture s1 mode=thread\nendcapture s1 g1\nend\n"));
  EXPECT_FALSE(explained("", "capture s1 mode=thread\nendcapture s1 g1\n"));
}

// Setting a child, or updating it with its parent, sets the nodes inside: each copy is compared with the copy in its
// place. A strategy that updates records the graph anew, so the new graph has lost no edge.
TEST(Quirks, EdgesThatAGraphLostCountWhereItIsUpdatedFromARecording) {
  const Quirk taken = made_up("op=update edges_taken>0", "status=910");
  const std::string graph =
      "buffer b0 64\ngraph g0\nempty g0.n0\nempty g0.n1 after=n0\nmemset g0.n2 dst=b0 value=1 element=1 width=4\n";
  const auto explained = [&](const std::string& change, StrategyKind strategy) {
    const Program program =
        program_of(graph + change + "instantiate e0 g0\nset e0.n2 memset dst=b0 value=2 element=1 width=4\n");
    return explains(taken, program, refused_update(program), strategy);
  };
  for (const char* change : {"unedge g0.n1 after=n0\n", "remove g0.n0\n"}) {
    EXPECT_TRUE(explained(change, StrategyKind::kUpdate)) << change;
    EXPECT_FALSE(explained(change, StrategyKind::kRebuild)) << change;
  }
  EXPECT_FALSE(explained("", StrategyKind::kUpdate));
  EXPECT_FALSE(explained("remove g0.n1\nempty g0.n3\nremove g0.n3\n", StrategyKind::kRebuild));
}

// The nodes of a child that takes another child's place are compared with the nodes that they replace.
TEST(Quirks, ANewChildOfAnUpdateIsComparedWithTheOldOne) {
  const Quirk memory = made_up("op=update node=memcpy other_memory=1", "status=910");
  const auto explained = [&](const char* source, StrategyKind strategy) {
    const Program program =
        program_of(std::string("buffer b0 64\nbuffer b1 64 memory=pageable\ngraph g0\n"
                               "memcpy g0.n0 dst=b0+0 src=b0+32 bytes=1 kind=default\ngraph g1\nchild g1.n0 g0\n"
                               "instantiate e1 g1\ngraph g2\nmemcpy g2.n0 dst=b0+0 src=") +
                   source + " bytes=1 kind=default\nset e1.n0 child g2\n");
    return explains(memory, program, refused_update(program), strategy);
  };
  EXPECT_TRUE(explained("b1+0", StrategyKind::kUpdate));
  EXPECT_FALSE(explained("b0+16", StrategyKind::kUpdate));
  EXPECT_FALSE(explained("b1+0", StrategyKind::kRebuild));
}

TEST(Quirks, WhatIsInAChildIsSetWithIt) {
  const Quirk moved =
      made_up("op=set node=memcpy was_pageable=1 pageable=0;op=update node=memcpy was_pageable=1 pageable=0", "bytes");
  const std::string begin =
      "buffer b0 64\n"
      "buffer b1 64 memory=pageable\n"
      "buffer b2 64\n"
      "graph g0\n"
      "memcpy g0.n0 dst=b0 src=b1 bytes=16 kind=default\n"
      "graph g1\n"
      "child g1.n0 g0\n"
      "instantiate e1 g1\n";
  const auto explained = [&](const std::string& rest) {
    const Program program = valid_program(begin + rest + "launch e1 s0\n");
    return explains(moved, program, other_bytes(program));
  };
  EXPECT_TRUE(explained("set g0.n0 memcpy dst=b0 src=b2 bytes=16 kind=default\nset e1.n0 child g0\n"));
  EXPECT_FALSE(explained("set g0.n0 memcpy dst=b0 src=b1+8 bytes=16 kind=default\nset e1.n0 child g0\n"));
  EXPECT_TRUE(
      explained("graph g2\nmemcpy g2.n0 dst=b0 src=b2 bytes=16 kind=default\n"
                "graph g3\nchild g3.n0 g2\nupdate e1 g3\n"));
}

// A strategy that records again for the new child instantiates the executable graph with the nodes of the new child.
TEST(Quirks, WhatIsInANewChildIsInstantiatedWhereItIsRecordedAgain) {
  const Quirk instantiated = made_up("op=instantiate node=memcpy linear=0 source_memory=managed", "bytes");
  const Program program = valid_program(
      "buffer b0 64\nbuffer b1 64 memory=managed\nbuffer b2 64\ngraph g0\n"
      "memcpy3d g0.n0 dst=b2 src=b0 width=10 height=1 depth=3 dpitch=15 spitch=12 drows=1 srows=1 kind=d2d\n"
      "graph g1\nchild g1.n0 g0\ninstantiate e1 g1\n"
      "set g0.n0 memcpy3d dst=b2 src=b1 width=10 height=1 depth=3 dpitch=15 spitch=12 drows=1 srows=1 kind=d2d\n"
      "set e1.n0 child g0\n");
  for (const auto& [strategy, shows] :
       {std::pair{StrategyKind::kRebuild, true}, std::pair{StrategyKind::kStabilise, true},
        std::pair{StrategyKind::kPatch, false}}) {
    EXPECT_EQ(explains(instantiated, program, other_bytes(program), strategy), shows) << strategy_name(strategy);
  }
}

// A captured memset is of its stream's device, wherever the memory that it sets is.
TEST(Quirks, AMemsetOfHostMemoryIsOfTheDeviceWhoseStreamCapturedIt) {
  const Quirk away = made_up("op=instantiate rows_off_current_device>0", "crash");
  const auto explained = [&](const std::string& graph, const std::string& captured) {
    const Program program = valid_program(
        "placement arena\nbuffer b0 64 memory=managed\nbuffer b2 1024\nstream s1 device=1\ngraph g0\n" + graph +
        "capture s1 into=g0\n" + captured +
        "on s1 memcpy3d dst=b2+256 src=b2 width=1 height=1 depth=1 dpitch=11 spitch=7 drows=3 srows=1 kind=d2d\n"
        "endcapture s1 g0\ninstantiate e0 g0\n");
    return explains(away, program, {program.steps.size() - 1, Effect::kCrash, 0});
  };
  EXPECT_TRUE(explained("", ""));
  EXPECT_TRUE(explained("", "on s1 memset dst=b0 value=0 element=1 width=1\n"));
  EXPECT_FALSE(explained("memset g0.n0 dst=b0 value=0 element=1 width=1\n", ""));
}

TEST(Quirks, AGraphThatAnotherDevicesStreamCapturedWasCreatedThere) {
  const Quirk elsewhere = made_up("op=update captured_off_first_device>0", "status=910");
  for (const bool away : {true, false}) {
    const std::string stream = away ? "s1" : "s2";
    const Program program = valid_program("buffer b1 64\nbuffer b2 64\nstream s1 device=1\nstream s2\ncapture " +
                                          stream + "\non " + stream + " memcpy dst=b1 src=b2 bytes=1 kind=d2d\n" +
                                          "endcapture " + stream + " g1\ninstantiate e1 g1\nupdate e1 g1\n");
    EXPECT_EQ(explains(elsewhere, program, refused_update(program)), away);
  }
}

// Such a graph cannot be recorded again, as a chain or otherwise.
TEST(Quirks, CarefulGoesAroundNothingInAGraphThatFreesAnotherGraphsMemory) {
  const auto explained = [](const std::string& second) {
    const Program program =
        valid_program("graph g1\nalloc g1.n0 b4 64\ninstantiate e1 g1\nlaunch e1 s0\ngraph g2\nempty g2.n0\n" + second +
                      "instantiate e2 g2\nlaunch e2 s0\n");
    return QuirkSet("7.2").explain(program, StrategyKind::kCommandBuffer, other_bytes(program)) != nullptr;
  };
  EXPECT_TRUE(explained("free g2.n1 b4\n"));
  EXPECT_FALSE(explained("empty g2.n1\n"));
}

TEST(Quirks, AFreeNodeOfMemoryThatACaptureAllocatedIsToldApart) {
  const Quirk captured = made_up("op=add node=free unlisted_memory=1", "status=1");
  const auto explained = [&](const std::string& allocation) {
    const Program program =
        valid_program("stream s1\n" + allocation + "instantiate e1 g1\nlaunch e1 s0\ngraph g0\nfree g0.n0 b2\n");
    return explains(captured, program, {program.steps.size() - 1, Effect::kStatus, hipErrorInvalidValue});
  };
  EXPECT_TRUE(explained("capture s1\nmalloc_async b2 64 s1\nendcapture s1 g1\n"));
  EXPECT_FALSE(explained("graph g1\nalloc g1.n0 b2 64\n"));
}

// hipGraphAdd*Node adds it, whichever graph it goes into.
TEST(Quirks, ANodeThatIsAddedByHandInACaptureIsAddedAndNotCaptured) {
  const std::string begin =
      "stream s1\nbuffer b0 64\ngraph g0\nalloc g0.n0 b2 64\ninstantiate e0 g0\nlaunch e0 s0\nsync device\n";
  const auto triggered = [&](const std::string& triggers, const std::string& before, const std::string& last) {
    const Quirk quirk = made_up(triggers, "status=1");
    const Program program = valid_program(begin + before + "capture s1\n" + last + "\nendcapture s1 g1\n");
    return triggers_in(program, QuirkSet("7.2", {&quirk, 1}), StrategyKind::kPatch) > 0;
  };
  const std::string gone = "destroy e0\ndestroy g0\n", memset = "on s1 memset dst=b0 value=1 element=1 width=4";
  const std::string called = "malloc_async b3 64 s1", freed = "free_async b2 s1";
  for (const bool by_hand : {true, false}) {
    const std::string how = by_hand ? " by_hand" : "";
    const std::string first = called + how + "\n";
    EXPECT_EQ(triggered("op=add node=memset dependencies=1", "", first + memset + how), by_hand);
    EXPECT_NE(triggered("op=on capturing=1", "", memset + how), by_hand);
    EXPECT_EQ(triggered("op=add node=alloc dependencies=1", "", memset + "\n" + called + how), by_hand);
    EXPECT_NE(triggered("op=malloc_async", "", called + how), by_hand);
    EXPECT_EQ(triggered("op=add node=free handle_gone=1", gone, freed + how), by_hand);
    EXPECT_EQ(triggered("op=add node=free handle_gone=0 unlisted_memory=0", "", freed + how), by_hand);
    EXPECT_NE(triggered("op=free_async from_pool=1 stream=1 capturing=1", "", freed + how), by_hand);
    // Memory that the capture itself allocates.
    const std::string own = "op=add node=free handle_gone=0 unlisted_memory=";
    EXPECT_EQ(triggered(own + "0", "", first + "free_async b3 s1 by_hand"), by_hand);
    EXPECT_NE(triggered(own + "1", "", first + "free_async b3 s1 by_hand"), by_hand);
  }
}

// A refused call that leaves a node, one that takes edges and the other wrong answers are quirks of their own.
TEST(Quirks, ABadCallIsExplainedByWhatItsRefusalChanges) {
  const QuirkSet known("7.2");
  std::map<int, std::set<std::string_view>> explained;
  for (const ErrorDeviation& each : error_deviations()) {
    if (each.release != "7.2") continue;
    const Program program = program_of("bad " + std::string(each.function) + " " + std::string(each.name) + "\n");
    const Quirk* quirk = known.explain(program, StrategyKind::kPatch, {0, Effect::kStatus, hipSuccess});
    explained[each.answer].insert(quirk == nullptr ? "" : quirk->id);
  }
  const auto leaves = explained[kAnswerLeavesNode], takes = explained[kAnswerTakesEdges];
  EXPECT_EQ(leaves.size(), 1U);
  EXPECT_EQ(takes.size(), 1U);
  EXPECT_NE(leaves, takes);
  for (const auto& quirks : {leaves, takes, explained[hipSuccess]}) EXPECT_FALSE(quirks.contains(""));
  EXPECT_FALSE(explained[hipSuccess].contains(*leaves.begin()));
  EXPECT_FALSE(explained[hipSuccess].contains(*takes.begin()));
}

TEST(Quirks, AGraphOfFreeNodesAllocatesNothing) {
  const Quirk allocates = made_up("op=launch allocation_nodes>0 failing_below=allocation", "crash");
  for (const auto& [last, triggered] : {std::pair{"launch e1 s0\n", 1U}, {"launch e2 s0\n", 0U}}) {
    const Program program =
        valid_program(std::string("graph g1\nalloc g1.n0 b4 64\ninstantiate e1 g1\nlaunch e1 s0\ngraph g2\n"
                                  "free g2.n0 b4\ninstantiate e2 g2\nsync device\nfail_below 1 allocation\n") +
                      last);
    EXPECT_EQ(triggers_in(program, QuirkSet("7.2", {&allocates, 1}), StrategyKind::kPatch), triggered) << last;
  }
}

TEST(Quirks, AnUpdateBetweenAGraphByHandAndACaptureElsewhereIsToldApart) {
  const Quirk differs = made_up("op=update captured_off_first_device_differs=1", "status=910");
  const std::string by_hand = "graph g0\nkernel g0.n0 no_arguments device=1\n";
  const auto capture = [](const std::string& graph, const std::string& into = "", const std::string& how = "") {
    return "capture s1" + into + "\non s1 kernel no_arguments device=1" + how + "\nendcapture s1 " + graph + "\n";
  };
  const auto explained = [&](const std::string& first, const std::string& second) {
    const Program program =
        valid_program("stream s1 device=1\n" + first + "instantiate e0 g0\n" + second + "update e0 g1\n");
    return explains(differs, program, refused_update(program));
  };
  EXPECT_TRUE(explained(by_hand, capture("g1")));
  EXPECT_TRUE(explained(capture("g0"), "graph g1\nkernel g1.n0 no_arguments device=1\n"));
  EXPECT_FALSE(explained(capture("g0"), capture("g1")));
  // The stream's device is that of the graph, whoever adds the nodes; a graph that is captured into has its own.
  EXPECT_TRUE(explained(by_hand, capture("g1", "", " by_hand")));
  EXPECT_FALSE(explained(capture("g0"), capture("g1", "", " by_hand")));
  EXPECT_FALSE(explained(by_hand, "graph g1\n" + capture("g1", " into=g1")));
}

// The harness fills device memory by the null stream, and writes to other memory itself.
TEST(Quirks, TheNullStreamIsNewUntilABufferIsFilled) {
  const Quirk first = made_up("op=query stream=0 null_stream_new=1 failing_below!=queue", "crash");
  const auto explained = [&](const std::string& before, const char* call) {
    const Program program = valid_program(before + "fail_below 1 " + call + "\nquery s0\n");
    return explains(first, program, {program.steps.size() - 1, Effect::kCrash, 0});
  };
  EXPECT_TRUE(explained("", "signal"));
  EXPECT_FALSE(explained("", "queue"));
  EXPECT_FALSE(explained("buffer b0 64\n", "signal"));
  EXPECT_TRUE(explained("buffer b0 64 memory=pageable\nbuffer b1 64 memory=managed\n", "signal"));
}

TEST(Quirks, WhatCarefulGoesAroundExplainsNothingUnderItAndIsNotSteeredAround) {
  const Program program = program_of(
      "buffer b0 64\n"
      "graph g0\n"
      "memset g0.n0 dst=b0 value=1 element=1 width=4\n"
      "memset g0.n1 dst=b0+4 value=1 element=1 width=4\n"
      "instantiate e0 g0\n"
      "launch e0 s0\n"
      "launch e0 s0\n");
  const Divergence bytes = other_bytes(program);
  const QuirkSet known("7.2");
  ASSERT_NE(known.explain(program, StrategyKind::kRebuild, bytes), nullptr);
  EXPECT_EQ(known.explain(program, StrategyKind::kRebuild, bytes)->id, "side-roots-unordered");
  EXPECT_EQ(known.explain(program, StrategyKind::kCareful, bytes), nullptr);
  EXPECT_EQ(triggers_in(program, known, StrategyKind::kCareful), 0U);
}

TEST(Quirks, WhatOnlyGrowsIsExplainedAndNotSteeredAround) {
  const Quirk grows = made_up("op=launch node=memset", "grows");
  const Program program = program_of(kMemset);
  EXPECT_TRUE(explains(grows, program, {5, Effect::kGrowth, 0}));
  EXPECT_FALSE(explains(grows, program, {5, Effect::kBytes, 0})) << "another effect";
  EXPECT_EQ(triggers_in(program, QuirkSet("7.2", {&grows, 1}), StrategyKind::kPatch), 0U);
}

TEST(Quirks, ProgramsThatSteerAroundAQuirkHoldNoTriggerOfIt) {
  const Quirk catalogue[] = {made_up("op=launch node=memset;op=set node=memcpy;op=launch roots>=2 busy=1", "bytes"),
                             made_up("op=launch thread>0", "hang")};
  const QuirkSet quirks("7.2", catalogue), in_threads("7.2", {&catalogue[1], 1});
  GeneratorOptions options;
  options.avoid = [&](const State& state, const Command& command, Id thread) {
    return quirks.triggered(state, command, StrategyKind::kPatch, thread) != nullptr;
  };
  std::uint64_t launches = 0, met = 0, met_in_threads = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Program steered = campaign_program(3, i, options), other = campaign_program(3, i, {});
    EXPECT_EQ(triggers_in(steered, quirks, StrategyKind::kPatch), 0U) << i;
    met += triggers_in(other, quirks, StrategyKind::kPatch);
    met_in_threads += triggers_in(other, in_threads, StrategyKind::kPatch);
    launches += launches_in(steered) + launches_in(other);
  }
  EXPECT_GT(met, 100U) << "what is steered around is common otherwise";
  EXPECT_GT(met_in_threads, 0U) << "in threads, too";
  EXPECT_GT(launches, 400U) << "steering leaves programs that do something";
}

}  // namespace
}  // namespace verify
