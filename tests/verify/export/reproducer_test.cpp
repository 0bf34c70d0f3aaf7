// A reproducer makes the HIP calls of its program and its strategy, makes the requested checks, and names every command
// that it cannot write. tests/exports shows that files build, and fail where they should.
#include "verify/export/reproducer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "samples.h"
#include "verify/generate/generator.h"

namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using verify::ReproducerForm;
using verify::ReproducerStrategy;

verify::Reproducer of(const std::string& commands, ReproducerStrategy strategy = ReproducerStrategy::kPatch) {
  verify::Reproducer reproducer = reproducer_of(program_for_export(commands));
  reproducer.strategy = strategy;
  return reproducer;
}

std::string text_of(const verify::Reproducer& reproducer, ReproducerForm form = ReproducerForm::kHip) {
  const hip::Result<std::string> text = verify::to_reproducer(reproducer, form);
  EXPECT_TRUE(text.ok()) << text.error().message;
  return text.ok() ? text.value() : "";
}

constexpr const char* kEverything =
    "buffer b0 4096\nbuffer b1 4096\nbuffer b2 64 memory=pinned\nbuffer b3 64 memory=pageable\nstream s1 nonblocking\n"
    "event v0\ngraph g0\nkernel g0.n0 axpy_u64 out=b0+0 in=b1+256 n=4 a=3 style=extra\n"
    "memcpy g0.n1 dst=b1+0 src=b0+0 bytes=512 kind=d2d after=n0\n"
    "memcpy3d g0.n2 dst=b1+1024 src=b0+0 width=8 height=2 depth=1 dpitch=16 spitch=16 drows=2 srows=2 kind=d2d "
    "after=n1\n"
    "memset g0.n3 dst=b0+2048 value=258 element=2 width=5\nhost g0.n4 tag=7 mem=b2+0 bytes=16\nempty g0.n5 fan=3\n"
    "graph g1\nchild g1.n0 g0 nest=2\nkernel g1.n1 nested_struct q.tag=1 q.a.in=b0+0 q.a.k=2 q.flag=3 q.out=b1+64 n=1 "
    "after=n0\n"
    "instantiate e0 g1\nlaunch e0 s1\nrecord v0 s1\nwait s0 v0\nsync s1\nsync v0\nsync device\nread b1\nwrite b3 "
    "seed=5\n"
    "free b3\ndestroy e0\ndestroy g1\ndestroy v0\ndestroy s1\n";

constexpr const char* kBlock =
    "buffer b0 64\nrepeat 5\nbuffer b1 64\ngraph g0\nempty g0.n0\ninstantiate e0 g0\n"
    "launch e0 s0\nsync device\ndestroy e0\ndestroy g0\nfree b1\nend\n";

TEST(Reproducer, ABlockThatRepeatsIsALoop) {
  verify::Reproducer reproducer = of(kBlock);
  reproducer.bytes.push_back({reproducer.program.steps.size(), 0, 0, "00"});
  const std::string text = text_of(reproducer);
  EXPECT_THAT(text, ContainsRegex("for \\(int round = 0; round < 5; \\+\\+round\\) \\{"));
  EXPECT_EQ(text.find("hipGraphCreate("), text.rfind("hipGraphCreate("));
  EXPECT_THAT(text, HasSubstr("fill(b1, 64, round == 0 ? 1 : 2 + (round - 1) * 1, 0)"));
}

TEST(Reproducer, AProgramThatIsCutInARoundOfABlockRunsThatRoundLast) {
  verify::Reproducer reproducer = of(kBlock);
  reproducer.program.steps.resize(1 + 9 + 4);
  reproducer.statuses.resize(reproducer.program.steps.size());
  EXPECT_THAT(text_of(reproducer), HasSubstr("for (int round = 0; round < 2; ++round) {"));
}

std::string refusal_of(const verify::Reproducer& reproducer) {
  const hip::Result<std::string> text = verify::to_reproducer(reproducer, ReproducerForm::kHip);
  return text.ok() ? "" : text.error().message;
}

TEST(Reproducer, ABlockWhoseRoundsEndDifferentlyHasNoForm) {
  verify::Reproducer reproducer = of(kBlock);
  reproducer.statuses[12].error = "hipErrorInvalidValue";
  EXPECT_THAT(refusal_of(reproducer), HasSubstr("the rounds of a block end differently"));
}

TEST(Reproducer, ABlockThatRecordsAnObjectFromOutsideAgainHasNoForm) {
  const std::string made = "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=8\n";
  const std::string rounds = "repeat 3\nmove b0\npatch e0\nlaunch e0 s0\nsync device\nend\nlaunch e0 s0\n";
  const std::string whole = made + "instantiate e0 g0\n" + rounds;
  EXPECT_THAT(refusal_of(of(whole, ReproducerStrategy::kRebuild)), HasSubstr("a block records e0 again"));
  EXPECT_THAT(text_of(of(whole, ReproducerStrategy::kUpdate)), HasSubstr("round < 3"));
  EXPECT_THAT(text_of(of(whole)), HasSubstr("round < 3"));
  EXPECT_THAT(refusal_of(of(made + "instantiate e0 g0\ndestroy g0\n" + rounds)), HasSubstr("a block records e0 again"));
  const std::string sets = made + "repeat 3\nset g0.n0 memset dst=b0+0 value=2 element=1 width=8\nend\n";
  EXPECT_THAT(refusal_of(of(sets, ReproducerStrategy::kRebuild)), HasSubstr("a block records g0 again"));
}

TEST(Reproducer, ABlockWhoseFirstRoundPatchesOtherBuffersThanTheNextHasNoForm) {
  const std::string made =
      "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=8\ninstantiate e0 g0\n";
  const std::string late = made + "repeat 3\npatch e0\nlaunch e0 s0\nsync device\nmove b0\nend\n";
  for (const ReproducerStrategy strategy : {ReproducerStrategy::kPatch, ReproducerStrategy::kUpdate})
    EXPECT_THAT(refusal_of(of(late, strategy)), HasSubstr("'patch e0' has other moved buffers to patch"));
}

TEST(Reproducer, EachRoundOfABlockWaitsForTheRoundBeforeIt) {
  const std::string text =
      text_of(of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=8\ninstantiate e0 g0\n"
                 "sync device\nrepeat 3\nmove b0\npatch e0\nlaunch e0 s0\nend\n"));
  EXPECT_THAT(text, HasSubstr("++round) {\n    MUST(hipDeviceSynchronize());\n    {\n"));
}

TEST(Reproducer, ABlockThatGivesNodesToACaptureFromOutsideHasNoForm) {
  const std::string begin = "buffer b0 64\nstream s1 nonblocking\n", capture = "capture s1\n";
  const std::string work = "on s1 memset dst=b0+0 value=1 element=1 width=8\n", end = "endcapture s1 g0\n";
  const char* reason = "a block begins or ends a capture that it does not contain, or gives nodes to it";
  EXPECT_THAT(refusal_of(of(begin + capture + "repeat 3\n" + work + "end\n" + end)), HasSubstr(reason));
  EXPECT_THAT(refusal_of(of(begin + capture + "repeat 3\n" + end + "destroy g0\n" + capture + work + "end\n")),
              HasSubstr(reason));
  EXPECT_THAT(text_of(of(begin + "repeat 3\n" + capture + work + end + "destroy g0\nend\n")), HasSubstr("round < 3"));
}

TEST(Reproducer, ABlockThatMakesUserObjectsHasNoForm) {
  EXPECT_THAT(refusal_of(of("repeat 3\ngraph g0\nuserobject u0\nretain u0 g0 move\ndestroy g0\nend\n")),
              HasSubstr("a block makes user objects"));
}

TEST(Reproducer, EveryCommandIsWrittenAsItsHipCall) {
  const std::string text = text_of(of(kEverything));
  for (const char* call : {"hipMalloc(&b0, 4096)",
                           "hipHostMalloc(&b2, 64, 0)",
                           "aligned_alloc(256, 256)",
                           "hipStreamCreateWithFlags(&s1, hipStreamNonBlocking)",
                           "hipEventCreateWithFlags(&v0, hipEventDisableTiming)",
                           "hipGraphCreate(&g0, 0)",
                           "with_extra(axpy_u64, 1, 64",
                           "hipGraphAddKernelNode(&g0_n0, g0, nullptr, 0",
                           "hipGraphAddMemcpyNode1D(&g0_n1, g0, &g0_n0, 1",
                           "hipGraphAddMemcpyNode(&g0_n2, g0, &g0_n1, 1, &c1)",
                           "hipGraphAddMemsetNode(&g0_n3, g0, nullptr, 0, &m2)",
                           "hipGraphAddHostNode(&g0_n4, g0, nullptr, 0, &h3)",
                           "hipGraphAddEmptyNode(&g0_n5[i], g0, nullptr, 0)",
                           "hipGraphAddChildGraphNode(&g1_n0, g1, nullptr, 0, again1)",
                           "hipGraphAddChildGraphNode(&again1_n0, again1, nullptr, 0, g0)",
                           "{1, {(u32*)b0, 2}, 3, (u32*)(b1 + 64)}, 1)",
                           "hipGraphInstantiate(&e0, g1",
                           "hipGraphLaunch(e0, s1)",
                           "hipEventRecord(v0, s1)",
                           "hipStreamWaitEvent(nullptr, v0, 0)",
                           "hipStreamSynchronize(s1)",
                           "hipEventSynchronize(v0)",
                           "hipDeviceSynchronize()",
                           "free(b3)",
                           "hipGraphExecDestroy(e0)",
                           "hipGraphDestroy(g1)",
                           "hipEventDestroy(v0)",
                           "hipStreamDestroy(s1)",
                           "__global__ void axpy_u64(u64* out, const u64* in, u32 n, u64 a)",
                           "__global__ void nested_struct(NestedArguments q, u32 n)"}) {
    EXPECT_THAT(text, HasSubstr(call));
  }
  EXPECT_THAT(text, Not(HasSubstr("HG_"))) << "macros of the project";
  EXPECT_THAT(text, Not(HasSubstr("Ptr<")));
}

TEST(Reproducer, EveryKernelOfTheCatalogueIsWrittenWithoutTheProjectsMacros) {
  for (const verify::KernelSpec& spec : verify::kernel_catalogue()) {
    std::string command = "buffer b0 4096\ngraph g0\nkernel g0.n0 " + spec.name;
    for (const verify::FieldSpec& field : spec.fields) {
      const bool pointer = field.kind == verify::FieldKind::kPointer;
      command += " " + field.name + (pointer ? "=b0+0" : "=0");
    }
    const std::string text = text_of(of(command + "\n"));
    EXPECT_THAT(text, HasSubstr("__global__ void " + spec.name + "("));
    for (const char* macro : {"HG_KERNEL", "HG_EACH", "HG_INLINE", "Ptr<", "running()", "first_item"}) {
      EXPECT_THAT(text, Not(HasSubstr(macro))) << spec.name;
    }
  }
}

constexpr const char* kSetAndPatch =
    "buffer b0 64\nbuffer b1 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=4\nempty g0.n1\n"
    "instantiate e0 g0\nset e0.n0 memset dst=b1+0 value=2 element=1 width=4\nmove b1\npatch e0\nlaunch e0 s0\n";

TEST(Reproducer, SettingAndPatchingAreSettersUnderTheStrategyPatch) {
  const std::string text = text_of(of(kSetAndPatch));
  EXPECT_EQ(count(text, "hipGraphExecMemsetNodeSetParams(e0, g0_n0"), 2U);
  EXPECT_EQ(count(text, "hipGraphInstantiate("), 1U);
}

TEST(Reproducer, NoSetterGetsANodeThatIsGone) {
  constexpr const char* kBuilt =
      "buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=4\ninstantiate e0 g0\n";
  for (const char* gone : {"destroy g0\n", "remove g0.n0\n"}) {
    const std::string text = text_of(of(std::string(kBuilt) + gone + "move b0\npatch e0\nmove b0\npatch e0\n"));
    EXPECT_EQ(count(text, "hipGraphInstantiate("), 2U) << gone;
    EXPECT_EQ(count(text, "hipGraphExecMemsetNodeSetParams("), 1U) << gone;
    EXPECT_THAT(text, Not(HasSubstr("g0_n0, &"))) << gone;
  }
}

TEST(Reproducer, SettingAndPatchingAreUpdatesUnderTheStrategyUpdate) {
  const std::string text = text_of(of(kSetAndPatch, ReproducerStrategy::kUpdate));
  EXPECT_EQ(count(text, "hipGraphExecUpdate(e0, again"), 2U);
  EXPECT_EQ(count(text, "SetParams"), 0U);
}

TEST(Reproducer, SettingAndPatchingInstantiateAgainUnderTheStrategyRebuild) {
  const std::string text = text_of(of(kSetAndPatch, ReproducerStrategy::kRebuild));
  EXPECT_EQ(count(text, "hipGraphInstantiate("), 3U);
  EXPECT_EQ(count(text, "hipGraphExecDestroy("), 2U);
  EXPECT_THAT(text, HasSubstr("hipGraphLaunch(e0_again2, nullptr)"));
}

TEST(Reproducer, AFileWithVariablesOfTheEnvironmentRefusesToStartWithoutThem) {
  verify::Reproducer reproducer = of("buffer b0 64\n");
  reproducer.program.setting.environment = {{"HIP_LAUNCH_BLOCKING", "1"}};
  const std::string text = text_of(reproducer);
  EXPECT_THAT(text, HasSubstr("#include <cstring>"));
  EXPECT_THAT(text, HasSubstr("strcmp(getenv(\"HIP_LAUNCH_BLOCKING\"), \"1\") != 0"));
  EXPECT_THAT(text, HasSubstr("start it with HIP_LAUNCH_BLOCKING=1 in its environment"));
  EXPECT_THAT(verify::to_reproducer(reproducer, ReproducerForm::kCatch2).value(),
              HasSubstr("getenv(\"HIP_LAUNCH_BLOCKING\")) == \"1\");"));
}

TEST(Reproducer, MovingKeepsContentsAndPlaces) {
  verify::Reproducer reproducer = of("buffer b0 64\nbuffer b1 64\nmove b0 b1=@b0\n");
  reproducer.program.setting.placement = verify::Placement::kArena;
  reproducer.arena_bytes = {2048};
  reproducer.places = {0, 256, 512, 0};
  reproducer.bytes = {{3, 1, 8, "0011"}};
  const std::string text = text_of(reproducer);
  EXPECT_THAT(text, HasSubstr("char* b1 = device + 256;"));
  EXPECT_THAT(text, HasSubstr("char* to0 = device + 512;\n    char* to1 = device;\n    b0 = to0;\n    b1 = to1;"));
  EXPECT_THAT(text, HasSubstr("store(b0, c0);\n    store(b1, c1);"));
  EXPECT_THAT(text, HasSubstr(R"(check("the bytes at b1 + 8", "0011", hex(b1 + 8, 2));)"));
}

TEST(Reproducer, AStatusThatDiffersIsCheckedAndOneThatIsExpectedIsNot) {
  verify::Reproducer reproducer = of("graph g0\nempty g0.n0\ninstantiate e0 g0\nupdate e0 g0\n");
  reproducer.statuses[2] = {"hipErrorOutOfMemory", 0, "", false};
  reproducer.statuses[3] = {"hipSuccess", 0, "", true};
  const std::string text = text_of(reproducer);
  EXPECT_THAT(text, HasSubstr("MUST(hipGraphCreate("));
  EXPECT_THAT(text, HasSubstr("FAILS(hipErrorOutOfMemory, hipGraphInstantiate("));
  EXPECT_THAT(text, HasSubstr("check(\"hipGraphExecUpdate\", \"hipSuccess\", hipGetErrorName("));
  EXPECT_THAT(text, HasSubstr("check(\"the result of the update\", \"0\""));
  const std::string catch2 = text_of(reproducer, ReproducerForm::kCatch2);
  EXPECT_THAT(catch2, HasSubstr("TEST_CASE(\"Unit_hipGraph_sample\")"));
  EXPECT_THAT(catch2, HasSubstr("#include <hip_test_common.hh>"));
  EXPECT_THAT(catch2, HasSubstr("HIP_CHECK_ERROR("));
  EXPECT_THAT(catch2, Not(HasSubstr("MUST(")));
  EXPECT_THAT(catch2, Not(HasSubstr("main(")));
}

TEST(Reproducer, HostFunctionsAndTopologyAreCountedWhereTheyDiffer) {
  verify::Reproducer reproducer = of("graph g0\nhost g0.n0 tag=7\ninstantiate e0 g0\nlaunch e0 s0\n");
  EXPECT_THAT(text_of(reproducer), Not(HasSubstr("runs[7]), ")));
  reproducer.checks_host_functions = true;
  reproducer.host_functions = {{7, 1}};
  reproducer.topology = {{0, 1, 0}};
  reproducer.attempts = 10;
  const std::string text = text_of(reproducer);
  EXPECT_THAT(text, HasSubstr("std::to_string(1), std::to_string(runs[7])"));
  EXPECT_THAT(text, HasSubstr("\"1 0\", std::to_string(g0_nodes) + \" \" + std::to_string(g0_edges)"));
  EXPECT_THAT(text, HasSubstr("i < 10 && failures == 0; ++i) attempt();"));
}

TEST(Reproducer, ACrashIsToldByTheExitStatus) {
  verify::Reproducer reproducer = of("graph g0\ninstantiate e0 g0\nlaunch e0 s0\n");
  EXPECT_THAT(text_of(reproducer), Not(HasSubstr("SIGSEGV")));
  reproducer.dies = true;
  EXPECT_THAT(text_of(reproducer), HasSubstr("SIGSEGV"));
  EXPECT_THAT(text_of(reproducer), Not(HasSubstr("hipGraphExecDestroy")));
  reproducer.tears_down = true;
  EXPECT_THAT(text_of(reproducer), HasSubstr("hipGraphExecDestroy(e0)"));
}

TEST(Reproducer, EqualNodesAndRepeatedCommandsAreLoops) {
  const std::string text =
      text_of(of("graph g0\nempty g0.n0\nempty g0.n1 after=n0\nempty g0.n2 after=n0\nempty g0.n3 "
                 "after=n0\ninstantiate e0 g0\nrepeat 9 launch e0 s0\n"));
  EXPECT_THAT(text, HasSubstr("for (hipGraphNode_t* node : {&g0_n1, &g0_n2, &g0_n3}) {"));
  EXPECT_THAT(text, HasSubstr("for (int k = 0; k < 9; ++k) {\n    MUST(hipGraphLaunch(e0, nullptr));\n  }"));
}

TEST(Reproducer, AFansPointersAdvanceInALoop) {
  const std::string text =
      text_of(of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+4 value=1 element=1 width=4 fan=3\n"));
  EXPECT_THAT(text, HasSubstr("hipGraphNode_t g0_n0[3];"));
  EXPECT_THAT(text, HasSubstr("b0 + 4 + i * 4"));
}

TEST(Reproducer, ACaptureIsBegunFilledAndEndedAndItsNodesHaveHandlesWhereTheyAreUsed) {
  const std::string program =
      "buffer b0 64\nbuffer b1 64\nstream s1\nstream s2\nevent v0\ncapture s1\n"
      "on s1 memset dst=b0+0 value=1 element=4 width=2 height=4 pitch=12\n"
      "on s1 memcpy dst=b1+0 src=b0+0 bytes=8 kind=d2d\nrecord v0 s1\nwait s2 v0\nendcapture s1 g1\n";
  const std::string text = text_of(of(program));
  for (const char* call :
       {"hipStreamBeginCapture(s1, hipStreamCaptureModeGlobal)", "hipMemsetD2D32Async(b0, 12, 1, 2, 4, s1)",
        "hipMemcpyAsync(b1, b0, 8, hipMemcpyDeviceToDevice, s1)", "hipStreamEndCapture(s1, &g1)", "hipGraph_t g1;"}) {
    EXPECT_THAT(text, HasSubstr(call));
  }
  EXPECT_THAT(text, Not(HasSubstr("last_captured")));
  const std::string set = text_of(
      of(program + "instantiate e1 g1\nset e1.n0 memset dst=b0+0 value=2 element=4 width=2 height=4 pitch=12\n"));
  EXPECT_THAT(set, HasSubstr("hipGraphNode_t c1_n0 = last_captured(s1);"));
  EXPECT_THAT(set, HasSubstr("hipGraphExecMemsetNodeSetParams(e1, c1_n0, "));
}

TEST(Reproducer, ACaptureThatIsOpenAtTheEndIsEndedBeforeTheDeviceIsWaitedForUnlessAStatusWasShown) {
  verify::Reproducer reproducer = of("stream s1\ncapture s1\n");
  EXPECT_THAT(text_of(reproducer), ContainsRegex("hipStreamEndCapture\\(s1, &left1\\);\n.*hipDeviceSynchronize"));
  reproducer.statuses.back().differs = true;
  EXPECT_THAT(text_of(reproducer), Not(HasSubstr("hipDeviceSynchronize")));
}

TEST(Reproducer, ACallOfAnotherThreadIsMadeByAHelperThatStays) {
  const std::string text = text_of(of("stream s1\ncapture s1 thread=2\nendcapture s1 g1 thread=2\n"));
  EXPECT_THAT(text, HasSubstr("MUST(on_thread<2>([&] { return hipStreamEndCapture(s1, &g1); }));"));
  EXPECT_THAT(text, HasSubstr("#include <semaphore.h>"));
}

TEST(Reproducer, GenericFormsPackTheParametersOfTheirType) {
  const std::string text = text_of(
      of("buffer b0 64\ngraph g0\nempty g0.n0 form=generic\nmemset g0.n1 dst=b0+0 value=1 element=1 width=4 "
         "form=generic\ninstantiate e0 g0\nset e0.n1 memset dst=b0+0 value=2 element=1 width=4 form=generic\n"));
  for (const char* part : {"any1.type = hipGraphNodeTypeEmpty;", "hipGraphAddNode(&g0_n0, g0, nullptr, 0, &any1)",
                           ".memset = m2;", "hipGraphExecNodeSetParams(e0, g0_n1, &any"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Reproducer, DriversFormsSayWhereEachEndOfACopyIs) {
  const std::string text = text_of(of(
      "buffer b0 64\nbuffer b1 64 memory=pinned\ngraph g0\nmemcpy3d g0.n0 dst=b0+0 src=b1+0 width=4 height=1 depth=1 "
      "dpitch=4 spitch=4 kind=h2d form=driver\nmemset g0.n1 dst=b0+8 value=1 element=1 width=4 form=driver\n"
      "instantiate e0 g0\nset e0.n1 memset dst=b0+8 value=2 element=1 width=4 form=driver\n"));
  for (const char* part :
       {".dstMemoryType = hipMemoryTypeDevice;", ".srcMemoryType = hipMemoryTypeHost;",
        "hipDrvGraphAddMemcpyNode(&g0_n0, g0, nullptr, 0, &d", "hipDrvGraphAddMemsetNode(&g0_n1, g0,",
        "hipDrvGraphExecMemsetNodeSetParams(e0, g0_n1, &m", ", context())", "hipCtxGetCurrent(&current)"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Reproducer, TheDriversFunctionThatFreesMemoryNamesNoContext) {
  const std::string text =
      text_of(of("graph g0\nalloc g0.n0 b5 64\nmemset g0.n1 dst=b5+0 value=1 element=1 width=64 after=n0\n"
                 "free g0.n2 b5 after=n1 form=driver\n"));
  EXPECT_THAT(text, HasSubstr("hipDrvGraphAddMemFreeNode(&g0_n2, g0, &g0_n1, 1, b5)"));
  EXPECT_THAT(text, Not(HasSubstr("context()")));
}

// The text when the last command answers something else beside its status.
std::string text_of_answer(const std::string& commands, const char* seen, const char* saw) {
  verify::Reproducer reproducer = of(commands);
  verify::ExpectedStatus& last = reproducer.statuses.back();
  last.seen = seen;
  last.saw = saw;
  last.differs = last.only_seen_differs = true;
  const hip::Result<std::string> text = verify::to_reproducer(reproducer, ReproducerForm::kHip);
  return text.ok() ? text.value() : text.error().message;
}

TEST(Reproducer, AnAnswerThatDiffersIsCheckedOrNamed) {
  EXPECT_THAT(text_of_answer("graph g0\nempty g0.n0\ngraph g1\nempty g1.n0\ninstantiate e0 g0\nupdate e0 g1\n",
                             "error node n0", "no error node"),
              HasSubstr("error_node == g1_n0 ?"));
  EXPECT_THAT(text_of_answer("userobject u0\nrelease u0\n", "u0 went", ""),
              HasSubstr("check(\"runs of the function of u0\", \"1\", std::to_string(u0_went.load()));"));
  EXPECT_THAT(text_of_answer("stream s1\ncapture_info s1\n", "none", "invalidated"),
              ContainsRegex("capture of s1.*\"0\", std::to_string\\(capturing1\\)"));
  EXPECT_THAT(text_of_answer("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+4 value=7 element=1 width=4\ninspect g0\n",
                             "nodes 1: n0; n0 sets 7", "nodes 1: n0; n0 sets 8"),
              HasSubstr("check(\"the value of g0_n0\", \"7\", std::to_string(got"));
  const char* const kDot = "graph g0\nempty g0.n0\ndot g0 flags=handles\n";
  EXPECT_THAT(text_of_answer(kDot, "1 nodes, 0 edges", "1 nodes, 0 edges, the flags say nothing about 1 nodes"),
              HasSubstr("check(\"the flaw of the DOT file of g0\", \"nothing\", dot_flaw(g0, 1024, 1));"));
  EXPECT_THAT(text_of_answer(kDot, "1 nodes, 0 edges", "1 nodes, 0 edges, another graph"),
              HasSubstr("has no stand-alone form yet"));
  EXPECT_THAT(text_of_answer("graph g0\nempty g0.n0\ninspect g0\n", "nodes 1: n0", "nodes 2: n0 unknown"),
              HasSubstr("(expected 'nodes 1: n0', observed 'nodes 2: n0 unknown') has no stand-alone form yet"));
}

TEST(Reproducer, StreamOrderedMemoryAndPoolsAreWrittenAsTheirCalls) {
  const std::string text =
      text_of(of("buffer b0 64\nstream s1\npool p0\npool p1 default\npool_attribute p0 release_threshold=64\n"
                 "pool_use p0\nmalloc_async b5 64 s1\nmalloc_async b6 32 s1 pool=p0\n"
                 "on s1 memset dst=b5+0 value=1 width=64\nfree_async b5 s1\nfree b6\npool_trim p0 16\npool_access p0\n"
                 "pool_use default\ndestroy p0\n"));
  for (const char* call :
       {"hipMemPool_t p0, p1;", "hipMemPoolCreate(&p0, &pool1)", "hipDeviceGetDefaultMemPool(&p1, 0)",
        "hipMemPoolSetAttribute(p0, hipMemPoolAttrReleaseThreshold, &value", "hipDeviceSetMemPool(0, p0)",
        "hipMallocAsync(reinterpret_cast<void**>(&b5), 64, s1)",
        "hipMallocFromPoolAsync(reinterpret_cast<void**>(&b6), 32, p0, s1)", "hipFreeAsync(b5, s1)", "hipFree(b6)",
        "hipMemPoolTrimTo(p0, 16)", "hipMemPoolSetAccess(p0, &access", "hipMemPoolDestroy(p0)"}) {
    EXPECT_THAT(text, HasSubstr(call));
  }
  EXPECT_THAT(text_of_answer("pool p0\npool_attribute p0 opportunistic=0\n", "0", "1"),
              HasSubstr("check(\"hipMemPoolReuseAllowOpportunistic of p0\", \"0\", std::to_string(value"));
}

TEST(Reproducer, MemoryOfACaptureIsTheCapturesNodes) {
  const std::string text =
      text_of(of("buffer b0 64\nstream s1\ncapture s1\nmalloc_async b5 64 s1\non s1 memset dst=b5+0 value=1 width=64\n"
                 "on s1 memcpy dst=b0+0 src=b5+0 bytes=64 kind=d2d\nfree_async b5 s1\nendcapture s1 g0\n"
                 "instantiate e0 g0\nset e0.n2 memcpy dst=b0+0 src=b5+0 bytes=32 kind=d2d\nlaunch e0 s1\n"));
  EXPECT_THAT(text, HasSubstr("hipGraphNode_t c1_n2 = last_captured(s1);"));
  EXPECT_THAT(text, HasSubstr("hipGraphExecMemcpyNodeSetParams1D(e0, c1_n2, b0, b5, 32"));
}

TEST(Reproducer, ABadCallBringsWhatItNeedsOrIsNamed) {
  EXPECT_THAT(text_of_answer("bad hipGraphInstantiate cycle-in-child\n", "hipErrorInvalidValue", "hipSuccess"),
              HasSubstr("check(\"hipGraphInstantiate\", \"hipErrorInvalidValue\", hipGetErrorName("));
  EXPECT_THAT(text_of_answer("bad hipGraphGetNodes gone-graph\n", "hipErrorInvalidValue", "hipSuccess"),
              HasSubstr("'bad hipGraphGetNodes gone-graph' (command 1): this call has no stand-alone form yet"));
}

TEST(Reproducer, AClonesNodesAreFoundInIt) {
  const std::string text =
      text_of(of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=4 fan=2\nempty g0.n1 after=n0\n"
                 "clone g1 g0\ninstantiate e0 g1\nremove g1.n1\n"));
  for (const char* line : {"hipGraph_t g0, g1;", "hipGraphNode_t g1_n0[2], g1_n1;", "hipGraphClone(&g1, g0)",
                           "hipGraphNodeFindInClone(&g1_n0[1], g0_n0[1], g1)", "hipGraphInstantiate(&e0, g1, ",
                           "hipGraphDestroyNode(g1_n1)"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// The variables of nodes that stand in the file before a statement declares them.
std::set<std::string> undeclared_nodes(const std::string& text) {
  static const std::regex variable("\\b(again|g|c)[0-9]+_n[0-9]+\\b"),
      declaration("hipGraphNode_t (?=(again|g|c)[0-9])");
  std::set<std::string> declared, undeclared;
  for (std::size_t from = text.find("main()"), end; from < text.size(); from = end + 1) {
    end = std::min(text.find(';', from), text.size());
    const std::string statement = text.substr(from, end - from);
    const bool declares = std::regex_search(statement, declaration);
    for (std::sregex_iterator it(statement.begin(), statement.end(), variable), last; it != last; ++it) {
      if (declares) declared.insert(it->str());
      if (!declared.contains(it->str())) undeclared.insert(it->str());
    }
  }
  return undeclared;
}

TEST(Reproducer, ANodeOfAGraphThatWasRecordedAgainHasItsOwnVariable) {
  const std::string text =
      text_of(of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=4\nmove b0\npatch g0\n"
                 "empty g0.n1 after=n0\nclone g1 g0\n",
                 ReproducerStrategy::kRebuild));
  EXPECT_THAT(text, HasSubstr("hipGraphNode_t g0_n0, g0_n1;"));
  EXPECT_THAT(text, HasSubstr("hipGraphAddEmptyNode(&g0_n1, again1, &again1_n0, 1)"));
  EXPECT_THAT(text, HasSubstr("hipGraphNodeFindInClone(&g1_n1, g0_n1, g1)"));
}

TEST(Reproducer, AGraphIsDeclaredOnceWhenACaptureGoesIntoAClone) {
  const std::string text =
      text_of(of("buffer b0 64\nstream s1\ngraph g0\nclone g1 g0\ncapture s1 into=g1\n"
                 "on s1 memset dst=b0+0 value=1 width=4\nendcapture s1 g1\n"));
  EXPECT_THAT(text, HasSubstr("hipGraph_t g0, g1;"));
}

TEST(Reproducer, ACommandThatNamesACapturedNodeHasItsHandle) {
  const std::string capture =
      "buffer b0 64\nstream s1\ncapture s1\non s1 kernel count_only n=1 a=2 b=3\nendcapture s1 g1\n";
  EXPECT_THAT(text_of(of(capture)), Not(HasSubstr("last_captured")));
  for (const char* command : {"empty g1.n1 after=n0\n", "clone g2 g1\n", "attribute g1.n0 priority=-1\n",
                              "graph g0\nkernel g0.n0 count_only n=1 a=2 b=3\ncopy_attributes g0.n0 g1.n0\n"}) {
    EXPECT_THAT(text_of(of(capture + command)), HasSubstr("hipGraphNode_t c1_n0 = last_captured(s1);")) << command;
  }
}

TEST(Reproducer, EveryNodeVariableIsDeclaredBeforeItIsUsed) {
  constexpr std::uint64_t kPrograms = 150;
  std::size_t written = 0;
  for (std::uint64_t i = 0; i < kPrograms; ++i) {
    verify::Reproducer reproducer = reproducer_of(verify::campaign_program(1, i, {}));
    reproducer.program.setting.placement = verify::Placement::kNative;
    for (const auto strategy :
         {ReproducerStrategy::kPatch, ReproducerStrategy::kRebuild, ReproducerStrategy::kUpdate}) {
      reproducer.strategy = strategy;
      const hip::Result<std::string> text = verify::to_reproducer(reproducer, ReproducerForm::kHip);
      if (!text.ok()) continue;  // it has no stand-alone form
      ++written;
      EXPECT_THAT(undeclared_nodes(text.value()), testing::IsEmpty()) << text.value();
    }
  }
  EXPECT_GT(written, kPrograms / 2);
}

TEST(Reproducer, WhatHasNoStandAloneFormIsAnErrorThatNamesIt) {
  const hip::Result<std::string> failing = verify::to_reproducer(of("fail 1 hipGraphLaunch\n"), ReproducerForm::kHip);
  ASSERT_FALSE(failing.ok());
  EXPECT_THAT(failing.error().message, HasSubstr("'fail 1 hipGraphLaunch' (command 1)"));
  const hip::Result<std::string> inner = verify::to_reproducer(
      of("buffer b0 64\ngraph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=4\ngraph g1\nchild g1.n0 g0\nmove b0\n"
         "patch g1\n"),
      ReproducerForm::kHip);
  ASSERT_FALSE(inner.ok());
  EXPECT_THAT(inner.error().message, ContainsRegex("'patch g1'.*rebuild"));
}

}  // namespace
