// Every command of the language is written by its family: as the HIP function that it stands for, or as an error that
// says that it has no stand-alone form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

#include "samples.h"

namespace {

constexpr const char* kRefused = "has no stand-alone form";

// The last line of `program` is the command.
struct Sample {
  std::string program;
  std::string part;  // of the file, which it has because of the command; or kRefused
  std::string seen = {}, saw = {};
};

const std::string kBuffer = "buffer b0 64\n";
const std::string kGraph = kBuffer +
                           "graph g0\nmemset g0.n0 dst=b0+0 value=1 element=1 width=4\n"
                           "kernel g0.n1 count_only n=1 a=2 b=3 after=n0\nkernel g0.n2 count_only n=1 a=2 b=3\n";
const std::string kExec = kGraph + "instantiate e0 g0\n";
const std::string kEvents =
    "stream s1\nevent v0 timing\nevent v1 timing\nrecord v0 s1\nrecord v1 s1\nsync v0\nsync v1\n";
const std::string kMapping = "reserve r0 2\nphysical h0 1\nmap r0 1 h0\n";
const std::string kCapture = kBuffer + "stream s1\ncapture s1\non s1 memset dst=b0+0 value=1 width=4\n";

std::vector<Sample> samples() {
  return {
      {"buffer b0 64\n", "hipMalloc(&b0, 64)"},
      {kBuffer + "move b0\n", "hipFree(b0)"},
      {kBuffer + "read b0\n", "hex(b0, 2)"},
      {kBuffer + "write b0 seed=7\n", "fill(b0, 64, 0, 7)"},
      {kBuffer + "free b0\n", "hipFree(b0)"},
      {"graph g0\n", "hipGraphCreate(&g0, 0)"},
      {kGraph + "clone g1 g0\n", "hipGraphClone(&g1, g0)"},
      {kGraph + "clone g1 g0\nfind g1 g0.n0\n", kRefused},
      {kGraph + "edge g0.n2 after=n0\n", "hipGraphAddDependencies(g0, "},
      {kGraph + "remove g0.n2\n", "hipGraphDestroyNode(g0_n2)"},
      {kGraph + "inspect g0\n", "hipGraphMemsetNodeGetParams(g0_n0, ", "n0 sets 1", "n0 sets 2"},
      {kGraph + "dot g0 flags=memset,handles\n", "dot_flaw(g0, 1040, 3)", "3 nodes, 0 edges",
       "3 nodes, 0 edges, the flags say nothing about 1 nodes"},
      {kGraph + "destroy g0\n", "hipGraphDestroy(g0)"},
      {kGraph, "hipGraphAddKernelNode(&g0_n2, g0, "},
      {kGraph + "semsignal g0.n3 sem=3:120\n", "hipGraphAddExternalSemaphoresSignalNode(&g0_n3, g0, "},
      {kGraph + "semwait g0.n3 sem=3:7,4:8 form=generic\n", "hipGraphNodeTypeExtSemaphoreWait"},
      {kGraph + "semwait g0.n3 sem=3:7\ninstantiate e0 g0\nset e0.n3 semwait sem=5:9\n",
       "hipGraphExecExternalSemaphoresWaitNodeSetParams(e0, g0_n3, "},
      {kExec + "set e0.n0 memset dst=b0+0 value=2 element=1 width=4\n", "hipGraphExecMemsetNodeSetParams(e0, g0_n0, "},
      {kExec + "disable e0.n0\n", "hipGraphNodeSetEnabled(e0, g0_n0, 0)"},
      {kGraph + "attribute g0.n1 priority=-1\n", "hipGraphKernelNodeSetAttribute(g0_n1, "},
      {kGraph + "copy_attributes g0.n1 g0.n2\n", "hipGraphKernelNodeCopyAttributes(g0_n2, g0_n1)"},
      {kExec, "hipGraphInstantiate(&e0, g0, "},
      {kExec + "launch e0 s0\n", "hipGraphLaunch(e0, nullptr)"},
      {kExec + "move b0\npatch e0\n", "hipGraphExecMemsetNodeSetParams(e0, g0_n0, "},
      {kExec + "update e0 g0\n", "hipGraphExecUpdate(e0, g0, "},
      {kExec + "upload e0 s0\n", "hipGraphUpload(e0, nullptr)"},
      {kExec + "flags e0\n", "hipGraphExecGetFlags(e0, &flags"},
      {"stream s1\n", "hipStreamCreateWithFlags(&s1, "},
      {"stream s1\nsync s1\n", "hipStreamSynchronize(s1)"},
      {kBuffer + "on s0 memset dst=b0+0 value=1 width=4\n", "hipMemsetAsync(b0, 1, 4, nullptr)"},
      {kBuffer + "on s0 memset dst=b0+0 value=1 width=4 wait\n", "hipMemset(b0, 1, 4)"},
      {kBuffer + "on s0 memcpy dst=b0+0 src=b0+8 bytes=8 wait\n", "hipMemcpy(b0, b0 + 8, 8, hipMemcpyDefault)"},
      {kBuffer + "stream s1\non s1 memcpy dst=b0+0 src=b0+8 bytes=8 wait\n",
       "hipMemcpyWithStream(b0, b0 + 8, 8, hipMemcpyDefault, s1)"},
      {"stream s1\nquery s1\n", "hipStreamQuery(s1)"},
      {"event v0\n", "hipEventCreateWithFlags(&v0, "},
      {"stream s1\nevent v0\nrecord v0 s1\n", "hipEventRecord(v0, s1)"},
      {kEvents + "wait s1 v0\n", "hipStreamWaitEvent(s1, v0, 0)"},
      {kEvents + "elapsed v0 v1\n", "hipEventElapsedTime(&milliseconds1, v0, v1)"},
      {"stream s1\ncapture s1\n", "hipStreamBeginCapture(s1, "},
      {kCapture + "endcapture s1 g1\n", "hipStreamEndCapture(s1, &g1)"},
      {kCapture + "capture_info s1\n", "hipStreamGetCaptureInfo(s1, "},
      {kCapture + "capture_after s1 n0\n", "hipStreamUpdateCaptureDependencies(s1, "},
      {kCapture + "on s1 memset dst=b0+0 value=1 width=4 by_hand\n",
       "hipGraphAddMemsetNode(&c1_n1, by_hand1, &c1_n0, 1, "},
      {kCapture + "on s1 empty by_hand\n", "hipStreamUpdateCaptureDependencies(s1, &c1_n1, 1, "},
      {kCapture + "graph g7\non s1 child g7 by_hand\n", "hipGraphAddChildGraphNode(&c1_n1, by_hand1, &c1_n0, 1, g7)"},
      {kCapture + "malloc_async b5 64 s1 by_hand\n", "hipGraphAddMemAllocNode(&c1_n1, by_hand1, "},
      {kCapture + "malloc_async b5 64 s1\nfree_async b5 s1 by_hand\n", "hipGraphAddMemFreeNode(&c1_n2, by_hand1, "},
      {"capture_mode relaxed\n", "hipThreadExchangeStreamCaptureMode(&mode1)"},
      {"unsafe\n", "unsafe_call()"},
      {"unsafe call=host_malloc\n", "pinned_call()"},
      {"unsafe call=host_register\n", "register_call()"},
      {"unsafe call=memory_info\n", "memory_info_call()"},
      {"unsafe call=device_limit\n", "hipDeviceSetLimit(hipLimitStackSize, 2048)"},
      {"stream s1\nmalloc_async b5 64 s1\n", "hipMallocAsync(reinterpret_cast<void**>(&b5), 64, s1)"},
      {"stream s1\nmalloc_async b5 64 s1\nfree_async b5 s1\n", "hipFreeAsync(b5, s1)"},
      {"malloc b5 64\n", "hipMalloc(reinterpret_cast<void**>(&b5), 64)"},
      {"malloc b5 64\nfree b5\n", "hipFree(b5)"},
      {"reserve r0 2\n", "hipMemAddressReserve(reinterpret_cast<void**>(&r0), 8192, 0, nullptr, 0)"},
      {"reserve r0 2\nunreserve r0\n", "hipMemAddressFree(r0, 8192)"},
      {"physical h0 1\n", "hipMemCreate(&h0, 4096, &properties"},
      {"physical h0 1\n", ", 4096, 0, 1000003);"},
      {"physical h0 1\nrelease h0\n", "hipMemRelease(h0)"},
      {"physical h0 1 device=1\n", "hipSetDevice(1)"},
      {kMapping + "retain r0 1\n", "hipMemRetainAllocationHandle(&h0_1, r0 + 4096)"},
      {kMapping + "retain r0 1\nrelease h0\n", "hipMemRelease(h0_1)"},
      {kMapping, "hipMemMap(r0 + 4096, 4096, 0, h0, 0)"},
      {kMapping + "unmap r0 1\n", "hipMemUnmap(r0 + 4096, 4096)"},
      {kMapping + "access r0 1 read device=1\n", "hipMemSetAccess(r0 + 4096, 4096, &access"},
      {kMapping + "access r0 1 read\n", "hipMemGetAccess(&flags", "read", "none"},
      {kMapping + "view b1 r0 1 64\n", "b1 = r0 + 4096;"},
      {"graph_memory used\n", "hipDeviceGetGraphMemAttribute(0, "},
      {"graph_memory trim\n", "hipDeviceGraphMemTrim(0)"},
      {"pool p0\n", "hipMemPoolCreate(&p0, "},
      {"pool p0\npool_attribute p0 release_threshold=64\n", "hipMemPoolSetAttribute(p0, "},
      {"pool p0\npool_trim p0 16\n", "hipMemPoolTrimTo(p0, 16)"},
      {"pool p0\npool_access p0\n", "hipMemPoolSetAccess(p0, "},
      {"pool p0\npool_use p0\n", "hipDeviceSetMemPool(0, p0)"},
      {"pool p0\ndestroy p0\n", "hipMemPoolDestroy(p0)"},
      {"module m0\n", "hipModuleLoadData(&module0, own_code())"},
      {"module m0\nunload m0\n", "hipModuleUnload(module0)"},
      {"module m0\nbuffer b3 64 symbol=1 module=m0\n",
       "hipModuleGetGlobal((hipDeviceptr_t*)&b3, &b3_bytes, module0, \"symbol1\")"},
      {"buffer b3 64 symbol=1\n", "hipGetSymbolAddress((void**)&b3, HIP_SYMBOL(symbol1))"},
      {"module m0\non s0 kernel count_only n=1 a=2 b=3 module=m0\n", "hipModuleLaunchKernel("},
      {"on s0 kernel count_only n=1 a=2 b=3 by_symbol\n", "hipLaunchKernel("},
      {"on s0 kernel count_only n=1 a=2 b=3 cooperative\n", "hipLaunchCooperativeKernel("},
      {"module m0\non s0 kernel count_only n=1 a=2 b=3 module=m0 cooperative\n",
       "hipModuleLaunchCooperativeKernel(static_cast<hipFunction_t>(p->func),"},
      {"module m0\n" + kGraph + "kernel g0.n3 count_only n=1 a=2 b=3 module=m0\n",
       "of_module(module0, \"count_only\", "},
      {"module m0\non s0 kernel count_only n=1 a=2 b=3 module=m0\n", "extern \"C\" __global__ void count_only("},
      {"peer enable 0 1\n", "hipDeviceEnablePeerAccess(1, 0)"},
      {"userobject u0\n", "hipUserObjectCreate(&u0, "},
      {kGraph + "userobject u0\nretain u0 g0\n", "hipGraphRetainUserObject(g0, u0, 1, 0)"},
      {"userobject u0\nrelease u0\n", "hipUserObjectRelease(u0, 1)"},
      {"userobject u0\nrelease u0 beyond\n", "hipUserObjectRelease(u0, 1048576)"},
      {kGraph + "alloc g0.n3 b5 64 access=1\n", "_access[] = {{{hipMemLocationTypeDevice, 1}, "},
      {kGraph + "alloc g0.n3 b5 64 form=generic\n", ".alloc;\n"},
      {kGraph + "attribute g0.n1 window=50\n",
       "accessPolicyWindow = {nullptr, hipAccessPropertyPersisting, 50.0f / 100"},
      {"fail 1 hipGraphLaunch\n", kRefused},
      {"fail_below 1 allocation\n", kRefused},
      {"device_memory 67108864\n", kRefused},
      {"bad hipGraphInstantiate cycle-in-child\n", "hipGraphInstantiate(&exec, outer, "},
      {"cache clear\n", kRefused},
  };
}

// The text of the file, or the error. The bytes of b0 are expected at `read`.
std::string text_of(const verify::Program& program, const Sample& sample) {
  verify::Reproducer reproducer = reproducer_of(program);
  const bool answers = !sample.seen.empty();
  if (answers) reproducer.statuses.back() = {"hipSuccess", 0, sample.seen, true, true, sample.saw};
  if (!program.steps.empty()) reproducer.bytes = {{program.steps.size() - 1, 0, 0, "0011"}};
  const hip::Result<std::string> text = verify::to_reproducer(reproducer, verify::ReproducerForm::kHip);
  return text.ok() ? text.value() : text.error().message;
}

TEST(FamiliesExport, EveryCommandIsWrittenAsItsHipFunctionOrRefused) {
  for (const Sample& sample : samples()) {
    verify::Program program = program_for_export(sample.program);
    if (program.steps.empty()) continue;
    const std::string with = text_of(program, sample);
    EXPECT_THAT(with, testing::HasSubstr(sample.part)) << sample.program;
    program.steps.pop_back();
    const std::string without = text_of(program, {sample.program, sample.part});
    EXPECT_LT(count(without, sample.part), count(with, sample.part)) << sample.program;
  }
}

TEST(FamiliesExport, ADestructionBesideACaptureWaitsForNothing) {
  const verify::Program program = program_for_export(kExec + "stream s1\ncapture s1\ndestroy e0\n");
  const std::string text = text_of(program, {});
  const std::size_t begins = text.find("hipStreamBeginCapture("), destroyed = text.find("hipGraphExecDestroy(e0)");
  ASSERT_NE(begins, std::string::npos);
  ASSERT_NE(destroyed, std::string::npos);
  EXPECT_GT(text.find("hipDeviceSynchronize", begins), destroyed);
}

template <class... Commands>
std::vector<std::string> names_of(const std::variant<Commands...>*) {
  return {typeid(Commands).name()...};
}

TEST(FamiliesExport, EveryCommandOfTheLanguageHasASample) {
  std::set<std::size_t> shown;
  for (const Sample& sample : samples()) {
    const verify::Program program = program_for_export(sample.program);
    if (!program.steps.empty()) shown.insert(program.steps.back().command.index());
  }
  const std::vector<std::string> names = names_of(static_cast<const verify::Command*>(nullptr));
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_TRUE(shown.contains(i)) << names[i];
}

}  // namespace
